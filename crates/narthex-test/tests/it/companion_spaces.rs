//! What the owner set for a space holds for the companion, however it was started.

use narthex_core::{
    Engaged, EngagedBy, Holder, Reason, SpaceId, SwitchScope, Taint, Tier, Timestamp,
};
use narthex_server::owner::{Reply, Request, SettingRequest, StopScope, SwitchRequest};
use narthex_store::{ApprovalFilter, Effect, ProposalFilter, UnitOfWork};
use narthex_test::{LineClient, TestHouse};
use serde_json::{Value, json};

async fn line(house: &TestHouse, space: Option<&str>) -> anyhow::Result<LineClient> {
    let who = Request::Companion { space: space.map(str::to_owned) };
    LineClient::start(house.house(), who).await
}

fn update(id: &str, space: Option<&str>) -> Value {
    let mut change = json!({"entity_type": "page", "action": "update", "id": id,
        "payload": {"body": "x"}, "reason": "r"});
    if let Some(space) = space {
        change["space"] = space.into();
    }
    change
}

async fn space_id(house: &TestHouse, slug: &str) -> anyhow::Result<SpaceId> {
    let space = house.store().space_by_slug(&slug.parse()?).await?;
    Ok(space.ok_or_else(|| anyhow::anyhow!("no space {slug}"))?.id)
}

fn effect(effect: Effect) -> UnitOfWork {
    UnitOfWork { effect: Some(effect), ..UnitOfWork::default() }
}

#[tokio::test]
async fn a_stopped_space_is_stopped_for_it_and_the_others_are_not() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = line(&house, None).await?;
    let plans = house.page("b", "plans").await?.page.id.to_string();
    let scope = StopScope::Space("b".to_owned());
    let engage = SwitchRequest::Engage { scope: scope.clone(), reason: None };
    house.owner(Request::Switch(engage)).await?;
    for (tool, arguments, code) in [
        ("read", json!({"kind": "page", "id": "plans"}), "not_found"),
        ("read", json!({"kind": "page", "id": plans}), "not_found"),
        ("read", json!({"kind": "page", "id": "plans", "space": "b"}), "stopped"),
        ("search", json!({"query": "canary", "space": "b"}), "stopped"),
        ("context", json!({"space": "b"}), "stopped"),
        ("propose_change", update("plans", None), "not_found"),
        ("propose_change", update("plans", Some("b")), "stopped"),
    ] {
        let answer = line.call(tool, arguments.clone()).await?;
        assert_eq!(answer.tool_code().as_deref(), Some(code), "{tool} {arguments}: {answer:?}");
        assert!(!answer.text.contains("quokka"), "{answer:?}");
    }
    let found = line.call("search", json!({"query": "canary"})).await?;
    assert!(found.text.contains("zebrafinch") && !found.text.contains("quokka"), "{found:?}");
    let around = line.call("context", json!({})).await?;
    assert!(around.structured().get("other_spaces").is_none(), "{around:?}");
    assert!(line.call("propose_change", update("home", Some("a"))).await?.is_ok());
    assert_eq!(line.tools().await?.len(), 4, "it is not stopped itself");
    house.owner(Request::Switch(SwitchRequest::Lift { scope })).await?;
    assert!(line.call("read", json!({"kind": "page", "id": "plans"})).await?.is_ok());
    line.close().await;
    Ok(())
}

#[tokio::test]
async fn a_spaces_ceiling_holds_for_it_named_or_found() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = line(&house, None).await?;
    let lower = SettingRequest::SetSpace { space: "b".into(), ceiling: Some(Tier::T0) };
    house.owner(Request::Setting(lower)).await?;
    for (arguments, code) in [
        (update("plans", None), Some("over_ceiling")),
        (update("plans", Some("b")), Some("over_ceiling")),
        (update("home", Some("a")), None),
    ] {
        let answer = line.call("propose_change", arguments.clone()).await?;
        assert_eq!(answer.tool_code().as_deref(), code, "{arguments}: {answer:?}");
    }
    assert!(line.call("read", json!({"kind": "page", "id": "plans"})).await?.is_ok());
    line.close().await;
    Ok(())
}

