//! Bringing one branch into another.

use std::collections::BTreeSet;

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, CommitKind, GraphInfo};

use super::commit::{Content, Draft};
use super::verify::{broken, builds, way};
use super::{Done, Engine, GraphError, Looked, Maker, Prepared, expect_head, load_limits, moment};
use crate::exec::{Context, Counts, Limits};
use crate::history::Meeting;
use crate::merge::{
    Asked, Conflict, Conflicts, Lost, MergePlan, Names, Resolution, TypedChanges, conflicts_of,
    plan, typed,
};
use crate::schema::Schema;
use crate::schema::merge::merge as merge_schemas;
use crate::schema::migrate::{self, Class, Step};

/// A merge.
#[derive(Debug, Clone)]
pub struct MergeAsk<'a> {
    /// The branch that is brought in.
    pub from: &'a BranchName,
    /// The branch it is brought into.
    pub into: &'a BranchName,
    /// The commit that `into` must stand at.
    pub expected: Option<CommitId>,
    /// How rows are to be, where that has to be said.
    pub resolutions: &'a [Asked],
    /// What is said about it.
    pub message: &'a str,
    /// Whether what the merged schema no longer shows may be lost.
    pub allow_data_loss: bool,
    /// How much it may take.
    pub limits: &'a Limits,
}

impl Engine {
    /// Prepares a merge. It is one commit with two parents; where `into` has seen all of `from`
    /// already, nothing.
    pub async fn merge(
        &self,
        graph: &GraphInfo,
        ask: &MergeAsk<'_>,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, ask.into).await;
        let mut ours = self.look(graph, &At::Branch(ask.into.clone())).await?;
        let mut theirs = self.look(graph, &At::Branch(ask.from.clone())).await?;
        expect_head(ours.view.as_ref(), ask.into, ask.expected)?;
        let schema = self.merged_schema(graph, &mut ours, &mut theirs).await?;
        let resolutions = resolutions(ask.resolutions, &schema, &graph.salt)?;
        let planned = plan(ours.view.as_mut(), theirs.view.as_mut(), &schema, &resolutions).await?;
        let rows = match planned {
            MergePlan::AlreadyMerged => {
                let commit = Some(ours.view.placed().commit.id);
                let (branch, counts) = (ask.into.clone(), Counts::default());
                let done = Done { branch, commit, committed: false, counts };
                return Ok(Prepared { write: None, done, hold: Some(hold) });
            }
            MergePlan::Conflicts(conflicts) => return Err(GraphError::Conflicts(conflicts)),
            MergePlan::Merged(rows) => rows,
        };
        let migration = way(&ours.schema, &schema, ask.allow_data_loss)?;
        if !ask.allow_data_loss {
            nothing_lost(&theirs.schema, &schema, &rows.lost)?;
        }
        let TypedChanges { changes, untyped } = typed(rows.changes, &schema);
        let limits = load_limits(ask.limits);
        let context = Context {
            schema: &schema,
            salt: &graph.salt,
            params: &[],
            now: moment(self.now()),
            limits: &limits,
        };
        let (all, violations) = broken(&mut ours, &context, &changes, &migration).await?;
        if !violations.is_empty() {
            let (ours, theirs) = (ours.view.as_mut(), theirs.view.as_mut());
            let found = conflicts_of(&violations, &all, ours, theirs, &schema).await?;
            return Err(GraphError::Conflicts(Conflicts::of(found)));
        }
        let builds = builds(&mut ours, &schema, &changes, &migration).await?;
        let theirs = theirs.view.placed();
        let said = format!("merge {} into {}", ask.from, ask.into);
        let draft = Draft {
            graph,
            branch: ask.into,
            placed: ours.view.placed(),
            new_line: None,
            kind: CommitKind::Merge,
            maker,
            message: if ask.message.is_empty() { &said } else { ask.message },
            old: &ours.schema,
            schema: &schema,
            content: Content::Changes { changes: &changes, untyped: &untyped },
            theirs: Some(&theirs.commit),
            builds,
        };
        self.prepare(draft, hold)
    }

    async fn merged_schema(
        &self,
        graph: &GraphInfo,
        ours: &mut Looked,
        theirs: &mut Looked,
    ) -> Result<Schema, GraphError> {
        if ours.view.placed().commit.schema == theirs.view.placed().commit.schema {
            return Ok(ours.schema.as_ref().clone());
        }
        let meeting = Meeting::of(ours.view.as_mut(), theirs.view.as_mut()).await?;
        let mut bases = Vec::new();
        for digest in meeting.schemas(ours.view.as_mut()).await? {
            bases.push(self.schema_of(graph, digest).await?.as_ref().clone());
        }
        merge_schemas(&bases, &ours.schema, &theirs.schema).map_err(|conflicts| {
            let found = conflicts.into_iter().map(Conflict::from).collect();
            GraphError::Conflicts(Conflicts::of(found))
        })
    }
}

/// What theirs wrote is seen afterwards, or somebody has to say that it need not be: ours has taken
/// its type or its property away.
fn nothing_lost(theirs: &Schema, merged: &Schema, lost: &BTreeSet<Lost>) -> Result<(), GraphError> {
    if lost.is_empty() {
        return Ok(());
    }
    let names = Names::of(theirs);
    let at: BTreeSet<String> =
        lost.iter().filter_map(|(tag, slot)| names.at(*tag, slot.as_deref())).collect();
    let goes = |step: &Step| step.class == Class::Destructive && at.contains(&step.at);
    let mut steps = migrate::plan(theirs, merged).steps;
    steps.retain(goes);
    if steps.is_empty() { Ok(()) } else { Err(GraphError::Migration(steps)) }
}

/// What was said about conflicts, against a schema.
pub(super) fn resolutions(
    asked: &[Asked],
    schema: &Schema,
    salt: &[u8; 16],
) -> Result<Vec<Resolution>, GraphError> {
    Ok(asked.iter().map(|one| one.resolution(schema, salt)).collect::<Result<_, _>>()?)
}
