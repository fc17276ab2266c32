//! Every route with every HTTP method, with sessions and without: what does not depend on who
//! asks. What an agent's route refuses is in the ledger, what any other does is not.

use narthex_core::{Actor, Phase, Reason};
use narthex_gate::SessionConfig;
use narthex_test::{Persona, TestHouse, exchange};

use super::cells::every_refusal_recorded;

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

/// Each route with its methods, where none are.
pub(super) const TABLE: &[(&str, &[Row])] = &[
    (
        "/mcp",
        &[
            ("GET", 405, "method_not_allowed"),
            ("HEAD", 405, ""),
            ("PUT", 405, "method_not_allowed"),
            ("PATCH", 405, "method_not_allowed"),
            ("DELETE", 405, "method_not_allowed"),
            ("OPTIONS", 405, "method_not_allowed"),
            ("TRACE", 405, "method_not_allowed"),
            // The one door: whose methods and tools the other tables are about.
            ("POST", 0, ""),
        ],
    ),
    (
        "/healthz",
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
    "/graphs/a/mcp",
    "/code/mcp",
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
            for (path, rows) in TABLE {
                let agents = *path == "/mcp";
                let rows = if agents && sessions.is_some() { WITH_SESSIONS } else { rows };
                let allowed = if agents { on_mcp } else { "GET" };
                for row in rows.iter().filter(|(_, status, _)| *status != 0) {
                    check(&house, persona, path, *row, allowed).await?;
                }
            }
            nothing_elsewhere(&house, persona).await?;
        }
    }
    Ok(())
}

async fn check(
    house: &TestHouse,
    persona: Persona,
    path: &str,
    (method, status, code): Row,
    allowed: &str,
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
    let expected = if path == "/mcp" { vec![refused] } else { Vec::new() };
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
