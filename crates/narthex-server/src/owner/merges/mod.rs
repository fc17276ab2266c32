//! Merges that agents ask for: shown as they would be, and made of exactly what was proposed.

mod show;

use narthex_core::{
    Actor, Bound, MergeRequest, Outcome, Proposal, ProposalStatus, Reason, Subject, Taint,
};
use narthex_graph::GraphError;
use narthex_graph::engine::{Maker, MergeAsk, Prepared};
use narthex_graph::merge::Asked;
use narthex_store::{Effect, GraphInfo, GraphWrite, Refused, StoreError, UnitOfWork};

use super::desk::{conflict, invalid, owner_record};
use super::{Decided, Desk, MergeInfo, Merged, OwnerError, Reply};

impl Desk {
    /// Makes a proposed merge and marks it applied, in one transaction.
    pub(super) async fn merge_approve(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        resolutions: &[Asked],
    ) -> Result<Reply, OwnerError> {
        let Some(graph) = self.graph_of(proposal, merge).await? else {
            return Err(self.merge_refused(proposal, Refused::NotFound("graph")).await);
        };
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let stop = match self.merge_once(proposal, merge, &graph, resolutions).await {
                Ok(reply) => return Ok(reply),
                Err(stop) => stop,
            };
            return Err(match stop {
                // Others work on the branch it is brought into: that is no reason to give up.
                Stop::Refused(Refused::HeadMoved { .. }) if tries > 0 => continue,
                Stop::Refused(Refused::BranchMoved { branch, .. })
                    if branch == merge.into && tries > 0 =>
                {
                    continue;
                }
                Stop::Refused(refused) => self.merge_refused(proposal, refused).await,
                Stop::Engine(error) => self.merge_failed(proposal, merge, &graph, error).await,
                Stop::Other(error) => error,
            });
        }
    }

    async fn merge_once(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        graph: &GraphInfo,
        resolutions: &[Asked],
    ) -> Result<Reply, Stop> {
        let engine = self.graphs.engine();
        let from = engine.branch(graph, &merge.from).await.map_err(Stop::of)?;
        if from.commit != merge.from_commit {
            let (branch, is) = (from.name, from.commit);
            return Err(Stop::Refused(Refused::BranchMoved { branch, is }));
        }
        let taint = self.merge_taint(proposal, merge, graph).await.map_err(Stop::of)?;
        let maker = Maker { actor: Actor::Owner, agent: None, taint };
        let prepared = self.merge_prepared(proposal, merge, graph, resolutions, &maker).await;
        let prepared = prepared.map_err(Stop::of)?;
        if let Err(broken) = self.graphs.recheck(graph, &prepared) {
            let why = format!(
                "not applied: {broken}\nMend them in the settings, or reject it: narthex inbox reject {} --reason <why>",
                proposal.id
            );
            return Err(Stop::Other(self.left_as_it_is(proposal, why).await));
        }
        let Prepared { write, done, hold } = prepared;
        let rows = match &write {
            Some(GraphWrite::Commit(commit)) => Some(commit.commit.rows),
            _ => None,
        };
        let subject = Subject {
            digest: done.commit.map(|commit| commit.digest()),
            count: rows,
            from: Some(merge.from.to_string()),
            to: Some(merge.into.to_string()),
            ..Subject::one("proposal", proposal.id)
        };
        let (id, write) = (proposal.id, write.map(Box::new));
        let effect = Effect::ApplyMerge { id, write, at: self.now() };
        let committed = self.change("inbox.approve", Some(proposal.space), subject, effect).await;
        // Until it is durable nobody else prepares a change for the branch.
        drop(hold);
        committed.map_err(|error| match error {
            StoreError::Refused(refused) => Stop::Refused(refused),
            other => Stop::Other(other.into()),
        })?;
        let merged = Merged {
            graph: graph.slug.clone(),
            branch: done.branch,
            commit: done.commit,
            committed: done.committed,
            rows: rows.unwrap_or_default(),
        };
        let (status, merged) = (ProposalStatus::Applied, Some(merged));
        Ok(Reply::Decided(Decided { id, status, page: None, revision: None, merged, let_in: None }))
    }

    /// The merge as it would be made now.
    async fn merge_prepared(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        graph: &GraphInfo,
        resolutions: &[Asked],
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let message =
            format!("merge {} into {} (proposal {})", merge.from, merge.into, proposal.id);
        let ask = MergeAsk {
            from: &merge.from,
            into: &merge.into,
            expected: None,
            resolutions,
            message: &message,
            allow_data_loss: merge.allow_data_loss,
            limits: self.graphs.limits(),
        };
        self.graphs.engine().merge(graph, &ask, maker).await
    }

    /// What the merge is marked with: what the agent had taken in when it asked, and what it had
    /// when it wrote what is merged. The owner's approval washes nothing off.
    async fn merge_taint(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        graph: &GraphInfo,
    ) -> Result<Taint, GraphError> {
        let engine = self.graphs.engine();
        let into = narthex_store::At::Branch(merge.into.clone());
        let known = engine.commit_at(graph, &into).await?.seen;
        let (mut taint, mut before) = (proposal.taint, None);
        for _ in 0..LOG_PAGES {
            let page = engine.log(graph, &merge.from, before, LOG_PAGE).await?;
            for commit in &page {
                if known.get(&commit.line).is_some_and(|upto| *upto >= commit.seq) {
                    return Ok(taint);
                }
                taint = taint.and(commit.taint);
            }
            match page.last() {
                Some(last) => before = Some(last.id),
                None => return Ok(taint),
            }
        }
        Ok(Taint { private: true, untrusted: true })
    }

    /// The graph that is to be changed, if it is still there.
    pub(super) async fn graph_of(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
    ) -> Result<Option<GraphInfo>, OwnerError> {
        let graphs = self.store().graphs(Some(proposal.space)).await?;
        Ok(graphs.into_iter().find(|graph| graph.id == merge.graph))
    }

    /// What a list says of a merge.
    pub(super) async fn merge_info(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
    ) -> Result<MergeInfo, OwnerError> {
        let graph = self.graph_of(proposal, merge).await?;
        Ok(MergeInfo {
            graph: graph.map(|graph| graph.slug),
            from: merge.from.clone(),
            from_commit: merge.from_commit,
            into: merge.into.clone(),
            into_commit: merge.into_commit,
            allow_data_loss: merge.allow_data_loss,
        })
    }

    /// A merge that the store did not make: recorded, and marked if it cannot be made as it is.
    async fn merge_refused(&self, proposal: &Proposal, refused: Refused) -> OwnerError {
        let (id, told) = (proposal.id, refused.to_string());
        let no = format!("reject it: narthex inbox reject {id} --reason <why>");
        let (note, advice) = match refused {
            Refused::BranchMoved { branch, .. } => (
                Some(format!(
                    "the branch {branch} moved on after this was proposed: propose it anew"
                )),
                format!(
                    "What you were shown is not what would be merged now. The agent can propose it anew; {no}"
                ),
            ),
            Refused::NotFound(_) | Refused::NoSuchBranch => (Some(told.clone()), no),
            Refused::AlreadyDecided(_) => (None, String::new()),
            _ => (None, format!("Try again, or {no}")),
        };
        let message = format!("not applied: {told}. {advice}");
        match note {
            Some(note) => self.merge_marked(proposal, note, message.trim()).await,
            None => self.left_as_it_is(proposal, message.trim().to_owned()).await,
        }
    }

    /// A merge that could not be prepared.
    async fn merge_failed(
        &self,
        proposal: &Proposal,
        merge: &MergeRequest,
        graph: &GraphInfo,
        error: GraphError,
    ) -> OwnerError {
        let (id, slug) = (proposal.id, &graph.slug);
        let by_hand = format!("narthex graph merge {slug} {} --into {}", merge.from, merge.into);
        match error {
            GraphError::Conflicts(conflicts) => {
                let note = conflicts.to_string().chars().take(Bound::REASON_CHARS).collect();
                let message = format!(
                    "not applied: {conflicts}.\n\
                     See them all:           narthex inbox show {id}\n\
                     Say how the rows are:   narthex inbox approve {id} --resolve <file>\n\
                     Or merge it yourself:   {by_hand} --resolve <file>\n\
                     Or say no:              narthex inbox reject {id} --reason <why>"
                );
                self.merge_marked(proposal, note, &message).await
            }
            GraphError::Migration(_) => {
                let why = format!(
                    "not applied: {error}\nTo merge it all the same: {by_hand} --allow-data-loss"
                );
                self.left_as_it_is(proposal, why).await
            }
            GraphError::Asked(_) | GraphError::Merge(_) => invalid(format!("not applied: {error}")),
            GraphError::Store(error) => error.into(),
            other => self.left_as_it_is(proposal, format!("not applied: {other}")).await,
        }
    }

    /// Marks it as in conflict, and records that.
    async fn merge_marked(&self, proposal: &Proposal, note: String, message: &str) -> OwnerError {
        let effect = Effect::MarkConflict { id: proposal.id, note, at: self.now() };
        self.merge_unmade(proposal, Some(effect), message).await
    }

    /// Leaves it as it is, and records that it was not made.
    pub(super) async fn left_as_it_is(&self, proposal: &Proposal, message: String) -> OwnerError {
        self.merge_unmade(proposal, None, &message).await
    }

    async fn merge_unmade(
        &self,
        proposal: &Proposal,
        effect: Option<Effect>,
        message: &str,
    ) -> OwnerError {
        let subject = Subject::one("proposal", proposal.id);
        let (outcome, reason) = (Outcome::Refused, Reason::Conflict);
        let record = owner_record("inbox.approve", Some(proposal.space), subject, outcome, reason);
        let unit = UnitOfWork { effect, records: vec![record], ..UnitOfWork::default() };
        match self.store().commit(unit).await {
            Ok(_) | Err(StoreError::Refused(_)) => conflict(message),
            Err(error) => error.into(),
        }
    }
}

/// Why it was not made.
enum Stop {
    /// The store's rules.
    Refused(Refused),
    /// The engine could not prepare it.
    Engine(GraphError),
    /// Said and recorded already.
    Other(OwnerError),
}

impl Stop {
    fn of(error: GraphError) -> Self {
        match error {
            GraphError::NoBranch { .. } => Self::Refused(Refused::NoSuchBranch),
            other => Self::Engine(other),
        }
    }
}

/// How often a merge is prepared for a branch that others move.
const TRIES: u32 = 5;
/// Commits that are looked through for what they were written under: so many pages of so many. A
/// branch with more is taken to have been written under everything.
const LOG_PAGES: usize = 20;
const LOG_PAGE: u32 = 100;
