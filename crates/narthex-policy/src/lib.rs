//! Policy: who may ask for what, where, decided by Cedar.
//!
//! The gate asks one [`narthex_core::Question`] at a time, in the name of an [`Asker`] whose
//! agent and scope it established itself. The standard policy is part of the program; an owner
//! can add files to it, and a permit in one of those can widen what an agent may ask for, never
//! the space its answers come from (that is the scope's, not policy's).
//!
//! Pure: no files, no clock, no async. It must never know MCP, HTTP or a database.
//!
//! Cedar skips a policy that fails to evaluate, so a `forbid` in error would vanish: here any
//! error while deciding is a denial.
//!
//! To add an action: a variant of [`narthex_core::PolicyAction`], its name in
//! `policies/narthex.cedarschema`, and its place in `policies/standard.cedar`.

mod engine;
mod entities;
mod fault;

pub use engine::{PolicyEngine, Verdict};
pub use entities::Asker;
pub use fault::PolicyFault;

/// The Cedar schema, as committed and as shown by `narthex policy check --schema`.
pub const SCHEMA: &str = include_str!("../policies/narthex.cedarschema");

/// The policy every house starts with.
pub const STANDARD: &str = include_str!("../policies/standard.cedar");
