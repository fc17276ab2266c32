//! Stored queries: declared in the settings, checked before anything is served.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;

use super::{Fixture, QUERIES, SCHEMA};
use crate::support::{command, narthex, stderr};

const HIDDEN: &str = "[graphs.people]\nqueries = 'queries'\n[graphs.people.mcp.queries.ages]\nexpose = false\n[graphs.people.mcp.queries.grow]\ntool_name = 'set_age'\n";

fn with(settings: &str) -> Fixture {
    let house = Fixture::new();
    house.file("house/queries/people.gq", QUERIES);
    house.file("house/narthex.toml", settings);
    house
}

#[test]
fn a_hidden_query_is_the_owners_to_call() {
    let house = with(HIDDEN);
    let ages = ["query", "people", "ages", "-p", "min=40"];
    assert_eq!(house.ask(&ages)["rows"], json!([{"slug": "bob", "age": 41}]));
    house.ask(&["mutate", "people", "grow", "-p", "slug=bob", "-p", "age=42"]);
    assert_eq!(house.ask(&ages)["rows"], json!([{"slug": "bob", "age": 42}]));
    let stored = house.ask(&["stored", "people"]);
    assert_eq!((&stored["mode"], &stored["exposed"]), (&json!("per_query"), &json!(2)));
    let ages = &stored["queries"][0];
    assert_eq!((&ages["name"], &ages["exposed"]), (&json!("ages"), &json!(false)));
    let grow = &stored["queries"][2];
    assert_eq!((&grow["tool"], &grow["writes"]), (&json!("set_age"), &json!(true)));
    assert_eq!(grow["params"][0], json!({"name": "slug", "kind": "String", "required": true}));
    let said = house.show(&["stored", "people"]);
    assert!(said.contains("hidden") && said.contains("2 of 3"), "{said}");
}

#[test]
fn files_are_declared_in_three_forms_and_many_are_shown_as_two_tools() {
    for (settings, count, mode) in [
        ("[graphs.people]\nqueries = 'queries'", 3, "per_query"),
        ("[graphs.people]\nqueries = ['queries/people.gq']", 3, "per_query"),
        ("[graphs.people.queries]\nages = { file = 'queries/people.gq' }", 1, "per_query"),
        ("[graphs.people]\nqueries = 'queries'\nmcp = { threshold = 3 }", 3, "meta"),
        ("[graphs.people]\nqueries = 'queries'\nmcp.mode = 'meta'", 3, "meta"),
        (
            "[graphs.people]\nqueries = 'queries'\nmcp = { mode = 'per_query', threshold = 1 }",
            3,
            "per_query",
        ),
        ("[graphs.people]", 0, "per_query"),
    ] {
        let stored = with(settings).ask(&["stored", "people"]);
        assert_eq!(stored["queries"].as_array().map(Vec::len), Some(count), "{settings}");
        assert_eq!(stored["mode"], mode, "{settings}");
    }
}

#[test]
fn main_keeps_a_schema_that_the_stored_queries_hold_to() {
    let house = with(HIDDEN);
    house.file("less.pg", &SCHEMA.replace("age: I32? @range(0..150)", ""));
    let apply = ["apply", "people", "--file", "less.pg", "--allow-data-loss"];
    house.fails(&apply, 4, "the stored queries of the graph people do not hold");
    house.ask(&["branch", "create", "people", "ideas"]);
    house.ask(&[&apply[..], &["--branch", "ideas"]].concat());
    let merge = ["merge", "people", "ideas", "--allow-data-loss"];
    house.fails(&merge, 4, "the stored queries of the graph people do not hold");
    // Nor does a graph come into being that they do not hold to.
    house.ask(&["remove", "people", "--confirm", "people"]);
    let init = ["init", "people", "--space", "research", "--schema", "less.pg"];
    house.fails(&init, 4, "do not hold");
    assert_eq!(house.ask(&["list"]), json!([]));
    house.init();
}

#[test]
fn nothing_is_served_with_stored_queries_that_do_not_hold() {
    let more = "query ages() { match { $p: Person } return { $p.slug } }";
    for (settings, file, says) in [
        ("[graphs.people]\nqueries = 'queries'", Some(more), "there is a stored query `ages`"),
        (
            "[graphs.people]\nqueries = 'queries'\n[graphs.people.mcp.queries.ages]\ntool_name = 'big'",
            None,
            "two stored queries would be the tool `big`",
        ),
        (
            "[graphs.people]\nqueries = 'queries'\n[graphs.people.mcp.queries.ages]\ntool_name = 'graph_load'",
            None,
            "a tool of every graph",
        ),
        (
            "[graphs.people]\nqueries = 'queries'",
            Some("query q() { match { $p: Persn } return { $p.slug } }"),
            "did you mean `Person`?",
        ),
        ("[graphs.people]\nqueries = 'queries'\n[graphs.nowhere]", None, "[graphs.nowhere]"),
        ("[graphs.people]\nqueries = 'missing'", None, "missing"),
        ("[graphs.people]\nqueries = ['narthex.toml']", None, "not a .gq file"),
        ("[graphs.people]\nqueries = ['queries']", None, "not a .gq file"),
    ] {
        let house = with(settings);
        if let Some(text) = file {
            house.file("house/queries/z.gq", text);
        }
        let output = narthex(&["serve", "--listen", "127.0.0.1:0"], &house.house());
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{settings}: {said}");
        assert!(said.contains(says), "{settings}: {said}");
    }
}

#[test]
fn the_log_says_what_auto_came_to() {
    for (threshold, mode) in [(3, "meta"), (4, "per_query")] {
        let house = with(&format!(
            "[graphs.people]\nqueries = 'queries'\n[graphs.people.mcp]\nmode = 'auto'\nthreshold = {threshold}\n"
        ));
        let mut child = command(&["serve", "--listen", "127.0.0.1:0"], &house.house())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("narthex runs");
        let log = BufReader::new(child.stderr.take().expect("open"));
        let line = log.lines().map_while(Result::ok).find(|line| line.contains("stored queries"));
        child.kill().expect("ends");
        child.wait().expect("ended");
        let line = line.expect("a line about them");
        for says in [
            "graph=people".to_owned(),
            format!("mode=\"{mode}\""),
            "exposed=3".to_owned(),
            format!("threshold={threshold}"),
        ] {
            assert!(line.contains(&says), "{says}: {line}");
        }
    }
}
