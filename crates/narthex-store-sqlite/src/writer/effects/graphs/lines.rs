//! Lines: made, found, kept.

use narthex_core::{AgentId, CommitId, Digest};
use narthex_store::{GraphDone, LineNo, NewLine, Refused};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{GraphRow, Line, MOST_LAYERS, lineage};
use crate::rows::{bytes32, number};

/// A new line. It costs one row, whatever lies under it.
pub(super) async fn make(
    bench: &mut Bench<'_>,
    graph: &GraphRow,
    new: &NewLine,
) -> Result<Line, Fault> {
    let taken: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM graph_lines WHERE graph = ?1 AND name = ?2 AND dropped = 0)",
    )
    .bind(graph.n)
    .bind(new.name.as_str())
    .fetch_one(&mut *bench.conn)
    .await?;
    if taken {
        return Err(Refused::BranchExists.into());
    }
    let under = lineage(bench.conn, bench.key, graph.n, new.from.0.0).await?;
    let parent = under.first().ok_or(Refused::NotFound("commit"))?;
    let fork = number(new.from.1)?;
    if fork > parent.head {
        return Err(Refused::NotFound("commit").into());
    }
    // One that is forked before its parent's first commit sees what its parent was forked from.
    let from = if fork > 0 { (parent.n, fork) } else { parent.stands_at_fork()? };
    let depth = under.iter().skip_while(|line| line.n != from.0).count();
    if depth >= MOST_LAYERS {
        return Err(Refused::TooDeep { most: MOST_LAYERS }.into());
    }
    let line = Line {
        n: 0,
        graph: graph.n,
        name: new.name.clone(),
        fork: Some(from),
        head: 0,
        owner: new.owner,
        protected: new.protected,
        dropped: false,
        created: new.created,
    };
    add(bench, line).await
}

/// Writes a line that has no number yet.
pub(super) async fn add(bench: &mut Bench<'_>, mut line: Line) -> Result<Line, Fault> {
    let added = sqlx::query(
        "INSERT INTO graph_lines
             (graph, name, parent, fork, head, owner, protected, dropped, created, mac)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, zeroblob(32))",
    )
    .bind(line.graph)
    .bind(line.name.as_str())
    .bind(line.fork.map(|(parent, _)| parent))
    .bind(line.fork.map(|(_, fork)| fork))
    .bind(line.head)
    .bind(line.owner.as_ref().map(AgentId::as_bytes).map(<[u8; 16]>::as_slice))
    .bind(line.protected)
    .bind(line.dropped)
    .bind(line.created.as_millis())
    .execute(&mut *bench.conn)
    .await?;
    line.n = added.last_insert_rowid();
    keep(bench, &line).await?;
    Ok(line)
}

/// Writes what can change in a line, with the MAC over all of it.
pub(super) async fn keep(bench: &mut Bench<'_>, line: &Line) -> Result<(), Fault> {
    sqlx::query(
        "UPDATE graph_lines SET head = ?2, protected = ?3, dropped = ?4, mac = ?5 WHERE n = ?1",
    )
    .bind(line.n)
    .bind(line.head)
    .bind(line.protected)
    .bind(line.dropped)
    .bind(line.mac(bench.key).as_bytes().as_slice())
    .execute(&mut *bench.conn)
    .await?;
    Ok(())
}

/// A branch that is there.
pub(super) async fn named(
    bench: &mut Bench<'_>,
    graph: &GraphRow,
    line: LineNo,
) -> Result<Line, Fault> {
    let line = Line::by_number(bench.conn, bench.key, graph.n, line.0).await?;
    line.filter(|line| !line.dropped).ok_or(Fault::Refused(Refused::NoSuchBranch))
}

/// The same, if it stands at this commit.
pub(super) async fn at(
    bench: &mut Bench<'_>,
    graph: &GraphRow,
    line: LineNo,
    head: u64,
) -> Result<Line, Fault> {
    let line = named(bench, graph, line).await?;
    is_at(&line, head)?;
    Ok(line)
}

/// Whether a branch is there and stands at this commit.
pub(super) fn is_at(line: &Line, head: u64) -> Result<(), Fault> {
    let is = u64::try_from(line.head).map_err(Fault::damaged)?;
    if line.dropped {
        Err(Refused::NoSuchBranch.into())
    } else if is == head {
        Ok(())
    } else {
        Err(Refused::HeadMoved { head: is }.into())
    }
}

/// The commit that a line stands at.
pub(super) async fn stands_at(bench: &mut Bench<'_>, line: &Line) -> Result<CommitId, Fault> {
    let (on, seq) = line.stands_at()?;
    let id: Option<Vec<u8>> =
        sqlx::query_scalar("SELECT id FROM graph_commits WHERE line = ?1 AND seq = ?2")
            .bind(on)
            .bind(seq)
            .fetch_optional(&mut *bench.conn)
            .await?;
    let id = id.as_deref().and_then(bytes32);
    let id = id.ok_or_else(|| Fault::damaged(format!("commit {seq} of line {on} is gone")))?;
    Ok(CommitId::of(Digest::from_bytes(id)))
}

/// What is said of a line after a change.
pub(super) async fn done(bench: &mut Bench<'_>, line: &Line) -> Result<GraphDone, Fault> {
    Ok(GraphDone {
        line: LineNo(line.n),
        seq: u64::try_from(line.head).map_err(Fault::damaged)?,
        commit: Some(stands_at(bench, line).await?),
    })
}
