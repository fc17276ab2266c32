-- Agents ask for servers too. What kinds and actions there are is checked by the table itself, so it is
-- made anew, as it was for merges; rows and their MACs stay as they are.
CREATE TABLE proposals_anew (
    id               BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent            BLOB    NOT NULL REFERENCES agents (id),
    space            INTEGER NOT NULL REFERENCES spaces (n),
    entity_type      TEXT    NOT NULL
                     CHECK (entity_type IN ('page', 'conversation', 'graph', 'server')),
    action           TEXT    NOT NULL
                     CHECK (action IN ('create', 'update', 'delete', 'merge', 'enable')),
    page             BLOB    CHECK (length(page) = 16),
    base_revision    INTEGER CHECK (base_revision BETWEEN 1 AND 4294967295),
    slug             TEXT,
    title            TEXT,
    tags             TEXT,
    reason           TEXT    NOT NULL,
    taint_private    INTEGER NOT NULL CHECK (taint_private IN (0, 1)),
    taint_untrusted  INTEGER NOT NULL CHECK (taint_untrusted IN (0, 1)),
    status           TEXT    NOT NULL
                     CHECK (status IN ('pending', 'applied', 'rejected', 'conflict')),
    note             TEXT,
    created          INTEGER NOT NULL,
    decided          INTEGER,
    -- Of a graph, and of nothing else: the merge as canonical JSON.
    merge            TEXT    CHECK ((merge IS NOT NULL) = (entity_type = 'graph')),
    body             TEXT,
    mac              BLOB    CHECK (length(mac) = 32),
    -- Of a server, and of nothing else: its name. Only there is it a part of the row's MAC.
    server           TEXT    CHECK ((server IS NOT NULL) = (entity_type = 'server')),
    CHECK ((slug IS NULL) = (title IS NULL)
       AND (slug IS NULL) = (body IS NULL)
       AND (slug IS NULL) = (tags IS NULL))
) STRICT;

INSERT INTO proposals_anew
       (rowid, id, agent, space, entity_type, action, page, base_revision, slug, title, tags, reason,
        taint_private, taint_untrusted, status, note, created, decided, merge, body, mac)
SELECT rowid, id, agent, space, entity_type, action, page, base_revision, slug, title, tags, reason,
       taint_private, taint_untrusted, status, note, created, decided, merge, body, mac
  FROM proposals;

DROP TABLE proposals;
ALTER TABLE proposals_anew RENAME TO proposals;

CREATE INDEX proposals_of_agent ON proposals (agent, status);
CREATE INDEX proposals_of_space ON proposals (space, created);
CREATE INDEX proposals_newest ON proposals (created);
-- A merge that was in conflict may still be made, once it is said how: it is open, too.
CREATE INDEX proposals_open ON proposals (id)
 WHERE status = 'pending' OR (status = 'conflict' AND merge IS NOT NULL);
