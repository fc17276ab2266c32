//! Each command once as it should be, and once for each way it is refused.

use serde_json::json;

use super::{Fixture, QUERIES, SCHEMA};

#[test]
fn every_command_answers_people_and_scripts() {
    let house = Fixture::new();
    let listed = house.ask(&["list", "--space", "research"]);
    assert_eq!((&listed[0]["slug"], &listed[0]["node_types"]), (&json!("people"), &json!(2)));
    assert_eq!(house.ask(&["schema", "people"])["source"], SCHEMA);
    let query = ["query", "people", "--file", "people.gq", "ages", "-p", "min=40"];
    assert_eq!(house.ask(&query)["rows"], json!([{"slug": "bob", "age": 41}]));
    // As what the parameter is: a number of 64 bits is a text in JSON.
    let big = ["query", "people", "--file", "people.gq", "big", "-p", "n=9007199254740993"];
    assert_eq!(house.ask(&big)["rows"], json!([{"slug": "acme"}]));
    let params = r#"{"slug":"ada","age":37}"#;
    let grown = house.ask(&[
        "mutate",
        "people",
        "--file",
        "people.gq",
        "grow",
        "--params",
        params,
        "-m",
        "a birthday",
    ]);
    assert_eq!((&grown["nodes_updated"], &grown["committed"]), (&json!(1), &json!(true)));
    let log = house.ask(&["log", "people", "-n", "2"]);
    assert_eq!((&log[0]["message"], &log[0]["by"]), (&json!("a birthday"), &json!("owner")));
    assert_eq!((&log[1]["kind"], log.as_array().map(Vec::len)), (&json!("load"), Some(2)));
    let (new, old) = (log[0]["id"].as_str().expect("an id"), log[1]["id"].as_str().expect("one"));
    let diff = house.ask(&["diff", "people", &old[..8], "main"]);
    assert_eq!(diff["rows"][0]["properties"], json!(["age"]));
    assert_eq!(diff["rows"][0]["row"], json!({"type": "Person", "key": "ada"}));
    let then = ["query", "people", "--file", "people.gq", "ages", "--at", old, "-n", "1"];
    let first = house.ask(&then);
    assert_eq!(first["rows"], json!([{"slug": "bob", "age": 41}]));
    let next = first["next"].as_str().expect("more");
    let second = house.ask(&[&then[..5], &["--cursor", next]].concat());
    assert_eq!((&second["rows"][0]["age"], &second["next"]), (&json!(36), &json!(null)));
    let reverted = house.ask(&["revert", "people", new]);
    assert_eq!(reverted["nodes_updated"], 1);
    house.file("more.pg", &SCHEMA.replace("age: I32?", "mail: String?  age: I32?"));
    let plan = house.ask(&["plan", "people", "--file", "more.pg"]);
    assert_eq!(plan[0]["class"], "additive");
    assert_eq!(house.ask(&["apply", "people", "--file", "more.pg"])["committed"], true);
    assert_eq!(house.ask(&["apply", "people", "--file", "more.pg"])["committed"], false);
    for (args, says) in [
        (&["list"][..], "people"),
        (&["schema", "people"], "mail: String?"),
        (&["plan", "people", "--file", "people.pg"], "destructive"),
        (&["plan", "people", "--file", "more.pg"], "Nothing would change"),
        (
            &[
                "query",
                "people",
                "--text",
                "query q() { match { $p: Person } return { $p.slug as who } order { $p.slug } }",
            ],
            "ada",
        ),
        (&["log", "people"], "a birthday"),
        (&["diff", "people", "main", "main"], "No row differs"),
        (&["diff", "people", old, new], "36 → 37"),
        (&["branch", "list", "people"], "main"),
        (&["stored", "people"], "No stored queries"),
    ] {
        let said = house.show(args);
        assert!(said.contains(says), "{args:?}: {said}");
    }
    house.fails(&["remove", "people"], 7, "--confirm people");
    house.fails(&["remove", "people", "--confirm", "poeple"], 7, "nothing was removed");
    assert_eq!(house.ask(&["remove", "people", "--confirm", "people"])["slug"], "people");
    assert_eq!(house.ask(&["list"]), json!([]));
    let records = crate::support::answer(&["ledger", "tail", "-n", "100"], &house.house());
    let tools: Vec<&str> = records
        .as_array()
        .expect("records")
        .iter()
        .filter_map(|one| one["tool"].as_str())
        .collect();
    let graph: Vec<&str> =
        tools.into_iter().filter_map(|tool| tool.strip_prefix("graph.")).collect();
    assert_eq!(graph, ["init", "apply", "load", "mutate", "revert", "apply", "remove"]);
}

