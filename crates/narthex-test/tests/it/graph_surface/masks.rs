//! What may not be seen and what is not there are the same to the byte.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use narthex_graph::stored::Mode;
use narthex_server::owner::{GraphQuery, GraphReply, GraphRequest};
use narthex_test::{Answer, Era, Persona, exchange};
use serde_json::{Map, Value, json};

use super::harbour::{Harbour, STORED, declaration, options, with_policy};

/// Status, headers but for the date, and body.
type Bytes = (u16, Vec<(String, String)>, String);

fn bytes(answer: Answer) -> Bytes {
    let headers = answer.headers.into_iter().filter(|(name, _)| name != "date").collect();
    (answer.status, headers, answer.text)
}

/// Paths to no graph that an agent of space a may know of, one of them because policy denies it
/// all of `quay`.
const NOWHERE: &[&str] = &[
    "none",
    "lagoon",
    "quay",
    "HARBOUR",
    "Harbour",
    "harbour%2f",
    "%2e%2e",
    "harbour%00",
    "harbour/",
    "harbour//",
    "harbour/x",
    "x/harbour",
    "harbour/../lagoon",
    "./harbour",
    "..",
    "harbour;x=1",
    "harbour%20",
    "%68arbour",
    "a%CC%88",
    "",
];

#[tokio::test]
async fn graphs_that_are_not_there_for_somebody_are_one_answer() -> anyhow::Result<()> {
    let text = r#"forbid (principal, action, resource is Narthex::Graph)
        when { resource.slug == "quay" };"#;
    let harbour = Harbour::with(with_policy(text)).await?;
    let mut paths: Vec<String> =
        NOWHERE.iter().map(|graph| format!("/graphs/{graph}/mcp")).collect();
    paths.extend(
        ["/graphs/harbour/mcp/", "/graphs/harbour", "/graphs/harbour/MCP"].map(str::to_owned),
    );
    paths.push(format!("/graphs/{}/mcp", "g".repeat(9_000)));
    for era in Era::ALL {
        for (method, params) in [
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("tools/call", json!({"name": "graph_health", "arguments": {}})),
        ] {
            let mut seen = BTreeSet::new();
            for path in &paths {
                let ask = |persona| knock(&harbour, persona, path, era, method, &params);
                let answer = ask(Persona::AgentA).await?;
                assert_eq!(answer.status, 404, "{path}: {answer:?}");
                seen.insert(bytes(answer));
                // Nobody learns even that before they said who they are.
                for (persona, status) in [(Persona::Nobody, 401), (Persona::Unbound, 403)] {
                    let answer = ask(persona).await?;
                    assert_eq!(answer.status, status, "{persona:?} {path}: {answer:?}");
                }
            }
            assert_eq!(seen.len(), 1, "{seen:?}");
            // And the one that is there is there.
            let there =
                harbour.agent(Persona::AgentA).speaking(era).request(method, params).await?;
            assert!(there.is_ok(), "{there:?}");
        }
    }
    Ok(())
}

/// A request to exactly this path, which no client tidies up.
async fn knock(
    harbour: &Harbour,
    persona: Persona,
    path: &str,
    era: Era,
    method: &str,
    params: &Value,
) -> anyhow::Result<Answer> {
    let message = harbour.agent(persona).speaking(era).message(method, params.clone()).to_string();
    let mut head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\n\
         mcp-protocol-version: {}\r\nmcp-method: {method}\r\ncontent-length: {}\r\n",
        era.version(),
        message.len()
    );
    if let Some(token) = harbour.house.token(persona) {
        write!(head, "authorization: Bearer {token}\r\n")?;
    }
    if let Some(name) = params["name"].as_str() {
        write!(head, "mcp-name: {name}\r\n")?;
    }
    let bytes = format!("{head}\r\n{message}");
    Ok(exchange(harbour.house.address(), bytes.as_bytes()).await?.0)
}

