//! Proposed merges: of exactly what a branch was, once, together with the merge or not at all.

use narthex_core::{
    ChangeAction, EntityType, GraphId, MergeRequest, PageId, Proposal, ProposalId, ProposalStatus,
};

use super::Backend;
use super::house::{agent, apply, at, creation, draft};
use super::net::{Net, named, node};
use crate::{CommitKind, Effect, Effected, GraphCommit, GraphWrite, Refused, RowWrite, fresh_uuid};

pub async fn a_merge_reads_back_as_opened(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let proposal = net.asked("work", "main").await;
    assert_eq!(net.house.proposal(proposal.id).await, proposal);
    assert!(net.bodies("main", &[7]).await.is_empty(), "nothing took effect");
    let store = backend.reopen().await;
    let read = store.proposal(proposal.id).await.unwrap();
    assert_eq!(read, Some(proposal));
}

pub async fn it_has_the_parts_of_a_merge_and_no_others(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.work("work").await;
    let good = net.asking("work", "main").await;
    let page = creation(&net.house.agent, draft("new", "New", ""));
    let into_itself = net.asking("work", "work").await;
    let missing = Proposal { merge: None, ..good.clone() };
    assert_eq!(refused(&net, missing).await, Refused::NotFound("merge"));
    for unfit in [
        Proposal { action: ChangeAction::Update, ..good.clone() },
        Proposal { draft: page.draft.clone(), ..good.clone() },
        Proposal { page: Some(PageId::from_uuid(fresh_uuid())), ..good.clone() },
        Proposal { base_revision: Some(1), ..good.clone() },
        Proposal { merge: good.merge.clone(), ..page.clone() },
        Proposal { action: ChangeAction::Merge, ..page },
        into_itself,
    ] {
        let told = refused(&net, unfit.clone()).await;
        assert!(matches!(told, Refused::UnfitProposal(_)), "{told:?}: {unfit:?}");
    }
    net.house.propose(&good).await;
}

pub async fn its_graph_must_be_in_its_space(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let elsewhere = net.beside("theirs").await;
    elsewhere.work("work").await;
    net.work("work").await;
    let foreign = elsewhere.asking("work", "main").await;
    assert_eq!(foreign.space, net.house.a);
    assert_eq!(refused(&net, foreign).await, Refused::NotFound("graph"));
    let mut nowhere = net.asking("work", "main").await;
    nowhere.merge.as_mut().unwrap().graph = GraphId::from_uuid(fresh_uuid());
    assert_eq!(refused(&net, nowhere).await, Refused::NotFound("graph"));
    for side in 0..2 {
        let mut lost = net.asking("work", "main").await;
        let merge = lost.merge.as_mut().unwrap();
        *if side == 0 { &mut merge.from } else { &mut merge.into } = named("nothing");
        assert_eq!(refused(&net, lost).await, Refused::NoSuchBranch);
    }
}

pub async fn its_branches_must_stand_where_it_says(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.work("work").await;
    for moving in ["work", "main"] {
        let late = net.asking("work", "main").await;
        let is = net.commit(moving, vec![node(1, "more")]).await;
        let branch = named(moving);
        assert_eq!(refused(&net, late).await, Refused::BranchMoved { branch, is });
    }
    net.house.propose(&net.asking("work", "main").await).await;
}

pub async fn the_same_merge_waits_once(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.fork("other", "main").await;
    let first = net.asked("work", "main").await;
    let again = net.asking("work", "main").await;
    assert_eq!(refused(&net, again.clone()).await, Refused::MergeAsked(first.id));
    // Once the branch has moved nobody can make the first any more, and a second takes its place.
    net.commit("work", vec![node(8, "more")]).await;
    let again = Proposal { id: again.id, ..net.asking("work", "main").await };
    net.house.propose(&again).await;
    let replaced = net.house.proposal(first.id).await;
    assert_eq!(replaced.status, ProposalStatus::Rejected);
    assert!(replaced.note.is_some_and(|note| note.contains(&again.id.to_string())));
    // Into another branch, or by somebody else, is something else.
    net.house.propose(&net.asking("work", "other").await).await;
    let colleague = agent("colleague", Some(net.house.a));
    net.house.done(Effect::AddAgent(colleague.clone())).await;
    let theirs = Proposal { agent: colleague.id, ..net.asking("work", "main").await };
    net.house.propose(&theirs).await;
    net.house.done(reject(again.id)).await;
    net.house.propose(&net.asking("work", "main").await).await;
}

