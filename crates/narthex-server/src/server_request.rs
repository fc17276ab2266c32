//! An agent asks for a server.

use narthex_gate::{CallContext, Gate, Staged, ToolError};
use narthex_sandbox::AskedServer;

/// The request, ready to be put into the owner's inbox.
pub(crate) fn stage(
    _gate: &Gate,
    _context: &CallContext,
    _asked: AskedServer,
    _cap: u32,
) -> Result<Staged, ToolError> {
    Err(ToolError::not_found())
}
