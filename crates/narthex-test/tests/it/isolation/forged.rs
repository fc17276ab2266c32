//! A space or a name that the client claims changes nothing (D07, D15).

use narthex_core::ProposalStatus;
use narthex_server::owner::{Reply, Request};
use narthex_test::{CANARY_A, CANARY_B, Era, Persona, TestHouse};
use serde_json::{Value, json};

/// Wherever a client could write the name of a space, it is as if it had not.
#[tokio::test]
async fn a_space_the_client_names_is_ignored_in_every_argument() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let b = house.page("b", "home").await?.page.space.to_string();
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        for (tool, plain) in [
            ("search", json!({"query": "welcome"})),
            ("read", json!({"kind": "page", "id": "home"})),
            ("context", json!({})),
        ] {
            let expected = agent.call(tool, plain.clone()).await?;
            assert!(expected.is_ok(), "{expected:?}");
            for key in ["space", "space_id"] {
                for named in [
                    json!("b"),
                    json!(b),
                    json!(""),
                    json!(null),
                    json!(["b"]),
                    json!({"slug": "b"}),
                ] {
                    let mut arguments = plain.clone();
                    arguments[key] = named.clone();
                    let answer = agent.call(tool, arguments).await?;
                    assert_eq!(answer.text, expected.text, "{tool} {key}={named}");
                }
            }
        }
    }
    Ok(())
}

/// What the server stamps is the server's: in the arguments, in the payload, however it is said.
#[tokio::test]
async fn who_where_and_whether_applied_are_stamped_whatever_a_proposal_says() -> anyhow::Result<()>
{
    let house = TestHouse::start().await?;
    let (a, b) = (house.page("a", "home").await?.page, house.page("b", "home").await?.page);
    let Reply::Agent(other) = house.owner(Request::AgentShow { agent: "agent-b".into() }).await?
    else {
        anyhow::bail!("no agent")
    };
    let claims = json!({
        "space": "b", "space_id": b.space.to_string(), "agent_id": other.id.to_string(),
        "applied": true, "status": "applied",
    });
    let agent = house.client(Persona::AgentA);
    let payload = json!({"title": "Claimed", "body": "x"});
    let plain =
        json!({"entity_type": "page", "action": "create", "payload": payload, "reason": "because"});
    for inside in [false, true] {
        let mut arguments = plain.clone();
        let place = if inside { &mut arguments["payload"] } else { &mut arguments };
        merge(place, &claims);
        let answer = agent.call("propose_change", arguments).await?;
        let said = answer.structured();
        assert_eq!(
            (&said["applied"], &said["status"]),
            (&json!(false), &json!("pending")),
            "{answer:?}"
        );
        assert_eq!(said["space_id"], a.space.to_string());
        let Reply::Proposal(seen) =
            house.owner(Request::InboxShow { proposal: answer.proposal()? }).await?
        else {
            anyhow::bail!("no proposal")
        };
        assert_eq!((seen.info.agent.as_str(), seen.info.space.as_str()), ("agent-a", "a"));
        assert_eq!(seen.info.status, ProposalStatus::Pending);
    }
    // What is stamped nowhere is refused by name, at both levels.
    for (key, inside) in [("author", false), ("author", true), ("owner", true), ("spaceId", false)]
    {
        let mut arguments = plain.clone();
        let place = if inside { &mut arguments["payload"] } else { &mut arguments };
        place[key] = json!("b");
        let answer = agent.call("propose_change", arguments).await?;
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
        assert!(answer.text.contains(key), "{key} is not named: {answer:?}");
    }
    Ok(())
}

/// Headers that other gateways believe.
const FORGED: &[(&str, &str)] = &[
    ("x-forwarded-user", "agent-b"),
    ("x-forwarded-email", "owner@example.com"),
    ("x-remote-user", "owner"),
    ("x-agent-id", "agent-b"),
    ("x-space-id", "b"),
    ("x-narthex-space", "b"),
    ("x-user", "owner"),
    ("x-forwarded-for", "127.0.0.1"),
    ("forwarded", "for=127.0.0.1;host=localhost"),
    ("x-real-ip", "127.0.0.1"),
    ("mcp-init-host", "b"),
    ("mcp-session-id", "b"),
    ("last-event-id", "1"),
    ("cf-access-authenticated-user-email", "owner@example.com"),
    ("cf-access-jwt-assertion", "eyJhbGciOiJub25lIn0.e30."),
    ("x-original-url", "/healthz"),
    ("x-rewrite-url", "/spaces/b/mcp"),
    ("x-http-method-override", "GET"),
    ("x-ms-client-principal-name", "owner"),
    ("cookie", "session=owner; space=b"),
    ("x-api-key", "owner"),
    ("proxy-authorization", "Bearer owner"),
];

#[tokio::test]
async fn forged_headers_have_no_effect_alone_or_together() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut sets: Vec<Vec<(&str, &str)>> = FORGED.iter().map(|header| vec![*header]).collect();
    sets.push(FORGED.to_vec());
    for era in Era::ALL {
        for persona in [Persona::AgentA, Persona::Nobody, Persona::Unbound] {
            let client = house.client(persona).speaking(era);
            let message = client.message(
                "tools/call",
                json!({"name": "read", "arguments": {"kind": "page", "id": "home"}}),
            );
            let plain = client.send(&[], &message).await?;
            assert_eq!(plain.text.contains(CANARY_A), persona == Persona::AgentA);
            for set in &sets {
                let answer = client.send(set, &message).await?;
                assert_eq!(
                    (answer.status, &answer.text),
                    (plain.status, &plain.text),
                    "{persona:?} {set:?}"
                );
                assert!(!answer.text.contains(CANARY_B));
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_agent_without_a_space_is_refused_and_never_unrestricted() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        let unbound = house.client(Persona::Unbound).speaking(era);
        for (tool, arguments) in [
            ("search", json!({"query": "welcome", "space": "a"})),
            ("read", json!({"kind": "page", "id": "home", "space": "b"})),
            ("context", json!({"space_id": "a"})),
        ] {
            let answer = unbound.call(tool, arguments).await?;
            assert_eq!(
                (answer.status, answer.door_code().as_deref()),
                (403, Some("no_space_scope"))
            );
            assert!(!answer.text.contains(CANARY_A) && !answer.text.contains(CANARY_B));
        }
        let answer = unbound.request("tools/list", json!({})).await?;
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    Ok(())
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}
