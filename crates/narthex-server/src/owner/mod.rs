//! The owner's side: requests, replies, and the desk that carries them out.

mod agents;
mod approvals;
mod budget;
mod checkup;
mod code;
mod conversations;
mod desk;
mod gate_request;
mod graph_request;
mod graphs;
mod inbox;
mod ledger;
mod merges;
mod pages;
mod policy;
mod reply;
mod request;
mod sealed;
mod server_request;
mod server_requests;
mod servers;
mod settings;
mod spaces;
mod status;
mod switches;
mod taint;
mod tokens;

pub use budget::{BudgetChange, BudgetSpec, Limit, loosens};
pub use code::{CodeReply, CodeRequest, RunCallShown, RunShown};
pub use desk::Desk;
pub use gate_request::{
    Answer, ApprovalRequest, SettingRequest, StopScope, SwitchRequest, TaintRequest,
};
pub use graph_request::{
    BranchRequest, GraphChange, GraphQuery, GraphRequest, LoadRequest, MAX_LOAD_PART,
};
pub use graphs::Bytes;
pub use reply::*;
pub use request::{MAX_IMPORT_BATCH, Request};
pub use sealed::{LedgerReply, LedgerRequest, SealLine};
pub use server_request::{CameBack, ServerRequest};
