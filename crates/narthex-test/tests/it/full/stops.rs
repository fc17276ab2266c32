//! The kill switch: at once, durable, and only the owner lifts it (threats E15, E16, E18).

use std::sync::Arc;
use std::time::{Duration, Instant};

use narthex_core::{Actor, Consent, EngagedBy, Mode, Outcome, Phase, Reason, SwitchScope, Tier};
use narthex_gate::{ReadySurface, StopError};
use serde_json::json;
use tokio::task::JoinSet;

use super::workshop::{Bench, Said, Workshop, call, said};

async fn engage(shop: &Workshop, scope: SwitchScope) {
    shop.gate.engage(scope, EngagedBy::Owner, Actor::Owner, "a test").await.expect("engaged");
}

#[tokio::test]
async fn a_switch_stops_its_scope_and_nothing_else() -> anyhow::Result<()> {
    let mut shop = Workshop::open(Mode::Guarded).await?;
    shop.agent("mate", "a", Tier::T3).await?;
    shop.agent("far", "b", Tier::T3).await?;
    let (worker, far) = (shop.holder("worker").await, shop.holder("far").await);
    let upstream: narthex_core::Slug = "web".parse()?;
    let bench = Arc::new(Bench::new(Some(upstream.clone())));
    let web = Arc::new(ReadySurface::new(Arc::clone(&bench) as _)?);
    for (scope, stopped) in [
        (SwitchScope::Everything, [true, true, true, true]),
        (SwitchScope::Space(worker.space.unwrap()), [true, true, false, true]),
        (SwitchScope::Space(far.space.unwrap()), [false, false, true, false]),
        (SwitchScope::Agent(worker.agent), [true, false, false, true]),
        (SwitchScope::Upstream(upstream), [false, false, false, true]),
    ] {
        engage(&shop, scope.clone()).await;
        for (agent, stopped) in ["worker", "mate", "far"].into_iter().zip(stopped) {
            for tool in ["peek", "suggest", "note"] {
                let got = shop.call_as(agent, tool, json!({}), Consent::Absent).await;
                let expected = if stopped { Said::Refused(Reason::Stopped) } else { Said::Done };
                assert_eq!(got, expected, "{scope} {agent} {tool}");
            }
        }
        let admitted = shop.admitted("worker").await;
        let through = call(&shop.gate, &web, &admitted, "peek", json!({}), Consent::Absent).await;
        assert_eq!(said(through) == Said::Refused(Reason::Stopped), stopped[3], "{scope} upstream");
        shop.gate.lift(&scope).await.expect("lifted");
        assert!(matches!(shop.gate.lift(&scope).await, Err(StopError::NotEngaged(_))));
    }
    assert_eq!(shop.call("note", json!({})).await, Said::Done);
    let tools: Vec<String> =
        shop.house.records().await?.into_iter().map(|r| r.draft.tool).collect();
    assert_eq!(tools.iter().filter(|tool| *tool == "switch.engage").count(), 5);
    assert_eq!(tools.iter().filter(|tool| *tool == "switch.lift").count(), 5);
    Ok(())
}

/// E15: a hundred calls under way are ended, new ones refused, and each leaves its outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_is_cancelled() -> anyhow::Result<()> {
    let shop = Workshop::with(|config| config.call_deadline = Duration::from_mins(10)).await?;
    let admitted = Arc::new(shop.admitted("worker").await);
    let mut tasks = JoinSet::new();
    for n in 0..100 {
        let (gate, surface) = (shop.gate.clone(), Arc::clone(&shop.surface));
        let admitted = Arc::clone(&admitted);
        tasks.spawn(async move {
            let made = call(&gate, &surface, &admitted, "hang", json!({"n": n}), Consent::Absent);
            said(made.await)
        });
    }
    while shop.bench.count("hang") < 100 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = shop.house.seq().await?;
    let at = Instant::now();
    engage(&shop, SwitchScope::Everything).await;
    assert_eq!(shop.call("peek", json!({})).await, Said::Refused(Reason::Stopped));
    while let Some(ended) = tasks.join_next().await {
        assert_eq!(ended?, Said::Refused(Reason::Stopped));
    }
    // Two seconds are promised; ten minutes is what the calls would have taken.
    assert!(at.elapsed() < Duration::from_mins(1), "{:?}", at.elapsed());
    let records = shop.house.records_after(before).await?;
    let ended = records.iter().filter(|record| {
        let draft = &record.draft;
        (draft.phase, draft.outcome, draft.reason)
            == (Phase::Outcome, Outcome::Unknown, Reason::Stopped)
    });
    assert_eq!(ended.count(), 100);
    shop.house.verify().await?;
    Ok(())
}

