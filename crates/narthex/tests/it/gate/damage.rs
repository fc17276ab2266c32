//! What doctor says of a house whose database was changed by hand.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{answer, narthex};

/// What doctor found of one thing: its state, and what it said.
fn doctor(dir: &Path, what: &str) -> (String, String) {
    let output = narthex(&["doctor", "--output", "json"], dir);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = found.as_array().expect("a list").iter().find(|found| found["what"] == what);
    let found = found.expect(what);
    let word = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (word("state"), word("found"))
}

fn house() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    answer(&["init"], dir.path());
    answer(&["space", "add", "notes"], dir.path());
    answer(&["agent", "add", "one", "--space", "notes", "--name", "Quixotic"], dir.path());
    dir
}

#[test]
fn what_a_start_found_is_told_until_the_owner_answers() {
    let house = house();
    let dir = house.path();
    assert_eq!(doctor(dir, "damage").0, "ok");
    fs::remove_file(dir.join("ledger.head")).expect("the head file");
    // Whatever comes first puts everything in order again.
    answer(&["agent", "list"], dir);
    assert_eq!(doctor(dir, "ledger").0, "ok");
    for _ in 0..2 {
        let (state, found) = doctor(dir, "damage");
        assert_eq!(state, "fail", "{found}");
        for word in ["at 20", "(record ", "the head file is gone"] {
            assert!(found.contains(word), "{word}: {found}");
        }
    }
    answer(&["resume"], dir);
    assert_eq!(doctor(dir, "damage").0, "ok", "answered");
    // Stopping for another reason is not it again.
    answer(&["stop"], dir);
    assert_eq!(doctor(dir, "damage").0, "ok");
}

#[test]
fn damage_behind_a_stop_of_the_owners_is_told_too() {
    let house = house();
    let dir = house.path();
    answer(&["stop"], dir);
    fs::remove_file(dir.join("ledger.head")).expect("the head file");
    answer(&["agent", "list"], dir);
    let (state, found) = doctor(dir, "damage");
    assert_eq!(state, "fail", "{found}");
    answer(&["resume"], dir);
    assert_eq!(doctor(dir, "damage").0, "ok", "answered");
}

#[test]
fn a_row_that_was_changed_is_named() {
    let house = house();
    let dir = house.path();
    assert_eq!(doctor(dir, "rows").0, "ok");
    let path = dir.join("narthex.db");
    let mut bytes = fs::read(&path).expect("the database");
    let at = bytes.windows(8).position(|word| word == b"Quixotic").expect("the agent");
    bytes[at] = b'X';
    fs::write(&path, bytes).expect("the database");
    let (state, found) = doctor(dir, "rows");
    assert_eq!(state, "fail", "{found}");
    assert!(found.contains("agent ") && found.contains("changed from outside"), "{found}");
}
