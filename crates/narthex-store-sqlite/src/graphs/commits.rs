//! Commits as they lie there.

use narthex_core::{CommitId, Digest, GraphId, Taint, Timestamp};
use narthex_store::{Commit, CommitKind, Layer, LineNo, Refused, Seen};
use sqlx::SqliteConnection;

use crate::fault::Fault;
use crate::rows::{Fields, number};

/// What of a commit is stored in another shape than it has.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) parents: Vec<u8>,
    pub(crate) seen: String,
    pub(crate) actor: String,
}

impl Wire {
    pub(crate) fn of(commit: &Commit) -> Result<Self, Fault> {
        let parents = commit.parents.iter().flat_map(|parent| *parent.digest().as_bytes());
        let seen: Vec<(i64, u64)> =
            commit.seen.iter().map(|(line, upto)| (line.0, *upto)).collect();
        Ok(Self {
            parents: parents.collect(),
            seen: serde_json::to_string(&seen).map_err(Fault::damaged)?,
            actor: serde_json::to_string(&commit.actor).map_err(Fault::damaged)?,
        })
    }
}

/// The word for a kind.
pub(crate) const fn kind_word(kind: CommitKind) -> &'static str {
    match kind {
        CommitKind::Init => "init",
        CommitKind::Mutate => "mutate",
        CommitKind::Load => "load",
        CommitKind::Merge => "merge",
        CommitKind::Schema => "schema",
        CommitKind::Revert => "revert",
    }
}

/// A commit of a graph.
pub(crate) async fn named(
    conn: &mut SqliteConnection,
    graph: GraphId,
    id: CommitId,
) -> Result<Option<Commit>, Fault> {
    let row = sqlx::query(COMMIT_BY_ID)
        .bind(graph.as_bytes().as_slice())
        .bind(id.digest().as_bytes().as_slice())
        .fetch_optional(conn)
        .await?;
    row.map(|row| read(Fields(&row))).transpose()
}

/// A commit that must be there.
pub(super) async fn at(conn: &mut SqliteConnection, line: i64, seq: i64) -> Result<Commit, Fault> {
    let row = sqlx::query(COMMIT_AT).bind(line).bind(seq).fetch_optional(conn).await?;
    let row = row.ok_or_else(|| Fault::damaged(format!("commit {seq} of line {line} is gone")))?;
    read(Fields(&row))
}

/// Commits of these layers, newest first, from before one of them on.
pub(super) async fn of(
    conn: &mut SqliteConnection,
    graph: GraphId,
    layers: &[Layer],
    before: Option<CommitId>,
    limit: u32,
) -> Result<Vec<Commit>, Fault> {
    let mut layers = layers.to_vec();
    if let Some(before) = before {
        let not_there = || Fault::Refused(Refused::NotFound("commit"));
        let commit = named(conn, graph, before).await?.ok_or_else(not_there)?;
        let on = |layer: &Layer| layer.line == commit.line && layer.upto >= commit.seq;
        let place = layers.iter().position(on).ok_or_else(not_there)?;
        layers.drain(..place);
        if let Some(first) = layers.first_mut() {
            first.upto = commit.seq.saturating_sub(1);
        }
    }
    let mut commits = Vec::new();
    let limit = usize::try_from(limit.min(MOST_COMMITS)).unwrap_or_default();
    for layer in layers {
        let left = limit.saturating_sub(commits.len());
        if left == 0 {
            break;
        }
        let rows = sqlx::query(COMMITS_DOWN)
            .bind(layer.line.0)
            .bind(number(layer.upto)?)
            .bind(i64::try_from(left).unwrap_or(i64::MAX))
            .fetch_all(&mut *conn)
            .await?;
        for row in &rows {
            commits.push(read(Fields(row))?);
        }
    }
    Ok(commits)
}

/// What a commit had seen, read from its column.
pub(super) fn seen(text: &str) -> Result<Seen, Fault> {
    let pairs: Vec<(i64, u64)> = serde_json::from_str(text).map_err(Fault::damaged)?;
    Ok(pairs.into_iter().map(|(line, upto)| (LineNo(line), upto)).collect())
}

/// A commit whose parts fit each other: its digest is `narthex-graph`'s to make and to check.
pub(super) fn read(row: Fields<'_>) -> Result<Commit, Fault> {
    let bad = |what: &str| Fault::damaged(format!("a commit of a graph: {what}"));
    let whole =
        |column: &str| u64::try_from(row.get::<i64>(column)?).map_err(|_| Fault::damaged(column));
    let kind: &str = row.get("kind")?;
    let commit = Commit {
        id: CommitId::of(row.digest("id")?),
        line: LineNo(row.get("line")?),
        seq: whole("seq")?,
        parents: parents(row.get("parents")?),
        seen: seen(row.get("seen")?)?,
        schema: row.digest("schema")?,
        kind: KINDS.into_iter().find(|known| kind_word(*known) == kind).ok_or_else(|| bad(kind))?,
        actor: row.json("actor")?,
        taint: Taint {
            private: row.flag("taint_private")?,
            untrusted: row.flag("taint_untrusted")?,
        },
        message: row.get("message")?,
        at: Timestamp::from_millis(row.get("at")?),
        rows: whole("rows")?,
    };
    if commit.seen.get(&commit.line) != Some(&commit.seq) {
        return Err(bad("it has not seen itself"));
    }
    if commit.parents.is_empty() != (commit.kind == CommitKind::Init) {
        return Err(bad("only the first has no parents"));
    }
    Ok(commit)
}

fn parents(bytes: &[u8]) -> Vec<CommitId> {
    let (digests, _) = bytes.as_chunks::<32>();
    digests.iter().map(|bytes| CommitId::of(Digest::from_bytes(*bytes))).collect()
}

const KINDS: [CommitKind; 6] = [
    CommitKind::Init,
    CommitKind::Mutate,
    CommitKind::Load,
    CommitKind::Merge,
    CommitKind::Schema,
    CommitKind::Revert,
];

/// In one answer.
const MOST_COMMITS: u32 = 1_000;

macro_rules! commits {
    ($rest:literal) => {
        concat!(
            "SELECT c.line, c.seq, c.id, c.parents, c.seen, c.schema, c.kind, c.actor,
                    c.taint_private, c.taint_untrusted, c.at, c.rows, c.message FROM ",
            $rest
        )
    };
}

pub(super) use commits;

const COMMIT_BY_ID: &str = commits!(
    "graph_commits c CROSS JOIN graph_lines l ON l.n = c.line CROSS JOIN graphs g ON g.n = l.graph
      WHERE c.id = ?2 AND g.id = ?1 ORDER BY c.line, c.seq LIMIT 1"
);
const COMMIT_AT: &str = commits!("graph_commits c WHERE c.line = ?1 AND c.seq = ?2");
const COMMITS_DOWN: &str =
    commits!("graph_commits c WHERE c.line = ?1 AND c.seq <= ?2 ORDER BY c.seq DESC LIMIT ?3");
