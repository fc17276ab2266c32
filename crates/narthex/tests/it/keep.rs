//! `narthex keep`: the program as the keeper of another.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use narthex_walls::{Ending, Environment, Launch, LogBounds, Preset, Refusal, Spawned, Walls};
use tokio::io::AsyncReadExt as _;

fn launch(room: &std::path::Path, command: &str, args: &[&str]) -> Launch {
    Launch {
        keeper: env!("CARGO_BIN_EXE_narthex").into(),
        command: command.into(),
        args: args.iter().map(Into::into).collect(),
        cwd: room.to_owned(),
        environment: Environment::default(),
        given: Vec::new(),
        walls: Walls::preset(Preset::None),
        scratch: room.join("scratch"),
        shut: Vec::new(),
        expected: None,
        grace: Duration::from_millis(300),
        log: LogBounds::default(),
    }
}

/// No word of the target's command line is taken for one of ours.
#[tokio::test]
async fn a_command_line_is_passed_on_word_for_word() {
    let room = tempfile::tempdir().expect("a room");
    let said = r#"printf '%s|' "$@"; exit 5"#;
    let words =
        ["-c", said, "sh", "--help", "-v", "--output", "json", "--", "--data-dir", "", "keep"];
    let mut spawned = Spawned::start(&launch(room.path(), "/bin/sh", &words)).expect("started");
    let mut heard = String::new();
    let mut stdout = spawned.take_stdout().expect("a pipe");
    stdout.read_to_string(&mut heard).await.expect("heard");
    assert_eq!(spawned.wait().await, Ending::Code(5), "{:?}", spawned.log().lines());
    assert_eq!(heard, "--help|-v|--output|json|--|--data-dir||keep|");
}

#[tokio::test]
async fn what_cannot_be_started_says_so() {
    let room = tempfile::tempdir().expect("a room");
    let mut spawned = Spawned::start(&launch(room.path(), "/nowhere", &[])).expect("kept");
    assert_eq!(spawned.wait().await, Ending::Refused(Refusal::NotStarted));
    assert_eq!(spawned.log().lines().len(), 1, "{:?}", spawned.log().lines());
}
