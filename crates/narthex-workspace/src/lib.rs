//! The workspace surface: an agent looks around its one space and proposes changes.
//!
//! Exactly four tools: `search`, `read`, `context`, `propose_change`. Two registries serve them,
//! each with its own list, so that nothing added to one is ever exposed by the other:
//! [`WorkspaceSurface`] for agents bound to one space, [`CompanionSurface`] for the owner's local
//! assistant on stdio, which may reach across spaces and read conversations.
//!
//! It must never know: MCP's wire, HTTP, tokens, SQL. The space comes from the gate's scope;
//! a space that a bound agent names is taken out before anything looks at it.
//!
//! To add a tool: a file in `tools/` with its input, its output and its executor, a variant in
//! the enum of the registry that offers it, and its row in the authorization and ledger tables.

mod companion;
mod config;
mod external;
mod reach;
mod tools;

pub use companion::CompanionSurface;
pub use config::WorkspaceConfig;
pub use external::WorkspaceSurface;
