//! A list is a relaxation of calling: whatever can be called on some branch is in it, and what is
//! denied on every branch is not.

use std::collections::BTreeSet;

use narthex_core::{Mode, Tier};
use narthex_graph::stored::Shown;
use narthex_test::{Client, Era, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, SCHEMA, done, options};

/// What is forbidden besides the standard policy, and which tools that leaves on no branch.
const POLICIES: &[(&str, &str, &[&str])] = &[
    ("nothing", "", &[]),
    (
        "changes on branches of others",
        r#"forbid (principal, action in [Narthex::Action::"change", Narthex::Action::"branch_delete", Narthex::Action::"schema_apply"], resource is Narthex::Graph)
            unless { context has branch && context.branch.own };"#,
        &[],
    ),
    (
        "changes but by name",
        r#"forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            unless { context has branch && context.branch.name == "team" };"#,
        &[],
    ),
    (
        "changes but of what is like a name",
        r#"forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            unless { context has branch && context.branch.name like "mi*" };"#,
        &[],
    ),
    (
        "changes of what is protected",
        r"forbid (principal, action, resource is Narthex::Graph)
            when { context has branch && context.branch.protected };",
        &[],
    ),
    (
        "reading what is not protected",
        r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph)
            unless { context has branch && context.branch.protected };"#,
        &[],
    ),
    (
        "merges but into team",
        r#"forbid (principal, action == Narthex::Action::"branch_merge", resource is Narthex::Graph)
            unless { context has into && context.into.name == "team" };"#,
        &[],
    ),
    (
        "one stored query",
        r#"forbid (principal, action == Narthex::Action::"invoke_query", resource is Narthex::Graph)
            when { context has query && context.query == "person" };"#,
        &["person"],
    ),
    (
        "all but one stored query",
        r#"forbid (principal, action == Narthex::Action::"invoke_query", resource is Narthex::Graph)
            unless { context has query && context.query == "person" };"#,
        &["add", "everyone", "named", "scored", "things"],
    ),
    (
        "changes of this graph",
        r#"forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            when { resource.slug == "harbour" };"#,
        &["graph_mutate", "graph_load"],
    ),
    (
        "changes of every branch there can be",
        r#"forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            unless { context has branch };
        forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            when { context has branch && context.branch.protected };
        forbid (principal, action == Narthex::Action::"change", resource is Narthex::Graph)
            when { context has branch && !context.branch.protected };"#,
        // That these make all of it is more than a list finds out: it shows what it cannot rule out.
        &[],
    ),
    (
        "reading",
        r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph);"#,
        &[
            "graph_snapshot",
            "schema_get",
            "branch_list",
            "commit_list",
            "commit_get",
            "graph_query",
        ],
    ),
    (
        "all that is done to branches",
        r#"forbid (principal, action in [Narthex::Action::"branch_create", Narthex::Action::"branch_delete", Narthex::Action::"branch_merge", Narthex::Action::"schema_apply"], resource);"#,
        &["branch_create", "branch_delete", "branch_merge", "schema_apply"],
    ),
];

#[tokio::test]
async fn whatever_can_be_called_is_listed() -> anyhow::Result<()> {
    let all: BTreeSet<&str> = narthex_graph_surface::built_in_tools()
        .into_iter()
        .chain(super::harbour::EXPOSED.iter().copied())
        .collect();
    let shown = || all.iter().copied().filter(|tool| !tool.starts_with("stored_query_"));
    let mut options = options();
    options.mode = Mode::Open;
    let harbour = Harbour::with(options).await?;
    let agent = harbour.newcomer("scout", Tier::T3).await?;
    done(&agent, "branch_create", json!({"name": "mine-2"})).await?;
    let older = r#"update Person set { age: 41 } where slug = "bob""#;
    let head = harbour.change("harbour", "main", older).await?;
    for (number, (what, text, gone)) in POLICIES.iter().enumerate() {
        harbour.govern("")?;
        agent.call("branch_create", json!({"name": "mine"})).await?;
        harbour.govern(text)?;
        let agent = agent.speaking(Era::ALL[number % 2]);
        let listed: BTreeSet<String> = agent.tools().await?.into_iter().collect();
        let expected = shown().filter(|tool| !gone.contains(tool)).map(str::to_owned);
        assert_eq!(listed, expected.collect::<BTreeSet<_>>(), "{what}");
        for tool in shown() {
            let may = permitted(&agent, tool, &head).await?;
            assert!(
                !may || listed.contains(tool),
                "{what}: {tool} can be called and is not listed"
            );
        }
    }
    Ok(())
}

