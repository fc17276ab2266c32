//! Runs the program as a person or a script would.

#![allow(clippy::expect_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `narthex` on a data directory, with nothing of this machine's environment.
pub(crate) fn narthex(args: &[&str], data_dir: &Path) -> Output {
    command(args, data_dir).output().expect("narthex runs")
}

/// The same, not started yet.
pub(crate) fn command(args: &[&str], data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_narthex"));
    command.args(args).arg("--data-dir").arg(data_dir);
    command.env_clear().stdin(Stdio::null());
    command
}

/// What it answered, as JSON; it must have ended well.
pub(crate) fn answer(args: &[&str], data_dir: &Path) -> Value {
    let output = narthex(&[args, &["--output", "json"]].concat(), data_dir);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// What it said on standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// What it said on standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}
