//! Code mode: an agent sends a program, and everything it may use is a module in it.
//!
//! ```text
//! execute_code ── turn ── Pool ── Layer ──▶ worker (our own binary, shut in)
//!                  │                           │ one pipe
//!                  └── drive ◀── calls ────────┘
//!                        └── Run (narthex-gate): each call decided on, recorded, carried out
//! ```
//!
//! [`worker`] is what runs inside: the engine, with what a program finds in it. The engine is assumed
//! to be broken: whatever a worker says is bounded and believed in nothing, and the deadline, the
//! decisions and the secrets are outside. [`shape`] makes a program of what a model wrote (inside too:
//! a parser is an engine). [`drive`] carries a run from its first frame to its last, and its journal
//! from one start of the program to the next. [`modules`] and [`types`] say what there is, in names and
//! in TypeScript. [`surface`] has the tools.
//!
//! It must never know: MCP's wire, HTTP, SQL, where a module's surface comes from. Only it names
//! rquickjs and oxc.
//!
//! To add a tool: a file in `surface/`, its place in `surface::Tool`.

#[cfg(feature = "baseline")]
pub mod baseline;
mod config;
pub mod drive;
mod layer;
pub mod modules;
mod pool;
pub mod shape;
mod surface;
pub mod types;
mod value;
mod wire;
mod worker;

pub use config::SandboxConfig;
pub use layer::{Gone, Layer, LayerFault, ProcessLayer, Standing, Worker};
pub use pool::Pool;
pub use surface::{AskedServer, CodeParts, CodeSurface, ServerLine, ServerShelf};
pub use worker::{WORK, WorkerOrder, work};
