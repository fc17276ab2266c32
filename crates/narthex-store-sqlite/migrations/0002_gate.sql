-- What the gate remembers: approvals, latches, what was used up, kill switches, the noted mode.
-- Every row carries a MAC over its table and all its fields, as the database itself cannot be
-- believed. `body` is JSON.

ALTER TABLE agents ADD COLUMN budget TEXT CHECK (json_valid(budget));

-- NULL only until the first start after this migration has sealed what was there before.
ALTER TABLE proposals ADD COLUMN mac BLOB CHECK (length(mac) = 32);

-- Requests for the owner's approval. The columns before `body` say again what is in it, for
-- queries.
CREATE TABLE approvals (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent      BLOB    NOT NULL REFERENCES agents (id),
    space      BLOB    CHECK (length(space) = 16),
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    status     TEXT    NOT NULL
               CHECK (status IN ('waiting', 'approved', 'denied', 'used', 'void')),
    requested  INTEGER NOT NULL,
    mac        BLOB    NOT NULL CHECK (length(mac) = 32),
    body       TEXT    NOT NULL
) STRICT;

CREATE INDEX approvals_of_agent ON approvals (agent, status);
CREATE INDEX approvals_of_call ON approvals (agent, digest, requested);
CREATE INDEX approvals_newest ON approvals (requested);

-- An empty `space` is an agent across all spaces.
CREATE TABLE latches (
    agent  BLOB NOT NULL CHECK (length(agent) = 16),
    space  BLOB NOT NULL CHECK (length(space) IN (0, 16)),
    body   TEXT NOT NULL,
    mac    BLOB NOT NULL CHECK (length(mac) = 32),
    PRIMARY KEY (agent, space)
) STRICT, WITHOUT ROWID;

CREATE TABLE switches (
    scope  TEXT NOT NULL PRIMARY KEY,
    body   TEXT NOT NULL,
    mac    BLOB NOT NULL CHECK (length(mac) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    body  TEXT NOT NULL,
    mac   BLOB NOT NULL CHECK (length(mac) = 32)
) STRICT, WITHOUT ROWID;

-- What an agent has used up, as of record `seq`; what came after it is in the ledger. `window` is
-- in milliseconds.
CREATE TABLE budgets (
    agent   BLOB    NOT NULL CHECK (length(agent) = 16),
    space   BLOB    NOT NULL CHECK (length(space) IN (0, 16)),
    window  INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    mac     BLOB    NOT NULL CHECK (length(mac) = 32),
    body    TEXT    NOT NULL,
    PRIMARY KEY (agent, space)
) STRICT;

-- A MAC over the MACs of all rows of latches, switches and settings (`gate`), and one over those
-- of budgets (`budgets`, with the record they are good for): a row that is gone is missed.
CREATE TABLE gate_seal (
    name  TEXT    NOT NULL PRIMARY KEY CHECK (name IN ('gate', 'budgets')),
    seq   INTEGER NOT NULL,
    hash  BLOB    NOT NULL CHECK (length(hash) = 32),
    mac   BLOB    NOT NULL CHECK (length(mac) = 32)
) STRICT, WITHOUT ROWID;