/// E16, as far as one process can show it: still stopped after a restart, with or without a
/// proper end; and what cannot be made durable holds all the same.
#[tokio::test]
async fn a_stop_outlives_the_process() -> anyhow::Result<()> {
    let mut shop = Workshop::open(Mode::Guarded).await?;
    engage(&shop, SwitchScope::Everything).await;
    shop = shop.restart(|_| {}).await?;
    assert_eq!(shop.call("peek", json!({})).await, Said::Refused(Reason::Stopped));
    assert!(!shop.gate.stopped().engaged().is_empty());
    shop.gate.lift(&SwitchScope::Everything).await.expect("lifted");
    shop = shop.restart(|_| {}).await?;
    assert_eq!(shop.call("peek", json!({})).await, Said::Done);
    shop.house.faults().fail_writing(true);
    let held = shop.gate.engage(SwitchScope::Everything, EngagedBy::Owner, Actor::Owner, "").await;
    assert!(matches!(held, Err(StopError::NotDurable(_))), "{held:?}");
    shop.house.faults().fail_writing(false);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::Stopped));
    assert_eq!(shop.bench.count("note"), 0);
    Ok(())
}

/// A call decided before the switch was engaged, and queued behind it, is not made.
#[tokio::test]
async fn the_writer_checks_again() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let engaged = narthex_core::Engaged {
        scope: SwitchScope::Agent(shop.agent_id("worker").await),
        by: EngagedBy::Owner,
        note: String::new(),
        at: narthex_core::Timestamp::from_millis(0),
    };
    let effect = narthex_store::Effect::EngageSwitch(engaged);
    let unit = narthex_store::UnitOfWork { effect: Some(effect), ..Default::default() };
    shop.house.faults().slip_in(unit);
    assert_eq!(shop.call("note", json!({})).await, Said::Refused(Reason::Stopped));
    assert_eq!(shop.bench.count("note"), 0);
    Ok(())
}

/// While stopped, a list shows nothing: it would all be refused.
#[tokio::test]
async fn a_stopped_surface_lists_nothing() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let client = shop.house.client_with(Some(shop.token("worker")));
    assert!(!client.tools().await?.is_empty());
    let gate = shop.house.house().gate();
    gate.engage(SwitchScope::Everything, EngagedBy::Owner, Actor::Owner, "").await?;
    assert!(client.tools().await?.is_empty());
    let answer = client.call("search", json!({"query": "x"})).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("stopped"));
    Ok(())
}

/// Whatever comes first, what is in force and what is durable are the same afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_force_is_what_is_durable_however_they_cross() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    let everything = SwitchScope::Everything;
    for round in 0..60 {
        let engaging = shop.gate.engage(everything.clone(), EngagedBy::Owner, Actor::Owner, "");
        let (raised, lowered) = (Mode::Guarded, Mode::Readonly);
        let (engaged, _, up, down) = tokio::join!(
            engaging,
            shop.gate.lift(&everything),
            shop.gate.set_mode(raised),
            shop.gate.set_mode(lowered),
        );
        engaged?;
        up?;
        down?;
        let durable = shop.store().switches().await?;
        let (inside, outside) = (shop.gate.stopped(), durable.get(&everything).is_some());
        assert_eq!(inside.get(&everything).is_some(), outside, "round {round}");
        let noted = shop.store().noted_mode().await?.map(|(mode, _)| mode);
        assert_eq!(noted, Some(shop.gate.mode()), "round {round}");
    }
    Ok(())
}
