//! Where a view stands: a branch, a commit or a time becomes a commit and the layers under it.

use narthex_core::{BranchName, CommitId, GraphId, Timestamp};
use narthex_store::{At, Commit, Layer, LineNo, Placed, Refused, RowKey};
use sqlx::{Row as _, SqliteConnection};

use super::commits::commits;
use super::layers::Segment;
use super::lines::{GraphRow, Line, graphs, lines};
use super::{MOST_LAYERS, commits, known_graph};
use crate::fault::Fault;
use crate::rows::Fields;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) placed: Placed,
    /// The graph's short key.
    pub(super) graph: i64,
    /// The layers that have anything.
    pub(super) segments: Vec<Segment>,
}

/// Finds a place. None if there is no such branch or commit, or nothing yet at that time.
pub(super) async fn place(
    conn: &mut SqliteConnection,
    key: &RowKey,
    graph: GraphId,
    at: &At,
) -> Result<Option<Found>, Fault> {
    if let At::Branch(name) = at {
        return head_of(conn, key, graph, name).await;
    }
    let Some(graph) = known_graph(conn, key, graph).await? else { return Ok(None) };
    let start = match at {
        At::Branch(name) | At::Time(name, _) => {
            line_named(conn, graph.n, name).await?.map(|line| (line, None))
        }
        At::Commit(id) => line_of(conn, graph.n, *id).await?.map(|(line, seq)| (line, Some(seq))),
    };
    let Some((start, upto)) = start else { return Ok(None) };
    let lineage = lineage(conn, key, graph.n, start).await?;
    let Some(top) = lineage.first() else { return Ok(None) };
    let mut ends = ends(&lineage, upto);
    if let At::Time(_, time) = at
        && !back_to(conn, &mut ends, *time).await?
    {
        return Ok(None);
    }
    let Some(&(line, seq)) = ends.iter().find(|(_, upto)| *upto > 0) else { return Ok(None) };
    let commit = commits::at(conn, line, seq).await?;
    Ok(Some(found(graph.n, &lineage, top, &ends, commit)?))
}

/// Where a branch stands, in one question: that is what is looked at most.
async fn head_of(
    conn: &mut SqliteConnection,
    key: &RowKey,
    graph: GraphId,
    name: &BranchName,
) -> Result<Option<Found>, Fault> {
    let rows = sqlx::query(HEAD)
        .bind(graph.as_bytes().as_slice())
        .bind(name.as_str())
        .bind(i64::try_from(MOST_LAYERS).unwrap_or(i64::MAX))
        .fetch_all(conn)
        .await?;
    let (mut graph, mut lines, mut commit) = (None, Vec::new(), None);
    for row in &rows {
        if row.try_get_raw("slug").is_ok() {
            graph = Some(GraphRow::read(Fields(row), key)?.n);
        } else if row.try_get_raw("depth").is_ok() {
            lines.push(Line::read(Fields(row), key)?);
        } else {
            commit = Some(commits::read(Fields(row))?);
        }
    }
    whole_lineage(&lines)?;
    let (Some(graph), Some(top)) = (graph, lines.first()) else { return Ok(None) };
    let (line, seq) = top.stands_at()?;
    let gone = || Fault::damaged(format!("commit {seq} of line {line} is gone"));
    let commit = commit.ok_or_else(gone)?;
    Ok(Some(found(graph, &lines, top, &ends(&lines, None), commit)?))
}

fn found(
    graph: i64,
    lineage: &[Line],
    top: &Line,
    ends: &[(i64, i64)],
    commit: Commit,
) -> Result<Found, Fault> {
    let whole = |seq: i64| u64::try_from(seq).map_err(Fault::damaged);
    let layer = |&(line, upto): &(i64, i64)| Ok(Layer { line: LineNo(line), upto: whole(upto)? });
    let heads = lineage.iter().map(|line| line.head);
    Ok(Found {
        placed: Placed {
            commit,
            line: LineNo(top.n),
            head: whole(top.head)?,
            layers: ends.iter().map(layer).collect::<Result<_, Fault>>()?,
        },
        graph,
        segments: ends
            .iter()
            .zip(heads)
            .filter(|((_, upto), _)| *upto > 0)
            .map(|(&(line, upto), head)| Segment { line, upto, at_head: upto == head })
            .collect(),
    })
}

/// A line and those under it, the nearest first.
pub(crate) async fn lineage(
    conn: &mut SqliteConnection,
    key: &RowKey,
    graph: i64,
    line: i64,
) -> Result<Vec<Line>, Fault> {
    let rows = sqlx::query(LINEAGE)
        .bind(line)
        .bind(graph)
        .bind(i64::try_from(MOST_LAYERS).unwrap_or(i64::MAX))
        .fetch_all(conn)
        .await?;
    let lines: Vec<Line> =
        rows.iter().map(|row| Line::read(Fields(row), key)).collect::<Result<_, _>>()?;
    whole_lineage(&lines)?;
    Ok(lines)
}

