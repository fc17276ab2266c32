//! An agent asks for a server.

use narthex_core::{Proposal, ProposalId, Reason, Subject};
use narthex_gate::{CallContext, Gate, Staged, ToolError, ToolOutput};
use narthex_sandbox::AskedServer;
use narthex_store::{Effect, fresh_uuid};
use serde_json::json;

/// The request, ready to be put into the owner's inbox. Whoever asks was given the server by a profile.
pub(crate) fn stage(
    gate: &Gate,
    context: &CallContext,
    asked: &AskedServer,
    cap: u32,
) -> Result<Staged, ToolError> {
    let space = context.scope.space().ok_or_else(ToolError::not_found)?;
    let server = asked.server.parse().map_err(|_| ToolError::not_found())?;
    let id = ProposalId::from_uuid(fresh_uuid());
    let (agent, now) = (context.principal.agent.id, gate.clock().now());
    let proposal =
        Proposal::for_server(id, agent, space, server, &asked.reason, context.taint, now)
            .map_err(|error| ToolError::caller(Reason::InvalidArguments, error.to_string()))?;
    let answer = ToolOutput::new(json!({"pending_change_id": id.to_string(), "status": "pending"}));
    let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap };
    Ok(Staged::new(effect, Subject::one("proposal", id), answer))
}
