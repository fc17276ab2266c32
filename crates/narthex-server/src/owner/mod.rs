//! The owner's side: requests, replies, and the desk that carries them out.

mod agents;
mod conversations;
mod desk;
mod inbox;
mod ledger;
mod pages;
mod policy;
mod protocol;
mod spaces;
mod status;
mod tokens;

pub use desk::Desk;
pub use protocol::*;
