//! What is not exactly one good bearer is a 401 like any other (C01).

use narthex_core::{Actor, Phase, Reason};
use narthex_test::{HouseOptions, Persona, TestHouse, exchange, raw_post};
use serde_json::json;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn whatever_is_not_one_good_bearer_is_401_and_the_connection_ends() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.refusal_window = std::time::Duration::ZERO;
    let house = TestHouse::with(options).await?;
    let good = house.token(Persona::AgentA).unwrap_or_default();
    let with = |text: String| text.into_bytes();
    let bearer = |token: &str| format!("authorization: Bearer {token}").into_bytes();
    let swapped = good.replace("nx_", "nxo_");
    let mut flipped = good.clone().into_bytes();
    let last = flipped.len() - 1;
    flipped[last] = if flipped[last] == b'0' { b'1' } else { b'0' };
    let flipped = String::from_utf8(flipped)?;
    let rows: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("nothing", vec![]),
        ("no token", vec![with("authorization: Bearer".into())]),
        ("an empty token", vec![with("authorization: Bearer ".into())]),
        ("another scheme", vec![with(format!("authorization: Basic {good}"))]),
        ("no scheme", vec![with(format!("authorization: {good}"))]),
        ("two schemes in one", vec![with(format!("authorization: Bearer {good}, Basic eDp5"))]),
        ("the scheme twice", vec![with(format!("authorization: Bearer Bearer {good}"))]),
        ("two headers", vec![bearer(&good), bearer(&good)]),
        ("two headers, one bad", vec![bearer(&good), with("authorization: Basic eDp5".into())]),
        ("non-ASCII", vec![[bearer(&good), "\u{e9}".as_bytes().to_vec()].concat()]),
        ("bytes that are no text", vec![[bearer(&good), vec![0xff, 0xfe]].concat()]),
        ("one letter more", vec![bearer(&format!("{good}0"))]),
        ("one letter less", vec![bearer(&good[..last])]),
        ("one letter other", vec![bearer(&flipped)]),
        ("upper case", vec![bearer(&good.to_uppercase())]),
        ("the owner's prefix", vec![bearer(&swapped)]),
        ("in another header", vec![with(format!("x-authorization: Bearer {good}"))]),
        (
            "in a cookie",
            vec![with(format!("cookie: access_token={good}; authorization=Bearer {good}"))],
        ),
        ("for a proxy", vec![with(format!("proxy-authorization: Bearer {good}"))]),
    ];
    for (what, headers) in rows {
        let before = house.seq().await?;
        let headers: Vec<&[u8]> = headers.iter().map(Vec::as_slice).collect();
        // A second request stands behind the first: it must not be looked at.
        let own = format!("authorization: Bearer {good}");
        let bytes = [raw_post(&headers, PING), raw_post(&[own.as_bytes()], PING)].concat();
        let (answer, after) = exchange(house.address(), &bytes).await?;
        assert_eq!(
            (answer.status, answer.door_code().as_deref()),
            (401, Some("unauthorized")),
            "{what}: {answer:?}"
        );
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{what}: {answer:?}");
        assert_eq!(answer.header("connection"), Some("close"), "{what}: {answer:?}");
        assert_eq!(after, "", "{what}: what stood behind was served");
        assert!(!answer.text.contains(&good), "{what}");
        let records = house.records_after(before).await?;
        assert_eq!(records.len(), 1, "{what}");
        assert_eq!(
            (records[0].draft.reason, &records[0].draft.actor),
            (Reason::Unauthorized, &Actor::Nobody)
        );
    }
    // The control: with the good one both are served.
    let own = format!("authorization: Bearer {good}");
    let last = [own.as_bytes(), b"connection: close"];
    let bytes = [raw_post(&[own.as_bytes()], PING), raw_post(&last, PING)].concat();
    let (answer, after) = exchange(house.address(), &bytes).await?;
    assert!(answer.status == 200 && after.contains("200 OK"), "{answer:?} {after}");
    Ok(())
}

/// A NUL cannot stand in a header at all: the connection ends before anyone is asked.
#[tokio::test]
async fn a_nul_in_the_token_opens_nothing() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let good = house.token(Persona::AgentA).unwrap_or_default();
    let before = house.seq().await?;
    for header in
        [format!("authorization: Bearer {good}\0"), format!("authorization: Bearer \0{good}")]
    {
        let bytes = raw_post(&[header.as_bytes()], PING);
        match exchange(house.address(), &bytes).await {
            Ok((answer, after)) => {
                assert!(matches!(answer.status, 400 | 401), "{answer:?}");
                assert_eq!(after, "");
            }
            // Closed without a word is as good.
            Err(error) => assert!(error.to_string().contains("no head"), "{error}"),
        }
    }
    let inside = house.records_after(before).await?;
    assert!(inside.iter().all(|record| record.draft.phase == Phase::Refused));
    Ok(())
}

/// A token in the query string is no token, and is in no log of ours (A21).
#[tokio::test]
async fn a_token_in_the_query_is_not_looked_at() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let token = house.token(Persona::AgentA).unwrap_or_default();
    for key in ["access_token", "token", "authorization", "api_key"] {
        let client = narthex_test::Client::new(format!("{}?{key}={token}", house.url()), None);
        let answer = client.call("context", json!({})).await?;
        assert_eq!(
            (answer.status, answer.door_code().as_deref()),
            (401, Some("unauthorized")),
            "{key}"
        );
    }
    Ok(())
}

/// The owner's credential is told apart: it is good, but not for this.
#[tokio::test]
async fn the_owners_credential_opens_no_agents_endpoint() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let answer = house.client(Persona::Owner).call("context", json!({})).await?;
    assert_eq!(
        (answer.status, answer.door_code().as_deref()),
        (401, Some("agent_required")),
        "{answer:?}"
    );
    assert!(answer.header("www-authenticate").is_some());
    // Another house's owner is nobody here.
    let other = TestHouse::start().await?;
    let answer = house.client_with(Some(other.owner_token())).call("context", json!({})).await?;
    assert_eq!(answer.door_code().as_deref(), Some("unauthorized"), "{answer:?}");
    Ok(())
}

/// Past the door, bytes that are no message are refused and that is recorded under who sent them.
#[tokio::test]
async fn an_agent_that_sends_no_message_is_recorded_by_name() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let headers = [("content-type", "application/json"), ("accept", "application/json")];
    for body in ["", "[]", "null", "{", r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#] {
        let before = house.seq().await?;
        let answer = house.client(Persona::AgentA).post(&headers, body).await?;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        let records = house.records_after(before).await?;
        assert_eq!(records.len(), 1, "{body}");
        assert_eq!(records[0].draft.reason, Reason::InvalidRequest);
        assert!(
            matches!(&records[0].draft.actor, Actor::Agent { slug, .. } if slug.as_str() == "agent-a")
        );
    }
    Ok(())
}
