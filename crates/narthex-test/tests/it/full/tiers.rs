//! Another tier of a tool for one agent: the owner stops being asked, or is asked, and it is recorded.

use narthex_core::{Consent, Mode, Reason, Tier, ToolName};
use narthex_server::owner::{Reply, Request, SettingRequest};
use narthex_store::{Effect, UnitOfWork};
use narthex_test::{Persona, TestHouse};
use serde_json::json;

use super::workshop::{Said, Workshop};

async fn unit(shop: &Workshop, tool: &str, tier: Option<Tier>) -> anyhow::Result<UnitOfWork> {
    let tool: ToolName = format!("workshop/{tool}").parse()?;
    let effect = Effect::SetToolTier { agent: shop.agent_id("worker").await, tool, tier };
    Ok(UnitOfWork { effect: Some(effect), ..UnitOfWork::default() })
}

async fn give(shop: &Workshop, tool: &str, tier: Option<Tier>) -> anyhow::Result<()> {
    shop.store().commit(unit(shop, tool, tier).await?).await?;
    Ok(())
}

#[tokio::test]
async fn the_owner_is_asked_as_the_tier_says_for_that_agent_alone() -> anyhow::Result<()> {
    let mut shop = Workshop::open(Mode::Open).await?;
    shop.agent("other", "a", Tier::T3).await?;
    for (tool, tier) in [("publish", Tier::T1), ("note", Tier::T2), ("peek", Tier::T3)] {
        give(&shop, tool, Some(tier)).await?;
    }
    for restarted in [false, true] {
        if restarted {
            shop = shop.restart(|_| {}).await?;
        }
        let n = u8::from(restarted);
        assert_eq!(shop.call("publish", json!({"n": n})).await, Said::Done, "no longer asked");
        assert!(matches!(shop.call("note", json!({"n": n})).await, Said::Waits(_)), "asked now");
        assert_eq!(shop.call("peek", json!({})).await, Said::Done, "a look stays a look");
        for (tool, waits) in [("publish", true), ("note", false)] {
            let got = shop.call_as("other", tool, json!({"n": n}), Consent::Absent).await;
            assert_eq!(matches!(got, Said::Waits(_)), waits, "{tool} of another agent");
        }
    }
    // The ceiling goes by it as well, and so does what foreign text does to it.
    let low = Consent::AtMost(Tier::T1);
    let over = shop.call_as("worker", "note", json!({"n": 7}), low).await;
    assert_eq!(over, Said::Refused(Reason::OverCeiling));
    shop.call("mail", json!({})).await;
    assert!(matches!(shop.call("publish", json!({"n": 7})).await, Said::Waits(_)));
    give(&shop, "publish", None).await?;
    let cleared = shop.call_as("worker", "publish", json!({"n": 8}), low).await;
    assert_eq!(cleared, Said::Refused(Reason::OverCeiling), "T2 again");
    shop.house.verify().await?;
    Ok(())
}

/// What is shown and what is foretold go by it like the call itself.
#[tokio::test]
async fn lists_and_explanations_go_by_it() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let client = house.client(Persona::AgentA);
    for (ceiling, tier, listed, foreseen) in [
        (Tier::T1, None, true, "allow"),
        (Tier::T1, Some(Tier::T2), false, "refuse"),
        (Tier::T2, Some(Tier::T2), true, "approval"),
        (Tier::T2, None, true, "allow"),
    ] {
        let (agent, tool) = ("agent-a".to_owned(), "workspace/propose_change".parse()?);
        let (ceiling, tool_tiers) = (Some(ceiling), vec![(tool, tier)]);
        let set = SettingRequest::SetAgent { agent, ceiling, budget: None, tool_tiers };
        house.owner(Request::Setting(set)).await?;
        let shown = client.tools().await?.contains(&"propose_change".to_owned());
        assert_eq!(shown, listed, "{ceiling:?} {tier:?}");
        let explain = Request::PolicyExplain {
            agent: "agent-a".to_owned(),
            tool: "propose_change".to_owned(),
            action: None,
            entity_type: None,
            space: None,
        };
        let Reply::Explained(said) = house.owner(explain).await? else { anyhow::bail!("unsaid") };
        assert!(said.iter().all(|one| one.decision == foreseen), "{tier:?}: {said:?}");
        assert!(!said.is_empty());
    }
    Ok(())
}

/// What a call weighs by itself beyond what its tool declares is not lowered with the tool.
#[tokio::test]
async fn what_content_raises_stays_raised() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    give(&shop, "shift", Some(Tier::T1)).await?;
    assert_eq!(shop.call("shift", json!({"n": 1})).await, Said::Done);
    assert!(matches!(shop.call("shift", json!({"n": 2})).await, Said::Waits(_)));
    // Nor is what changes our own store made a look.
    give(&shop, "stage", Some(Tier::T0)).await?;
    let looked = shop.call_as("worker", "stage", json!({}), Consent::AtMost(Tier::T0)).await;
    assert_eq!(looked, Said::Refused(Reason::OverCeiling));
    assert_eq!(shop.call("stage", json!({})).await, Said::Done);
    Ok(())
}

/// Raised between the decision and the intent: not let through on the old one.
#[tokio::test]
async fn another_tier_meanwhile_holds() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    shop.house.faults().slip_in(unit(&shop, "note", Some(Tier::T2)).await?);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::Conflict));
    assert_eq!(shop.bench.count("note"), 0);
    assert!(matches!(shop.call("note", json!({})).await, Said::Waits(_)));
    Ok(())
}
