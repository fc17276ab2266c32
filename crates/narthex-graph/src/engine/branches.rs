//! Branches: made, protected, taken away.

use narthex_core::{AgentId, BranchName};
use narthex_store::{At, Commit, GraphInfo, GraphWrite, NewLine};

use super::{BranchHold, Done, Engine, GraphError, Maker, Prepared};
use crate::exec::Counts;
use crate::history::Meeting;

/// A branch to be made.
#[derive(Debug, Clone)]
pub struct NewBranch {
    /// Its name.
    pub name: BranchName,
    /// Where it begins.
    pub from: At,
    /// Whether it is protected.
    pub protected: bool,
}

/// What becomes of commits that no other branch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmerged {
    /// The branch stays for their sake.
    Kept,
    /// They may be lost.
    Lost,
}

impl Engine {
    /// Prepares a branch. If an agent makes it, it is that agent's own.
    pub async fn create_branch(
        &self,
        graph: &GraphInfo,
        new: &NewBranch,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, &new.name).await;
        let commit = self.commit_at(graph, &new.from).await?;
        let line = self.new_line(graph, new, &commit, maker).await?;
        let done = done(&new.name, Some(commit.id));
        Ok(Prepared { write: Some(GraphWrite::Branch(line)), done, hold: Some(hold) })
    }

    /// Keeps an agent from making another branch meanwhile, so that those it has can be counted.
    /// Taken before any branch is.
    pub async fn hold_agent(&self, graph: &GraphInfo, agent: AgentId) -> BranchHold {
        self.holds.hold_agent(graph.id, agent).await
    }

    /// The line of a branch to be made, which begins at this commit; refused if the name is taken.
    /// Where the branch it comes from stands is read once, by whoever asks: it may move meanwhile.
    pub(super) async fn new_line(
        &self,
        graph: &GraphInfo,
        new: &NewBranch,
        commit: &Commit,
        maker: &Maker,
    ) -> Result<NewLine, GraphError> {
        if self.graphs.branch(graph.id, &new.name).await?.is_some() {
            return Err(GraphError::BranchExists(new.name.clone()));
        }
        Ok(NewLine {
            graph: graph.id,
            name: new.name.clone(),
            from: (commit.line, commit.seq),
            owner: maker.agent,
            protected: new.protected,
            created: self.now(),
        })
    }

    /// Prepares the end of a branch. Its commits stay where they were merged; if that is nowhere,
    /// they are lost with it, where they may be.
    pub async fn delete_branch(
        &self,
        graph: &GraphInfo,
        name: &BranchName,
        unmerged: Unmerged,
    ) -> Result<Prepared, GraphError> {
        // One at a time, before any branch is held: of two that have only each other's commits the
        // second must see that the first is gone.
        let ends = self.holds.hold_ends(graph.id).await;
        let hold = self.holds.hold(graph.id, name).await.and(ends);
        let branch = self.branch(graph, name).await?;
        if branch.protected {
            return Err(GraphError::Protected(name.clone()));
        }
        if unmerged == Unmerged::Kept && self.has_unmerged(graph, name).await? {
            return Err(GraphError::Unmerged(name.clone()));
        }
        let write =
            GraphWrite::DropBranch { graph: graph.id, line: branch.line, head: branch.head };
        Ok(Prepared { write: Some(write), done: done(name, Some(branch.commit)), hold: Some(hold) })
    }

    /// Prepares that a branch is protected, or no longer.
    pub async fn protect_branch(
        &self,
        graph: &GraphInfo,
        name: &BranchName,
        protected: bool,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, name).await;
        let branch = self.branch(graph, name).await?;
        let write = GraphWrite::Protect { graph: graph.id, line: branch.line, protected };
        Ok(Prepared { write: Some(write), done: done(name, Some(branch.commit)), hold: Some(hold) })
    }

    /// Keeps a branch where it is, as far as this engine moves it, until it is let go of. Whoever
    /// prepares a change to it meanwhile waits.
    pub async fn hold(&self, graph: &GraphInfo, name: &BranchName) -> BranchHold {
        self.holds.hold(graph.id, name).await
    }

    /// Whether a branch has commits that no other branch has seen: they would be lost with it.
    pub async fn has_unmerged(
        &self,
        graph: &GraphInfo,
        name: &BranchName,
    ) -> Result<bool, GraphError> {
        let mut own = self.look(graph, &At::Branch(name.clone())).await?;
        for other in self.graphs.branches(graph.id).await? {
            if other.name == *name {
                continue;
            }
            let mut its = self.look(graph, &At::Branch(other.name)).await?;
            if Meeting::of(its.view.as_mut(), own.view.as_mut()).await?.is_contained() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn done(branch: &BranchName, commit: Option<narthex_core::CommitId>) -> Done {
    Done { branch: branch.clone(), commit, committed: false, counts: Counts::default() }
}