pub async fn one_in_conflict_waits_too(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mut first = net.asked("work", "main").await;
    for loss in [true, false, false] {
        let (id, note) = (first.id, "two rows".to_owned());
        net.house.done(Effect::MarkConflict { id, note, at: at(5_500) }).await;
        let same = Proposal { merge: first.merge.clone(), ..net.asking("work", "main").await };
        assert_eq!(refused(&net, same).await, Refused::MergeAsked(first.id));
        // Asking for more is asking for something else; and so is what has moved.
        if !loss {
            net.commit("work", vec![node(8, "more")]).await;
        }
        let mut next = net.asking("work", "main").await;
        next.merge.as_mut().expect("a merge").allow_data_loss = loss;
        net.house.propose(&next).await;
        assert_eq!(net.house.proposal(next.id).await.merge, next.merge);
        assert_eq!(net.house.proposal(first.id).await.status, ProposalStatus::Rejected);
        first = next;
    }
}

pub async fn merges_and_pages_wait_under_one_cap(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.work("work").await;
    let open = |proposal: Proposal| Effect::OpenProposal { proposal: Box::new(proposal), cap: 2 };
    let page = |slug: &str| creation(&net.house.agent, draft(slug, "New", ""));
    net.house.done(open(page("one"))).await;
    net.house.done(open(net.asking("work", "main").await)).await;
    assert_eq!(net.house.refused(open(page("two"))).await, Refused::TooManyOpen { cap: 2 });
    net.fork("other", "main").await;
    let more = open(net.asking("work", "other").await);
    assert_eq!(net.house.refused(more).await, Refused::TooManyOpen { cap: 2 });
}

pub async fn it_is_made_and_applied_at_once(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let proposal = net.asked("work", "main").await;
    net.commit("main", vec![node(1, "ours")]).await;
    let write = net.merging("work", "main", vec![node(7, "work")]).await;
    let commit = write.commit.id;
    let Effected::Graph(done) = net.house.done(made(proposal.id, write.clone())).await else {
        panic!("a graph was changed")
    };
    assert_eq!(done.commit, Some(commit));
    assert_eq!(net.branch("main").await.commit, commit);
    assert_eq!(net.bodies("main", &[1, 7]).await, [(1, "ours".into()), (7, "work".into())]);
    let decided = net.house.proposal(proposal.id).await;
    assert_eq!((decided.status, decided.decided), (ProposalStatus::Applied, Some(at(6_000))));
    let next = net.merging("work", "main", Vec::new()).await;
    for again in [made(proposal.id, write), made(proposal.id, next), nothing(proposal.id)] {
        let told = net.house.refused(again).await;
        assert_eq!(told, Refused::AlreadyDecided(ProposalStatus::Applied));
    }
    assert_eq!(net.branch("main").await.commit, commit);
}

pub async fn only_what_was_proposed_is_merged(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.fork("other", "main").await;
    let proposal = net.asked("work", "main").await;
    let id = proposal.id;
    let good = net.merging("work", "main", vec![node(7, "work")]).await;
    let mut mutation = good.clone();
    mutation.commit.kind = CommitKind::Mutate;
    let mut of_other = good.clone();
    of_other.commit.parents[1] = net.branch("other").await.commit;
    let into_other = net.merging("work", "other", vec![node(7, "work")]).await;
    let beside = net.beside("theirs").await;
    let another = beside.next("main", vec![node(7, "work")]).await;
    let remove = GraphWrite::Remove { graph: net.graph };
    let unfit = [mutation, of_other, into_other, another].map(GraphWrite::Commit);
    for write in unfit.into_iter().chain([remove]) {
        let write = Some(Box::new(write));
        let told = net.house.refused(Effect::ApplyMerge { id, write, at: at(6_000) }).await;
        assert!(matches!(told, Refused::UnfitCommit(_)), "{told:?}");
    }
    net.commit("main", vec![node(1, "ours")]).await;
    assert_eq!(net.house.refused(made(id, good)).await, Refused::HeadMoved { head: 2 });
    let ready = net.merging("work", "main", vec![node(7, "work")]).await;
    let before = net.branch("main").await;
    let is = net.commit("work", vec![node(8, "what nobody was shown")]).await;
    let moved = Refused::BranchMoved { branch: named("work"), is };
    assert_eq!(net.house.refused(made(id, ready)).await, moved);
    let now = net.merging("work", "main", vec![node(7, "work")]).await;
    assert_eq!(net.house.refused(made(id, now)).await, moved);
    assert_eq!(net.branch("main").await, before);
    assert_eq!(net.house.proposal(id).await, proposal);
}

pub async fn nothing_to_merge_is_applied_without_a_commit(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let proposal = net.asked("work", "main").await;
    let told = net.house.refused(nothing(proposal.id)).await;
    assert!(matches!(told, Refused::BranchMoved { .. }), "{told:?}");
    let by_the_owner = net.merging("work", "main", vec![node(7, "work")]).await;
    net.write(GraphWrite::Commit(by_the_owner)).await.unwrap();
    let before = net.branch("main").await;
    assert_eq!(net.house.done(nothing(proposal.id)).await, Effected::Done);
    assert_eq!(net.house.proposal(proposal.id).await.status, ProposalStatus::Applied);
    assert_eq!(net.branch("main").await, before);
}