#[test]
fn what_is_wrong_is_refused_with_its_code_and_the_way_out() {
    let house = Fixture::new();
    house.file("wrong.pg", "node Person { slug: Strng @key }");
    house.file("less.pg", &SCHEMA.replace("age: I32? @range(0..150)", ""));
    house.file("wrong.gq", &QUERIES.replace("$p.age >= $min", "$p.aeg >= $min"));
    house.file("wrong.json", r#"[{"row":{"type":"Person","key":"ada"}}]"#);
    let main = house.ask(&["list"])[0]["commit"].clone();
    for (args, code, says) in [
        (&["init", "people", "--space", "research"][..], 4, "take another name"),
        (&["init", "p", "--space", "nowhere"], 3, "narthex space list"),
        (&["init", "No Name", "--space", "research"], 2, ""),
        (&["init", "p", "--space", "research", "--schema", "missing.pg"], 3, "missing.pg"),
        (&["init", "p", "--space", "research", "--schema", "wrong.pg"], 2, "wrong.pg:1:21"),
        (&["list", "--space", "nowhere"], 3, "narthex space list"),
        (&["schema", "nowhere"], 3, "narthex graph list"),
        (&["schema", "people", "--at", "idaes"], 3, "there is no branch `idaes`"),
        (&["schema", "people", "--at", "deadbeef"], 3, "narthex graph log people"),
        (&["schema", "people", "--at", "main@2001-01-01"], 3, "no commit yet"),
        (&["schema", "people", "--at", "main@soon"], 2, "2026-01-31T12:00:00Z"),
        (&["plan", "people", "--file", "wrong.pg"], 2, "did you mean `String`?"),
        (&["plan", "people"], 2, "--file"),
        (&["apply", "people", "--file", "less.pg"], 4, "--allow-data-loss"),
        (&["apply", "people", "--file", "people.pg", "--expected", "deadbeef"], 3, "no commit"),
        (&["query", "people"], 2, "there is no query"),
        (&["query", "people", "ages"], 3, "narthex graph stored people"),
        (&["query", "people", "--file", "people.gq"], 2, "say which"),
        (&["query", "people", "--file", "wrong.gq", "ages"], 2, "did you mean `age`?"),
        (&["query", "people", "--file", "people.gq", "grow"], 2, "narthex graph mutate"),
        (&["query", "people", "--file", "people.gq", "big"], 2, "`$n` (I64) is required"),
        (&["query", "people", "--file", "people.gq", "ages", "-p", "mni=3"], 2, "`min`?"),
        (&["query", "people", "--file", "people.gq", "ages", "-p", "min=old"], 2, "`$min`"),
        (&["query", "people", "--file", "people.gq", "ages", "-p", "min"], 2, "slug=ada"),
        (&["query", "people", "--file", "people.gq", "ages", "--params", "[]"], 2, "JSON object"),
        (
            &[
                "query",
                "people",
                "--file",
                "people.gq",
                "ages",
                "--params",
                r#"{"min":1}"#,
                "-p",
                "min=2",
            ],
            2,
            "given twice",
        ),
        (&["query", "people", "--file", "people.gq", "ages", "--cursor", "x"], 2, "no cursor"),
        (&["mutate", "people", "--file", "people.gq", "ages"], 2, "narthex graph query"),
        (
            &["mutate", "people", "--file", "people.gq", "grow", "-p", "slug=ada", "-p", "age=200"],
            2,
            "age",
        ),
        (
            &[
                "mutate",
                "people",
                "--file",
                "people.gq",
                "grow",
                "-p",
                "slug=ada",
                "-p",
                "age=2",
                "--branch",
                "nowhere",
            ],
            3,
            "there is no branch",
        ),
        (&["log", "people", "--branch", "nowhere"], 3, "there is no branch"),
        (&["log", "people", "-n", "0"], 2, ""),
        (&["diff", "people", "main", "nowhere"], 3, "there is no branch"),
        (&["diff", "people", "main", "main", "--after", "x"], 2, "no place in a diff"),
        (&["revert", "people", "xyz"], 3, "narthex graph log people"),
        (&["merge", "people", "nowhere"], 3, "there is no branch"),
        (&["merge", "people", "main", "--resolve", "wrong.json"], 2, "wrong.json"),
        (&["branch", "create", "people", "main"], 4, "already"),
        (&["branch", "create", "people", "../x"], 2, "a branch name is"),
        (&["branch", "delete", "people", "main"], 4, "protected"),
        (&["branch", "protect", "people", "nowhere"], 3, "there is no branch"),
        (&["export", "people", "--to", "people.pg"], 4, "exists already"),
        (&["stored", "nowhere"], 3, "narthex graph list"),
        (&["remove", "nowhere", "--confirm", "nowhere"], 3, "narthex graph list"),
    ] {
        house.fails(args, code, says);
    }
    assert_eq!(house.ask(&["list"])[0]["commit"], main, "something was changed");
    assert_eq!(house.ask(&["list"]).as_array().map(Vec::len), Some(1), "a graph stayed behind");
}
