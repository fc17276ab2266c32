//! The two gates of a stored query: may it be called, and may what it does be done.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use narthex_server::owner::{BranchRequest, GraphRequest};
use narthex_test::{Era, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, code, done, insert, options, slugs, slugs_of, with_policy};

/// What is forbidden besides the standard policy, then for `person` (which looks) and `add` (which
/// changes agent a's own branch): whether it is listed, and what comes of calling it.
type Row = (&'static str, (bool, &'static str), (bool, &'static str));

const INVOKE: &str =
    r#"forbid (principal, action == Narthex::Action::"invoke_query", resource is Narthex::Graph)"#;
const READ: &str =
    r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph)"#;
const CHANGE: &str =
    r#"forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)"#;

#[tokio::test]
async fn a_stored_query_passes_two_gates() -> anyhow::Result<()> {
    let rows: [(String, Row); 7] = [
        (String::new(), ("all", (true, "ok"), (true, "ok"))),
        (format!("{READ};"), ("invoke without read", (true, "policy_denied"), (true, "ok"))),
        (format!("{INVOKE};"), ("read without invoke", (false, "unknown"), (false, "unknown"))),
        (format!("{CHANGE};"), ("no change", (true, "ok"), (true, "policy_denied"))),
        (
            format!(r#"{INVOKE} when {{ context has query && context.query == "add" }};"#),
            ("one query", (true, "ok"), (false, "unknown")),
        ),
        // What a query does can be told from what an agent's own text does.
        (
            format!("{READ} unless {{ context has query }};"),
            ("only by stored queries", (true, "ok"), (true, "ok")),
        ),
        (
            format!("{READ} when {{ context has branch && context.branch.protected }};"),
            ("not of main", (true, "policy_denied"), (true, "ok")),
        ),
    ];
    let harbour = Harbour::with_mine(options()).await?;
    let mut number = 0;
    for (text, (what, person, add)) in rows {
        harbour.govern(&text)?;
        for era in Era::ALL {
            number += 1;
            for graph in ["harbour", "quay"] {
                let agent = harbour.house.graph_client(Persona::AgentA, graph).speaking(era);
                let listed = if graph == "harbour" {
                    agent.tools().await?
                } else {
                    let all = agent.call("stored_query_list", json!({})).await?.structured();
                    let all = all["queries"].as_array().cloned().unwrap_or_default();
                    all.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
                };
                for (name, (shown, expected), mut arguments) in [
                    ("person", person, json!({"params": {"slug": "ada"}})),
                    (
                        "add",
                        add,
                        json!({"params": {"slug": format!("n{number}"), "name": "N"}, "branch": "mine"}),
                    ),
                ] {
                    assert_eq!(
                        listed.iter().any(|tool| tool == name),
                        shown,
                        "{what} {graph} {name}"
                    );
                    let answer = if graph == "harbour" {
                        agent.call(name, arguments).await?
                    } else {
                        arguments["name"] = name.into();
                        agent.call("stored_query_run", arguments).await?
                    };
                    let got = match (answer.tool_code(), answer.rpc_code()) {
                        (None, None) if answer.is_ok() => "ok".to_owned(),
                        (Some(code), _) => code,
                        // Nothing is left of the two tools where nothing may be called.
                        (None, Some(-32602)) => "unknown".to_owned(),
                        other => panic!("{other:?} {answer:?}"),
                    };
                    let hidden = expected == "unknown" && graph == "quay" && got == "not_found";
                    assert!(got == expected || hidden, "{what} {graph} {name}: {answer:?}");
                }
            }
        }
    }
    Ok(())
}

/// Who may not read a branch learns nothing of it by forking it, loading onto a fork of it, merging
/// it, or through its commits.
#[tokio::test]
async fn what_may_not_be_read_is_not_reached_by_other_ways() -> anyhow::Result<()> {
    let text =
        format!(r#"{READ} when {{ context has branch && context.branch.name == "secret" }};"#);
    let harbour = Harbour::with_mine(with_policy(&text)).await?;
    harbour.branch("harbour", "secret", false).await?;
    let commit = harbour.change(
        "harbour",
        "secret",
        r#"insert Person { slug: "secret-canary", name: "S" }"#,
    );
    let commit = commit.await?;
    let agent = harbour.agent(Persona::AgentA);
    let query = "match { $p: Person } return { $p.slug as slug } order { $p.slug }";
    let line = r#"{"type":"Person","data":{"slug":"x","name":"X"}}"#;
    let now = "2999-01-01T00:00:00Z";
    for (tool, arguments) in [
        ("graph_query", json!({"query": query, "branch": "secret"})),
        ("graph_query", json!({"query": query, "snapshot": commit})),
        ("graph_query", json!({"query": query, "branch": "secret", "snapshot": now})),
        ("graph_snapshot", json!({"branch": "secret"})),
        ("graph_snapshot", json!({"snapshot": commit})),
        ("schema_get", json!({"branch": "secret"})),
        ("schema_get", json!({"snapshot": commit})),
        ("commit_list", json!({"branch": "secret"})),
        ("commit_get", json!({"commit": commit, "changes": true})),
        ("everyone", json!({"branch": "secret"})),
        ("everyone", json!({"snapshot": commit})),
        ("branch_create", json!({"name": "fork", "from": "secret"})),
        ("branch_create", json!({"name": "fork", "snapshot": commit})),
        ("branch_create", json!({"name": "fork", "from": "secret", "snapshot": now})),
        ("graph_load", json!({"data": line, "branch": "fork", "from": "secret"})),
        ("branch_merge", json!({"from": "secret", "into": "mine"})),
        ("branch_merge", json!({"from": "secret", "into": "main"})),
        ("branch_merge", json!({"from": "secret", "into": "mine", "propose": true})),
    ] {
        assert_eq!(
            code(&agent, tool, arguments.clone()).await?,
            "policy_denied",
            "{tool} {arguments}"
        );
    }
    // Its name stays with its commits when it is gone.
    let (graph, name) = ("harbour".to_owned(), "secret".to_owned());
    let gone = BranchRequest::Delete { graph, name, force: true };
    harbour.ask(GraphRequest::Branch(gone)).await?;
    for (tool, arguments) in [
        ("graph_query", json!({"query": query, "snapshot": commit})),
        ("graph_snapshot", json!({"snapshot": commit})),
        ("schema_get", json!({"snapshot": commit})),
        ("commit_get", json!({"commit": commit, "changes": true})),
        ("everyone", json!({"snapshot": commit})),
        ("branch_create", json!({"name": "fork", "snapshot": commit})),
    ] {
        assert_eq!(code(&agent, tool, arguments).await?, "policy_denied", "{tool}, gone");
    }
    // Its commits are not in the history of what was forked before them.
    for before in [json!({"branch": "main"}), json!({"branch": "main", "before": commit})] {
        let answer = agent.call("commit_list", before).await?;
        assert!(!answer.text.contains(&commit), "{answer:?}");
    }
    // A cursor of the owner's reading, or of a time when it was allowed, opens nothing.
    let page = json!({"query": query, "page_size": 1});
    let cursor = done(&agent, "graph_query", page).await?["next_cursor"].clone();
    let cursor = cursor.as_str().expect("a cursor");
    let mut inside: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cursor)?)?;
    assert_ne!(inside["c"], json!(commit), "the commit");
    inside["c"] = commit.clone().into();
    let forged = URL_SAFE_NO_PAD.encode(inside.to_string());
    for (cursor, told) in [(forged.as_str(), Some("policy_denied")), (cursor, None)] {
        let arguments = json!({"query": query, "page_size": 1, "cursor": cursor});
        let answer = agent.call("graph_query", arguments).await?;
        assert_eq!(answer.tool_code().as_deref(), told, "{answer:?}");
    }
    for branch in ["main", "mine"] {
        assert_eq!(harbour.people(branch).await?, "ada:36 bob:40");
    }
    Ok(())
}

/// What a cursor of one branch holds to when policy is another by then.
#[tokio::test]
async fn a_cursor_is_asked_about_like_the_commit_it_is_of() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    for slug in ["cyd", "dan"] {
        done(&agent, "graph_mutate", insert(slug, "mine")).await?;
    }
    let reader = harbour.agent(Persona::Reader);
    let page = |place| {
        let mut arguments = slugs(&place);
        arguments["page_size"] = 3.into();
        arguments
    };
    let first = done(&reader, "graph_query", page(json!({"branch": "mine"}))).await?;
    assert_eq!(slugs_of(&first), ["ada", "bob", "cyd"]);
    // The branch is left out: the page is of the commit all the same, and asked about as such.
    let cursor = first["next_cursor"].clone();
    let second = done(&reader, "graph_query", page(json!({"cursor": cursor}))).await?;
    assert_eq!(slugs_of(&second), ["dan"]);
    let text = format!(r#"{READ} when {{ context has branch && context.branch.name == "mine" }};"#);
    harbour.govern(&text)?;
    for place in [json!({"cursor": cursor}), json!({"cursor": cursor, "branch": "main"})] {
        assert_eq!(code(&reader, "graph_query", page(place)).await?, "policy_denied");
    }
    Ok(())
}
