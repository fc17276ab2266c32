//! The same tools on lines: an agent the owner started, and the owner's own companion.

use narthex_core::{Actor, AgentKind, Reason, Transport};
use narthex_server::owner::{Reply, Request, Trouble};
use narthex_test::{CANARY_A, CANARY_B, Era, LineClient, Persona, TestHouse};
use serde_json::{Value, json};

/// Every tool the companion has, with arguments that reach into B from everywhere.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("search", r#"{"query": "quokka"}"#),
    ("read", r#"{"kind": "page", "id": "plans"}"#),
    ("context", r#"{"space": "b"}"#),
    (
        "propose_change",
        r#"{"entity_type": "page", "action": "update", "id": "plans", "payload": {"body": "x"}, "space": "b", "reason": "r"}"#,
    ),
];

fn companion(space: Option<&str>) -> Request {
    Request::Companion { space: space.map(str::to_owned) }
}

#[tokio::test]
async fn an_agent_on_stdio_has_the_same_tools_in_the_same_one_space() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        for persona in
            [Persona::AgentA, Persona::Reader, Persona::Creator, Persona::Lowered, Persona::Bare]
        {
            let agent = persona.slug().unwrap_or_default().to_owned();
            let mut line = LineClient::start(house.house(), Request::StdioAgent { agent }).await?;
            line.speak(era);
            let http = house.client(persona).speaking(era);
            assert_eq!(line.tools().await?, http.tools().await?, "{persona:?}");
            for (tool, arguments) in [
                ("search", json!({"query": "canary", "space": "b"})),
                ("read", json!({"kind": "page", "id": "home"})),
                ("read", json!({"kind": "page", "id": "plans", "space": "b"})),
                ("read", json!({"kind": "conversation", "id": "plans"})),
                ("purge", json!({})),
            ] {
                let (here, there) =
                    (line.call(tool, arguments.clone()).await?, http.call(tool, arguments).await?);
                assert_eq!(here.result(), there.result(), "{persona:?} {tool}");
                assert_eq!(here.json()["error"], there.json()["error"], "{persona:?} {tool}");
                assert!(!here.text.contains(CANARY_B), "{here:?}");
            }
            line.close().await;
        }
    }
    let on_lines =
        house.records().await?.into_iter().filter(|r| r.draft.transport == Transport::Stdio);
    assert!(on_lines.clone().count() > 10);
    assert!(on_lines.clone().all(|record| record.draft.token.is_none()));
    house.verify().await?;
    Ok(())
}

/// Who is refused by token is refused on lines, and while the process runs.
#[tokio::test]
async fn a_disabled_or_unbound_agent_gets_no_process_and_loses_the_one_it_has() -> anyhow::Result<()>
{
    let house = TestHouse::start().await?;
    for agent in ["disabled", "unbound", "companion", "nobody-knows"] {
        let who = Request::StdioAgent { agent: agent.to_owned() };
        assert!(LineClient::start(house.house(), who).await.is_err(), "{agent}");
    }
    let who = || Request::StdioAgent { agent: "agent-a".into() };
    let mut line = LineClient::start(house.house(), who()).await?;
    assert!(line.call("context", json!({})).await?.is_ok());
    let before = house.seq().await?;
    house.owner(Request::AgentDisable { agent: "agent-a".into(), disabled: true }).await?;
    let answer = line.call("context", json!({})).await?;
    let code = answer.json().pointer("/error/data/code").cloned();
    assert_eq!(code, Some(json!(Reason::AgentDisabled.code())), "{answer:?}");
    let records = house.records_after(before + 1).await?;
    assert_eq!(records.len(), 1, "a refusal without a record");
    assert_eq!(records[0].draft.reason, Reason::AgentDisabled);
    assert!(
        matches!(&records[0].draft.actor, Actor::Agent { slug, .. } if slug.as_str() == "agent-a")
    );
    house.owner(Request::AgentDisable { agent: "agent-a".into(), disabled: false }).await?;
    assert!(line.call("context", json!({})).await?.is_ok());
    line.close().await;
    Ok(())
}

