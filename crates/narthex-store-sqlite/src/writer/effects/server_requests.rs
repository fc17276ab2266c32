//! Servers that agents ask for: what the owner has not approved is not let in by a yes to this.

use narthex_core::{
    ChangeAction, Proposal, ProposalId, ProposalStatus, ServerStanding, Slug, Timestamp,
};
use narthex_store::{Effected, Refused};

use super::proposals as rows;
use crate::fault::Fault;
use crate::gate::Bench;
use crate::matter::{self, proposals};
use crate::rows::Fields;

/// The parts of it are there and no others, and the agent does not ask for this server already.
pub(super) async fn must_be_possible(
    bench: &mut Bench<'_>,
    proposal: &Proposal,
) -> Result<(), Fault> {
    let unfit = |why| Err(Fault::Refused(Refused::UnfitProposal(why)));
    if proposal.action != ChangeAction::Enable {
        return unfit("of a server nothing but its use is proposed");
    }
    let nothing = (proposal.page, proposal.base_revision, proposal.draft.as_ref());
    if !matches!(nothing, (None, None, None)) || proposal.merge.is_some() {
        return unfit("a server has no page and no branches");
    }
    let server = server_of(proposal)?;
    match asked_already(bench, proposal, server).await? {
        Some(first) => Err(Refused::ServerAsked(first).into()),
        None => Ok(()),
    }
}

/// Says yes to it: a server that is approved is disabled no more. Whether anything is different for
/// it now is the answer.
pub(super) async fn apply(
    bench: &mut Bench<'_>,
    id: ProposalId,
    at: Timestamp,
) -> Result<Effected, Fault> {
    let proposal = rows::undecided(bench, id, matter::is_open_proposal).await?;
    let server = server_of(&proposal)?.clone();
    let standing = bench.gate.servers().standings.get(&server);
    let approved = standing.filter(|it| it.start.is_some() && !it.definitions.is_empty());
    let Some(approved) = approved else { return Err(Refused::ServerNotApproved(server).into()) };
    let standing = ServerStanding { disabled: false, ..ServerStanding::clone(approved) };
    let changed = bench.set_server(server, standing).await?;
    rows::decide(bench, proposal, ProposalStatus::Applied, None, at).await?;
    Ok(Effected::Changed(changed))
}

fn server_of(proposal: &Proposal) -> Result<&Slug, Fault> {
    proposal.server.as_ref().ok_or(Fault::Refused(Refused::NotFound("server")))
}

/// The agent's own proposal of the same server that waits. One that was put there from outside
/// stands in nobody's way.
async fn asked_already(
    bench: &mut Bench<'_>,
    new: &Proposal,
    server: &Slug,
) -> Result<Option<ProposalId>, Fault> {
    let found = sqlx::query(WAITING)
        .bind(new.agent.as_bytes().as_slice())
        .bind(server.as_str())
        .fetch_all(&mut *bench.conn)
        .await?;
    let mut held = found.iter().filter_map(|row| {
        let genuine = matter::proposal(Fields(row), bench.key).ok()?;
        genuine.current(bench.gate.matters()).ok()
    });
    Ok(held.next().map(|first| first.id))
}

const WAITING: &str = proposals!("WHERE p.agent = ?1 AND p.status = 'pending' AND p.server = ?2");
