//! What a proposed merge would change, row by row.

use std::collections::BTreeMap;

use narthex_core::{Actor, CommitId, MergeRequest, Proposal, ProposalStatus, Taint};
use narthex_graph::GraphError;
use narthex_graph::engine::Maker;
use narthex_graph::history::Meeting;
use narthex_graph::merge::{Body, Conflicts, Names, RowId, RowName, unlike};
use narthex_graph::schema::Schema;
use narthex_store::{At, GraphCommit, GraphInfo, GraphView, GraphWrite, RowNo, StoreError, Tag};
use serde_json::json;

use super::super::desk::conflict;
use super::super::inbox::unified;
use super::super::{Desk, MergeChange, MergeConflict, MergeRow, OwnerError, RowFate};

impl Desk {
    /// What a proposed merge would change: what the merge itself would write, where it can be made
    /// as it was proposed. Else what the branch had when it was proposed. And the schema, as a diff.
    pub(in super::super) async fn merge_change(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
    ) -> Result<(MergeChange, String), OwnerError> {
        let mut change = MergeChange::default();
        let Some(graph) = self.graph_of(proposal, merge).await? else {
            change.trouble = Some("the graph is gone".to_owned());
            return Ok((change, String::new()));
        };
        let standing = async |name| -> Result<Option<CommitId>, StoreError> {
            Ok(self.store().branch(graph.id, name).await?.map(|branch| branch.commit))
        };
        change.from_now = standing(&merge.from).await?;
        change.into_now = standing(&merge.into).await?;
        let open = matches!(proposal.status, ProposalStatus::Pending | ProposalStatus::Conflict);
        let here = change.from_now == Some(merge.from_commit);
        let (into, diff) = match change.into_now {
            Some(into) if open && here => {
                match self.would_be(proposal, merge, &graph, &mut change).await {
                    Ok(Some(diff)) => return Ok((change, diff)),
                    Ok(None) => (into, String::new()),
                    Err(error) => return Err(engine(error)),
                }
            }
            _ => (merge.into_commit, String::new()),
        };
        self.proposed(merge, &graph, into, &mut change).await.map_err(engine)?;
        Ok((change, diff))
    }

    /// What the merge would write; none if it cannot be made, and then it is said why.
    async fn would_be(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        graph: &GraphInfo,
        change: &mut MergeChange,
    ) -> Result<Option<String>, GraphError> {
        let maker = Maker { actor: Actor::Owner, agent: None, taint: Taint::CLEAN };
        let prepared = match self.merge_prepared(proposal, merge, graph, &[], &maker).await {
            Ok(prepared) => prepared,
            Err(GraphError::Conflicts(conflicts)) => {
                change.conflicts_total = conflicts.total;
                change.conflicts = listed(&conflicts);
                return Ok(None);
            }
            Err(error @ (GraphError::Store(_) | GraphError::Damaged(_))) => return Err(error),
            Err(other) => {
                change.trouble = Some(other.to_string());
                return Ok(None);
            }
        };
        change.trouble =
            self.graphs.recheck(graph, &prepared).err().map(|broken| broken.to_string());
        change.as_merged = true;
        let Some(GraphWrite::Commit(commit)) = prepared.write else {
            return Ok(Some(String::new()));
        };
        // Nothing is made: the branch is let go before its rows are looked at.
        drop(prepared.hold);
        self.written(graph, commit, change).await.map(Some)
    }

    /// The rows of a commit that is not made.
    async fn written(
        &self,
        graph: &GraphInfo,
        commit: GraphCommit,
        change: &mut MergeChange,
    ) -> Result<String, GraphError> {
        let at = commit.commit.parents.first().copied().map(At::Commit);
        let Some(at) = at else { return Ok(String::new()) };
        let was = self.graphs.engine().schema_at(graph, &at).await?;
        let is = match &commit.schema {
            None => Schema::clone(&was),
            Some(stored) => Schema::from_stored(stored)
                .map_err(|error| GraphError::Damaged(format!("a schema to be stored: {error}")))?,
        };
        let Some(mut ours) = self.store().view(graph.id, &at).await? else {
            return Ok(String::new());
        };
        let mut writes: BTreeMap<RowId, Option<String>> = BTreeMap::new();
        for page in commit.rows.into_pages() {
            writes.extend(page?.into_iter().map(|row| ((row.tag, row.row), row.body)));
        }
        let ids: Vec<RowId> = writes.keys().copied().collect();
        let mut page = Page::new(&was, &is);
        for ids in ids.chunks(CHUNK) {
            let before = texts(ours.as_mut(), ids).await?;
            let after = |id| writes.get(&id).cloned().flatten();
            if !page.take(ids, &before, after)? {
                break;
            }
        }
        (change.rows, change.more) = (page.rows, page.more);
        if commit.schema.is_none() {
            return Ok(String::new());
        }
        Ok(unified(&was.to_source(), &is.to_source()))
    }

