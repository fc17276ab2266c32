//! Taking a commit back.

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, CommitKind, GraphInfo};

use super::commit::{Content, Draft};
use super::merge::resolutions;
use super::{Engine, GraphError, Maker, Prepared, expect_head, load_limits, moment};
use crate::exec::{Context, Limits, constraints};
use crate::history::{RevertPlan, revert};
use crate::merge::{Asked, Conflicts, TypedChanges, conflicts_of, typed};

/// A commit to be taken back.
#[derive(Debug, Clone)]
pub struct Revert<'a> {
    /// Which.
    pub commit: CommitId,
    /// On which branch.
    pub branch: &'a BranchName,
    /// The commit the branch must stand at.
    pub expected: Option<CommitId>,
    /// How rows are to be, where that has to be said.
    pub resolutions: &'a [Asked],
    /// How much it may take.
    pub limits: &'a Limits,
}

impl Engine {
    /// Prepares to take a commit back.
    pub async fn revert(
        &self,
        graph: &GraphInfo,
        ask: &Revert<'_>,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, ask.branch).await;
        let mut now = self.look(graph, &At::Branch(ask.branch.clone())).await?;
        expect_head(now.view.as_ref(), ask.branch, ask.expected)?;
        let mut after = self.look(graph, &At::Commit(ask.commit)).await?;
        let parent = after.view.placed().commit.parents.first().copied();
        let parent = parent.ok_or(crate::history::RevertError::Kind(CommitKind::Init))?;
        let mut before = self.look(graph, &At::Commit(parent)).await?;
        let schema = now.schema;
        let resolutions = resolutions(ask.resolutions, &schema, &graph.salt)?;
        let (view, after, before) = (now.view.as_mut(), after.view.as_mut(), before.view.as_mut());
        let rows = match revert(view, after, before, &schema, &resolutions).await? {
            RevertPlan::Nothing => Vec::new(),
            RevertPlan::Conflicts(conflicts) => return Err(GraphError::Conflicts(conflicts)),
            RevertPlan::Changes(rows) => rows,
        };
        let TypedChanges { changes, untyped } = typed(rows, &schema);
        // What was loaded can be taken back.
        let limits = load_limits(ask.limits);
        let context = Context {
            schema: &schema,
            salt: &graph.salt,
            params: &[],
            now: moment(self.now()),
            limits: &limits,
        };
        let violations = constraints::check(view, &context, &changes).await?;
        if !violations.is_empty() {
            let found = conflicts_of(&violations, &changes, view, before, &schema).await?;
            return Err(GraphError::Conflicts(Conflicts::of(found)));
        }
        let message = format!("revert {}", ask.commit);
        let draft = Draft {
            graph,
            branch: ask.branch,
            placed: now.view.placed(),
            new_line: None,
            kind: CommitKind::Revert,
            maker,
            message: &message,
            old: &schema,
            schema: &schema,
            content: Content::Changes { changes: &changes, untyped: &untyped },
            theirs: None,
            builds: Vec::new(),
        };
        self.prepare(draft, hold)
    }
}
