//! The owner's side: requests, replies, and the desk that carries them out.

mod agents;
mod conversations;
mod desk;
mod inbox;
mod ledger;
mod pages;
mod policy;
mod reply;
mod request;
mod spaces;
mod status;
mod tokens;

pub use desk::Desk;
pub use reply::*;
pub use request::{MAX_IMPORT_BATCH, Request};