    /// What the branch wrote that `into` had not seen, against what `into` has.
    async fn proposed(
        &self,
        merge: &MergeRequest,
        graph: &GraphInfo,
        into: CommitId,
        change: &mut MergeChange,
    ) -> Result<(), GraphError> {
        let (into, from) = (At::Commit(into), At::Commit(merge.from_commit));
        let ours = self.store().view(graph.id, &into).await?;
        let theirs = self.store().view(graph.id, &from).await?;
        let (Some(mut ours), Some(mut theirs)) = (ours, theirs) else { return Ok(()) };
        let engine = self.graphs.engine();
        let was = engine.schema_at(graph, &into).await?;
        let is = engine.schema_at(graph, &from).await?;
        let meeting = Meeting::of(ours.as_mut(), theirs.as_mut()).await?;
        let mut touched = theirs.touched(&meeting.theirs_alone()).await?;
        touched.sort_unstable();
        touched.dedup();
        let mut page = Page::new(&was, &is);
        for ids in touched.chunks(CHUNK) {
            let before = texts(ours.as_mut(), ids).await?;
            let after = texts(theirs.as_mut(), ids).await?;
            if !page.take(ids, &before, |id| after.get(&id).cloned())? {
                break;
            }
        }
        (change.rows, change.more) = (page.rows, page.more);
        Ok(())
    }
}

/// Rows that differ, as far as they are shown.
struct Page<'a> {
    was: Names<'a>,
    is: Names<'a>,
    rows: Vec<MergeRow>,
    bytes: usize,
    more: bool,
}

impl<'a> Page<'a> {
    fn new(was: &'a Schema, is: &'a Schema) -> Self {
        let (was, is) = (Names::of(was), Names::of(is));
        Self { was, is, rows: Vec::new(), bytes: 0, more: false }
    }

    /// Takes those of these rows that differ. False once there is room for no more.
    fn take(
        &mut self,
        ids: &[RowId],
        before: &BTreeMap<RowId, String>,
        after: impl Fn(RowId) -> Option<String>,
    ) -> Result<bool, GraphError> {
        for id in ids {
            let (before, after) = (before.get(id), after(*id));
            if before == after.as_ref() {
                continue;
            }
            self.bytes += before.map_or(0, String::len) + after.as_ref().map_or(0, String::len);
            if self.rows.len() >= ROWS || self.bytes > BYTES {
                self.more = true;
                return Ok(false);
            }
            let (before, after) = (body(before)?, body(after.as_ref())?);
            self.rows.push(self.row(id.0, before.as_ref(), after.as_ref()));
        }
        Ok(true)
    }

    fn row(&self, tag: Tag, before: Option<&Body>, after: Option<&Body>) -> MergeRow {
        let fate = match (before, after) {
            (None, _) => RowFate::Added,
            (Some(_), None) => RowFate::Removed,
            (Some(_), Some(_)) => RowFate::Changed,
        };
        let name =
            |names: &Names<'_>, body: Option<&Body>| -> Option<RowName> { names.name(tag, body?) };
        let slots: Vec<String> =
            unlike(before, after).filter(|slot| !slot.starts_with('@')).collect();
        MergeRow {
            change: fate,
            row: name(&self.is, after).or_else(|| name(&self.was, before)),
            before: before.map(|body| self.was.show(tag, body)),
            after: after.map(|body| self.is.show(tag, body)),
            properties: self.is.properties(tag, &slots),
        }
    }
}

fn listed(conflicts: &Conflicts) -> Vec<MergeConflict> {
    let one = |conflict: &narthex_graph::merge::Conflict| MergeConflict {
        said: conflict.to_string(),
        conflict: json!(conflict),
    };
    conflicts.listed.iter().map(one).collect()
}

async fn texts(
    view: &mut dyn GraphView,
    ids: &[RowId],
) -> Result<BTreeMap<RowId, String>, StoreError> {
    let mut by_tag: BTreeMap<Tag, Vec<RowNo>> = BTreeMap::new();
    for (tag, row) in ids {
        by_tag.entry(*tag).or_default().push(*row);
    }
    let mut texts = BTreeMap::new();
    for (tag, rows) in by_tag {
        for row in view.rows(tag, &rows).await? {
            texts.extend(row.body.map(|body| ((row.tag, row.row), body)));
        }
    }
    Ok(texts)
}

fn body(text: Option<&String>) -> Result<Option<Body>, GraphError> {
    let read = |text: &String| serde_json::from_str(text);
    text.map(read).transpose().map_err(|error| GraphError::Damaged(format!("a row: {error}")))
}

fn engine(error: GraphError) -> OwnerError {
    match error {
        GraphError::Store(error) => error.into(),
        other => conflict(other),
    }
}

/// How many rows are shown at most, and of how many bytes.
const ROWS: usize = 300;
const BYTES: usize = 4 * 1024 * 1024;
/// How many are read at a time.
const CHUNK: usize = 200;
