//! Where in a graph a call takes place, and what that makes of it.

use narthex_core::{
    BranchAsk, BranchName, BranchShape, Containment, EffectSite, Effects, EntityType, GraphTarget,
    PolicyAction, Question, Reads, Reason, Sends, Taint, TakesIn, Target, Tier, Timestamp,
};
use narthex_gate::{CallContext, ToolError, Weight};
use narthex_graph::exec::Cursor;
use narthex_store::{At, Branch, Commit, GraphInfo};

use crate::GraphHall;
use crate::fault::told;

/// A graph, and the hall it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) hall: &'a GraphHall,
    pub(crate) graph: &'a GraphInfo,
}

impl Place<'_> {
    /// A question about the graph as a whole.
    pub(crate) fn question(self, action: PolicyAction, branch: BranchAsk) -> Question {
        self.asked(action, branch, BranchAsk::None, None)
    }

    /// A question with all there is to it.
    pub(crate) fn asked(
        self,
        action: PolicyAction,
        branch: BranchAsk,
        into: BranchAsk,
        query: Option<String>,
    ) -> Question {
        let target = GraphTarget {
            graph: self.graph.id,
            slug: self.graph.slug.clone(),
            space: self.graph.space,
            branch,
            into,
            query,
        };
        let entity_type = EntityType::Graph;
        Question { action, entity_type, target: Target::Graph(Box::new(target)) }
    }

    /// The branch of this name, if there is one.
    pub(crate) async fn branch(self, name: &BranchName) -> Result<Option<Branch>, ToolError> {
        Ok(self.hall.engine().graphs().branch(self.graph.id, name).await?)
    }

    /// What policy sees of a branch. One that is not there yet is nobody's.
    pub(crate) async fn shape(
        self,
        name: &BranchName,
        context: &CallContext,
    ) -> Result<BranchShape, ToolError> {
        Ok(self.branch(name).await?.map_or_else(
            || BranchShape { name: name.clone(), protected: false, own: false },
            |branch| shape_of(&branch, context),
        ))
    }

    /// What policy sees of where somebody looks: the branch the commit is on. One that is gone keeps
    /// its name here, so that what was said of it still holds.
    pub(crate) async fn shape_at(
        self,
        at: &At,
        context: &CallContext,
    ) -> Result<BranchAsk, ToolError> {
        let branch = match at {
            At::Branch(name) | At::Time(name, _) => {
                return Ok(BranchAsk::This(self.shape(name, context).await?));
            }
            At::Commit(id) => {
                let graphs = self.hall.engine().graphs();
                let Some(commit) = graphs.graph_commit(self.graph.id, *id).await? else {
                    return Ok(BranchAsk::None);
                };
                graphs.branch_of(self.graph.id, commit.line).await?.ok_or_else(|| {
                    ToolError::Internal(format!("commit {id} is on no line of its graph"))
                })?
            }
        };
        Ok(BranchAsk::This(shape_of(&branch, context)))
    }
}

/// What policy sees of a branch.
pub(crate) fn shape_of(branch: &Branch, context: &CallContext) -> BranchShape {
    BranchShape {
        name: branch.name.clone(),
        protected: branch.protected,
        own: branch.owner == Some(context.principal.agent.id),
    }
}

/// How much a change on a branch weighs: little on the agent's own, more where others look, most on
/// one that is protected.
pub(crate) const fn weight_on(shape: &BranchShape) -> Weight {
    match (shape.protected, shape.own) {
        (true, _) => changing(Tier::T3),
        (false, true) => changing(Tier::T1),
        (false, false) => changing(Tier::T2),
    }
}

/// A change of this tier. On its own branch nothing of it takes effect without the owner, who
/// merges it or does not.
pub(crate) const fn changing(tier: Tier) -> Weight {
    let containment = match tier {
        Tier::T0 | Tier::T1 => Containment::Contained,
        Tier::T2 | Tier::T3 => Containment::Direct,
    };
    let effects = Effects {
        reads: Reads::Private,
        takes_in: TakesIn::ByAnswer,
        sends: Sends::Inside,
        containment,
        site: EffectSite::Local,
    };
    Weight { tier, effects }
}

/// Looking.
pub(crate) const LOOKING: Weight = Weight {
    tier: Tier::T0,
    effects: Effects {
        reads: Reads::Private,
        takes_in: TakesIn::ByAnswer,
        sends: Sends::Inside,
        containment: Containment::Contained,
        site: EffectSite::Observe,
    },
};

/// What is read at a commit brings along: it is private, and as trusted as its history.
pub(crate) const fn taint_of(commit: &Commit) -> Taint {
    Taint { private: true, untrusted: commit.taint.untrusted }
}

/// A branch by the name somebody wrote; `main` if none.
pub(crate) fn branch_named(name: Option<&str>) -> Result<BranchName, ToolError> {
    let Some(name) = name else { return Ok(BranchName::main()) };
    name.parse().map_err(|error: narthex_core::BranchNameError| {
        ToolError::caller(Reason::InvalidArguments, error.to_string())
    })
}

/// Where to look: a branch, a commit, or a branch at a time.
pub(crate) fn at(branch: Option<&str>, snapshot: Option<&str>) -> Result<At, ToolError> {
    let Some(snapshot) = snapshot else { return Ok(At::Branch(branch_named(branch)?)) };
    if let Ok(commit) = snapshot.parse() {
        return match branch {
            None => Ok(At::Commit(commit)),
            Some(_) => Err(invalid("a commit is looked at without naming a branch")),
        };
    }
    let time = narthex_graph::value::parse_moment(snapshot).ok_or_else(|| {
        invalid("snapshot is the id of a commit, or a moment such as 2026-01-31T12:00:00Z")
    })?;
    Ok(At::Time(branch_named(branch)?, Timestamp::from_millis(time.timestamp_millis())))
}

/// Where a page of an answer is: after the first, at the commit of the first.
pub(crate) fn at_page(at: At, cursor: Option<&str>) -> Result<At, ToolError> {
    match cursor {
        None => Ok(at),
        Some(token) => {
            let cursor = Cursor::parse(token).map_err(|error| told(error.into()))?;
            Ok(At::Commit(cursor.commit()))
        }
    }
}

/// The commit a branch is expected to stand at.
pub(crate) fn commit_named(
    name: Option<&str>,
) -> Result<Option<narthex_core::CommitId>, ToolError> {
    let parsed = name.map(str::parse).transpose();
    parsed.map_err(|_| invalid("a commit is 64 hexadecimal digits, as `commit_list` shows them"))
}

pub(crate) fn invalid(message: &str) -> ToolError {
    ToolError::caller(Reason::InvalidArguments, message)
}
