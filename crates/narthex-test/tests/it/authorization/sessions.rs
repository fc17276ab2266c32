//! Every legacy message and every session request, for everyone, with every kind of session id.

use std::fmt::Write as _;

use narthex_core::{Outcome, Phase, Reason};
use narthex_gate::SessionConfig;
use narthex_test::{Answer, Client, Era, HouseOptions, Persona, TestHouse, exchange};
use serde_json::json;

use super::cells::{door, every_refusal_recorded};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// A legacy message.
    Message(&'static str),
    /// A legacy notification.
    Notification,
    /// A stream.
    Stream,
    /// An end.
    End,
}

/// What is asked, the status with a session of one's own, and whether that leaves a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    ask: Ask,
    own: u16,
    recorded: bool,
}

impl Row {
    pub(super) fn verb(&self) -> &'static str {
        match self.ask {
            Ask::Message(_) | Ask::Notification => "POST",
            Ask::Stream => "GET",
            Ask::End => "DELETE",
        }
    }
}

pub(super) fn table() -> [Row; 6] {
    [
        Row { ask: Ask::Message("tools/list"), own: 200, recorded: true },
        Row { ask: Ask::Message("ping"), own: 200, recorded: false },
        Row { ask: Ask::Message("prompts/list"), own: 200, recorded: true },
        Row { ask: Ask::Notification, own: 202, recorded: false },
        Row { ask: Ask::Stream, own: 200, recorded: true },
        Row { ask: Ask::End, own: 204, recorded: true },
    ]
}

/// Whose session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    None,
    Own,
    AnotherAgents,
    Ended,
    Forged,
}

fn options() -> HouseOptions {
    let mut options = every_refusal_recorded();
    options.gate.sessions = Some(SessionConfig::default());
    options
}

async fn opened(client: &Client) -> anyhow::Result<String> {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let answer = client.speaking(Era::Legacy).request("initialize", params).await?;
    let id = answer.header("mcp-session-id").map(str::to_owned);
    id.ok_or_else(|| anyhow::anyhow!("no session: {answer:?}"))
}

async fn ask(house: &TestHouse, token: &str, ask: Ask, id: &str) -> anyhow::Result<Answer> {
    let (line, body) = match ask {
        Ask::Message(method) => {
            ("POST", json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string())
        }
        Ask::Notification => ("POST", json!({"jsonrpc": "2.0", "method": "x"}).to_string()),
        // Ended from outside, so that the exchange has an end.
        Ask::Stream => ("GET", String::new()),
        Ask::End => ("DELETE", String::new()),
    };
    let accept = if ask == Ask::Stream { "text/event-stream" } else { "application/json" };
    let mut head = format!(
        "{line} /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: {accept}\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in
        [("authorization", format!("Bearer {token}")), ("mcp-session-id", id.to_owned())]
    {
        if !value.trim_start_matches("Bearer ").is_empty() {
            write!(head, "{name}: {value}\r\n")?;
        }
    }
    Ok(exchange(house.address(), format!("{head}\r\n{body}").as_bytes()).await?.0)
}

#[tokio::test]
async fn every_request_with_every_kind_of_session_for_everyone() -> anyhow::Result<()> {
    let house = TestHouse::with(options()).await?;
    let others = opened(&house.client(Persona::AgentB)).await?;
    for persona in Persona::ALL.into_iter().filter(|persona| *persona != Persona::AgentB) {
        for row in table() {
            for id in [Id::None, Id::Own, Id::AnotherAgents, Id::Ended, Id::Forged] {
                check(&house, persona, row, id, &others).await?;
            }
        }
    }
    assert_eq!(house.house().gate().sessions().len(), 1, "B's alone is left");
    house.verify().await?;
    Ok(())
}

async fn check(
    house: &TestHouse,
    persona: Persona,
    row: Row,
    kind: Id,
    others: &str,
) -> anyhow::Result<()> {
    let token = house.token(persona).unwrap_or_default();
    let outside = door(persona);
    let id = match kind {
        Id::None => String::new(),
        Id::AnotherAgents => others.to_owned(),
        _ if outside.is_some() => "0".repeat(64),
        Id::Forged => "0".repeat(64),
        Id::Own | Id::Ended => opened(&house.client(persona)).await?,
    };
    if kind == Id::Ended && outside.is_none() {
        assert_eq!(ask(house, &token, Ask::End, &id).await?.status, 204);
    }
    let before = house.seq().await?;
    let asking = ask(house, &token, row.ask, &id);
    let answer = if kind == Id::Own && row.ask == Ask::Stream && outside.is_none() {
        // Heard out until the session ends.
        let ending = async {
            while house.seq().await? == before {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            ask(house, &token, Ask::End, &id).await
        };
        tokio::try_join!(asking, ending)?.0
    } else {
        asking.await?
    };
    let what = format!("{persona:?} {row:?} {kind:?}: {answer:?}");
    let records = house.records_after(before).await?;
    let first = records.first().map(|record| (record.draft.phase, record.draft.reason));
    let unknown = Some((Phase::Refused, Reason::UnknownSession));
    match (outside, kind) {
        (Some(cell), _) => {
            let left = cell.leaves.first().map(|left| (left.0, left.2));
            assert_eq!((answer.status / 100, first), (4, left), "{what}");
        }
        (None, Id::Own) => {
            assert_eq!((answer.status, first.is_some()), (row.own, row.recorded), "{what}");
            for record in &records {
                assert!(record.draft.session.is_some(), "{what}");
                assert!(!format!("{record:?}").contains(&id), "{what}");
            }
        }
        (None, Id::None) => assert_eq!((answer.status, first), (400, unknown), "{what}"),
        (None, _) => {
            assert_eq!((answer.status, first), (404, unknown), "{what}");
            assert_eq!(records[0].draft.outcome, Outcome::Refused, "{what}");
            assert_eq!(answer.json()["error"]["data"]["code"], "unknown_session", "{what}");
        }
    }
    if kind == Id::Own && !matches!(row.ask, Ask::End | Ask::Stream) && door(persona).is_none() {
        assert_eq!(ask(house, &token, Ask::End, &id).await?.status, 204);
    }
    Ok(())
}

/// A modern request is served without a session, whatever it carries.
#[tokio::test]
async fn the_modern_era_is_as_it_was() -> anyhow::Result<()> {
    let house = TestHouse::with(options()).await?;
    let (agent, others) =
        (house.client(Persona::AgentA), opened(&house.client(Persona::AgentB)).await?);
    let message = agent.message("tools/call", json!({"name": "context", "arguments": {}}));
    for headers in [&[][..], &[("mcp-session-id", others.as_str())], &[("mcp-session-id", "x")]] {
        let before = house.seq().await?;
        let answer = agent.send(headers, &message).await?;
        assert!(answer.is_ok() && answer.header("mcp-session-id").is_none(), "{answer:?}");
        let records = house.records_after(before).await?;
        assert!(records.iter().all(|record| record.draft.session.is_none()));
    }
    Ok(())
}
