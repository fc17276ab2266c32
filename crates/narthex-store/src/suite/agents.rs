//! Agents, and what must still hold of them inside the transaction.

use narthex_core::{AgentId, AgentKind, SpaceId, Tier};

use super::Backend;
use super::house::{House, add_token, agent, at, draft, new_page, record, refusal, slug, space};
use crate::{Effect, Guard, Refused, UnitOfWork, fresh_uuid};

pub async fn an_agent_reads_back_as_added(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut added = agent("zed", None);
    added.kind = AgentKind::Companion;
    added.model = None;
    added.ceiling = Tier::T3;
    added.grants = ["read:*:page", "suggest:update"].iter().map(|g| g.parse().unwrap()).collect();
    house.done(Effect::AddAgent(added.clone())).await;
    assert_eq!(house.store.agent(added.id).await.unwrap(), Some(added.clone()));
    assert_eq!(house.store.agent_by_slug(&added.slug).await.unwrap(), Some(added.clone()));
    let all = house.store.agents().await.unwrap();
    assert_eq!(all, [house.agent.clone(), house.other.clone(), added]);
    assert_eq!(house.store.agent(AgentId::from_uuid(fresh_uuid())).await.unwrap(), None);
    assert_eq!(house.store.agent_by_slug(&slug("nobody")).await.unwrap(), None);
}

pub async fn a_taken_slug_is_refused(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let again = agent("agent", Some(house.b));
    assert_eq!(house.refused(Effect::AddAgent(again)).await, Refused::Taken("slug"));
    let mut same_id = agent("fresh", None);
    same_id.id = house.agent.id;
    assert_eq!(house.refused(Effect::AddAgent(same_id)).await, Refused::Taken("id"));
}

pub async fn its_space_must_exist(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let lost = agent("lost", Some(SpaceId::from_uuid(fresh_uuid())));
    assert_eq!(house.refused(Effect::AddAgent(lost)).await, Refused::NotFound("space"));
    assert_eq!(house.store.agent_by_slug(&slug("lost")).await.unwrap(), None);
}

pub async fn switching_off_and_on(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for disabled in [true, true, false] {
        house.done(Effect::SetAgentDisabled { agent: house.agent.id, disabled }).await;
        let now = house.store.agent(house.agent.id).await.unwrap().unwrap();
        assert_eq!(now.disabled, disabled);
    }
    let nobody = AgentId::from_uuid(fresh_uuid());
    let refused = house.refused(Effect::SetAgentDisabled { agent: nobody, disabled: true }).await;
    assert_eq!(refused, Refused::NotFound("agent"));
}

pub async fn guards_hold_inside_the_transaction(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let unit = |agent: AgentId, slug: &str| UnitOfWork {
        arms: None,
        guards: vec![Guard::AgentActive(agent)],
        effect: Some(Effect::WritePage(new_page(house.a, draft(slug, "Page", "")))),
        records: vec![record("guarded")],
    };
    house.store.commit(unit(house.agent.id, "one")).await.unwrap();
    house.done(Effect::SetAgentDisabled { agent: house.agent.id, disabled: true }).await;
    let before = house.records().await;
    for agent in [house.agent.id, AgentId::from_uuid(fresh_uuid())] {
        let result = house.store.commit(unit(agent, "two")).await;
        assert_eq!(refusal(result), Refused::AgentInactive);
        let only_records = UnitOfWork { effect: None, ..unit(agent, "three") };
        assert_eq!(refusal(house.store.commit(only_records).await), Refused::AgentInactive);
    }
    assert_eq!(house.records().await, before);
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 1);
}

pub async fn the_identity_epoch_moves_only_for_identities(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let token = narthex_core::TokenId::from_uuid(fresh_uuid());
    let agent = house.agent.id;
    let moves = [
        add_token(token, agent, None),
        Effect::RevokeToken { id: token, at: at(1) },
        Effect::SetAgentDisabled { agent, disabled: true },
        Effect::AddAgent(super::house::agent("newcomer", None)),
        Effect::AddSpace(space("loud")),
    ];
    for effect in moves {
        let before = house.store.identity_epoch();
        house.done(effect).await;
        assert!(house.store.identity_epoch() > before);
    }
    let before = house.store.identity_epoch();
    house.write(house.a, "home", "Home", "").await;
    house.store.commit(UnitOfWork::records(vec![record("observed")])).await.unwrap();
    house.refused(Effect::AddAgent(super::house::agent("agent", None))).await;
    assert_eq!(house.store.identity_epoch(), before);
}
