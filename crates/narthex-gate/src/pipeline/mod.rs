//! The stages, one a file, in the order a call meets them.

mod act;
mod admit;
mod decide;
mod identify;
mod limits;
mod list;
mod method;
mod record;
mod tally;
mod verdicts;

pub use admit::{Admitted, Stdio};
pub use decide::Invocation;
pub use identify::{Identified, Refusal};
pub use method::Method;

pub(crate) use limits::Limits;
pub(crate) use tally::Tally;
pub(crate) use verdicts::Verdicts;
