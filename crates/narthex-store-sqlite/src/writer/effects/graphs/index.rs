//! What the indexes of a line have.

use std::collections::HashSet;

use narthex_store::{IndexBuild, RowWrite};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::bulk::{Bulk, Values};
use super::commit::Onto;
use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{Line, key, lineage};

/// An entry: index, value, row, type of the row.
type Entry = (i64, Vec<u8>, i64, i64);

/// Takes away what an index that comes into being may have had before: one of its name was there
/// once, and was not kept up since.
pub(super) async fn clear(
    conn: &mut SqliteConnection,
    onto: Onto,
    builds: &[IndexBuild],
) -> Result<(), Fault> {
    for build in builds {
        let fts = |name: &str, texts: &str| {
            format!(
                "DELETE FROM {name}_{0} WHERE rowid IN
                     (SELECT n FROM {texts} WHERE line = ?1 AND tag = ?2{1});
                 DELETE FROM {texts} WHERE line = ?1 AND tag = ?2{1};",
                onto.graph,
                if texts == "graph_texts" { " AND of = ?3" } else { "" },
            )
        };
        let sql = format!(
            "DELETE FROM graph_index WHERE line = ?1 AND tag = ?2;
             DELETE FROM graph_index_old WHERE line = ?1 AND tag = ?2; {}{}",
            fts("graph_fts", "graph_texts"),
            fts("graph_fts_old", "graph_texts_old"),
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(onto.line)
            .bind(build.index.0)
            .bind(build.of.0)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

/// What goes and what comes, over as many rows as are held at once. What goes and comes of one row
/// is held together, and no row is written twice, so that no run of them depends on another.
#[derive(Debug, Default)]
pub(super) struct Entries {
    gone: Vec<Entry>,
    new: Vec<Entry>,
    /// Of their values.
    bytes: usize,
}

impl Entries {
    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        (self.gone.len() + self.new.len()) * size_of::<Entry>() + self.bytes
    }

    /// What some rows had and have.
    pub(super) fn add(&mut self, writes: &[RowWrite]) {
        let mut bytes = 0;
        for write in writes {
            let mut entry = |(index, value): &(narthex_store::Tag, serde_json::Value)| {
                let value = key(value);
                bytes += value.len();
                (index.0, value, write.row.0, write.tag.0)
            };
            if write.unindex.is_empty() {
                self.new.extend(write.index.iter().map(&mut entry));
                continue;
            }
            // What is the same before and after stays where it is.
            let was: HashSet<Entry> = write.unindex.iter().map(&mut entry).collect();
            let is: HashSet<Entry> = write.index.iter().map(&mut entry).collect();
            self.gone.extend(was.difference(&is).cloned());
            self.new.extend(is.difference(&was).cloned());
        }
        self.bytes += bytes;
    }

    /// What indexes have that come into being.
    pub(super) fn build(&mut self, builds: &[IndexBuild]) {
        for build in builds {
            let (index, of) = (build.index.0, build.of.0);
            let entries = build.entries.iter();
            self.new.extend(entries.map(|(row, value)| (index, key(value), row.0, of)));
        }
    }

    /// Moves what is no longer so to what was, and adds what is new.
    pub(super) async fn write(
        &mut self,
        conn: &mut SqliteConnection,
        onto: Onto,
    ) -> Result<(), Fault> {
        self.gone.sort_unstable();
        self.gone.dedup();
        superseded(onto).run(conn, self.gone.iter(), put_name).await?;
        taken_out(onto).run(conn, self.gone.iter(), put_name).await?;
        self.new.sort_unstable();
        self.new.dedup();
        let put = |entry: &Entry, values: &mut Values<'_>| {
            put_name(entry, values)?;
            values.add(entry.3)
        };
        added(onto).run(conn, self.new.iter(), put).await?;
        self.gone.clear();
        self.new.clear();
        self.bytes = 0;
        Ok(())
    }
}

fn put_name((index, value, row, _): &Entry, values: &mut Values<'_>) -> Result<(), Fault> {
    values.add(*index)?;
    values.add(value.as_slice())?;
    values.add(*row)
}

/// Notes since when an index is there, and whether anything lies under it that it has not.
pub(super) async fn note(
    bench: &mut Bench<'_>,
    onto: Onto,
    line: &Line,
    builds: &[IndexBuild],
) -> Result<(), Fault> {
    if builds.is_empty() {
        return Ok(());
    }
    let under: Vec<(i64, i64)> = lineage(bench.conn, bench.key, onto.graph, line.n)
        .await?
        .iter()
        .filter_map(|line| line.fork)
        .collect();
    for build in builds {
        let mut alone = true;
        for (below, upto) in &under {
            let any: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT 1 FROM graph_rows
                                 WHERE line = ?1 AND tag = ?2 AND seq <= ?3)
                     OR EXISTS (SELECT 1 FROM graph_history INDEXED BY graph_history_until
                                 WHERE line = ?1 AND tag = ?2 AND seq <= ?3)",
            )
            .bind(below)
            .bind(build.of.0)
            .bind(upto)
            .fetch_one(&mut *bench.conn)
            .await?;
            alone &= !any;
        }
        sqlx::query(
            "INSERT INTO graph_indexes (line, tag, seq, alone) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (line, tag) DO UPDATE SET seq = excluded.seq, alone = excluded.alone",
        )
        .bind(onto.line)
        .bind(build.index.0)
        .bind(onto.seq)
        .bind(alone)
        .execute(&mut *bench.conn)
        .await?;
    }
    Ok(())
}

fn superseded(onto: Onto) -> Bulk {
    Bulk {
        before: "INSERT INTO graph_index_old (line, tag, value, until, row, of, seq)
                 SELECT g.line, g.tag, g.value, ?, g.row, g.of, g.seq FROM",
        columns: 3,
        after: "v CROSS JOIN graph_index g ON g.line = ? AND g.tag = v.column1
                     AND g.value = v.column2 AND g.row = v.column3",
        first: vec![onto.seq],
        last: vec![onto.line],
    }
}

fn taken_out(onto: Onto) -> Bulk {
    Bulk {
        before: "DELETE FROM graph_index WHERE (line, tag, value, row) IN
                     (SELECT ?, column1, column2, column3 FROM",
        columns: 3,
        after: ")",
        first: vec![onto.line],
        last: Vec::new(),
    }
}

fn added(onto: Onto) -> Bulk {
    Bulk {
        before: "INSERT INTO graph_index (line, seq, tag, value, row, of)
                 SELECT ?, ?, column1, column2, column3, column4 FROM",
        columns: 4,
        after: "WHERE true ON CONFLICT (line, tag, value, row) DO NOTHING",
        first: vec![onto.line, onto.seq],
        last: Vec::new(),
    }
}
