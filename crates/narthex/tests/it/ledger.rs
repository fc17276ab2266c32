//! `ledger verify` and `ledger export`, without a server.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{answer, narthex, stderr, stdout};

#[test]
fn a_whole_ledger_verifies_and_its_export_is_what_is_stored() {
    let house = house();
    let verified = answer(&["ledger", "verify"], house.path());
    assert_eq!(verified["ok"], true);
    let lines = stdout(&narthex(&["ledger", "export"], house.path()));
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(Value::from(lines.len()), verified["records"]);
    let last = lines.last().expect("a record");
    assert_eq!(last["hash"], verified["head"]);
    assert!(last["record"].as_str().is_some_and(|text| text.contains("space.add")), "{last}");

    let file = house.path().join("export.jsonl");
    let to = file.to_str().expect("UTF-8");
    assert_eq!(answer(&["ledger", "export", "--from", "2", "--to", to], house.path())["from"], 2);
    let again = narthex(&["ledger", "export", "--to", to], house.path());
    assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
}

#[test]
fn a_ledger_that_was_touched_is_broken_and_says_so_with_its_own_exit_code() {
    for (how, touch) in [
        ("a changed word", change_a_word as fn(&Path)),
        ("no head file", |dir| fs::remove_file(dir.join("ledger.head")).expect("the head file")),
        ("no database", |dir| fs::remove_file(dir.join("narthex.db")).expect("the database")),
        ("no database at all", |dir| fs::write(dir.join("narthex.db"), b"x").expect("a file")),
    ] {
        let house = house();
        touch(house.path());
        let output = narthex(&["ledger", "verify", "--output", "json"], house.path());
        assert_eq!(output.status.code(), Some(6), "{how}: {}", stderr(&output));
        assert!(stderr(&output).contains("\"code\":\"ledger_broken\""), "{how}");
        assert_eq!(stdout(&output), "", "{how}");
    }
}

#[test]
fn nothing_is_served_from_a_ledger_that_was_touched() {
    let house = house();
    change_a_word(house.path());
    let output = narthex(&["serve", "--listen", "127.0.0.1:0"], house.path());
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).contains("the ledger is not whole"), "{}", stderr(&output));
}

#[test]
fn verifying_makes_nothing_where_there_is_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let nowhere = dir.path().join("nowhere");
    let output = narthex(&["ledger", "verify"], &nowhere);
    assert!(!output.status.success() && !nowhere.exists(), "{}", stderr(&output));
}

/// In the middle of the file, as someone with the disk in their hands would.
fn change_a_word(dir: &Path) {
    let path = dir.join("narthex.db");
    let mut bytes = fs::read(&path).expect("the database");
    let at = bytes.windows(9).position(|word| word == b"space.add").expect("the record");
    bytes[at] = b'S';
    fs::write(&path, bytes).expect("the database");
}

fn house() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    answer(&["init"], dir.path());
    answer(&["space", "add", "notes"], dir.path());
    dir
}
