-- The sealed ledger. `note` is a signed checkpoint (C2SP signed-note), `frontier` the roots of the
-- complete subtrees at that size; see docs/ledger-format.md.

-- One at every multiple of 256 records, and the newest of those in between.
CREATE TABLE ledger_checkpoints (
    size      INTEGER PRIMARY KEY CHECK (size > 0),
    note      TEXT    NOT NULL,
    frontier  BLOB    NOT NULL CHECK (length(frontier) % 32 = 0)
) STRICT;

-- What stands for the records that the owner took out.
CREATE TABLE ledger_base (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    size      INTEGER NOT NULL CHECK (size > 0),
    note      TEXT    NOT NULL,
    frontier  BLOB    NOT NULL CHECK (length(frontier) % 32 = 0)
) STRICT;
