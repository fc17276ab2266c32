//! The owner's side: requests, replies, and the desk that carries them out.

mod protocol;

pub use protocol::*;
