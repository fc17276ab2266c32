//! Loads and exports.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{Fixture, ROWS};
use crate::support::command;

#[test]
fn the_same_file_twice_changes_nothing_and_an_export_loads_again() {
    let house = Fixture::new();
    let again = house.ask(&["load", "people", "people.ndjson"]);
    assert_eq!(again["committed"], false);
    let exported = house.path().join("out.ndjson");
    let to = exported.to_str().expect("UTF-8").to_owned();
    let written = house.ask(&["export", "people", "--to", &to]);
    assert_eq!((&written["lines"], &written["left_out"]), (&json!(6), &json!(0)));
    house.ask(&["init", "second", "--space", "research", "--schema", "people.pg"]);
    let loaded = house.ask(&["load", "second", &to, "--mode", "append"]);
    assert_eq!((&loaded["nodes_inserted"], &loaded["edges_inserted"]), (&json!(4), &json!(2)));
    let lines = |graph: &str| {
        let mut lines: Vec<String> =
            house.show(&["export", graph]).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let mut given: Vec<String> = ROWS.lines().map(str::to_owned).collect();
    given.sort();
    assert_eq!(lines("people"), given);
    assert_eq!(lines("second"), given);
    let edges = house.show(&["export", "people"]);
    let first_edge = edges.lines().position(|line| line.contains("\"edge\"")).expect("edges");
    assert!(edges.lines().skip(first_edge).all(|line| line.contains("\"edge\"")), "{edges}");
}

#[test]
fn all_of_a_file_or_nothing_and_only_where_it_belongs() {
    let house = Fixture::new();
    house.file(
        "bad.ndjson",
        &format!("{ROWS}{{\"type\":\"Person\",\"data\":{{\"slug\":\"dan\"}}}}\n"),
    );
    house
        .file("new.ndjson", "{\"type\":\"Person\",\"data\":{\"slug\":\"dan\",\"name\":\"Dan\"}}\n");
    house.file("long.ndjson", &"x".repeat(3 * 1024 * 1024));
    for (args, code, says) in [
        (&["load", "people", "bad.ndjson"][..], 2, "line 7"),
        (&["load", "people", "long.ndjson"], 2, "line 1: longer than"),
        (&["load", "people", "missing.ndjson"], 3, "missing.ndjson"),
        (&["load", "people", "/"], 2, "a folder"),
        (&["load", "nowhere", "new.ndjson"], 3, "narthex graph list"),
        (&["load", "people", "people.ndjson", "--mode", "append"], 2, "there already"),
        (&["load", "people", "new.ndjson", "--branch", "fresh"], 3, "there is no branch"),
        (&["load", "people", "new.ndjson", "--branch", "main", "--from", "main"], 4, "already"),
        (&["load", "people", "new.ndjson", "--from", "main"], 2, "--branch"),
        (&["load", "people", "new.ndjson", "--mode", "replace"], 2, "merge"),
    ] {
        house.fails(args, code, says);
    }
    assert_eq!(house.ask(&["log", "people"]).as_array().map(Vec::len), Some(3));
    let head = house.ask(&["list"])[0]["commit"].as_str().expect("a commit").to_owned();
    let fresh = ["load", "people", "new.ndjson", "--branch", "fresh", "--from", "main"];
    assert_eq!(house.ask(&fresh)["nodes_inserted"], 1);
    let over = ["load", "people", "new.ndjson", "--mode", "overwrite", "--expected", &head];
    let over_done = house.ask(&over);
    assert_eq!((&over_done["nodes_deleted"], &over_done["edges_deleted"]), (&json!(4), &json!(2)));
    house.fails(&over, 4, "stands at");
}

#[test]
fn a_file_of_many_parts_comes_in_from_standard_input() {
    let house = Fixture::new();
    let mut rows = String::new();
    for n in 0..30_000 {
        let _ = writeln!(
            rows,
            r#"{{"type":"Company","data":{{"slug":"company-{n:032}","big":"{n}"}}}}"#
        );
    }
    assert!(rows.len() > 2 * narthex_server::owner::MAX_LOAD_PART);
    let mut child = command(&["graph", "load", "people", "-", "--output", "json"], &house.house())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("narthex runs");
    child.stdin.take().expect("open").write_all(rows.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let done: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(done["nodes_inserted"], 30_000);
    // More than a page of it comes out again.
    assert_eq!(house.show(&["export", "people"]).lines().count(), 30_006);
}
