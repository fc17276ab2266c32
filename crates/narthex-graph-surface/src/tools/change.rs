//! The tools that change a graph. Each is prepared, and committed by the gate with its records.

use narthex_core::{Actor, BranchName, Reason, Tier};
use narthex_gate::{CallContext, Hold, Staged, ToolError, ToolOutput, Weight, write_answer};
use narthex_graph::GraphError;
use narthex_graph::engine::{
    BranchHold, Load, Maker, Mutation, NewBranch, Prepared, SchemaChange, Unmerged,
};
use narthex_store::{At, Effect};
use serde_json::{Map, Value};

use super::{input, output};
use crate::fault::{told, told_of_catalogue};
use crate::place::{Place, at, branch_named, changing, commit_named, shape_of, weight_on};

/// A branch in the hands of a call until its change is durable.
#[derive(Debug)]
pub(super) struct Held(
    #[expect(dead_code, reason = "it is held, and that is all")] pub(super) BranchHold,
);

/// The same of a new branch, with the agent's turn to make one.
#[derive(Debug)]
#[expect(dead_code, reason = "they are held, and that is all")]
struct Both(Option<Box<dyn Hold>>, BranchHold);

impl Hold for Both {}

impl Hold for Held {}

impl Place<'_> {
    /// Who makes a change.
    pub(crate) fn maker(context: &CallContext) -> Maker {
        let agent = context.principal.agent.as_ref();
        Maker { actor: Actor::from(agent), agent: Some(agent.id), taint: context.taint }
    }

    /// What a change on a branch weighs. The owner is not asked about one that is not there.
    pub(crate) async fn weight(
        self,
        branch: &BranchName,
        context: &CallContext,
    ) -> Result<Weight, ToolError> {
        let branch = self.hall.engine().branch(self.graph, branch).await.map_err(told)?;
        Ok(weight_on(&shape_of(&branch, context)))
    }

    /// What a load weighs: on a branch that it makes, as on any of the agent's own.
    pub(crate) async fn load_weight(
        self,
        branch: &BranchName,
        from: Option<&str>,
        context: &CallContext,
    ) -> Result<Weight, ToolError> {
        match from {
            Some(_) if self.branch(branch).await?.is_none() => Ok(changing(Tier::T1)),
            _ => self.weight(branch, context).await,
        }
    }

    /// What the end of a branch weighs: most if something would be lost with it. The owner is not
    /// asked about a protected one, which stays.
    pub(crate) async fn delete_weight(
        self,
        branch: &BranchName,
        context: &CallContext,
    ) -> Result<Weight, ToolError> {
        let engine = self.hall.engine();
        let found = engine.branch(self.graph, branch).await.map_err(told)?;
        if found.protected {
            return Err(told(GraphError::Protected(branch.clone())));
        }
        let weight = weight_on(&shape_of(&found, context));
        let lost = engine.has_unmerged(self.graph, branch).await.map_err(told)?;
        Ok(if lost { changing(Tier::T3) } else { weight })
    }

    /// What another schema weighs: most if something would be lost with it.
    pub(crate) async fn schema_weight(
        self,
        source: &str,
        branch: &BranchName,
        context: &CallContext,
    ) -> Result<Weight, ToolError> {
        let weight = self.weight(branch, context).await?;
        let engine = self.hall.engine();
        let plan = engine.plan_schema(self.graph, source, branch).await.map_err(told)?;
        Ok(if plan.is_destructive() { changing(Tier::T3) } else { weight })
    }

    /// A change that is ready, with what it weighs now that nobody else can move the branch.
    fn staged(self, prepared: Prepared, weight: Weight) -> Result<Staged, ToolError> {
        let answer = write_answer(&output::Made::from(&prepared.done))?;
        self.staged_with(prepared, weight, answer)
    }

    pub(crate) fn staged_with(
        self,
        prepared: Prepared,
        weight: Weight,
        answer: Value,
    ) -> Result<Staged, ToolError> {
        self.hall.recheck(self.graph, &prepared).map_err(told_of_catalogue)?;
        let Prepared { write, done, hold } = prepared;
        let mut subject = self.subject(None);
        subject.digest = done.commit.map(|commit| commit.digest());
        Ok(Staged {
            effect: write.map(|write| Effect::Graph(Box::new(write))),
            subject,
            answer: ToolOutput::new(answer),
            weight: Some(weight),
            space: None,
            hold: hold.map(|hold| Box::new(Held(hold)) as Box<dyn Hold>),
        })
    }

    pub(crate) async fn mutate(
        self,
        input: input::Mutate,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let branch = branch_named(input.branch.as_deref())?;
        let change = Change {
            source: &input.query,
            name: input.name.as_deref(),
            params: &input.params,
            branch: &branch,
            expected_head: input.expected_head.as_deref(),
            message: input.message.as_deref(),
        };
        self.change(change, context).await
    }

    /// Changes rows by a query, an agent's own or a stored one.
    pub(crate) async fn change(
        self,
        change: Change<'_>,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let limits = self.limits();
        let ask = Mutation {
            source: change.source,
            name: change.name,
            params: change.params,
            branch: change.branch,
            expected: commit_named(change.expected_head)?,
            message: change.message.unwrap_or_default(),
            limits: &limits,
        };
        let engine = self.hall.engine();
        let prepared = engine.mutate(self.graph, &ask, &Self::maker(context)).await;
        let prepared = prepared.map_err(told)?;
        let weight = self.weight(change.branch, context).await?;
        self.staged(prepared, weight)
    }

    pub(crate) async fn load(
        self,
        input: input::LoadRows,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let branch = branch_named(input.branch.as_deref())?;
        let (from, room) = match input.from.as_deref() {
            Some(from) => {
                let room = self.room_for_a_branch(context).await?;
                (Some(At::Branch(branch_named(Some(from))?)), Some(room))
            }
            None => (None, None),
        };
        let limits = self.limits();
        let ask = Load {
            data: input.data.as_bytes(),
            branch: &branch,
            from: from.as_ref(),
            mode: input.mode.into(),
            expected: commit_named(input.expected_head.as_deref())?,
            message: input.message.as_deref().unwrap_or_default(),
            limits: &limits,
        };
        let engine = self.hall.engine();
        let prepared = engine.load(self.graph, &ask, &Self::maker(context)).await.map_err(told)?;
        let weight = self.load_weight(&branch, input.from.as_deref(), context).await?;
        Ok(with(self.staged(prepared, weight)?, room))
    }

    pub(crate) async fn create_branch(
        self,
        input: input::NewBranch,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let room = self.room_for_a_branch(context).await?;
        let new = NewBranch {
            name: branch_named(Some(&input.name))?,
            from: at(input.from.as_deref(), input.snapshot.as_deref())?,
            protected: false,
        };
        let engine = self.hall.engine();
        let prepared = engine.create_branch(self.graph, &new, &Self::maker(context)).await;
        Ok(with(self.staged(prepared.map_err(told)?, changing(Tier::T1))?, Some(room)))
    }

    pub(crate) async fn delete_branch(
        self,
        input: input::OneBranch,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let branch = branch_named(Some(&input.branch))?;
        let prepared = self.hall.engine().delete_branch(self.graph, &branch, Unmerged::Lost).await;
        let prepared = prepared.map_err(told)?;
        // Under its hold nobody merges it or takes away where it was merged.
        let weight = self.delete_weight(&branch, context).await?;
        self.staged(prepared, weight)
    }

    pub(crate) async fn apply_schema(
        self,
        input: input::ApplySchema,
        context: &CallContext,
    ) -> Result<Staged, ToolError> {
        let branch = branch_named(input.branch.as_deref())?;
        let limits = self.limits();
        let ask = SchemaChange {
            source: &input.schema,
            branch: &branch,
            expected: commit_named(input.expected_head.as_deref())?,
            allow_data_loss: input.allow_data_loss,
            message: input.message.as_deref().unwrap_or_default(),
            limits: &limits,
        };
        let engine = self.hall.engine();
        let prepared = engine.apply_schema(self.graph, &ask, &Self::maker(context)).await;
        let prepared = prepared.map_err(told)?;
        let weight = self.schema_weight(&input.schema, &branch, context).await?;
        self.staged(prepared, weight)
    }

    /// An agent has so many branches, and a graph so many. It makes one at a time, so that this
    /// holds until it is made.
    async fn room_for_a_branch(self, context: &CallContext) -> Result<BranchHold, ToolError> {
        let room = self.hall.engine().hold_agent(self.graph, context.principal.agent.id).await;
        let branches = self.hall.engine().graphs().branches(self.graph.id).await?;
        let agent = Some(context.principal.agent.id);
        let own = branches.iter().filter(|branch| branch.owner == agent).count();
        if own >= OWN_BRANCHES || branches.len() >= BRANCHES {
            let message = format!(
                "an agent has at most {OWN_BRANCHES} branches of its own, and a graph {BRANCHES} in all; delete one that was merged"
            );
            return Err(ToolError::caller(Reason::LimitReached, message));
        }
        Ok(room)
    }
}

/// A change that holds something more.
fn with(staged: Staged, room: Option<BranchHold>) -> Staged {
    let Some(room) = room else { return staged };
    Staged { hold: Some(Box::new(Both(staged.hold, room))), ..staged }
}

/// A change of rows by a query.
pub(crate) struct Change<'a> {
    pub(crate) source: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) params: &'a Map<String, Value>,
    pub(crate) branch: &'a BranchName,
    pub(crate) expected_head: Option<&'a str>,
    pub(crate) message: Option<&'a str>,
}

const OWN_BRANCHES: usize = 100;
const BRANCHES: usize = 1_000;
