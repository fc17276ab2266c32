-- What a commit wrote, where that is much: sixteen bytes a row, its tag and its number. A table in
-- which each row lies apart from its key: where the key and all else are one, as among the commits,
-- whoever looks for a key reads whole rows on the way, megabytes of them after a large load.

CREATE TABLE graph_touched (
    n     INTEGER PRIMARY KEY,
    line  INTEGER NOT NULL REFERENCES graph_lines (n),
    seq   INTEGER NOT NULL,
    rows  BLOB    NOT NULL CHECK (length(rows) % 16 = 0)
) STRICT;

CREATE INDEX graph_touched_by ON graph_touched (line, seq);

INSERT INTO graph_touched (line, seq, rows)
SELECT line, seq, touched FROM graph_commits WHERE length(touched) > 512;

UPDATE graph_commits SET touched = x'' WHERE length(touched) > 512;
