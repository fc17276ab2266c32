//! A commit with its rows, onto the head it was made for.

use std::collections::HashSet;

use narthex_core::{CommitId, Digest};
use narthex_store::{
    Commit, GraphCommit, GraphDone, IndexBuild, LineNo, Refused, RowNo, RowWrite, RowWrites, Tag,
};
use sqlx::SqliteConnection;

use super::ahead::Ahead;
use super::pending::Pending;
use super::{index, lines, rows, texts};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{GraphRow, Line, Wire, kind_word};
use crate::rows::number;

/// Where rows are written: the line, the commit that writes them, and whether there may be anything
/// of theirs on the line already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Onto {
    pub(super) graph: i64,
    pub(super) line: i64,
    pub(super) seq: i64,
    pub(super) fresh: bool,
}

pub(super) async fn commit(
    bench: &mut Bench<'_>,
    graph: &GraphRow,
    change: GraphCommit,
) -> Result<GraphDone, Fault> {
    let GraphCommit { new_line, head, commit, schema, rows: writes, builds, .. } = change;
    if new_line.is_some() && head > 0 {
        return Err(Refused::UnfitCommit("a new branch has no commits yet").into());
    }
    let made = match &new_line {
        Some(new) => lines::make(bench, graph, new).await?.n,
        None => commit.line.0,
    };
    let of = (graph.n, made);
    let standing = Line::standing(bench.conn, bench.key, of, commit.schema).await?;
    let (mut line, on, known) = standing.ok_or(Refused::NoSuchBranch)?;
    lines::is_at(&line, head)?;
    let commit = fitted(commit, &line, new_line.is_some(), &[on])?;
    match &schema {
        Some(schema) => keep_schema(bench.conn, graph.n, commit.schema, schema).await?,
        None if known => {}
        None => return Err(Refused::UnfitCommit("its schema is not known").into()),
    }
    let onto =
        Onto { graph: graph.n, line: line.n, seq: number(commit.seq)?, fresh: line.head == 0 };
    index::clear(bench.conn, onto, &builds).await?;
    let mut pending = Pending::of(MOST_PENDING);
    let touched = all(bench.conn, onto, writes, &builds, &mut pending).await?;
    index::note(bench, onto, &line, &builds).await?;
    line.head = onto.seq;
    record(bench, &line, &commit, touched).await?;
    Ok(GraphDone { line: LineNo(line.n), seq: commit.seq, commit: Some(commit.id) })
}

/// The commit as it is stored, if it fits onto a line. What it was made on is given, where there is
/// anything.
pub(super) fn fitted(
    mut commit: Commit,
    line: &Line,
    new: bool,
    on: &[CommitId],
) -> Result<Commit, Fault> {
    let unfit = |why| Err(Fault::Refused(Refused::UnfitCommit(why)));
    if new {
        commit.line = LineNo(line.n);
        if let Some(upto) = commit.seen.remove(&LineNo(0)) {
            commit.seen.insert(commit.line, upto);
        }
    }
    if number(commit.seq)? != line.head + 1 {
        return unfit("its number is not the next on its branch");
    }
    if commit.seen.get(&commit.line) != Some(&commit.seq) {
        return unfit("it does not say that it has seen itself");
    }
    if commit.parents.first() != on.first() {
        return unfit("it was made on another commit than the branch stands at");
    }
    Ok(commit)
}

/// Keeps the text of a schema.
pub(super) async fn keep_schema(
    conn: &mut SqliteConnection,
    graph: i64,
    digest: Digest,
    text: &str,
) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO graph_schemas (graph, digest, text) VALUES (?1, ?2, ?3)
         ON CONFLICT (graph, digest) DO NOTHING",
    )
    .bind(graph)
    .bind(digest.as_bytes().as_slice())
    .bind(text)
    .execute(conn)
    .await?;
    Ok(())
}