/// It is refused before the owner is asked: no approval could let it through.
#[tokio::test]
async fn nobody_is_asked_about_what_a_spaces_ceiling_refuses() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let tool_tiers = vec![("companion/propose_change".parse()?, Some(Tier::T2))];
    let (agent, ceiling) = ("companion".to_owned(), Some(Tier::T2));
    let mut line = line(&house, None).await?;
    let set = SettingRequest::SetAgent { agent, ceiling, budget: None, tool_tiers };
    house.owner(Request::Setting(set)).await?;
    let lower = SettingRequest::SetSpace { space: "b".into(), ceiling: Some(Tier::T1) };
    house.owner(Request::Setting(lower)).await?;
    let filter = ApprovalFilter { limit: 9, ..ApprovalFilter::default() };
    for (arguments, code, asked) in [
        (update("plans", None), "over_ceiling", 0),
        (update("plans", Some("b")), "over_ceiling", 0),
        (update("home", Some("a")), "approval_needed", 1),
    ] {
        let answer = line.call("propose_change", arguments.clone()).await?;
        assert_eq!(answer.tool_code().as_deref(), Some(code), "{arguments}: {answer:?}");
        assert_eq!(house.store().approvals(&filter).await?.len(), asked, "{arguments}");
    }
    line.close().await;
    Ok(())
}

/// What comes between the decision and the transaction holds too.
#[tokio::test]
async fn what_is_set_for_a_space_meanwhile_holds() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut line = line(&house, None).await?;
    let b = space_id(&house, "b").await?;
    let (by, at) = (EngagedBy::Owner, Timestamp::from_millis(1));
    let stop = Engaged { scope: SwitchScope::Space(b), by, note: String::new(), at };
    for (slipped, code) in [
        (Effect::SetSpaceCeiling { space: b, ceiling: Some(Tier::T0) }, Reason::OverCeiling),
        (Effect::EngageSwitch(stop), Reason::Stopped),
    ] {
        for named in [None, Some("b")] {
            house.faults().slip_in(effect(slipped.clone()));
            let answer = line.call("propose_change", update("plans", named)).await?;
            assert_eq!(answer.tool_code().as_deref(), Some(code.code()), "{named:?}: {answer:?}");
            let clear = Effect::SetSpaceCeiling { space: b, ceiling: None };
            house.store().commit(effect(clear)).await?;
        }
    }
    line.close().await;
    Ok(())
}

/// It is one agent: what it took in across all spaces it has taken in when it is started for one,
/// and the other way round.
#[tokio::test]
async fn starting_it_another_way_sheds_no_taint() -> anyhow::Result<()> {
    for (first, then) in [(None, Some("a")), (Some("a"), None), (Some("b"), Some("a"))] {
        let house = TestHouse::start().await?;
        let talk = Request::ConversationAdd { title: "Talk".into(), body: "words".into() };
        let Reply::Conversation(talk) = house.owner(talk).await? else { anyhow::bail!("no talk") };
        let mut before = line(&house, first).await?;
        let read = json!({"kind": "conversation", "id": talk.id.to_string()});
        assert!(before.call("read", read).await?.is_ok());
        before.close().await;
        let mut after = line(&house, then).await?;
        assert!(after.call("propose_change", update("home", Some("a"))).await?.is_ok());
        after.close().await;
        let filter = ProposalFilter { limit: 9, ..ProposalFilter::default() };
        let taint = house.store().proposals(&filter).await?.first().map(|made| made.taint);
        assert_eq!(taint, Some(Taint { private: true, untrusted: true }), "{first:?} {then:?}");
        let companion = house.store().agent_by_slug(&"companion".parse()?).await?.expect("it");
        let holder = Holder { agent: companion.id, space: Some(space_id(&house, "b").await?) };
        assert!(house.store().taint(holder).await?.is_trifecta());
    }
    Ok(())
}
