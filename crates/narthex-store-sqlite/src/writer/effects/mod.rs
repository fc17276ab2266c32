//! What each effect does to the database, one kind of thing a file.
//!
//! An effect runs inside a savepoint of its own: whatever it did before it was refused is undone.

mod agents;
pub(super) mod approvals;
mod conversations;
mod fts;
mod graphs;
mod import;
pub(super) mod latches;
mod merges;
mod page_rows;
mod pages;
pub(super) mod proposals;
mod prune;
pub(super) mod runs;
mod server_requests;
mod servers;
mod settings;
mod spaces;
mod switches;
mod tokens;

use narthex_core::SpaceId;
use narthex_store::chain::SealKey;
use narthex_store::{Effect, Effected, Refused};
use sqlx::SqliteConnection;

use crate::fault::Fault;
use crate::gate::Bench;

/// Carries out one effect.
pub(super) async fn apply(
    bench: &mut Bench<'_>,
    seal_key: &SealKey,
    effect: Effect,
) -> Result<Effected, Fault> {
    let conn = &mut *bench.conn;
    match effect {
        Effect::AddSpace(space) => spaces::add(bench, &space).await,
        Effect::WritePage(write) => pages::write(conn, &write).await,
        Effect::DeletePage { space, page, base, revision, provenance, at } => {
            let by = pages::Stamp { revision, provenance, at };
            pages::delete(conn, space, page, base, &by).await
        }
        Effect::MovePage { from, page, to, at } => pages::relocate(conn, from, page, to, at).await,
        Effect::ImportPages { space, pages, at } => import::pages(conn, space, pages, at).await,
        Effect::AddAgent(agent) => agents::add(bench, &agent).await,
        Effect::SetAgentDisabled { agent, disabled } => {
            agents::set_disabled(bench, agent, disabled).await
        }
        Effect::SetAgentCeiling { agent, ceiling } => {
            settings::agent_ceiling(bench, agent, ceiling).await
        }
        Effect::SetToolTier { agent, tool, tier } => {
            settings::tool_tier(bench, agent, tool, tier).await
        }
        Effect::SetAgentBudget { agent, budget } => {
            settings::agent_budget(bench, agent, budget).await
        }
        Effect::SetSpaceCeiling { space, ceiling } => {
            settings::space_ceiling(bench, space, ceiling).await
        }
        Effect::NoteMode { mode, chosen } => settings::note_mode(bench, mode, chosen).await,
        Effect::SwitchServers { on } => servers::switch(bench, on).await,
        Effect::NoteServerRules { name, rules } => servers::note_rules(bench, name, rules).await,
        Effect::SetServer { name, standing, texts } => {
            servers::set(bench, name, *standing, &texts).await
        }
        Effect::SetProfiles { agent, profiles } => servers::profiles(bench, agent, profiles).await,
        Effect::EngageSwitch(engaged) => switches::engage(bench, engaged).await,
        Effect::LiftSwitch { scope } => switches::lift(bench, scope).await,
        Effect::ClearLatch { holder, taint, ran_out } => {
            latches::clear(bench, holder, taint, ran_out).await
        }
        Effect::RequestApproval { approval, cap } => {
            approvals::request(bench, *approval, cap).await
        }
        Effect::DecideApproval { id, digest, approve, note, at } => {
            approvals::decide(bench, id, digest, (approve, note), at).await
        }
        Effect::WrongNonce { id, most } => approvals::wrong_nonce(bench, id, most).await,
        Effect::ParkRun { run, cap, now } => runs::park(bench, &run, cap, now).await,
        Effect::TakeUpRun { id, holder } => runs::take_up(bench, id, holder).await,
        Effect::PruneLedger { to } => prune::prune(conn, seal_key, to).await,
        Effect::AddToken { id, agent, label, keyed_hash, created, expires } => {
            let token = tokens::New { id, agent, label, keyed_hash, created, expires };
            tokens::add(bench, &token).await
        }
        Effect::RevokeToken { id, at } => tokens::revoke(bench, id, at).await,
        Effect::AddConversation(conversation) => conversations::add(conn, &conversation).await,
        Effect::OpenProposal { proposal, cap } => proposals::open(bench, &proposal, cap).await,
        Effect::ApplyProposal { id, new_page, revision, at } => {
            proposals::apply(bench, id, new_page, revision, at).await
        }
        Effect::ApplyMerge { id, write, at } => merges::apply(bench, id, write, at).await,
        Effect::ApplyServerRequest { id, at } => server_requests::apply(bench, id, at).await,
        Effect::RejectProposal { id, note, at } => proposals::reject(bench, id, &note, at).await,
        Effect::MarkConflict { id, note, at } => {
            proposals::mark_conflict(bench, id, &note, at).await
        }
        Effect::Graph(write) => graphs::write(bench, *write).await,
    }
}

/// What is remembered elsewhere and must be read anew after an effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Touches {
    /// Agents, tokens, spaces.
    pub(super) identity: bool,
    /// Pages, spaces.
    pub(super) content: bool,
    /// Graphs.
    pub(super) graphs: bool,
}

/// What an effect touches.
pub(super) const fn touches(effect: &Effect) -> Touches {
    const NOTHING: Touches = Touches { identity: false, content: false, graphs: false };
    match effect {
        Effect::AddAgent(_)
        | Effect::SetAgentDisabled { .. }
        | Effect::SetAgentCeiling { .. }
        | Effect::SetAgentBudget { .. }
        | Effect::SetToolTier { .. }
        | Effect::AddToken { .. }
        | Effect::RevokeToken { .. } => Touches { identity: true, ..NOTHING },
        Effect::AddSpace(_) | Effect::SetSpaceCeiling { .. } => {
            Touches { identity: true, content: true, ..NOTHING }
        }
        Effect::WritePage(_)
        | Effect::DeletePage { .. }
        | Effect::MovePage { .. }
        | Effect::ImportPages { .. }
        | Effect::ApplyProposal { .. } => Touches { content: true, ..NOTHING },
        Effect::Graph(_) | Effect::ApplyMerge { .. } => Touches { graphs: true, ..NOTHING },
        Effect::AddConversation(_)
        | Effect::OpenProposal { .. }
        | Effect::ApplyServerRequest { .. }
        | Effect::RejectProposal { .. }
        | Effect::MarkConflict { .. }
        | Effect::NoteMode { .. }
        | Effect::SwitchServers { .. }
        | Effect::SetServer { .. }
        | Effect::NoteServerRules { .. }
        | Effect::SetProfiles { .. }
        | Effect::EngageSwitch(_)
        | Effect::LiftSwitch { .. }
        | Effect::ClearLatch { .. }
        | Effect::RequestApproval { .. }
        | Effect::DecideApproval { .. }
        | Effect::WrongNonce { .. }
        | Effect::ParkRun { .. }
        | Effect::TakeUpRun { .. }
        | Effect::PruneLedger { .. } => NOTHING,
    }
}

/// The short key of a space that must be there.
async fn space_number(conn: &mut SqliteConnection, space: SpaceId) -> Result<i64, Fault> {
    sqlx::query_scalar("SELECT n FROM spaces WHERE id = ?1")
        .bind(space.as_bytes().as_slice())
        .fetch_optional(conn)
        .await?
        .ok_or(Fault::Refused(Refused::NotFound("space")))
}
