//! A whole house for tests: real store, real gate, real door, in a folder of its own.
//!
//! [`TestHouse`] starts one in the test's own process on port 0. It holds two spaces with
//! planted canaries and one [`Persona`] of every kind, so that a test reads as a paragraph:
//! who asks, for what, and what comes of it.
//!
//! [`upstream`] is somebody else's MCP server, as hostile as a test wants it; [`chaos`] calls a set of
//! them at random.
//!
//! Only ever a dev-dependency.
//!
//! To add a persona: a variant, how it is registered in `personas.rs`, and its column in the
//! authorization table.

mod answer;
pub mod chaos;
mod client;
mod code;
mod faults;
mod house;
mod lines;
mod personas;
mod raw;
mod servers;
mod side_door;
pub mod upstream;

pub use answer::Answer;
pub use client::{Client, Era, Listening};
pub use faults::{Faults, Picks, SECRET_OF_THE_STORE};
pub use house::{HouseOptions, TestHouse, ledger_of};
pub use lines::LineClient;
pub use personas::{CANARY_A, CANARY_B, Persona};
pub use raw::{exchange, raw_post};
pub use servers::Variables;
pub use side_door::SideDoor;
