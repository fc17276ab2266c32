//! Merges that agents propose: what the owner is shown is what is merged, or nothing is.

use narthex_core::{
    BranchName, ChangeAction, CommitId, MergeRequest, Proposal, ProposalId, ProposalStatus,
    Timestamp,
};
use narthex_store::{Branch, Commit, CommitKind, Effected, GraphWrite, Refused};

use super::{graphs, proposals as rows};
use crate::fault::Fault;
use crate::gate::Bench;
use crate::graphs::{branch, commit_named, known_graph};
use crate::matter::{self, proposals};
use crate::rows::Fields;

/// The parts a proposed merge needs are there and no others, its branches stand where it says, and
/// the agent does not ask for the same already.
pub(super) async fn must_be_possible(
    bench: &mut Bench<'_>,
    proposal: &Proposal,
) -> Result<(), Fault> {
    let unfit = |why| Err(Fault::Refused(Refused::UnfitProposal(why)));
    if proposal.action != ChangeAction::Merge {
        return unfit("of a graph nothing but a merge is proposed");
    }
    let nothing = (proposal.page, proposal.base_revision, proposal.draft.as_ref());
    if !matches!(nothing, (None, None, None)) {
        return unfit("a merge has no page");
    }
    if proposal.server.is_some() {
        return unfit("a graph is no server");
    }
    let merge = merge_of(proposal)?;
    if merge.from == merge.into {
        return unfit("a branch is not merged into itself");
    }
    must_be_in_its_space(bench, proposal, merge).await?;
    standing_at(bench, merge, &merge.from, merge.from_commit).await?;
    standing_at(bench, merge, &merge.into, merge.into_commit).await?;
    let open = asked_already(bench, proposal, merge).await?;
    let same = |asked: &&MergeRequest| {
        asked.from_commit == merge.from_commit && asked.allow_data_loss == merge.allow_data_loss
    };
    if let Some(first) = open.iter().find(|one| one.merge.as_ref().is_some_and(|of| same(&of))) {
        return Err(Refused::MergeAsked(first.id).into());
    }
    // Its branch has moved since, or more is asked for: this one takes its place.
    let note = format!("proposal {} asks anew", proposal.id);
    for one in open {
        let (no, at) = (ProposalStatus::Rejected, proposal.created);
        rows::decide(bench, one, no, Some(&note), at).await?;
    }
    Ok(())
}

/// Carries a proposed merge out.
pub(super) async fn apply(
    bench: &mut Bench<'_>,
    id: ProposalId,
    write: Option<Box<GraphWrite>>,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal = rows::undecided(bench, id, matter::is_open_proposal).await?;
    let merge = merge_of(&proposal)?;
    must_be_in_its_space(bench, &proposal, merge).await?;
    let from = standing_at(bench, merge, &merge.from, merge.from_commit).await?;
    let into = there(bench, merge, &merge.into).await?;
    let effected = if let Some(write) = write {
        must_be_this_merge(&write, merge, &into)?;
        graphs::write(bench, *write).await?
    } else {
        must_be_merged(bench, merge, &from, &into).await?;
        Effected::Done
    };
    rows::decide(bench, proposal, ProposalStatus::Applied, None, at).await?;
    Ok(effected)
}

fn merge_of(proposal: &Proposal) -> Result<&MergeRequest, Fault> {
    proposal.merge.as_ref().ok_or(Fault::Refused(Refused::NotFound("merge")))
}

async fn must_be_in_its_space(
    bench: &mut Bench<'_>,
    proposal: &Proposal,
    merge: &MergeRequest,
) -> Result<(), Fault> {
    let graph = known_graph(bench.conn, bench.key, merge.graph).await?;
    match graph {
        Some(graph) if graph.info.space == proposal.space => Ok(()),
        _ => Err(Refused::NotFound("graph").into()),
    }
}

async fn there(
    bench: &mut Bench<'_>,
    merge: &MergeRequest,
    name: &BranchName,
) -> Result<Branch, Fault> {
    let found = branch(&mut *bench.conn, bench.key, merge.graph, name).await?;
    found.ok_or(Fault::Refused(Refused::NoSuchBranch))
}

async fn standing_at(
    bench: &mut Bench<'_>,
    merge: &MergeRequest,
    name: &BranchName,
    commit: CommitId,
) -> Result<Branch, Fault> {
    let found = there(bench, merge, name).await?;
    if found.commit == commit {
        Ok(found)
    } else {
        Err(Refused::BranchMoved { branch: found.name, is: found.commit }.into())
    }
}

/// The agent's own proposals of the same merge that are open: they wait, or are in conflict. One
/// that was put there from outside stands in nobody's way.
async fn asked_already(
    bench: &mut Bench<'_>,
    new: &Proposal,
    merge: &MergeRequest,
) -> Result<Vec<Proposal>, Fault> {
    let found =
        sqlx::query(OPEN).bind(new.agent.as_bytes().as_slice()).fetch_all(&mut *bench.conn).await?;
    let same = |asked: &MergeRequest| {
        asked.graph == merge.graph && asked.from == merge.from && asked.into == merge.into
    };
    let held = found.iter().filter_map(|row| {
        let genuine = matter::proposal(Fields(row), bench.key).ok()?;
        genuine.current(bench.gate.matters()).ok()
    });
    Ok(held.filter(|one| one.merge.as_ref().is_some_and(same)).collect())
}

/// The write brings exactly what was proposed into exactly that branch. That it fits onto where the
/// branch stands is checked where it is made.
fn must_be_this_merge(
    write: &GraphWrite,
    merge: &MergeRequest,
    into: &Branch,
) -> Result<(), Fault> {
    let is = match write {
        GraphWrite::Commit(change) => {
            change.graph == merge.graph
                && change.new_line.is_none()
                && change.commit.kind == CommitKind::Merge
                && change.commit.line == into.line
                && matches!(change.commit.parents.as_slice(), [_, theirs] if *theirs == merge.from_commit)
        }
        _ => false,
    };
    if is {
        Ok(())
    } else {
        Err(Refused::UnfitCommit("it is not the merge that was proposed").into())
    }
}

/// What the one branch has seen, the other has seen too.
async fn must_be_merged(
    bench: &mut Bench<'_>,
    merge: &MergeRequest,
    from: &Branch,
    into: &Branch,
) -> Result<(), Fault> {
    let theirs = commit_of(bench, merge, from).await?;
    let ours = commit_of(bench, merge, into).await?;
    let knows = |(line, upto): (_, &u64)| ours.seen.get(line).is_some_and(|known| known >= upto);
    if theirs.seen.iter().all(knows) {
        Ok(())
    } else {
        Err(Refused::BranchMoved { branch: into.name.clone(), is: into.commit }.into())
    }
}

async fn commit_of(
    bench: &mut Bench<'_>,
    merge: &MergeRequest,
    of: &Branch,
) -> Result<Commit, Fault> {
    commit_named(bench.conn, merge.graph, of.commit)
        .await?
        .ok_or_else(|| Fault::damaged(format!("the commit {} is gone", of.commit)))
}

const OPEN: &str = proposals!(
    "WHERE p.agent = ?1 AND p.status IN ('pending', 'conflict') AND p.merge IS NOT NULL"
);
