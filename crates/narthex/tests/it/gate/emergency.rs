//! `narthex stop` when the house cannot be told.

use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::serving::{Server, signal};
use crate::support::{answer, command, narthex, stderr};

#[test]
fn a_house_that_cannot_be_opened_is_stopped_by_its_file() {
    let write = |dir: &Path, name: &str, text: &str| {
        std::fs::write(dir.join(name), text).expect("written");
    };
    for what in ["settings", "database", "keys"] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        assert!(narthex(&["init"], dir).status.success());
        match what {
            "settings" => write(dir, "narthex.toml", "lisen = 1"),
            "database" => write(dir, "narthex.db", &"x".repeat(9_000)),
            _ => std::fs::remove_file(dir.join("keys/token.key")).expect("removed"),
        }
        let output = narthex(&["stop", "--agent", "claude", "--output", "json"], dir);
        assert!(output.status.success(), "{what}: {}", stderr(&output));
        let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        assert_eq!(said["scope"], "everything", "{what}");
        assert_eq!(said["kept"]["stop_file"], dir.join("STOP").display().to_string(), "{what}");
        assert!(
            dir.join("STOP").exists() && stderr(&output).contains("could not be told"),
            "{what}"
        );
    }
}

#[test]
fn where_there_is_no_house_nothing_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    for dir in [folder.path().to_owned(), folder.path().join("nowhere")] {
        let output = narthex(&["stop"], &dir);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(!dir.join("STOP").exists());
    }
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_server_that_does_not_answer_finds_the_file_when_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let server = Server::start(dir);
    signal(server.pid(), Signal::STOP);
    let mut stop = command(&["stop", "--output", "json"], dir);
    let output = stop.stderr(Stdio::piped()).output().expect("it ends");
    // Nobody else waits for ever either.
    let status = narthex(&["status"], dir);
    assert!(stderr(&status).contains("does not answer"), "{}", stderr(&status));
    signal(server.pid(), Signal::CONT);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(dir.join("STOP").exists());
    super::serving::stopped_by(dir);
    let early = narthex(&["resume"], dir);
    assert_eq!(early.status.code(), Some(4), "{}", stderr(&early));
    std::fs::remove_file(dir.join("STOP")).expect("removed");
    assert_eq!(answer(&["resume"], dir)["still"], json!([]));
}
