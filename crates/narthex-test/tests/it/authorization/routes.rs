//! Every route with every HTTP method, with sessions and without: what does not depend on who
//! asks. What an agent's route refuses is in the ledger, what any other does is not.

use std::collections::BTreeSet;

use narthex_core::{Actor, Phase, Reason};
use narthex_gate::SessionConfig;
use narthex_test::{Persona, TestHouse, exchange};
use serde_json::json;

use super::cells::every_refusal_recorded;
use crate::graph_surface::harbour::Harbour;

/// A method, the status, and the code of the error body (if it has one).
type Row = (&'static str, u16, &'static str);

/// The agents' route where sessions are kept.
pub(super) const WITH_SESSIONS: &[Row] = &[
    // Without saying that it takes a stream; with that, and DELETE, is the sessions' table.
    ("GET", 406, "not_acceptable"),
    ("HEAD", 405, ""),
    ("PUT", 405, "method_not_allowed"),
    ("PATCH", 405, "method_not_allowed"),
    ("DELETE", 0, ""),
    ("OPTIONS", 405, "method_not_allowed"),
    ("TRACE", 405, "method_not_allowed"),
    ("POST", 0, ""),
];

/// The agents' routes where none are.
const AGENTS: &[Row] = &[
    ("GET", 405, "method_not_allowed"),
    ("HEAD", 405, ""),
    ("PUT", 405, "method_not_allowed"),
    ("PATCH", 405, "method_not_allowed"),
    ("DELETE", 405, "method_not_allowed"),
    ("OPTIONS", 405, "method_not_allowed"),
    ("TRACE", 405, "method_not_allowed"),
    // The doors: whose methods and tools the other tables are about.
    ("POST", 0, ""),
];

/// Each route, paths that are of it, and its methods, where no sessions are kept.
pub(super) const TABLE: &[(&str, &[&str], &[Row])] = &[
    ("/mcp", &["/mcp"], AGENTS),
    (
        "/graphs/{*path}",
        &[
            "/graphs/harbour/mcp",
            "/graphs/none/mcp",
            "/graphs/a%2fb/mcp",
            "/graphs/../mcp",
            "/graphs/harbour/mcp/",
            "/graphs/harbour",
            "/graphs/harbour/mcp/../../x",
        ],
        AGENTS,
    ),
    (
        "/servers/{*path}",
        &[
            "/servers/up/mcp",
            "/servers/a%2fb/mcp",
            "/servers/../mcp",
            "/servers/up/mcp/",
            "/servers/up",
            "/servers/mcp/mcp",
        ],
        AGENTS,
    ),
    ("/code/{*path}", &["/code/mcp", "/code/mcp/", "/code/x", "/code/../mcp"], AGENTS),
    (
        "/graphs",
        &["/graphs"],
        &[
            // For the owner alone: below.
            ("GET", 0, ""),
            ("HEAD", 0, ""),
            ("PUT", 405, "method_not_allowed"),
            ("PATCH", 405, "method_not_allowed"),
            ("DELETE", 405, "method_not_allowed"),
            ("OPTIONS", 405, "method_not_allowed"),
            ("TRACE", 405, "method_not_allowed"),
            ("POST", 405, "method_not_allowed"),
        ],
    ),
    (
        "/healthz",
        &["/healthz"],
        &[
            ("GET", 200, ""),
            ("HEAD", 200, ""),
            ("PUT", 405, "method_not_allowed"),
            ("PATCH", 405, "method_not_allowed"),
            ("DELETE", 405, "method_not_allowed"),
            ("OPTIONS", 405, "method_not_allowed"),
            ("TRACE", 405, "method_not_allowed"),
            ("POST", 405, "method_not_allowed"),
        ],
    ),
];

/// What is no route, though someone may hope it is.
const NOWHERE: &[&str] = &[
    "/",
    "/mcp/",
    "/MCP",
    "//mcp",
    "/mcp%2f",
    "/mcp/../owner",
    "/owner",
    "/api",
    "/ledger",
    "/inbox",
    "/sse",
    "/metrics",
    "/healthz/",
    "/.well-known/oauth-protected-resource",
    "/graphs/",
    "//graphs/harbour/mcp",
    "/servers/",
    "/servers",
    "/Graphs/harbour/mcp",
    "/graph/harbour/mcp",
    "/code/",
    "/code",
    "/Code/mcp",
];