/// Who is turned away is turned away alike from a graph that is there and one that is not.
#[tokio::test]
async fn before_identity_every_path_is_the_same() -> anyhow::Result<()> {
    let harbour = Harbour::open().await?;
    for persona in [
        Persona::Nobody,
        Persona::Stranger,
        Persona::Revoked,
        Persona::Disabled,
        Persona::Owner,
        Persona::Unbound,
    ] {
        let mut seen = BTreeSet::new();
        for graph in ["harbour", "lagoon", "none", "..", "%00"] {
            let client = harbour.house.graph_client(persona, graph);
            seen.insert(bytes(client.request("tools/list", json!({})).await?));
        }
        seen.insert(bytes(harbour.house.client(persona).request("tools/list", json!({})).await?));
        assert_eq!(seen.len(), 1, "{persona:?}: {seen:?}");
    }
    Ok(())
}

#[tokio::test]
async fn tools_that_are_denied_and_tools_that_are_not_are_one_answer() -> anyhow::Result<()> {
    let text = r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph);
        forbid (principal, action == Narthex::Action::"invoke_query", resource is Narthex::Graph)
            when { context has query && context.query == "person" };"#;
    let harbour = Harbour::with(with_policy(text)).await?;
    let agent = harbour.agent(Persona::AgentA);
    for era in Era::ALL {
        let agent = agent.speaking(era);
        let mut seen = BTreeSet::new();
        // Denied, hidden, the other mode's, not there; with good arguments, bad ones and none.
        for tool in [
            "graph_query",
            "schema_get",
            "person",
            "hush",
            "stored_query_run",
            "nothing",
            "Graph_Query",
            "graph_query ",
            "graph_querу",
        ] {
            // The header that repeats the name takes only plain ones.
            if era == Era::Modern && !tool.bytes().all(|byte| byte.is_ascii_graphic()) {
                continue;
            }
            for arguments in [
                json!({}),
                json!({"query": "x"}),
                json!({"params": {"slug": "ada"}}),
                json!({"x": []}),
            ] {
                let answer = agent.call(tool, arguments).await?;
                assert_eq!(
                    (answer.status, answer.rpc_code()),
                    (200, Some(-32602)),
                    "{tool}: {answer:?}"
                );
                let (status, headers, text) = bytes(answer);
                let headers: Vec<_> =
                    headers.into_iter().filter(|(name, _)| name != "content-length").collect();
                seen.insert((status, headers, text.replace(tool, "TOOL")));
            }
        }
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
    Ok(())
}

#[tokio::test]
async fn resources_that_are_denied_and_resources_that_are_not_are_one_answer() -> anyhow::Result<()>
{
    // Of all branches, of the protected one they are of, of the graph as a whole.
    let both = &["graph://schema", "graph://branches"][..];
    let harbour = Harbour::open().await?;
    for (text, gone) in [
        (
            r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph);"#,
            both,
        ),
        (
            r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph)
            when { context has branch && context.branch.protected };"#,
            &["graph://schema"],
        ),
        (
            r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph)
            unless { context has branch };"#,
            &["graph://branches"],
        ),
    ] {
        harbour.govern(text)?;
        for era in Era::ALL {
            let agent = harbour.agent(Persona::AgentA).speaking(era);
            let mut seen = BTreeSet::new();
            let unknown = [
                "graph://",
                "graph://graphs",
                "GRAPH://schema",
                "graph://schema/",
                "file:///etc/passwd",
                "",
            ];
            for uri in both.iter().chain(&unknown) {
                let answer = agent.request("resources/read", json!({"uri": uri})).await?;
                if both.contains(uri) && !gone.contains(uri) {
                    assert!(answer.is_ok(), "{uri}: {answer:?}");
                    continue;
                }
                let code = if era == Era::Modern { -32602 } else { -32002 };
                assert_eq!(
                    (answer.status, answer.rpc_code()),
                    (200, Some(code)),
                    "{uri}: {answer:?}"
                );
                let mut body = answer.json();
                assert_eq!(body["error"]["data"]["uri"], *uri, "{answer:?}");
                body["error"]["data"]["uri"] = Value::Null;
                seen.insert(body.to_string());
            }
            assert_eq!(seen.len(), 1, "{seen:?}");
        }
    }
    Ok(())
}

