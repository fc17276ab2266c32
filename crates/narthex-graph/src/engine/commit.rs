//! Changes become a commit.

use std::sync::Arc;

use narthex_core::{BranchName, Digest, Taint};
use narthex_store::{
    Commit, CommitKind, GraphCommit, GraphInfo, GraphWrite, IndexBuild, LineNo, NewLine, Placed,
    RowSource, RowWrite, RowWrites,
};

use super::{BranchHold, Done, Engine, GraphError, Maker, Prepared};
use crate::exec::indexing::row_writes;
use crate::exec::{Changes, Counts, RowKind};
use crate::history::{ChangedRow, CommitParts, commit_id};
use crate::merge::RowChange;
use crate::schema::Schema;

/// What is to be committed.
pub(super) struct Draft<'a> {
    pub(super) graph: &'a GraphInfo,
    pub(super) branch: &'a BranchName,
    /// Where the branch stands.
    pub(super) placed: &'a Placed,
    /// The branch is made first.
    pub(super) new_line: Option<NewLine>,
    pub(super) kind: CommitKind,
    pub(super) maker: &'a Maker,
    pub(super) message: &'a str,
    /// The schema the rows are under now, and the one they will be under.
    pub(super) old: &'a Schema,
    pub(super) schema: &'a Schema,
    pub(super) content: Content<'a>,
    /// Of a merge, what comes in.
    pub(super) theirs: Option<&'a Commit>,
    pub(super) builds: Vec<IndexBuild>,
}

/// The rows of a commit.
pub(super) enum Content<'a> {
    /// In memory.
    Changes {
        changes: &'a Changes,
        /// Rows of a merge whose types are gone: written too, and in no index.
        untyped: &'a [RowChange],
    },
    /// Put aside, ready to be written.
    Ready(Ready),
}

/// Rows that are ready to be written.
pub(super) struct Ready {
    pub(super) rows: Arc<dyn RowSource>,
    /// Over what changes, as the commit's name has it.
    pub(super) digest: Digest,
    pub(super) counts: Counts,
}

impl Content<'_> {
    fn counts(&self) -> Counts {
        match self {
            Self::Changes { changes, .. } => changes.counts(),
            Self::Ready(ready) => ready.counts,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Changes { changes, .. } => changes.is_empty(),
            Self::Ready(ready) => ready.rows.count() == 0,
        }
    }
}

impl Engine {
    /// A commit of these changes. Of none, nothing, unless it says more than its rows.
    pub(super) fn prepare(
        &self,
        draft: Draft<'_>,
        hold: BranchHold,
    ) -> Result<Prepared, GraphError> {
        let branch = draft.branch.clone();
        let counts = draft.content.counts();
        let more = matches!(draft.kind, CommitKind::Merge | CommitKind::Schema);
        if draft.content.is_empty() && !more && draft.new_line.is_none() {
            let commit = Some(draft.placed.commit.id);
            let done = Done { branch, commit, committed: false, counts };
            return Ok(Prepared { write: None, done, hold: Some(hold) });
        }
        let commit = self.commit_of(draft)?;
        let done = Done { branch, commit: Some(commit.commit.id), committed: true, counts };
        let write = Some(GraphWrite::Commit(commit));
        Ok(Prepared { write, done, hold: Some(hold) })
    }

    fn commit_of(&self, draft: Draft<'_>) -> Result<GraphCommit, GraphError> {
        let placed = draft.placed;
        let line = line_of(placed, draft.new_line.as_ref());
        let head = if draft.new_line.is_some() { 0 } else { placed.head };
        let mut parents = vec![placed.commit.id];
        let mut seen = placed.commit.seen.clone();
        let mut taint = history_taint(draft.maker, &placed.commit);
        if let Some(theirs) = draft.theirs {
            parents.push(theirs.id);
            taint.untrusted |= theirs.taint.untrusted;
            for (line, upto) in &theirs.seen {
                let known = seen.entry(*line).or_default();
                *known = (*known).max(*upto);
            }
        }
        seen.insert(line, head + 1);
        let at = self.now();
        let message: String =
            draft.message.chars().take(narthex_core::Bound::MESSAGE_CHARS).collect();
        // Mostly it is the one that the branch has.
        let same = std::ptr::eq(draft.old, draft.schema);
        let schema = if same { placed.commit.schema } else { draft.schema.digest() };
        let parts = CommitParts {
            parents: &parents,
            branch: draft.branch.as_str(),
            schema,
            kind: draft.kind,
            actor: &draft.maker.actor,
            taint,
            message: &message,
            at,
        };
        let (id, rows) = match draft.content {
            Content::Ready(ready) => (parts.name(ready.digest), RowWrites::Source(ready.rows)),
            Content::Changes { changes, untyped } => {
                let mut changed = changed_rows(draft.schema, draft.old, changes);
                changed.extend(untyped.iter().map(|change| ChangedRow {
                    type_slot: "",
                    row: change.row,
                    body: change.after.as_deref(),
                }));
                let id = commit_id(&parts, &mut changed);
                let mut rows = row_writes(changes, draft.old, draft.schema, line)?;
                rows.extend(untyped.iter().map(untyped_write));
                (id, RowWrites::Listed(rows))
            }
        };
        Ok(GraphCommit {
            graph: draft.graph.id,
            new_line: draft.new_line,
            head,
            commit: Commit {
                id,
                line,
                seq: head + 1,
                parents,
                seen,
                schema,
                kind: draft.kind,
                actor: draft.maker.actor.clone(),
                taint,
                message,
                at,
                rows: rows.count(),
            },
            schema: (schema != placed.commit.schema).then(|| draft.schema.stored()),
            rows,
            builds: draft.builds,
        })
    }
}

/// What a commit's maker had taken in, and whether what it holds is still all the owner's: once
/// somebody else wrote something, or the owner did under the influence of others, it is not.
fn history_taint(maker: &Maker, on: &Commit) -> Taint {
    let foreign = maker.agent.is_some() || on.taint.untrusted;
    Taint { untrusted: maker.taint.untrusted || foreign, ..maker.taint }
}

/// The line that a commit is put on. One that is made with it has no number yet.
pub(super) fn line_of(placed: &Placed, new: Option<&NewLine>) -> LineNo {
    if new.is_some() { LineNo(0) } else { placed.line }
}

fn untyped_write(change: &RowChange) -> RowWrite {
    RowWrite {
        tag: change.tag,
        row: change.row,
        ends: change.ends,
        body: change.after.clone(),
        unindex: Vec::new(),
        index: Vec::new(),
        texts: Vec::new(),
    }
}

fn changed_rows<'a>(
    schema: &'a Schema,
    old: &'a Schema,
    changes: &'a Changes,
) -> Vec<ChangedRow<'a>> {
    let slot = |kind| slot(schema, kind).or_else(|| slot(old, kind)).unwrap_or_default();
    changes
        .rows
        .iter()
        .map(|((_, row), change)| ChangedRow {
            type_slot: slot(change.kind),
            row: *row,
            body: change.after.as_deref(),
        })
        .collect()
}

fn slot(schema: &Schema, kind: RowKind) -> Option<&str> {
    match kind {
        RowKind::Node(no) => schema.nodes.get(no.0).map(|node| node.slot.as_str()),
        RowKind::Edge(no) => schema.edges.get(no.0).map(|edge| edge.slot.as_str()),
    }
}
