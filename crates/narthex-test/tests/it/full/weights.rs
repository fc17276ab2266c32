//! What one call of a tool weighs: never less than its tool, and never less than what it finds.

use narthex_core::{Mode, Reason, Tier};
use narthex_gate::CallError;
use serde_json::json;

use super::workshop::{Said, Workshop};

#[tokio::test]
async fn a_call_is_decided_on_by_its_own_weight() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    let asked = |said: &Said| matches!(said, Said::Waits(_));
    for (arguments, tier, goes_ahead) in [
        (json!({}), Tier::T1, true),
        // It cannot make itself lighter than its tool.
        (json!({"n": 0}), Tier::T1, true),
        (json!({"n": 1}), Tier::T1, true),
        (json!({"n": 2}), Tier::T2, false),
        (json!({"n": 3, "target": "it"}), Tier::T3, false),
    ] {
        let said = shop.call("shift", arguments.clone()).await;
        assert_eq!((said == Said::Done, asked(&said)), (goes_ahead, !goes_ahead), "{arguments}");
        let last = shop.house.records().await?.pop().expect("a record").draft;
        assert_eq!(last.tier, Some(tier), "{arguments}");
    }
    assert_eq!(shop.call("shift", json!({"n": 3})).await, Said::Refused(Reason::OneTarget));
    assert_eq!(shop.call("shift", json!({"n": 9})).await, Said::Refused(Reason::NotFound));
    assert_eq!(shop.bench.count("shift"), 3);
    // An approval is of a call at its weight.
    let waits = shop.call("shift", json!({"n": 2})).await.waits();
    shop.approve(waits).await;
    assert_eq!(shop.call("shift", json!({"n": 2})).await, Said::Done);
    Ok(())
}

#[tokio::test]
async fn in_the_mode_that_allows_no_more_a_heavier_call_is_refused() -> anyhow::Result<()> {
    let mut shop = Workshop::open(Mode::Guarded).await?;
    let heavy = shop.call("shift", json!({"n": 3, "target": "it"})).await;
    assert_eq!(heavy, Said::Refused(Reason::OverMode));
    shop.agent("small", "a", Tier::T1).await?;
    let over = |n| json!({"n": n});
    let consent = narthex_core::Consent::Absent;
    let said = shop.call_as("small", "shift", over(2), consent).await;
    assert_eq!(said, Said::Refused(Reason::OverCeiling));
    assert_eq!(shop.call_as("small", "shift", over(1), consent).await, Said::Done);
    Ok(())
}

/// From `untrusted` on, a call that is not contained asks, though its tool could be.
#[tokio::test]
async fn a_call_that_is_not_contained_asks_when_tainted() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    assert_eq!(shop.call("mail", json!({})).await, Said::Done);
    assert_eq!(shop.call("shift", json!({})).await, Said::Done);
    assert!(matches!(shop.call("shift", json!({"n": 1})).await, Said::Waits(_)));
    Ok(())
}

/// What is found when the change is made ready is heavier than what was decided on: not made.
#[tokio::test]
async fn a_change_that_turns_out_heavier_is_not_made() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Open).await?;
    let before = shop.house.store().spaces().await?.len();
    for heavier in [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})] {
        let said = shop.call("stage", heavier.clone()).await;
        assert_eq!(said, Said::Other(CallError::Overloaded), "{heavier}");
    }
    assert_eq!(shop.house.store().spaces().await?.len(), before);
    assert_eq!(shop.call("stage", json!({"n": 0})).await, Said::Done);
    assert_eq!(shop.house.store().spaces().await?.len(), before + 1);
    Ok(())
}
