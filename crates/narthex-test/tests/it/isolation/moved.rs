//! A page that moved on between propose and apply (D09, D10): nothing is overwritten.

use narthex_core::{Outcome, Phase, ProposalStatus, Reason};
use narthex_server::owner::{Reply, Request, Trouble};
use narthex_test::{CANARY_A, Client, Persona, TestHouse};
use serde_json::json;

#[tokio::test]
async fn a_page_that_left_the_space_is_not_touched_by_the_proposal() -> anyhow::Result<()> {
    for action in ["update", "delete"] {
        let house = TestHouse::start().await?;
        let agent = house.client(Persona::AgentA);
        let id = propose(&agent, action, "guides/setup", None).await?;
        let (space, page, to) = ("a".into(), "guides/setup".into(), "b".into());
        house.owner(Request::PageMove { space, page, to }).await?;
        let before = house.page("b", "guides/setup").await?;
        let refused = house.owner(Request::InboxApprove { proposal: id.clone() }).await;
        assert_eq!(refused.err().map(|error| error.kind), Some(Trouble::Conflict), "{action}");
        assert_eq!(house.page("b", "guides/setup").await?, before, "{action} reached into B");
        assert!(house.page("a", "guides/setup").await.is_err(), "{action} made it again in A");
        let context = agent.call("context", json!({})).await?;
        let earlier = &context.structured()["earlier_proposals"][0];
        assert_eq!(
            (&earlier["pending_change_id"], &earlier["status"]),
            (&json!(id), &json!("conflict"))
        );
        assert!(!context.text.contains("\"b\""), "where it went is told: {context:?}");
        // From here on it is as if it had never been.
        let read =
            agent.call("read", json!({"kind": "page", "id": before.page.id.to_string()})).await?;
        assert_eq!(read.tool_code().as_deref(), Some("not_found"));
        house.verify().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_stale_base_is_a_conflict_with_both_texts_kept() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let id = propose(&agent, "update", "home", Some(1)).await?;
    let edited = format!("The owner was faster. {CANARY_A}");
    house.owner(edit("home", &edited)).await?;
    let before = house.page("a", "home").await?;
    let seq = house.seq().await?;
    let refused = house.owner(Request::InboxApprove { proposal: id.clone() }).await;
    assert_eq!(refused.err().map(|error| error.kind), Some(Trouble::Conflict));
    assert_eq!(house.page("a", "home").await?, before, "it was overwritten");
    let records = house.records_after(seq).await?;
    assert_eq!(records.len(), 1);
    assert_eq!(
        (records[0].draft.phase, records[0].draft.reason, records[0].draft.outcome),
        (Phase::Owner, Reason::Conflict, Outcome::Refused)
    );
    let Reply::Proposal(seen) = house.owner(Request::InboxShow { proposal: id.clone() }).await?
    else {
        anyhow::bail!("no proposal")
    };
    assert_eq!(seen.info.status, ProposalStatus::Conflict);
    assert_eq!(seen.current.map(|draft| draft.body), Some(edited), "the owner's text");
    assert_eq!(
        seen.proposed.map(|draft| draft.body).as_deref(),
        Some("Proposed."),
        "the agent's text"
    );
    assert!(
        seen.base.is_some_and(|base| base.body.contains("Welcome to A")),
        "what both began with"
    );
    let context = agent.call("context", json!({})).await?.structured();
    assert_eq!(context["earlier_proposals"][0]["status"], "conflict", "{context}");
    assert_eq!(context["open_proposals"], json!([]));
    // It stays decided: a second try is refused as well, and still nothing changes.
    assert!(house.owner(Request::InboxApprove { proposal: id }).await.is_err());
    assert_eq!(house.page("a", "home").await?, before);
    Ok(())
}

/// The slug was free when it was proposed and is not when it is applied.
#[tokio::test]
async fn a_create_whose_slug_was_taken_meanwhile_is_a_conflict() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let create = json!({
        "entity_type": "page", "action": "create", "reason": "because",
        "payload": {"slug": "fresh", "title": "Fresh", "body": "the agent's"},
    });
    let id = agent.call("propose_change", create.clone()).await?.proposal()?;
    house.write("a", "fresh", "the owner's").await?;
    assert!(house.owner(Request::InboxApprove { proposal: id }).await.is_err());
    assert_eq!(house.page("a", "fresh").await?.page.draft.body, "the owner's");
    let again = agent.call("propose_change", create.clone()).await?;
    assert_eq!(again.tool_code().as_deref(), Some(Reason::Conflict.code()), "{again:?}");
    // A slug that is taken in another space is free here, and says nothing about it.
    let mut plans = create;
    plans["payload"]["slug"] = json!("plans");
    assert!(agent.call("propose_change", plans).await?.is_ok());
    Ok(())
}

#[tokio::test]
async fn a_base_that_never_was_is_refused_and_an_old_one_is_warned_about() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let update = |base: u32| {
        json!({
            "entity_type": "page", "action": "update", "id": "home", "base_revision": base,
            "payload": {"body": "Proposed."}, "reason": "because",
        })
    };
    let answer = agent.call("propose_change", update(99)).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
    house.owner(edit("home", "Newer.")).await?;
    let answer = agent.call("propose_change", update(1)).await?;
    assert!(answer.structured()["warning"].is_string(), "{answer:?}");
    Ok(())
}

async fn propose(
    agent: &Client,
    action: &str,
    page: &str,
    base: Option<u32>,
) -> anyhow::Result<String> {
    let mut arguments =
        json!({"entity_type": "page", "action": action, "id": page, "reason": "because"});
    if action == "update" {
        arguments["payload"] = json!({"body": "Proposed."});
    }
    if let Some(base) = base {
        arguments["base_revision"] = base.into();
    }
    agent.call("propose_change", arguments).await?.proposal()
}

fn edit(page: &str, body: &str) -> Request {
    let (space, page, body) = ("a".to_owned(), page.to_owned(), Some(body.to_owned()));
    Request::PageEdit { space, page, base: None, slug: None, title: None, body, tags: None }
}
