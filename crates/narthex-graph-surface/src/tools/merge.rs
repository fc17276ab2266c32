//! `branch_merge`: made here, or asked for.

use narthex_core::{
    Bound, BranchAsk, BranchName, ChangeAction, EntityType, MergeRequest, PolicyAction, Proposal,
    ProposalId, ProposalStatus, Reason, Subject, Taint, Tier, clean_line,
};
use narthex_gate::{CallContext, Hold, Staged, ToolError, ToolOutput, Weight, write_answer};
use narthex_graph::GraphError;
use narthex_graph::engine::{Done, MergeAsk};
use narthex_graph::exec::Counts;
use narthex_graph::merge::{Asked, Conflicts};
use narthex_store::{At, Effect, fresh_uuid};
use serde_json::Value;

use super::change::Held;
use super::{input, output};
use crate::fault::{FOREIGN, told};
use crate::place::{
    Place, branch_named, changing, commit_named, invalid, shape_of, taint_of, weight_on,
};

/// What becomes of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It is made, and weighs this.
    Made(Weight),
    /// It is put before the owner.
    Proposed,
}

impl Way {
    pub(crate) const fn weight(self) -> Weight {
        match self {
            Self::Made(weight) => weight,
            Self::Proposed => changing(Tier::T1),
        }
    }
}

impl Place<'_> {
    /// Whoever may not go so far, or would rather not, asks. So does, for a protected branch,
    /// whoever may only suggest: before anything is weighed, and however far it may go.
    pub(crate) async fn merge_way(
        self,
        into: &BranchName,
        input: &input::Merge,
        context: &CallContext,
    ) -> Result<Way, ToolError> {
        let from = branch_named(Some(&input.from))?;
        self.hall.engine().branch(self.graph, &from).await.map_err(told)?;
        let branch = self.hall.engine().branch(self.graph, into).await.map_err(told)?;
        if branch.protected && context.principal.agent.grants.only_suggest() {
            return Ok(Way::Proposed);
        }
        let mut weight = weight_on(&shape_of(&branch, context));
        // On the agent's own branch nobody else loses anything: what is gone was given up where it
        // comes from, with the owner's word, and comes to others by another merge.
        if input.allow_data_loss && weight.tier > Tier::T1 {
            weight = changing(Tier::T3);
        }
        let freely = weight.tier <= Tier::T1;
        let may = !input.propose && weight.tier <= context.ceiling;
        Ok(if freely || may { Way::Made(weight) } else { Way::Proposed })
    }

    pub(crate) async fn merge(
        self,
        input: input::Merge,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let from = branch_named(Some(&input.from))?;
        let into = branch_named(input.into.as_deref())?;
        let resolutions = resolutions(&input.resolutions)?;
        let limits = self.limits();
        let ask = MergeAsk {
            from: &from,
            into: &into,
            expected: commit_named(input.expected_head.as_deref())?,
            resolutions: &resolutions,
            message: input.message.as_deref().unwrap_or_default(),
            allow_data_loss: input.allow_data_loss,
            limits: &limits,
        };
        match self.merge_way(&into, &input, context).await? {
            Way::Made(_) => {
                let maker = Self::maker(context);
                let prepared = match self.hall.engine().merge(self.graph, &ask, &maker).await {
                    Ok(prepared) => prepared,
                    Err(GraphError::Conflicts(conflicts)) => {
                        return Err(in_conflict(&self.shown(conflicts, &into, context).await?));
                    }
                    Err(error) => return Err(told(error)),
                };
                // Nobody moves it any more: what it weighs now is what it weighs.
                let weight = self.merge_way(&into, &input, context).await?.weight();
                let status = if prepared.done.committed { "merged" } else { "nothing_to_do" };
                let answer = write_answer(&made(status, &prepared.done))?;
                self.staged_with(prepared, weight, answer)
            }
            Way::Proposed if !resolutions.is_empty() => Err(invalid(
                "a proposal takes no resolutions: bring the other branch into yours first, resolve there, and ask then",
            )),
            Way::Proposed => self.propose(&ask, &input, context).await,
        }
    }

    /// Puts the merge before the owner: of what the branch holds now, and nothing that comes later.
    async fn propose(
        self,
        ask: &MergeAsk<'_>,
        input: &input::Merge,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let engine = self.hall.engine();
        let theirs = engine.branch(self.graph, ask.from).await.map_err(told)?;
        let foreseen = self.foreseen(ask, context).await?;
        // However busy the other branch is: it stays where it is until the proposal is durable.
        let hold = engine.hold(self.graph, ask.into).await;
        let ours = engine.branch(self.graph, ask.into).await.map_err(told)?;
        let done = Done {
            branch: ours.name.clone(),
            commit: Some(ours.commit),
            committed: false,
            counts: Counts::default(),
        };
        let mut shown = made("proposed", &done);
        let mut taint = Taint::CLEAN;
        match foreseen {
            Foreseen::Nothing => {
                shown.status = "nothing_to_do";
                let (subject, answer) = (self.subject(None), write_answer(&shown)?);
                let answer = ToolOutput::new(answer);
                let (weight, space, hold) = (None, None, None);
                return Ok(Staged { effect: None, subject, answer, weight, space, hold });
            }
            Foreseen::Changes(counts) => shown.counts = counts.into(),
            Foreseen::Conflicts(conflicts) => {
                // They show what others wrote there.
                let at = At::Branch(ask.into.clone());
                let commit = engine.commit_at(self.graph, &at).await.map_err(told)?;
                taint = taint_of(&commit);
                let conflicts = self.shown(conflicts, ask.into, context).await?;
                shown.conflicts = Some(write_answer(&conflicts)?);
            }
        }
        let said = input.message.as_deref().unwrap_or_default();
        let reason = if said.trim().is_empty() {
            format!("merge {} into {}", ask.from, ask.into)
        } else {
            clean_line("message", said, Bound::REASON_CHARS)
                .map_err(|error| ToolError::caller(Reason::InvalidArguments, error.to_string()))?
        };
        let id = ProposalId::from_uuid(fresh_uuid());
        shown.pending_change_id = Some(id.to_string());
        let proposal = Proposal {
            id,
            agent: context.principal.agent.id,
            space: self.graph.space,
            entity_type: EntityType::Graph,
            action: ChangeAction::Merge,
            page: None,
            base_revision: None,
            draft: None,
            server: None,
            merge: Some(MergeRequest {
                graph: self.graph.id,
                from: ask.from.clone(),
                from_commit: theirs.commit,
                into: ask.into.clone(),
                into_commit: ours.commit,
                allow_data_loss: ask.allow_data_loss,
            }),
            reason,
            taint: context.taint,
            status: ProposalStatus::Pending,
            note: None,
            created: context.now,
            decided: None,
        };
        let cap = self.hall.config().open_proposals;
        let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap };
        let subject = Subject::one("proposal", id);
        let answer = ToolOutput::new(write_answer(&shown)?).about(taint, subject.clone());
        let hold = Some(Box::new(Held(hold)) as Box<dyn Hold>);
        Ok(Staged { hold, ..Staged::new(effect, subject, answer) })
    }

    /// Conflicts as this caller may see them: whoever may not read the branch that is merged into
    /// learns how many there are.
    async fn shown(
        self,
        mut conflicts: Conflicts,
        into: &BranchName,
        context: &CallContext,
    ) -> Result<Conflicts, ToolError> {
        let into = BranchAsk::This(self.shape(into, context).await?);
        if !context.permits(&self.question(PolicyAction::Read, into)) {
            conflicts.listed.clear();
        }
        Ok(conflicts)
    }

    /// What would come of it now; nothing of it is made.
    async fn foreseen(
        self,
        ask: &MergeAsk<'_>,
        context: &CallContext,
    ) -> Result<Foreseen, ToolError> {
        match self.hall.engine().merge(self.graph, ask, &Self::maker(context)).await {
            Ok(prepared) if prepared.write.is_none() => Ok(Foreseen::Nothing),
            Ok(prepared) => Ok(Foreseen::Changes(prepared.done.counts)),
            Err(GraphError::Conflicts(conflicts)) => Ok(Foreseen::Conflicts(conflicts)),
            Err(error) => Err(told(error)),
        }
    }
}