/// The last one was forked from nothing.
fn whole_lineage(lines: &[Line]) -> Result<(), Fault> {
    match lines.last() {
        Some(last) if last.fork.is_some() && lines.len() >= MOST_LAYERS => {
            Err(Refused::TooDeep { most: MOST_LAYERS }.into())
        }
        Some(last) if last.fork.is_some() => Err(Fault::damaged("a line has lost its parent")),
        _ => Ok(()),
    }
}

/// Each line with the last of its commits that counts.
fn ends(lineage: &[Line], upto: Option<i64>) -> Vec<(i64, i64)> {
    let mut end = upto;
    let mut ends = Vec::with_capacity(lineage.len());
    for line in lineage {
        ends.push((line.n, end.unwrap_or(line.head)));
        end = line.fork.map(|(_, fork)| fork);
    }
    ends
}

/// Sets ends back to a time: to the last commit, in their order, that was not made after it. A
/// clock may have been set back, and a later moment never shows less than an earlier one. False if
/// there was nothing yet.
async fn back_to(
    conn: &mut SqliteConnection,
    ends: &mut [(i64, i64)],
    time: Timestamp,
) -> Result<bool, Fault> {
    for (line, upto) in ends {
        let last: Option<i64> = sqlx::query_scalar(
            "SELECT max(seq) FROM graph_commits INDEXED BY graph_commits_timed
              WHERE line = ?1 AND at <= ?2 AND seq <= ?3",
        )
        .bind(*line)
        .bind(time.as_millis())
        .bind(*upto)
        .fetch_one(&mut *conn)
        .await?;
        *upto = last.unwrap_or_default();
        if last.is_some() {
            // What lies under it was there before it.
            return Ok(true);
        }
    }
    Ok(false)
}

async fn line_named(
    conn: &mut SqliteConnection,
    graph: i64,
    name: &BranchName,
) -> Result<Option<i64>, Fault> {
    Ok(sqlx::query_scalar(
        "SELECT n FROM graph_lines WHERE graph = ?1 AND name = ?2 AND dropped = 0",
    )
    .bind(graph)
    .bind(name.as_str())
    .fetch_optional(conn)
    .await?)
}

async fn line_of(
    conn: &mut SqliteConnection,
    graph: i64,
    id: CommitId,
) -> Result<Option<(i64, i64)>, Fault> {
    Ok(sqlx::query_as(
        "SELECT c.line, c.seq FROM graph_commits c CROSS JOIN graph_lines l ON l.n = c.line
          WHERE c.id = ?2 AND l.graph = ?1 ORDER BY c.line, c.seq LIMIT 1",
    )
    .bind(graph)
    .bind(id.digest().as_bytes().as_slice())
    .fetch_optional(conn)
    .await?)
}

const LINEAGE: &str = lines!(
    "WITH RECURSIVE up (n, depth) AS (
         VALUES (?1, 1)
         UNION ALL
         SELECT l.parent, up.depth + 1 FROM up CROSS JOIN graph_lines l ON l.n = up.n
          WHERE l.parent IS NOT NULL AND up.depth < ?3)
     ",
    "",
    "up CROSS JOIN graph_lines l ON l.n = up.n WHERE l.graph = ?2 ORDER BY up.depth"
);

/// `?1` is the graph, `?2` the branch, `?3` how many lines: the graph, the lines from the branch on
/// down, the commit it stands at.
const HEAD: &str = concat!(
    graphs!("WHERE g.id = ?1"),
    ";",
    lines!(
        "WITH RECURSIVE up (n, depth) AS (
             SELECT l.n, 1 FROM graphs g CROSS JOIN graph_lines l
                 ON l.graph = g.n AND l.name = ?2 AND l.dropped = 0 WHERE g.id = ?1
             UNION ALL
             SELECT l.parent, up.depth + 1 FROM up CROSS JOIN graph_lines l ON l.n = up.n
              WHERE l.parent IS NOT NULL AND up.depth < ?3)
         ",
        ", up.depth",
        "up CROSS JOIN graph_lines l ON l.n = up.n
                                    AND l.graph = (SELECT n FROM graphs WHERE id = ?1)
          ORDER BY up.depth"
    ),
    ";",
    commits!(
        "graphs g CROSS JOIN graph_lines l
             ON l.graph = g.n AND l.name = ?2 AND l.dropped = 0
           CROSS JOIN graph_commits c
             ON c.line = CASE WHEN l.head > 0 THEN l.n ELSE l.parent END
            AND c.seq = CASE WHEN l.head > 0 THEN l.head ELSE l.fork END
          WHERE g.id = ?1"
    )
);
