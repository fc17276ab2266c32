//! Real processes behind real walls. What needs a wall that this kernel does not have tries instead
//! that nothing is started, and says so.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod calls;
mod endings;
mod environment;
mod files;
mod logs;
mod missing;
mod network;
mod strict;
mod support;
mod swapped;