pub(super) const METHODS: &[&str] =
    &["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "POST"];

#[tokio::test]
async fn every_route_with_every_method_is_the_same_for_everyone() -> anyhow::Result<()> {
    for sessions in [None, Some(SessionConfig::default())] {
        let mut options = every_refusal_recorded();
        options.gate.sessions.clone_from(&sessions);
        let house = TestHouse::with(options).await?;
        let on_mcp = if sessions.is_some() { "GET, POST, DELETE" } else { "POST" };
        for persona in [Persona::AgentA, Persona::Owner, Persona::Nobody] {
            for (route, paths, rows) in TABLE {
                let agents = is_agents(route);
                let rows = if agents && sessions.is_some() { WITH_SESSIONS } else { rows };
                let allowed = if agents { on_mcp } else { "GET" };
                for path in *paths {
                    for row in rows.iter().filter(|(_, status, _)| *status != 0) {
                        check(&house, persona, path, *row, (allowed, agents)).await?;
                    }
                }
            }
            nothing_elsewhere(&house, persona).await?;
        }
    }
    Ok(())
}

fn is_agents(route: &str) -> bool {
    route.ends_with("/mcp")
        || matches!(route, "/graphs/{*path}" | "/servers/{*path}" | "/code/{*path}")
}

async fn check(
    house: &TestHouse,
    persona: Persona,
    path: &str,
    (method, status, code): Row,
    (allowed, agents): (&str, bool),
) -> anyhow::Result<()> {
    let before = house.seq().await?;
    let token = house.token(persona).unwrap_or_default();
    let (answer, after) = ask(house, method, path, &token).await?;
    let what = format!("{persona:?} {method} {path}: {answer:?}");
    assert_eq!(answer.status, status, "{what}");
    assert_eq!(answer.door_code().unwrap_or_default(), code, "{what}");
    assert_eq!(after, "", "{what}");
    if status == 405 {
        assert_eq!(answer.header("allow"), Some(allowed), "{what}");
    }
    assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")), "{what}");
    let records = house.records_after(before).await?;
    let left: Vec<_> =
        records.iter().map(|r| (r.draft.phase, r.draft.reason, r.draft.actor.clone())).collect();
    let refused = (Phase::Refused, Reason::InvalidRequest, Actor::Nobody);
    let expected = if agents { vec![refused] } else { Vec::new() };
    assert_eq!(left, expected, "{what}");
    Ok(())
}

async fn nothing_elsewhere(house: &TestHouse, persona: Persona) -> anyhow::Result<()> {
    let token = house.token(persona).unwrap_or_default();
    let before = house.seq().await?;
    for path in NOWHERE {
        for method in METHODS {
            let (answer, _) = ask(house, method, path, &token).await?;
            assert_eq!(answer.status, 404, "{persona:?} {method} {path}: {answer:?}");
        }
    }
    assert_eq!(house.seq().await?, before, "a route that is nobody's left a record");
    Ok(())
}

/// Which graphs there are is the owner's to know: an agent's token, a wrong one and none are one
/// answer, and counted like any other knock without a credential.
#[tokio::test]
async fn the_list_of_graphs_is_for_the_owner() -> anyhow::Result<()> {
    let harbour = Harbour::with(every_refusal_recorded()).await?;
    let house = &harbour.house;
    let mut turned_away = BTreeSet::new();
    for persona in Persona::ALL {
        let before = house.seq().await?;
        let token = house.token(persona).unwrap_or_default();
        for method in ["GET", "HEAD"] {
            let (answer, _) = ask(house, method, "/graphs", &token).await?;
            let what = format!("{persona:?} {method}: {answer:?}");
            let left: Vec<_> = house.records_after(before).await?;
            let last = left.last().map(|record| (record.draft.phase, record.draft.reason));
            if persona == Persona::Owner {
                assert_eq!((answer.status, last), (200, None), "{what}");
                assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
            } else {
                let refused = (Phase::Refused, Reason::Unauthorized);
                assert_eq!((answer.status, last), (401, Some(refused)), "{what}");
                assert!(answer.header("www-authenticate").is_some(), "{what}");
            }
            if method == "HEAD" {
                continue;
            }
            if persona == Persona::Owner {
                let graphs = answer.json()["graphs"].as_array().cloned().unwrap_or_default();
                let shown: Vec<_> = graphs
                    .iter()
                    .map(|graph| (graph["graph_id"].clone(), graph["space"].clone()))
                    .collect();
                let expected = [("harbour", "a"), ("lagoon", "b"), ("quay", "a")];
                let expected = expected.map(|(graph, space)| (json!(graph), json!(space)));
                assert_eq!(shown, expected, "{what}");
                assert_eq!(graphs[0]["uri"], "/graphs/harbour/mcp", "{what}");
            } else {
                let headers = answer.headers.into_iter().filter(|(name, _)| name != "date");
                turned_away.insert((headers.collect::<Vec<_>>(), answer.text));
            }
        }
    }
    assert_eq!(turned_away.len(), 1, "{turned_away:?}");
    Ok(())
}

#[tokio::test]
async fn health_says_how_the_parts_are_and_no_name() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let (answer, _) = ask(&house, "GET", "/healthz", "").await?;
    let said = answer.json();
    for part in ["status", "store", "ledger", "policy"] {
        assert_eq!(said[part], "ok", "{said}");
    }
    house.faults().fail_writing(true);
    let (answer, _) = ask(&house, "GET", "/healthz", "").await?;
    assert_eq!((answer.status, &answer.json()["ledger"]), (503, &"failing".into()), "{answer:?}");
    let keys: Vec<_> =
        answer.json().as_object().map(|o| o.keys().cloned().collect()).unwrap_or_default();
    assert_eq!(keys, ["status", "version", "store", "ledger", "policy", "stopped"]);
    Ok(())
}

async fn ask(
    house: &TestHouse,
    method: &str,
    path: &str,
    token: &str,
) -> anyhow::Result<(narthex_test::Answer, String)> {
    let authorization =
        if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n{authorization}\r\n"
    );
    let (mut answer, after) = exchange(house.address(), request.as_bytes()).await?;
    if method == "HEAD" {
        answer.text.clear();
    }
    Ok((answer, after))
}