#[tokio::test]
async fn the_companion_reaches_every_space_because_it_was_asked_for() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = LineClient::start(house.house(), companion(None)).await?;
    assert_eq!(line.tools().await?, ["search", "read", "context", "propose_change"]);
    for (tool, arguments) in TOOLS {
        let answer = line.call(tool, serde_json::from_str(arguments)?).await?;
        assert!(answer.is_ok(), "{tool}: {answer:?}");
    }
    let both = line.call("search", json!({"query": "canary"})).await?;
    assert!(both.text.contains("zebrafinch") && both.text.contains("quokka"), "{both:?}");
    for (space, own, other) in [("a", CANARY_A, CANARY_B), ("b", CANARY_B, CANARY_A)] {
        let home = line.call("read", json!({"kind": "page", "id": "home", "space": space})).await?;
        assert!(home.text.contains(own) && !home.text.contains(other), "{home:?}");
        assert_eq!(home.structured()["space"], space);
    }
    let nowhere = line.call("read", json!({"kind": "page", "id": "home", "space": "c"})).await?;
    assert_eq!(nowhere.tool_code().as_deref(), Some("not_found"), "{nowhere:?}");
    let unsaid = json!({"entity_type": "page", "action": "create", "payload": {"title": "T"}, "reason": "r"});
    let answer = line.call("propose_change", unsaid).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "a change needs a space");
    line.close().await;
    Ok(())
}

#[tokio::test]
async fn a_bound_companion_has_its_space_and_no_other() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = LineClient::start(house.house(), companion(Some("a"))).await?;
    let plans = house.page("b", "plans").await?.page.id.to_string();
    let update = |id: &str| json!({"entity_type": "page", "action": "update", "id": id, "payload": {"body": "x"}, "reason": "r"});
    let with = |mut arguments: Value, space: &str| {
        arguments["space"] = space.into();
        arguments
    };
    for (tool, arguments) in [
        ("read", json!({"kind": "page", "id": "plans"})),
        ("read", json!({"kind": "page", "id": plans})),
        ("read", json!({"kind": "page", "id": "plans", "space": "b"})),
        ("read", json!({"kind": "page", "id": "home", "space": "b"})),
        ("search", json!({"query": "canary", "space": "b"})),
        ("context", json!({"space": "b"})),
        ("propose_change", update("plans")),
        ("propose_change", with(update("plans"), "b")),
        ("propose_change", with(update("home"), "b")),
    ] {
        let answer = line.call(tool, arguments.clone()).await?;
        assert_eq!(
            answer.tool_code().as_deref(),
            Some("not_found"),
            "{tool} {arguments}: {answer:?}"
        );
        assert!(!answer.text.contains(CANARY_B));
    }
    let found = line.call("search", json!({"query": "canary"})).await?;
    assert!(found.text.contains("zebrafinch") && !found.text.contains("quokka"), "{found:?}");
    let context = line.call("context", json!({})).await?;
    assert!(context.structured().get("other_spaces").is_none(), "{context:?}");
    assert!(line.call("read", json!({"kind": "page", "id": "home", "space": "a"})).await?.is_ok());
    line.close().await;
    Ok(())
}

#[tokio::test]
async fn conversations_are_the_companions_to_read_and_nobody_elses() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let talk = Request::ConversationAdd { title: "Talk".into(), body: "axolotl between us".into() };
    let Reply::Conversation(talk) = house.owner(talk).await? else { anyhow::bail!("no talk") };
    let read = json!({"kind": "conversation", "id": talk.id.to_string()});
    for space in [None, Some("a")] {
        let mut line = LineClient::start(house.house(), companion(space)).await?;
        let answer = line.call("read", read.clone()).await?;
        assert!(answer.text.contains("axolotl"), "{space:?}: {answer:?}");
        assert_eq!(answer.structured()["foreign"], true, "it holds the words of others");
        let found = line.call("search", json!({"query": "axolotl"})).await?;
        assert_eq!(found.structured()["hits"], json!([]), "a search is over pages");
        line.close().await;
    }
    for persona in Persona::ALL {
        let answer = house.client(persona).call("read", read.clone()).await?;
        assert!(!answer.text.contains("axolotl"), "{persona:?}");
    }
    let mut line =
        LineClient::start(house.house(), Request::StdioAgent { agent: "agent-a".into() }).await?;
    assert_eq!(line.call("read", read).await?.tool_code().as_deref(), Some("not_found"));
    line.close().await;
    Ok(())
}

