//! The thin slice, end to end: look, propose, apply, and all of it in the ledger.

use narthex_core::{Outcome, Phase, Reason};
use narthex_server::owner::{Reply, Request};
use narthex_test::{CANARY_A, CANARY_B, Era, Persona, TestHouse};
use serde_json::json;

#[tokio::test]
async fn an_agent_looks_proposes_and_the_owner_applies() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        let found = agent.call("search", json!({"query": "backup"})).await?;
        assert!(found.is_ok(), "{era:?}: {found:?}");
        assert_eq!(found.structured()["hits"][0]["slug"], "guides/setup", "{found:?}");

        let page = agent.call("read", json!({"kind": "page", "id": "home"})).await?.structured();
        assert!(page["body"].as_str().is_some_and(|body| body.contains(CANARY_A)), "{page}");
        assert_eq!(page["backlinks"][0]["slug"], "guides/setup");

        let revision = page["revision"].as_u64().unwrap_or_default();
        let proposed = agent
            .call("propose_change", json!({
                "entity_type": "page", "action": "update", "id": "home",
                "payload": {"body": format!("Better, said {era:?}. {CANARY_A}"), "space_id": "b", "applied": true},
                "base_revision": revision, "reason": "it reads better",
            }))
            .await?;
        assert_eq!(proposed.structured()["applied"], false, "{proposed:?}");
        let id = proposed.structured()["pending_change_id"].as_str().unwrap_or_default().to_owned();

        let Reply::Proposal(detail) =
            house.owner(Request::InboxShow { proposal: id.clone() }).await?
        else {
            anyhow::bail!("not a proposal")
        };
        assert!(detail.diff.contains("+Better, said"), "{}", detail.diff);
        house.owner(Request::InboxApprove { proposal: id.clone() }).await?;
        let again = house.owner(Request::InboxApprove { proposal: id.clone() }).await;
        assert!(again.is_err(), "applied twice");

        let page = agent.call("read", json!({"kind": "page", "id": "home"})).await?.structured();
        assert_eq!(page["revision"].as_u64(), Some(revision + 1));
        assert_eq!(
            (&page["written_by"], &page["foreign"]),
            (&json!("agent"), &json!(true)),
            "{page}"
        );
        let context = agent.call("context", json!({})).await?.structured();
        assert_eq!(context["earlier_proposals"][0]["status"], "applied", "{context}");
        assert!(!context.to_string().contains(CANARY_B));
    }
    let records = house.records().await?;
    for (tool, phase) in [
        ("search", Phase::Observed),
        ("read", Phase::Observed),
        ("context", Phase::Observed),
        ("propose_change", Phase::Intent),
        ("propose_change", Phase::Outcome),
        ("inbox.approve", Phase::Owner),
    ] {
        let mut of_tool = records.iter().filter(|r| r.draft.tool == tool && r.draft.phase == phase);
        assert!(of_tool.next().is_some(), "no record of {tool} {phase:?}");
    }
    let refused = records
        .iter()
        .find(|r| r.draft.tool == "inbox.approve" && r.draft.outcome == Outcome::Refused);
    assert_eq!(refused.map(|r| r.draft.reason), Some(Reason::Conflict));
    house.verify().await?;
    house.stop().await?;
    Ok(())
}

#[tokio::test]
async fn a_rename_is_shown_under_the_page_it_changes() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let rename = |slug: &str| {
        json!({
            "entity_type": "page", "action": "update", "id": "home",
            "payload": {"slug": slug}, "reason": "another name",
        })
    };
    let taken = agent.call("propose_change", rename("guides/setup")).await?;
    assert_eq!(taken.tool_code().as_deref(), Some("conflict"), "{taken:?}");
    assert!(agent.call("propose_change", rename("start")).await?.is_ok());
    let list = Request::InboxList { space: None, statuses: Vec::new(), limit: 10 };
    let Reply::Proposals(waiting) = house.owner(list).await? else { anyhow::bail!("no list") };
    let slugs: Vec<_> = waiting.iter().map(|proposal| proposal.slug.as_deref()).collect();
    assert_eq!(slugs, [Some("home")], "the page as it is called now");
    house.stop().await?;
    Ok(())
}
