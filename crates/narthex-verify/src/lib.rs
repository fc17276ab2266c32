//! The offline verifier: says whether a ledger is whole, from its files alone.
//!
//! It shares no code with what writes a ledger, so that a mistake there is not repeated here; the
//! format both follow is `docs/ledger-format.md`. It only looks, never asks a running server, and
//! works beside one: the head file and the anchors are read first and the records after them in
//! one snapshot, so that a server that goes on appending can only be ahead of them.
//!
//! [`Ledger::verify`] walks a whole ledger, [`verify_segment`] an exported piece of one,
//! [`Ledger::prove`] makes a document that shows that one record is in it,
//! [`Ledger::prove_consistency`] one that shows that it continues what was signed earlier, and
//! [`InclusionProof::check`] and [`ConsistencyProof::check`] need the public key alone.
//!
//! It must never know: the crates that write (see `xtask`), HTTP, MCP, policy.
//!
//! To check one thing more: its variant in [`Fault`], its place in `walk`, its paragraph in
//! `docs/ledger-format.md`, its class in `tests/it/tamper.rs`.

mod anchor;
mod database;
mod fault;
mod gather;
mod hash;
mod head;
mod identity;
mod ledger;
mod note;
mod proof;
mod proposal;
mod record;
mod rows;
mod segment;
mod taken_out;
mod tree;
mod walk;

pub use anchor::Anchor;
pub use fault::{Failure, Fault, Place};
pub use hash::{Hash, hex, unhex, unhex_hash};
pub use head::{Head, HeadKey};
pub use ledger::Ledger;
pub use note::{Checkpoint, NoKey, PublicKey};
pub use proof::{ConsistencyProof, InclusionProof, NoProof, Proof};
pub use segment::verify_segment;
pub use taken_out::{Segment, TakenOut};
pub use walk::{EVERY, Keys, Report};

#[cfg(test)]
mod tests;