pub async fn one_in_conflict_can_still_be_made(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let proposal = net.asked("work", "main").await;
    let id = proposal.id;
    for note in ["two rows", "one row"] {
        let note = note.to_owned();
        net.house.done(Effect::MarkConflict { id, note, at: at(5_500) }).await;
    }
    let marked = net.house.proposal(id).await;
    assert_eq!(marked.status, ProposalStatus::Conflict);
    assert_eq!(marked.note.as_deref(), Some("one row"));
    let write = net.merging("work", "main", vec![node(7, "as it was said")]).await;
    net.house.done(made(id, write)).await;
    assert_eq!(net.house.proposal(id).await.status, ProposalStatus::Applied);
    assert_eq!(net.bodies("main", &[7]).await, [(7, "as it was said".into())]);
}

pub async fn one_that_was_rejected_is_not_made(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let proposal = net.asked("work", "main").await;
    let write = net.merging("work", "main", vec![node(7, "work")]).await;
    net.house.done(reject(proposal.id)).await;
    let told = net.house.refused(made(proposal.id, write)).await;
    assert_eq!(told, Refused::AlreadyDecided(ProposalStatus::Rejected));
    assert!(net.bodies("main", &[7]).await.is_empty());
}

pub async fn pages_and_merges_are_applied_each_in_their_way(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let merge = net.asked("work", "main").await;
    let page = creation(&net.house.agent, draft("new", "New", ""));
    net.house.propose(&page).await;
    assert_eq!(net.house.refused(apply(merge.id)).await, Refused::NotFound("page"));
    let write = net.merging("work", "main", vec![node(7, "work")]).await;
    assert_eq!(net.house.refused(made(page.id, write)).await, Refused::NotFound("merge"));
    assert_eq!(net.house.refused(nothing(page.id)).await, Refused::NotFound("merge"));
}

pub async fn one_in_conflict_outlives_a_restart(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let id = net.asked("work", "main").await.id;
    net.house.done(Effect::MarkConflict { id, note: "rows".to_owned(), at: at(5_500) }).await;
    let marked = net.house.proposal(id).await;
    let store = backend.reopen().await;
    assert_eq!(store.proposal(id).await.unwrap(), Some(marked));
    assert!(store.damaged_rows().await.unwrap().is_empty());
}

impl Net {
    /// A branch of `main` with something on it.
    async fn work(&self, name: &str) {
        self.fork(name, "main").await;
        self.commit(name, vec![node(7, name)]).await;
    }

    /// What the agent of space a asks for when it asks now.
    async fn asking(&self, from: &str, into: &str) -> Proposal {
        let (from, into) = (self.branch(from).await, self.branch(into).await);
        Proposal {
            entity_type: EntityType::Graph,
            action: ChangeAction::Merge,
            draft: None,
            merge: Some(MergeRequest {
                graph: self.graph,
                from: from.name,
                from_commit: from.commit,
                into: into.name,
                into_commit: into.commit,
                allow_data_loss: false,
            }),
            ..creation(&self.house.agent, draft("unused", "Unused", ""))
        }
    }

    /// The same of a branch that is made for it, opened.
    async fn asked(&self, from: &str, into: &str) -> Proposal {
        self.work(from).await;
        let proposal = self.asking(from, into).await;
        self.house.propose(&proposal).await;
        proposal
    }

    /// The merge of two branches as they are now.
    async fn merging(&self, from: &str, into: &str, rows: Vec<RowWrite>) -> GraphCommit {
        let mut next = self.next(into, rows).await;
        let theirs = self.commit_of(self.branch(from).await.commit).await;
        next.commit.kind = CommitKind::Merge;
        next.commit.parents.push(theirs.id);
        for (line, upto) in theirs.seen {
            let known = next.commit.seen.entry(line).or_default();
            *known = upto.max(*known);
        }
        next
    }
}

fn made(id: ProposalId, write: GraphCommit) -> Effect {
    Effect::ApplyMerge { id, write: Some(Box::new(GraphWrite::Commit(write))), at: at(6_000) }
}

const fn nothing(id: ProposalId) -> Effect {
    Effect::ApplyMerge { id, write: None, at: at(6_000) }
}

fn reject(id: ProposalId) -> Effect {
    Effect::RejectProposal { id, note: "no".to_owned(), at: at(6_000) }
}

async fn refused(net: &Net, proposal: Proposal) -> Refused {
    let id = proposal.id;
    let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 100 };
    let refused = net.house.refused(effect).await;
    assert!(net.house.store.proposal(id).await.unwrap().is_none());
    refused
}
