//! Looks at what servers say before anyone else does.
//!
//! Scanners warn; the gate decides. A definition with a finding of [`Severity::High`] is put in
//! quarantine: it is not listed until the owner has seen the finding and approved its digest. A
//! result is cleaned of what nobody sees and handed on with what was found; it is never withheld
//! without a word.
//!
//! Everything here takes time in proportion to the text, which [`crate::pin::Offer`] and the
//! bounds on results keep small. No pattern backtracks.

mod definitions;
mod finding;
mod folded;
mod links;
mod names;
mod neighbours;
mod param_header;
mod phrases;
mod result;
mod schema;
mod schema_refs;
mod walk;

pub use definitions::{Report, definitions};
pub use finding::{Code, Finding, Severity};
pub(crate) use links::is_internal as leads_inside;
pub use neighbours::Neighbours;
pub use result::{CleanResult, result};