/// Writes the commit itself, and that its line stands at it.
pub(super) async fn record(
    bench: &mut Bench<'_>,
    line: &Line,
    commit: &Commit,
    touched: Vec<u8>,
) -> Result<(), Fault> {
    let wire = Wire::of(commit)?;
    sqlx::query(
        "INSERT INTO graph_commits
             (line, seq, id, parents, seen, schema, kind, actor, taint_private, taint_untrusted,
              at, rows, message, touched)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14);
         UPDATE graph_lines SET head = ?2, mac = ?15 WHERE n = ?1",
    )
    .bind(commit.line.0)
    .bind(number(commit.seq)?)
    .bind(commit.id.digest().as_bytes().as_slice())
    .bind(wire.parents)
    .bind(wire.seen)
    .bind(commit.schema.as_bytes().as_slice())
    .bind(kind_word(commit.kind))
    .bind(wire.actor)
    .bind(commit.taint.private)
    .bind(commit.taint.untrusted)
    .bind(commit.at.as_millis())
    .bind(number(commit.rows)?)
    .bind(commit.message.as_str())
    .bind(touched)
    .bind(line.mac(bench.key).as_bytes().as_slice())
    .execute(&mut *bench.conn)
    .await?;
    Ok(())
}

/// Writes all rows, a page at a time, and what indexes have of them. Says what was touched, as far as
/// that is so little that it goes with the commit.
pub(super) async fn all(
    conn: &mut SqliteConnection,
    onto: Onto,
    writes: RowWrites,
    builds: &[IndexBuild],
    pending: &mut Pending,
) -> Result<Vec<u8>, Fault> {
    let mut touched = Touched::default();
    // Only what is listed, on one page, comes with indexes that are built.
    let mut builds_left = builds;
    let mut pages = Ahead::of(writes);
    while let Some(page) = pages.next().await? {
        touched.add(&page)?;
        touched.put_aside(conn, onto).await?;
        rows::supersede(conn, onto, &page).await?;
        texts::write(conn, onto, &page, std::mem::take(&mut builds_left)).await?;
        pending.entries.add(&page);
        rows::write(conn, onto, page, &mut pending.ends).await?;
        pending.write_if_much(conn, onto).await?;
    }
    pending.entries.build(builds);
    pending.write(conn, onto).await?;
    Ok(touched.bytes)
}

/// Which rows were written: those of a type one after the other, each once. Sixteen bytes a row, its
/// tag and its number.
#[derive(Debug, Default)]
struct Touched {
    bytes: Vec<u8>,
    tags: HashSet<Tag>,
    last: Option<(Tag, RowNo)>,
}

impl Touched {
    /// What is much does not go with the commit, which is looked at often.
    async fn put_aside(&mut self, conn: &mut SqliteConnection, onto: Onto) -> Result<(), Fault> {
        if self.bytes.len() <= MOST_TOUCHED {
            return Ok(());
        }
        for some in self.bytes.chunks(MOST_ASIDE) {
            sqlx::query("INSERT INTO graph_touched (line, seq, rows) VALUES (?1, ?2, ?3)")
                .bind(onto.line)
                .bind(onto.seq)
                .bind(some)
                .execute(&mut *conn)
                .await?;
        }
        self.bytes.clear();
        Ok(())
    }

    fn add(&mut self, page: &[RowWrite]) -> Result<(), Fault> {
        self.bytes.reserve(page.len().saturating_mul(16));
        for write in page {
            let is_next = match self.last {
                Some((tag, row)) if tag == write.tag => row < write.row,
                _ => self.tags.insert(write.tag),
            };
            if !is_next {
                return Err(Refused::UnfitCommit("it writes a row twice").into());
            }
            self.last = Some((write.tag, write.row));
            self.bytes.extend(write.tag.0.to_be_bytes());
            self.bytes.extend(write.row.0.to_be_bytes());
        }
        Ok(())
    }
}

/// Bytes of what was touched that go with the commit itself.
const MOST_TOUCHED: usize = 512;
/// And that are put aside in one row.
const MOST_ASIDE: usize = 64 * 1024;
/// Bytes that are held back to be sorted, and then one page of rows more. Some hundred thousand rows
/// are one run: a table that is filled in its order is filled most quickly.
const MOST_PENDING: usize = 16 * 1024 * 1024;
