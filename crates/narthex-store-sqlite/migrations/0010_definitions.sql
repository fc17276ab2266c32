-- What upstream servers defined when the owner approved it, each found by the digest of its text:
-- whatever else is put here is found under no digest that was approved.
CREATE TABLE definitions (
    digest  BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    text    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