/// Whether policy permits a call of it on some branch, as the answer shows.
async fn permitted(agent: &Client, tool: &str, head: &str) -> anyhow::Result<bool> {
    for branch in ["mine", "team", "main"] {
        for arguments in calls(tool, branch, head) {
            let answer = agent.call(tool, arguments).await?;
            let refused = answer.rpc_code() == Some(-32602)
                || answer.tool_code().as_deref() == Some("policy_denied");
            if !refused {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Calls of a tool on a branch, good in every way.
fn calls(tool: &str, branch: &str, head: &str) -> Vec<Value> {
    let person = json!({"slug": "ada"});
    match tool {
        "graph_health" | "branch_list" => vec![json!({})],
        "graph_snapshot" | "schema_get" | "commit_list" | "branch_delete" | "everyone"
        | "things" => vec![json!({"branch": branch})],
        "commit_get" => vec![json!({"commit": head})],
        "graph_query" => {
            vec![json!({"query": "match { $p: Person } return { $p.slug }", "branch": branch})]
        }
        "graph_mutate" => {
            vec![
                json!({"query": r#"update Person set { age: 1 } where slug = "x""#, "branch": branch}),
            ]
        }
        "graph_load" => vec![json!({"data": "", "branch": branch})],
        "branch_create" => vec![json!({"name": "mine", "from": branch})],
        "branch_merge" => ["mine-2", "team"]
            .map(|from| json!({"from": from, "into": branch, "propose": true}))
            .to_vec(),
        "schema_apply" => vec![json!({"schema": SCHEMA, "branch": branch})],
        "person" => vec![json!({"params": person, "branch": branch})],
        "named" => vec![json!({"params": {"branch": "a", "snapshot": "b"}, "branch": branch})],
        "scored" => vec![json!({"params": {"n": "1"}, "branch": branch})],
        "add" => vec![json!({"params": {"slug": "zed", "name": "Z"}, "branch": branch})],
        other => panic!("{other} has no calls"),
    }
}

/// A stored query is called by the name of its tool, and by no other; policy knows it by its own.
#[tokio::test]
async fn a_query_with_another_name_for_its_tool_is_called_by_that() -> anyhow::Result<()> {
    let mut options = options();
    let declared = options.graphs.declared.get_mut(&"harbour".parse()?).expect("declared");
    let shown = Shown { tool_name: Some("who_is".to_owned()), ..Shown::default() };
    declared.mcp.queries.insert("person".to_owned(), shown);
    let harbour = Harbour::with(options).await?;
    let agent = harbour.agent(Persona::AgentA);
    let listed = agent.tools().await?;
    assert!(listed.contains(&"who_is".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"person".to_owned()), "{listed:?}");
    let found = done(&agent, "who_is", json!({"params": {"slug": "ada"}})).await?;
    assert_eq!(found["rows"][0]["name"], "Ada", "{found}");
    let unknown = agent.call("person", json!({"params": {"slug": "ada"}})).await?;
    assert_eq!(unknown.rpc_code(), Some(-32602), "{unknown:?}");
    harbour.govern(
        r#"@id("not-person") forbid (principal, action == Narthex::Action::"invoke_query", resource)
           when { context has query && context.query == "person" };"#,
    )?;
    assert!(!agent.tools().await?.contains(&"who_is".to_owned()));
    let refused = agent.call("who_is", json!({"params": {"slug": "ada"}})).await?;
    assert_eq!(refused.rpc_code(), Some(-32602), "{refused:?}");
    Ok(())
}