/// Through `stored_query_run`: not there, the owner's alone, denied.
#[tokio::test]
async fn stored_queries_that_are_not_for_somebody_are_one_answer() -> anyhow::Result<()> {
    let text = r#"forbid (principal, action == Narthex::Action::"invoke_query", resource is Narthex::Graph)
        when { context has query && context.query == "person" };"#;
    let harbour = Harbour::with(with_policy(text)).await?;
    let agent = harbour.house.graph_client(Persona::AgentA, "quay");
    for era in Era::ALL {
        let mut seen = BTreeSet::new();
        for name in ["nothing", "hush", "person", "HUSH", "graph_query", "stored_query_list"] {
            for params in [json!({"slug": "ada"}), json!({}), json!({"x": 1})] {
                let arguments = json!({"name": name, "params": params});
                let answer = agent.speaking(era).call("stored_query_run", arguments).await?;
                assert_eq!(answer.tool_code().as_deref(), Some("not_found"), "{answer:?}");
                seen.insert(bytes(answer));
            }
        }
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
    let listed = agent.call("stored_query_list", json!({"detail_level": "full"})).await?;
    for name in ["hush", "person"] {
        assert!(!listed.text.contains(name), "{listed:?}");
        let filtered = agent.call("stored_query_list", json!({"filter": name})).await?;
        assert_eq!(filtered.structured()["queries"], json!([]), "{filtered:?}");
    }
    Ok(())
}

/// What is not exposed is nowhere for agents, in either mode, and the owner's to call.
#[tokio::test]
async fn what_is_not_exposed_is_the_owners() -> anyhow::Result<()> {
    let harbour = Harbour::open().await?;
    for graph in ["harbour", "quay"] {
        let agent = harbour.house.graph_client(Persona::AgentA, graph);
        for (method, params) in [
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("server/discover", json!({})),
            (
                "tools/call",
                json!({"name": "stored_query_list", "arguments": {"detail_level": "full"}}),
            ),
        ] {
            let answer = agent.request(method, params).await?;
            assert!(!answer.text.contains("hush"), "{graph} {method}: {answer:?}");
        }
        let query = GraphQuery {
            name: Some("hush".to_owned()),
            params: Map::from_iter([("slug".to_owned(), json!("ada"))]),
            ..GraphQuery::default()
        };
        let graph = graph.to_owned();
        let request = GraphRequest::Query { graph, query, at: None, cursor: None, limit: 9 };
        let GraphReply::Answer(answer) = harbour.ask(request).await? else { panic!("no answer") };
        assert_eq!(answer.rows, [[json!("Ada")]]);
    }
    Ok(())
}

/// A tool each below the threshold, two for all of them from it on, and by word whatever the number.
#[tokio::test]
async fn the_number_of_exposed_queries_says_how_they_are_shown() -> anyhow::Result<()> {
    // mode, threshold → two tools for all. Six are exposed, one is not.
    let rows = [
        (Mode::Auto, 7, false),
        (Mode::Auto, 6, true),
        (Mode::Auto, 5, true),
        (Mode::PerQuery, 1, false),
        (Mode::Meta, 1_000, true),
    ];
    let slug = |n: usize| format!("shown-{n}");
    let mut options = options();
    for (n, (mode, threshold, _)) in rows.iter().enumerate() {
        let mut declared = declaration(STORED, *mode, &["hush"]);
        declared.mcp.threshold = *threshold;
        options.graphs.declared.insert(slug(n).parse()?, declared);
    }
    let harbour = Harbour::with(options).await?;
    for (n, (mode, threshold, meta)) in rows.into_iter().enumerate() {
        harbour.found(&slug(n), "a").await?;
        let agent = harbour.house.graph_client(Persona::AgentA, &slug(n));
        let listed = agent.tools().await?;
        let has = |name: &str| listed.iter().any(|tool| tool == name);
        assert_eq!((has("stored_query_run"), has("person")), (meta, !meta), "{mode:?} {threshold}");
        let arguments = json!({"params": {"slug": "ada"}});
        let direct = agent.call("person", arguments).await?;
        assert_eq!(direct.is_ok(), !meta, "{direct:?}");
        let run = json!({"name": "person", "params": {"slug": "ada"}});
        let through = agent.call("stored_query_run", run).await?;
        assert_eq!(through.is_ok(), meta, "{through:?}");
    }
    Ok(())
}
