//! Servers taken over from other clients.
//!
//! What is found is shown before anything is written: each server with its command, what of it is
//! not taken and why, and which variables to export. No secret is copied from one file to another:
//! `${NAME}` stands in its place. What comes out is read by [`crate::config`] without an error, or
//! the server is left out.

mod find;
mod name;
mod places;
mod plan;
mod secrets;
mod take;

pub use find::{Files, FoundFile, find};
pub use places::{Client, Rooms, Shape, System};
pub use plan::{Export, LeftOut, Plan, Taken, plan};
