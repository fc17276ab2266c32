//! `graph check`, and the codes it ends with.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::{QUERIES, SCHEMA};
use crate::support::{narthex, stderr, stdout};

#[test]
fn each_way_to_end_has_its_code() {
    let misspelt = QUERIES.replace("$p.age >=", "$p.aeg >=");
    let unclosed = "query q() { match {".to_owned();
    let twice = "query ages() { match { $p: Person } return { $p.slug } }".to_owned();
    let taken = "query graph_query() { match { $p: Person } return { $p.slug } }".to_owned();
    let other = "node Person { slug: Strng @key }".to_owned();
    let schema = SCHEMA.to_owned();
    let queries = QUERIES.to_owned();
    for (files, extra, code, says) in [
        (vec![("a.pg", &schema), ("q/b.gq", &queries)], vec![], 0, "ok: 2 files, 3 queries"),
        (vec![("a.pg", &schema)], vec![], 0, "ok: 1 files, 0 queries"),
        (vec![("a.pg", &schema), ("b.gq", &misspelt)], vec![], 1, "b.gq:2:28: "),
        (vec![("a.pg", &schema), ("b.gq", &misspelt)], vec![], 1, "^^^ did you mean `age`?"),
        (vec![("a.pg", &schema), ("b.gq", &unclosed)], vec![], 1, "b.gq:1:"),
        (vec![("a.pg", &schema), ("b.gq", &queries), ("c.gq", &twice)], vec![], 1, "already"),
        (vec![("a.pg", &schema), ("b.gq", &taken)], vec![], 1, "a tool of every graph"),
        (vec![("a.pg", &other), ("b.gq", &queries)], vec![], 1, "a.pg:1:21: "),
        (vec![("a.pg", &other), ("b.gq", &unclosed)], vec![], 1, "2 wrong"),
        (vec![("b.gq", &queries)], vec![], 2, "there is no schema"),
        (vec![("a.pg", &schema), ("z.pg", &schema)], vec![], 2, "several schemas"),
        (vec![("a.pg", &schema), ("z.pg", &schema)], vec!["--schema", "a.pg"], 0, "ok: "),
        (vec![("a.pg", &schema), ("z.pg", &other)], vec!["--schema", "a.pg"], 1, "z.pg:1:21"),
        (vec![("a.pg", &schema)], vec!["--schema", "missing.pg"], 3, "missing.pg"),
        (vec![("a.pg", &schema)], vec!["--graph", "people"], 2, "--config"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let case =
            format!("{:?} {extra:?} {says}", files.iter().map(|(f, _)| f).collect::<Vec<_>>());
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        let path = folder.path().to_str().expect("UTF-8").to_owned();
        let here = |arg: &&str| {
            if !arg.starts_with("--") && *arg != "people" {
                format!("{path}/{arg}")
            } else {
                (*arg).to_owned()
            }
        };
        let extra: Vec<String> = extra.iter().map(here).collect();
        let mut args = vec!["graph", "check", path.as_str()];
        args.extend(extra.iter().map(String::as_str));
        let output = narthex(&args, Path::new("no house"));
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{case}: {said}");
        assert!(said.contains(says), "{case}: {said}");
        if code < 2 {
            args.extend(["--output", "json"]);
            let output = narthex(&args, Path::new("no house"));
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(report["ok"], code == 0, "{case}: {report}");
            assert_eq!(report["faults"].as_array().is_some_and(Vec::is_empty), code == 0);
        }
    }
    let missing = narthex(&["graph", "check", "missing"], Path::new("no house"));
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
}

#[test]
fn the_mcp_block_is_checked_with_the_queries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    write(folder.path(), "a.pg", SCHEMA);
    write(folder.path(), "b.gq", QUERIES);
    let settings = folder.path().join("narthex.toml");
    let file = settings.to_str().expect("UTF-8").to_owned();
    for (text, graph, code, says) in [
        ("[graphs.people.mcp.queries.ages]\nexpose = false", None, 0, "ok: "),
        ("[graphs.people.mcp.queries.agse]\nexpose = false", None, 1, "mcp.queries.agse"),
        ("[graphs.people.mcp.queries.ages]\ntool_name = 'grow'", None, 1, "the tool `grow`"),
        ("[graphs.a]\n[graphs.b]", None, 2, "--graph: a, b"),
        ("[graphs.a]\n[graphs.b]", Some("b"), 0, "ok: "),
        ("[graphs.a]", Some("c"), 2, "[graphs.c]"),
    ] {
        write(folder.path(), "narthex.toml", text);
        let mut args = vec!["graph", "check", path.as_str(), "--config", file.as_str()];
        if let Some(graph) = graph {
            args.extend(["--graph", graph]);
        }
        let output = narthex(&args, Path::new("no house"));
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{text}: {said}");
        assert!(said.contains(says), "{text}: {said}");
    }
}

#[test]
fn a_link_does_not_lead_out_of_the_folder() {
    let (folder, outside) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
    write(folder.path(), "a.pg", SCHEMA);
    write(outside.path(), "secret.gq", "what no query is");
    symlink(outside.path(), folder.path().join("away")).expect("a link");
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    let check = || narthex(&["graph", "check", &path], Path::new("no house"));
    assert_eq!(check().status.code(), Some(0), "{}", stderr(&check()));
    symlink(outside.path().join("secret.gq"), folder.path().join("b.gq")).expect("a link");
    let output = check();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("leads out of the folder"), "{}", stderr(&output));
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains("what no query is"));
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}
