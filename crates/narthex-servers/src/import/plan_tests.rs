//! Imports, from the files of other clients to the file that is written.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::super::find::{Files, FoundFile, find};
use super::super::places::{Client, Rooms, Shape, System};
use super::{Plan, plan};
use crate::config::{self, WarningKind};

fn file(text: &str) -> FoundFile {
    FoundFile {
        path: "/files/mcp.json".into(),
        shape: Shape::Any,
        project: None,
        text: Ok(text.to_owned()),
    }
}

fn of(value: &Value) -> Plan {
    plan(&[file(&value.to_string())], &BTreeSet::new(), Some(Path::new("/home/ada")))
}

/// What is written of one server that has this in it.
fn one(server: &Value) -> Result<(Value, Vec<String>), String> {
    let plan = of(&json!({"mcpServers": {"s": server}}));
    match (plan.taken.first(), plan.left_out.first()) {
        (Some(taken), None) => {
            let exports = taken.exports.iter().map(|export| export.variable.clone()).collect();
            Ok((Value::Object(taken.server.clone()), exports))
        }
        (None, Some(left)) => Err(left.why.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_can_be_taken_is_taken_without_its_secrets() {
    for (server, written, exports) in [
        (
            json!({"command": "npx", "args": ["-y", "@scope/x@1.0.0"], "env": {"LEVEL": "debug"}}),
            json!({"command": "npx", "args": ["-y", "@scope/x@1.0.0"], "env": {"LEVEL": "debug"}}),
            vec![],
        ),
        (
            json!({"command": "x", "env": {"GITHUB_TOKEN": "ghp_secret_secret_secret", "N": 3}}),
            json!({"command": "x", "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "N": "3"}}),
            vec!["GITHUB_TOKEN"],
        ),
        (
            json!({"command": "x", "env": {"THING": "hunter2"}}),
            json!({"command": "x", "env": {"THING": "${THING}"}}),
            vec!["THING"],
        ),
        (
            json!({"command": "x", "env": {"A": "${env:B}", "C": "${D:-e}", "F": "${input:my-key}"}}),
            json!({"command": "x", "env": {"A": "${B}", "C": "${D:-e}", "F": "${MY_KEY}"}}),
            vec!["MY_KEY"],
        ),
        (
            json!({"command": "x", "args": ["--api-key", "abc", "--token=def", "--x", "sk-abcdefghijklmnopqrst"]}),
            json!({"command": "x", "args": ["--api-key", "${API_KEY}", "--token=${TOKEN}", "--x", "${SECRET}"]}),
            vec!["API_KEY", "TOKEN", "SECRET"],
        ),
        (
            json!({"command": "${userHome}/bin/x", "cwd": "/srv"}),
            json!({"command": "/home/ada/bin/x", "cwd": "/srv"}),
            vec![],
        ),
        (
            json!({"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer abc", "X-Team": "core"}}),
            json!({"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${AUTHORIZATION}", "X-Team": "core"}}),
            vec!["AUTHORIZATION"],
        ),
        (
            json!({"url": "https://x.example/s/0123456789abcdef0123456789abcdef/mcp?api_key=abc&v=1"}),
            json!({"url": "https://x.example/s/${URL_KEY}/mcp?api_key=${API_KEY}&v=1"}),
            vec!["URL_KEY", "API_KEY"],
        ),
        (
            json!({"command": "x", "disabled": true, "autoApprove": ["*"], "timeout": 5, "custom": {}}),
            json!({"command": "x", "disabled": true}),
            vec![],
        ),
    ] {
        let (found, variables) = one(&server).unwrap();
        assert_eq!(found, written, "{server}");
        assert_eq!(variables, exports, "{server}");
    }
}

#[test]
fn what_cannot_be_taken_is_left_out_with_its_reason() {
    for (server, says) in [
        (json!({"type": "sse", "url": "https://x.example/sse"}), "no longer spoken"),
        (json!({}), "needs a `command`"),
        (json!({"command": "x", "url": "https://x"}), "not both"),
        (json!("x"), "not an object"),
        (json!({"command": 1}), "not text"),
        (json!({"command": "x", "args": "a b"}), "not a list"),
        (json!({"command": "x", "args": [{}]}), "not text"),
        (json!({"command": "x", "env": {"A": []}}), "not text"),
        (json!({"command": "x", "env": {"A=B": "1"}}), "a variable's name"),
        (json!({"command": "x", "args": ["${workspaceFolder}/x"]}), "only to an editor"),
        (json!({"command": "x", "args": ["${command:pick}"]}), "only to an editor"),
        (json!({"command": "x", "args": ["${x"]}), "without `}`"),
        (json!({"command": "${SHELL}"}), "nothing is substituted"),
        (json!({"command": "x", "cwd": "relative"}), "absolute"),
        (json!({"url": "https://u:p@x.example"}), "a user or a password"),
        (json!({"url": "x"}), "cannot be read"),
        (json!({"url": "https://x.example", "headers": {"Host": "y"}}), "written by Narthex"),
    ] {
        let why = one(&server).unwrap_err();
        assert!(why.contains(says), "{server}: {why}");
    }
}

#[test]
fn names_are_made_valid_and_kept_apart() {
    let here = BTreeSet::from(["there".parse().unwrap()]);
    let text = json!({"mcpServers": {
        "GitHub": {"command": "a"}, "git-hub": {"command": "b"}, "time": {"command": "c"},
        "there": {"command": "d"}, "mcp-x": {"command": "e"},
    }});
    let plan = plan(&[file(&text.to_string())], &here, None);
    let names: Vec<_> =
        plan.taken.iter().map(|taken| (taken.was.as_str(), taken.name.as_str())).collect();
    let expected =
        [("GitHub", "git-hub"), ("git-hub", "git-hub-2"), ("time", "time-server"), ("mcp-x", "x")];
    assert_eq!(names, expected);
    assert!(plan.taken[0].notes[0].contains("its name is not one here"), "{:?}", plan.taken[0]);
    assert!(plan.taken[1].notes[0].contains("another one has its name"), "{:?}", plan.taken[1]);
    assert_eq!(plan.left_out[0].why, "a server of that name is here already");
}

#[test]
fn projects_bring_their_folder_and_what_is_the_same_is_taken_once() {
    let plan = of(&json!({
        "mcpServers": {"a": {"command": "x"}},
        "projects": {
            "/p": {"mcpServers": {"a": {"command": "node", "args": ["${workspaceFolder}/s.js"]}}},
            "/q": {"mcpServers": {"b": {"command": "y"}}},
        },
    }));
    let written: Vec<Value> =
        plan.taken.iter().map(|taken| Value::Object(taken.server.clone())).collect();
    assert_eq!(
        written,
        [
            json!({"command": "x"}),
            json!({"command": "node", "args": ["/p/s.js"], "cwd": "/p"}),
            json!({"command": "y", "cwd": "/q"}),
        ]
    );
    let text = json!({"mcpServers": {"a": {"command": "x"}}}).to_string();
    let twice = super::plan(&[file(&text), file(&text)], &BTreeSet::new(), None);
    assert_eq!((twice.taken.len(), twice.left_out.len()), (1, 1));
    assert_eq!(twice.left_out[0].why, "it is the same as a");
}

#[test]
fn what_is_written_is_read_and_holds_no_secret() {
    let secrets = ["ghp_0123456789abcdefABCD", "hunter2-hunter2", "abc-def-123", "tok-en"];
    let plan = of(&json!({"servers": {
        "One": {"command": "x", "args": ["--token", "tok-en"], "env": {"A_TOKEN": secrets[0], "B": secrets[1]}},
        "two": {"command": "x", "env": {"A_TOKEN": "another ghp"}},
        "three": {"url": "https://x.example/mcp", "headers": {"X-Key": secrets[2]}},
        "four": {"type": "sse", "url": "https://x.example"},
    }}));
    let text = plan.json();
    let shown = format!("{text} {plan:?}");
    for secret in secrets.iter().chain(&["another ghp"]) {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    let read = config::read(&text, 20).unwrap();
    assert_eq!(read.servers.len(), 3);
    let literal = |kind: &WarningKind| matches!(kind, WarningKind::LiteralSecret { .. });
    assert!(!read.warnings.iter().any(|warning| literal(&warning.kind)), "{:?}", read.warnings);
    // Two values under one name are two variables.
    let exports: Vec<_> =
        plan.taken.iter().flat_map(|t| &t.exports).map(|e| e.variable.as_str()).collect();
    assert_eq!(exports, ["TOKEN", "A_TOKEN", "B", "TWO_A_TOKEN", "X_KEY"]);
    assert_eq!(plan.taken[0].command_line(), "x --token ${TOKEN}");
    assert!(plan.taken[0].values().contains(&("B", "from the environment")));
}

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<String>> {
        match path.to_str() {
            Some("/h/.claude.json") => Ok(Some(
                r#"{"mcpServers":{"a":{"command":"x"}},"projects":{"/p":{"mcpServers":{"b":{"command":"y"}}}}}"#.to_owned(),
            )),
            Some("/p/.mcp.json") => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            _ => Ok(None),
        }
    }
}

#[test]
fn the_files_of_a_client_are_found_and_what_cannot_be_read_is_told() {
    let rooms = Rooms {
        system: System::Linux,
        home: Some("/h".into()),
        settings: Some("/s".into()),
        project: Some("/p".into()),
    };
    let files = find(Client::ClaudeCode, &rooms, &Disk);
    let plan = plan(&files, &BTreeSet::new(), rooms.home.as_deref());
    assert_eq!(plan.taken.len(), 2);
    assert_eq!(plan.taken[1].server.get("cwd"), Some(&json!("/p")));
    assert_eq!((plan.left_out[0].from.as_str(), plan.left_out.len()), ("/p/.mcp.json", 1));
    assert!(find(Client::Cursor, &rooms, &Disk).is_empty());
    assert!(!format!("{files:?}").contains("command"));
}
