//! The one path that every call on every surface takes.
//!
//! ```text
//! identify ─ admit ─ resolve ─ decide ─ record the intent ─ act ─ record the outcome
//! ```
//!
//! Each stage consumes the value of the stage before it: [`Presented`] → [`Identified`] →
//! [`Admitted`] → (inside [`Gate::call`]) resolved → permitted → [`Intent`] → answer. A surface's
//! executor takes an [`Intent`], which only this crate can make, so a path around the gate does
//! not compile. An answer is released only against a [`narthex_store::Receipt`].
//!
//! It must never know: MCP's wire, HTTP, a database, which surfaces exist.
//!
//! To add a surface: implement [`Surface`] in a crate of its own. To add a check: a stage's
//! function in `pipeline/`, its [`narthex_core::Reason`], and a row in the decision tests.

mod answer;
mod config;
mod gate;
mod identity;
mod input;
mod pipeline;
mod ready;
mod seal;
mod sessions;
mod surface;
pub mod upstream;

pub use answer::{CallError, RawResult, ToolError, ToolOutput, Waiting};
pub use config::{GateConfig, SessionConfig};
pub use gate::{Gate, GateParts, Health};
pub use identity::{
    IssuedToken, Presented, SecretKey, Source, TokenVerifier, Verified, Verifier, VerifyError,
    issue_token, owner_token_in_clear,
};
pub use input::{
    Ask, AskKind, AskableClient, AsksClient, ClientCan, ClientOfCall, ClientWay, GoesOn,
    InputNeeded, Kept, NotAsked, Repeats, Ticket,
};
pub use pipeline::{
    Admitted, ClientAsker, ClientLog, Identified, Invocation, Method, ModeError, Refusal, Run,
    Stdio, StopError, Telling,
};
pub use ready::{ReadySurface, SurfaceFault};
pub use sessions::{NewSession, OpenSession, SessionInfo, SessionTerms};
pub use surface::{
    Annotations, Asks, CallContext, Foreign, ForeignItem, Hold, Intent, Local, Observe,
    RecordedIntent, ResourceSpec, Staged, Surface, SurfaceInfo, ToolSpec, Weight, input_schema,
    output_schema, read_arguments, write_answer,
};
