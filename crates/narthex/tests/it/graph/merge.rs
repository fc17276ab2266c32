//! Branches, merges and what has to be decided in them.

use serde_json::json;

use super::Fixture;

fn grow(house: &Fixture, branch: &str, age: u32) {
    let age = format!("age={age}");
    let to = ["-p", "slug=ada", "-p", &age, "--branch", branch];
    house.ask(&[&["mutate", "people", "--file", "people.gq", "grow"], &to[..]].concat());
}

#[test]
fn a_conflict_is_shown_and_resolved() {
    let house = Fixture::new();
    house.ask(&["branch", "create", "people", "ideas"]);
    grow(&house, "ideas", 50);
    grow(&house, "main", 60);
    let before = house.ask(&["list"])[0]["commit"].clone();
    house.fails(&["merge", "people", "ideas"], 4, "changed on both sides, unlike in `age`");
    house.fails(
        &["merge", "people", "ideas"],
        4,
        r#"resolve {"row":{"type":"Person","key":"ada"},"take":"ours"}"#,
    );
    house.fails(&["merge", "people", "ideas", "--output", "json"], 4, "\"divergent_update\"");
    assert_eq!(house.ask(&["list"])[0]["commit"], before);
    let ada = |how: &str| format!(r#"[{{"row":{{"type":"Person","key":"ada"}},{how}}}]"#);
    house.file("given.json", &ada(r#""given":{"name":"Ada","age":70}"#));
    let merged =
        house.ask(&["merge", "people", "ideas", "--resolve", "given.json", "-m", "agreed"]);
    assert_eq!((&merged["committed"], &merged["nodes_updated"]), (&json!(true), &json!(1)));
    let ages = ["query", "people", "--file", "people.gq", "ages", "-p", "min=70"];
    assert_eq!(house.ask(&ages)["rows"], json!([{"slug": "ada", "age": 70}]));
    assert_eq!(house.ask(&["merge", "people", "ideas"])["committed"], false);
    let log = house.ask(&["log", "people", "-n", "1"]);
    assert_eq!(log[0]["parents"].as_array().map(Vec::len), Some(2));
}

/// What is printed is what works, for a rule over several rows too.
#[test]
fn a_conflict_is_resolved_exactly_as_it_says() {
    let house = Fixture::new();
    let work = |at: &str, branch: &str| {
        let text = format!("insert WorksAt {{ from: \"ada\", to: \"{at}\" }}");
        house.ask(&["mutate", "people", "--text", &text, "--branch", branch]);
    };
    let company = "insert Company { slug: \"other\" }";
    house.ask(&["mutate", "people", "--text", company]);
    house.ask(&["branch", "create", "people", "ideas"]);
    work("acme", "ideas");
    work("other", "main");
    let said = house.fails(&["merge", "people", "ideas"], 4, "2 WorksAt would begin there");
    let lines: Vec<&str> =
        said.lines().filter_map(|line| line.trim().strip_prefix("resolve ")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    house.file("said.json", &format!("[{}]", lines.join(",")));
    let merged = house.ask(&["merge", "people", "ideas", "--resolve", "said.json"]);
    assert_eq!(merged["committed"], true);
}

#[test]
fn a_branch_with_what_no_other_has_is_not_deleted_by_mistake() {
    let house = Fixture::new();
    house.ask(&["branch", "create", "people", "ideas", "--from", "main", "--protected"]);
    grow(&house, "ideas", 50);
    let delete = ["branch", "delete", "people", "ideas"];
    house.fails(&[&delete[..], &["--force"]].concat(), 4, "protected");
    house.ask(&["branch", "unprotect", "people", "ideas"]);
    house.fails(&delete, 4, "--force");
    house.ask(&["branch", "protect", "people", "ideas"]);
    let branches = house.ask(&["branch", "list", "people"]);
    assert_eq!((&branches[0]["name"], &branches[0]["protected"]), (&json!("ideas"), &json!(true)));
    house.ask(&["branch", "unprotect", "people", "ideas"]);
    house.ask(&[&delete[..], &["--force"]].concat());
    house.ask(&["branch", "create", "people", "merged"]);
    grow(&house, "merged", 51);
    house.ask(&["merge", "people", "merged"]);
    house.ask(&["branch", "delete", "people", "merged"]);
    assert_eq!(house.ask(&["branch", "list", "people"]).as_array().map(Vec::len), Some(1));
}
