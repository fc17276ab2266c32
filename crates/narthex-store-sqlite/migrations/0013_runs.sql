-- Runs of agents' programs that wait for the owner. Each is an open matter like a waiting approval: its
-- row carries a MAC, and counts only as it was written last. `body` is JSON.
CREATE TABLE runs (
    id      BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent   BLOB    NOT NULL REFERENCES agents (id),
    space   BLOB    CHECK (length(space) = 16),
    until   INTEGER NOT NULL,
    mac     BLOB    NOT NULL CHECK (length(mac) = 32),
    body    TEXT    NOT NULL
) STRICT;

CREATE INDEX runs_of_agent ON runs (agent);
