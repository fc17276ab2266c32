//! The program: command line, settings, and the house put together.
//!
//! `main.rs` tells the start-up story. [`cli`] is the command line as types, [`commands`] what
//! each command does, [`config`] the only place that reads settings and the environment,
//! [`output`] the only way to standard output. Commands ask the house through [`ask`], which goes
//! to the running server or opens the data directory itself; nobody can tell the difference.
//!
//! It is a library only so that its tests can reach inside; nothing else depends on it.
//!
//! To add a command: its arguments in `cli/`, its file in `commands/`, its line in
//! `commands::run`, then `UPDATE=1 cargo nextest run -p narthex drift`.

pub mod ask;
pub mod cli;
mod code;
pub mod commands;
pub mod config;
mod context;
pub mod demo;
mod failure;
mod followers;
pub mod house;
pub mod logs;
pub mod markdown;
pub mod output;
mod servers;
mod stop;

pub use context::Context;
pub use failure::{Exit, Failure};