/// It has no tokens, so it is nobody on the network; and what it proposes waits like the rest.
#[tokio::test]
async fn the_companion_has_no_token_and_only_proposes() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = LineClient::start(house.house(), companion(None)).await?;
    let token = Request::TokenCreate { agent: "companion".into(), label: None, expires_in: None };
    assert_eq!(house.owner(token).await.err().map(|error| error.kind), Some(Trouble::Invalid));
    let add = |slug: &str| Request::AgentAdd {
        slug: slug.into(),
        name: None,
        space: None,
        model: None,
        grants: None,
        ceiling: None,
    };
    assert!(house.owner(add("companion")).await.is_err(), "its name is taken for good");
    let Reply::Agent(info) = house.owner(Request::AgentShow { agent: "companion".into() }).await?
    else {
        anyhow::bail!("no companion")
    };
    assert_eq!((info.kind, info.live_tokens), (AgentKind::Companion, 0));
    let before = house.page("b", "plans").await?;
    let (tool, arguments) = TOOLS[3];
    let answer = line.call(tool, serde_json::from_str(arguments)?).await?;
    assert_eq!(answer.structured()["applied"], false, "{answer:?}");
    assert_eq!(house.page("b", "plans").await?, before, "it changed something by itself");
    house.owner(Request::InboxApprove { proposal: answer.proposal()? }).await?;
    assert_eq!(house.page("b", "plans").await?.page.draft.body, "x");
    // Also a companion can be switched off.
    house.owner(Request::AgentDisable { agent: "companion".into(), disabled: true }).await?;
    assert!(!line.call("context", json!({})).await?.is_ok());
    line.close().await;
    Ok(())
}

/// Behind the gate, even with a credential that says so, a companion is not let in over HTTP.
#[tokio::test]
async fn a_companion_with_a_credential_is_refused_over_http() -> anyhow::Result<()> {
    use narthex_gate::{Gate, GateConfig, GateParts, Verified, Verifier, VerifyError};
    use std::sync::Arc;

    #[derive(Debug)]
    struct Always(Arc<narthex_core::Agent>);

    #[async_trait::async_trait]
    impl Verifier for Always {
        async fn verify(&self, _: &str) -> Result<Verified, VerifyError> {
            let token = narthex_core::TokenId::from_uuid(uuid::Uuid::from_u128(1));
            Ok(Verified::Agent { agent: Arc::clone(&self.0), token })
        }
        async fn still_good(&self, _: narthex_core::TokenId) -> bool {
            true
        }
    }

    let house = TestHouse::start().await?;
    house.owner(companion(None)).await?;
    let agent = house.store().agent_by_slug(&"companion".parse()?).await?.expect("registered");
    let gate = Gate::open(GateParts {
        store: house.store(),
        verifier: Arc::new(Always(Arc::new(agent))),
        policy: narthex_policy::PolicyEngine::standard()?,
        clock: Arc::new(narthex_store::SystemClock),
        rows: house.row_key()?,
        config: GateConfig::default(),
    })
    .await;
    for surface in [house.house().workspace(), house.house().companion()] {
        let edge = narthex_mcp::EdgeConfig::default();
        let door = narthex_test::SideDoor::open(gate.clone(), Arc::clone(surface), edge).await?;
        let answer = door.client("anything").call("context", json!({})).await?;
        assert_eq!((answer.status, answer.door_code().as_deref()), (403, Some("no_space_scope")));
        door.close().await;
    }
    Ok(())
}

/// What the client consented to when it connected holds for the process, and only ever lowers.
#[tokio::test]
async fn consent_at_the_handshake_holds_for_the_process_and_only_lowers() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let hello = |consent: Value| {
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "consentCeiling": consent,
            "clientInfo": {"name": "t", "version": "1"}})
    };
    let (tool, arguments) = TOOLS[3];
    let arguments: Value = serde_json::from_str(arguments)?;
    for (consents, proposes) in [
        (vec![json!("T3")], true),
        (vec![json!("T1")], true),
        (vec![json!("T0")], false),
        (vec![json!("t1")], false),
        (vec![json!(3)], false),
        (vec![json!(null)], false),
        // Saying it again does not raise it again.
        (vec![json!("T0"), json!("T3")], false),
        (vec![json!("nonsense"), json!("T2")], false),
    ] {
        let mut line = LineClient::start(house.house(), companion(None)).await?;
        line.speak(Era::Legacy);
        for consent in &consents {
            let answer = line.request("initialize", hello(consent.clone())).await?;
            assert!(answer.result().is_object(), "{answer:?}");
        }
        for era in Era::ALL {
            line.speak(era);
            let answer = line.call(tool, arguments.clone()).await?;
            assert_eq!(answer.is_ok(), proposes, "{consents:?} {era:?}: {answer:?}");
            assert_eq!(line.tools().await?.contains(&tool.to_owned()), proposes, "{consents:?}");
            let raised = json!({"name": tool, "arguments": arguments, "_meta": {"narthex/consentCeiling": "T3"}});
            assert_eq!(line.request("tools/call", raised).await?.is_ok(), proposes, "{consents:?}");
            let lowered = json!({"name": tool, "arguments": arguments, "_meta": {"narthex/consentCeiling": "T0"}});
            assert!(!line.request("tools/call", lowered).await?.is_ok(), "{consents:?}");
        }
        line.close().await;
    }
    Ok(())
}