enum Foreseen {
    Nothing,
    Changes(Counts),
    Conflicts(Conflicts),
}

fn made(status: &'static str, done: &Done) -> output::MergeMade {
    output::MergeMade {
        status,
        into: done.branch.to_string(),
        commit: done.commit.map(|commit| commit.to_string()).unwrap_or_default(),
        counts: done.counts.into(),
        pending_change_id: None,
        conflicts: None,
    }
}

fn resolutions(given: &[Value]) -> Result<Vec<Asked>, ToolError> {
    let read = |value: &Value| serde_json::from_value(value.clone());
    let read: Result<Vec<Asked>, _> = given.iter().map(read).collect();
    read.map_err(|_| {
        invalid(
            r#"a resolution is {"row": {…}, "take": "ours", "theirs" or "gone"} or {"row": {…}, "given": {…}}, with the row as a conflict names it"#,
        )
    })
}

/// Conflicts are told row by row, in the form they are resolved in.
fn in_conflict(conflicts: &Conflicts) -> ToolError {
    let ways: Vec<_> = conflicts.listed.iter().flat_map(|one| &one.resolve).take(ROWS).collect();
    let named = serde_json::to_string(&ways).unwrap_or_default();
    let message = format!(
        "{conflicts}. Merge again with a resolution for each of these rows (this is one way; \"ours\", \"theirs\", \"gone\" or given data may be another), or bring the other branch into yours first: {named}"
    );
    let rows = conflicts.listed.iter().any(|one| one.row.is_some());
    let brings = if rows { FOREIGN } else { Taint::CLEAN };
    ToolError::caller(Reason::Conflict, message).bringing(brings)
}

/// Rows in conflict that a message names.
const ROWS: usize = 20;
