-- The house: spaces, pages, agents, proposals, the ledger. Times are milliseconds since the Unix
-- epoch, ids the sixteen bytes of a UUID, lists JSON text. Long texts come last, so that what
-- stands before them is read without them. The full-text index of a space, `fts_<n>`, is made
-- together with the space.

CREATE TABLE spaces (
    n        INTEGER PRIMARY KEY,
    id       BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    slug     TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL,
    ceiling  TEXT    CHECK (ceiling IN ('T0', 'T1', 'T2', 'T3')),
    created  INTEGER NOT NULL
) STRICT;

-- A page as it is now. `author` is an agent's id, or NULL for the owner.
CREATE TABLE pages (
    n                INTEGER PRIMARY KEY,
    space            INTEGER NOT NULL REFERENCES spaces (n),
    id               BLOB    NOT NULL CHECK (length(id) = 16),
    slug             TEXT    NOT NULL,
    title            TEXT    NOT NULL,
    tags             TEXT    NOT NULL CHECK (json_type(tags) = 'array'),
    revision         INTEGER NOT NULL CHECK (revision BETWEEN 1 AND 4294967295),
    author           BLOB    CHECK (length(author) = 16),
    proposal         BLOB    CHECK (length(proposal) = 16),
    taint_private    INTEGER NOT NULL CHECK (taint_private IN (0, 1)),
    taint_untrusted  INTEGER NOT NULL CHECK (taint_untrusted IN (0, 1)),
    foreign_history  INTEGER NOT NULL CHECK (foreign_history IN (0, 1)),
    created          INTEGER NOT NULL,
    updated          INTEGER NOT NULL,
    body             TEXT    NOT NULL,
    UNIQUE (space, id),
    UNIQUE (space, slug)
) STRICT;

-- A page lives in exactly one space.
CREATE UNIQUE INDEX pages_one_space ON pages (id);
CREATE INDEX pages_recent ON pages (space, updated DESC, slug);

-- What the full-text indexes read: tags as a line of words rather than as JSON.
CREATE VIEW page_text (n, title, tags, body) AS
    SELECT n, title, (SELECT coalesce(group_concat(value, ', '), '') FROM json_each(tags)), body
    FROM pages;

-- Every revision, also of pages that are gone. A deletion has no draft.
CREATE TABLE page_revisions (
    space            INTEGER NOT NULL REFERENCES spaces (n),
    page             BLOB    NOT NULL CHECK (length(page) = 16),
    revision         INTEGER NOT NULL CHECK (revision BETWEEN 1 AND 4294967295),
    id               BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    slug             TEXT,
    title            TEXT,
    tags             TEXT,
    author           BLOB    CHECK (length(author) = 16),
    proposal         BLOB    CHECK (length(proposal) = 16),
    taint_private    INTEGER NOT NULL CHECK (taint_private IN (0, 1)),
    taint_untrusted  INTEGER NOT NULL CHECK (taint_untrusted IN (0, 1)),
    at               INTEGER NOT NULL,
    body             TEXT,
    PRIMARY KEY (space, page, revision),
    CHECK ((slug IS NULL) = (title IS NULL)
       AND (slug IS NULL) = (body IS NULL)
       AND (slug IS NULL) = (tags IS NULL))
) STRICT;

CREATE TABLE links (
    space      INTEGER NOT NULL,
    from_page  INTEGER NOT NULL,
    slug       TEXT    NOT NULL,
    PRIMARY KEY (space, from_page, slug)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_to ON links (space, slug);

CREATE TABLE agents (
    id        BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    slug      TEXT    NOT NULL UNIQUE,
    name      TEXT    NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('external', 'companion')),
    model     TEXT,
    grants    TEXT    NOT NULL CHECK (json_type(grants) = 'array'),
    ceiling   TEXT    NOT NULL CHECK (ceiling IN ('T0', 'T1', 'T2', 'T3')),
    space     INTEGER REFERENCES spaces (n),
    disabled  INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    created   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_of_space ON agents (space);

CREATE TABLE tokens (
    id          BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent       BLOB    NOT NULL REFERENCES agents (id),
    label       TEXT    NOT NULL,
    keyed_hash  BLOB    NOT NULL CHECK (length(keyed_hash) = 32),
    created     INTEGER NOT NULL,
    expires     INTEGER,
    revoked     INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_of_agent ON tokens (agent, created);

-- When a token was last seen in the ledger, to the minute.
CREATE TABLE token_use (
    token  BLOB    NOT NULL PRIMARY KEY REFERENCES tokens (id),
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (
    id               BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent            BLOB    NOT NULL REFERENCES agents (id),
    space            INTEGER NOT NULL REFERENCES spaces (n),
    entity_type      TEXT    NOT NULL CHECK (entity_type IN ('page', 'conversation')),
    action           TEXT    NOT NULL CHECK (action IN ('create', 'update', 'delete')),
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
    body             TEXT,
    CHECK ((slug IS NULL) = (title IS NULL)
       AND (slug IS NULL) = (body IS NULL)
       AND (slug IS NULL) = (tags IS NULL))
) STRICT;

CREATE INDEX proposals_of_agent ON proposals (agent, status);
CREATE INDEX proposals_of_space ON proposals (space, created);
CREATE INDEX proposals_newest ON proposals (created);

-- The owner's own; they belong to no space.
CREATE TABLE conversations (
    id       BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    title    TEXT    NOT NULL,
    created  INTEGER NOT NULL,
    body     TEXT    NOT NULL
) STRICT;

CREATE INDEX conversations_newest ON conversations (created);

CREATE TABLE ledger (
    seq    INTEGER PRIMARY KEY,
    bytes  BLOB    NOT NULL,
    hash   BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE ledger_head (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    seq   INTEGER NOT NULL,
    hash  BLOB    NOT NULL CHECK (length(hash) = 32),
    mac   BLOB    NOT NULL CHECK (length(mac) = 32)
) STRICT;

-- Calls whose intent is recorded and whose outcome is not.
CREATE TABLE open_intents (
    call  BLOB    NOT NULL PRIMARY KEY CHECK (length(call) = 16),
    seq   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
