//! What keeps a process of somebody else's in its place.
//!
//! ```text
//! gateway ── Spawned ──▶ keeper ──▶ inside, which becomes the target
//!             env, pipes   session, subreaper,   walls on itself, then exec
//!             log, stop    ends and reaps all
//! ```
//!
//! [`Walls`] says as data what a process may touch; [`probe`] says what this machine can hold it
//! to. Nothing runs with less than was asked for: a wall that is missing is an error, never a
//! warning. [`Spawned`] starts a process through our own binary (`keep`): the keeper stays outside
//! of the walls, so that what is inside cannot end it, and goes only when every descendant of the
//! target is gone, whoever died first. [`lock_strict`] is for a process of ours that shuts itself
//! in before it reads something hostile, with a list of system calls that it brings along.
//!
//! It must never know: MCP, the gate, the ledger, who approved what.
//!
//! To refuse one more system call: a row with its reason in `calls/refused.rs`, and a row in the
//! test that makes the calls (`tests/it/calls.rs`). To let the target read one more place of the
//! system: a row in `places.rs`.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(target_os = "linux")]
mod places;
mod probe;
#[cfg(target_os = "linux")]
mod spawned;
mod walls;

#[cfg(target_os = "linux")]
pub use calls::{AllowList, Otherwise, Test, When};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{KEEP, keep, probe};
pub use error::{Wall, WallError};
#[cfg(target_os = "linux")]
pub use keeper::{KEEP, Refusal, keep};
#[cfg(target_os = "linux")]
pub use lock::{hide_own_memory, lock_as_far_as_possible, lock_strict};
pub use probe::Offer;
#[cfg(target_os = "linux")]
pub use probe::probe;
#[cfg(target_os = "linux")]
pub use spawned::{Ending, Environment, Launch, LaunchError, Log, LogBounds, Spawned};
pub use walls::{Limits, Network, Preset, Walls};
