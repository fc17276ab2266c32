-- Graphs. A line is a branch (or was one); it holds the rows that were written on it and nothing
-- else. `seq` is the commit of the line that wrote a version, `until` the one that superseded it.
-- `tag` is the number of a type or of an index, `row` that of a node or an edge.
--
-- What is current lies apart from what was superseded, so that a branch that looks only at itself
-- does not become slower with its history. The full-text indexes of a graph, `graph_fts_<n>` and
-- `graph_fts_old_<n>`, are made together with the graph.

CREATE TABLE graphs (
    n        INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    space    INTEGER NOT NULL REFERENCES spaces (n),
    slug     TEXT    NOT NULL UNIQUE,
    salt     BLOB    NOT NULL CHECK (length(salt) = 16),
    created  INTEGER NOT NULL,
    mac      BLOB    NOT NULL CHECK (length(mac) = 32)
) STRICT;

CREATE INDEX graphs_of_space ON graphs (space, slug);

-- A dropped line keeps its rows: others were forked or merged from it.
CREATE TABLE graph_lines (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,
    graph      INTEGER NOT NULL REFERENCES graphs (n),
    name       TEXT    NOT NULL,
    parent     INTEGER REFERENCES graph_lines (n),
    fork       INTEGER CHECK (fork > 0),
    head       INTEGER NOT NULL CHECK (head >= 0),
    owner      BLOB    CHECK (length(owner) = 16),
    protected  INTEGER NOT NULL CHECK (protected IN (0, 1)),
    dropped    INTEGER NOT NULL CHECK (dropped IN (0, 1)),
    created    INTEGER NOT NULL,
    mac        BLOB    NOT NULL CHECK (length(mac) = 32),
    CHECK ((parent IS NULL) = (fork IS NULL))
) STRICT;

CREATE UNIQUE INDEX graph_lines_named ON graph_lines (graph, name) WHERE dropped = 0;
CREATE INDEX graph_lines_of ON graph_lines (graph);
CREATE INDEX graph_lines_under ON graph_lines (parent);

-- `touched` is what it wrote: sixteen bytes a row, its tag and its number.
CREATE TABLE graph_commits (
    line             INTEGER NOT NULL REFERENCES graph_lines (n),
    seq              INTEGER NOT NULL CHECK (seq > 0),
    id               BLOB    NOT NULL CHECK (length(id) = 32),
    parents          BLOB    NOT NULL CHECK (length(parents) % 32 = 0),
    seen             TEXT    NOT NULL,
    schema           BLOB    NOT NULL CHECK (length(schema) = 32),
    kind             TEXT    NOT NULL
                     CHECK (kind IN ('init', 'mutate', 'load', 'merge', 'schema', 'revert')),
    actor            TEXT    NOT NULL,
    taint_private    INTEGER NOT NULL CHECK (taint_private IN (0, 1)),
    taint_untrusted  INTEGER NOT NULL CHECK (taint_untrusted IN (0, 1)),
    at               INTEGER NOT NULL,
    rows             INTEGER NOT NULL CHECK (rows >= 0),
    message          TEXT    NOT NULL,
    touched          BLOB    NOT NULL CHECK (length(touched) % 16 = 0),
    PRIMARY KEY (line, seq)
) STRICT, WITHOUT ROWID;

-- The same change on two lines may be the same commit.
CREATE INDEX graph_commits_named ON graph_commits (id);
CREATE INDEX graph_commits_timed ON graph_commits (line, at, seq);

CREATE TABLE graph_schemas (
    graph   INTEGER NOT NULL REFERENCES graphs (n),
    digest  BLOB    NOT NULL CHECK (length(digest) = 32),
    text    TEXT    NOT NULL,
    PRIMARY KEY (graph, digest)
) STRICT, WITHOUT ROWID;

-- The version that each line has of each row it wrote. One that is gone has no body.
CREATE TABLE graph_rows (
    line  INTEGER NOT NULL,
    tag   INTEGER NOT NULL,
    row   INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    a     INTEGER,
    b     INTEGER,
    body  TEXT,
    PRIMARY KEY (line, tag, row)
) STRICT, WITHOUT ROWID;

-- The edges among them that are there, by both ends. Tables and not indexes, because a load can
-- fill each in its own order, in half the time.
CREATE TABLE graph_from (
    line  INTEGER NOT NULL,
    tag   INTEGER NOT NULL,
    a     INTEGER NOT NULL,
    b     INTEGER NOT NULL,
    row   INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (line, tag, a, b, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph_to (
    line  INTEGER NOT NULL,
    tag   INTEGER NOT NULL,
    a     INTEGER NOT NULL,
    b     INTEGER NOT NULL,
    row   INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (line, tag, b, a, row)
) STRICT, WITHOUT ROWID;

-- Versions that were superseded.
CREATE TABLE graph_history (
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    row    INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    a      INTEGER,
    b      INTEGER,
    body   TEXT,
    PRIMARY KEY (line, tag, row, until)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_history_until ON graph_history (line, tag, until, seq);
CREATE INDEX graph_history_from ON graph_history (line, tag, a, until, seq, b) WHERE a IS NOT NULL;
CREATE INDEX graph_history_to ON graph_history (line, tag, b, until, seq, a) WHERE b IS NOT NULL;

-- Values are bytes that compare as the values do. `of` is the type of the row.
CREATE TABLE graph_index (
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    value  BLOB    NOT NULL,
    row    INTEGER NOT NULL,
    of     INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (line, tag, value, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph_index_old (
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    value  BLOB    NOT NULL,
    until  INTEGER NOT NULL,
    row    INTEGER NOT NULL,
    of     INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (line, tag, value, until, row)
) STRICT, WITHOUT ROWID;

-- Indexes that came into being after their line did, and with which commit. `alone`: no rows of
-- that type lie under the line.
CREATE TABLE graph_indexes (
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    alone  INTEGER NOT NULL CHECK (alone IN (0, 1)),
    PRIMARY KEY (line, tag)
) STRICT, WITHOUT ROWID;

-- Texts that are searched; `n` is their number in the full-text indexes. A contentless index
-- cannot tell what was put into it, and a text that is superseded moves from one to the other.
CREATE TABLE graph_texts (
    n      INTEGER PRIMARY KEY AUTOINCREMENT,
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    row    INTEGER NOT NULL,
    of     INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    words  TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX graph_texts_of ON graph_texts (line, of, row, tag);

CREATE TABLE graph_texts_old (
    n      INTEGER PRIMARY KEY,
    line   INTEGER NOT NULL,
    tag    INTEGER NOT NULL,
    row    INTEGER NOT NULL,
    of     INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    until  INTEGER NOT NULL
) STRICT;

CREATE INDEX graph_texts_old_of ON graph_texts_old (line, tag);
