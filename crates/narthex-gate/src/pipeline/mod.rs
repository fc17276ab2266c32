//! The stages, one a file, in the order a call meets them.

mod act;
mod admit;
mod approve;
mod aside;
mod asking;
mod budget;
mod decide;
mod held;
mod identify;
mod limits;
mod list;
mod method;
mod mode;
mod outside;
mod place;
mod record;
mod run;
mod saying;
mod stop;
mod taint;
mod tally;
mod telling;
mod verdicts;

pub use admit::{Admitted, Stdio};
pub use asking::ClientAsker;
pub use decide::Invocation;
pub use identify::{Identified, Refusal};
pub use method::Method;
pub use mode::ModeError;
pub use run::Run;
pub use saying::{ClientLog, Telling};
pub use stop::StopError;

pub(crate) use aside::{Asides, Begun, PutAside};
pub(crate) use limits::Limits;
pub(crate) use record::Trace;
pub(crate) use stop::StopBoard;
pub(crate) use tally::Tally;
pub(crate) use verdicts::Verdicts;
