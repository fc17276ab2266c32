//! Agents' tokens.

use narthex_core::{AgentId, AgentKind, Phase, Timestamp, TokenId};

use super::Backend;
use super::house::{House, add_token, agent, at, record, refusal};
use crate::{Clock, Effect, Effected, Guard, Refused, UnitOfWork, fresh_uuid};

pub async fn a_token_reads_back_with_its_agent(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let token = house.token(Some(at(99_000))).await;
    let found = house.store.token(token).await.unwrap().unwrap();
    assert_eq!(found.keyed_hash, [7; 32]);
    assert_eq!(found.agent, house.agent);
    assert_eq!((found.summary.id, found.summary.agent), (token, house.agent.id));
    assert_eq!(found.summary.label.as_str(), "laptop");
    assert_eq!((found.summary.expires, found.summary.revoked), (Some(at(99_000)), None));
    assert_eq!(found.summary.last_used, None);
    assert!(house.store.token(TokenId::from_uuid(fresh_uuid())).await.unwrap().is_none());

    let second = house.token(None).await;
    let ids = async |agent: Option<AgentId>| -> Vec<TokenId> {
        house.store.tokens(agent).await.unwrap().iter().map(|token| token.id).collect()
    };
    assert_eq!(ids(None).await, [token, second]);
    assert_eq!(ids(Some(house.agent.id)).await, [token, second]);
    assert!(ids(Some(house.other.id)).await.is_empty());
}

pub async fn the_companion_gets_none(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut companion = agent("companion", None);
    companion.kind = AgentKind::Companion;
    house.done(Effect::AddAgent(companion.clone())).await;
    for agent in [companion.id, AgentId::from_uuid(fresh_uuid())] {
        let id = TokenId::from_uuid(fresh_uuid());
        let refused = house.refused(add_token(id, agent, None)).await;
        assert_eq!(refused, Refused::NotFound("agent"));
        assert!(house.store.token(id).await.unwrap().is_none());
    }
}

pub async fn ending_twice_is_ending_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let id = house.token(None).await;
    for (when, now_ended) in [(10, true), (20, false)] {
        let effected = house.done(Effect::RevokeToken { id, at: at(when) }).await;
        assert_eq!(effected, Effected::Revoked(now_ended));
    }
    let found = house.store.token(id).await.unwrap().unwrap();
    assert_eq!(found.summary.revoked, Some(at(10)));
    let id = TokenId::from_uuid(fresh_uuid());
    let refused = house.refused(Effect::RevokeToken { id, at: at(1) }).await;
    assert_eq!(refused, Refused::NotFound("token"));
}

pub async fn a_dead_token_guards_nothing(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (ends, ended) = (house.token(Some(at(50))).await, house.token(None).await);
    let unit = |token: TokenId, now: Timestamp| UnitOfWork {
        arms: None,
        guards: vec![Guard::TokenLive { token, now }],
        effect: None,
        records: vec![record("guarded")],
    };
    for live in [unit(ends, at(49)), unit(ended, at(0))] {
        house.store.commit(live).await.unwrap();
    }
    house.done(Effect::RevokeToken { id: ended, at: at(1) }).await;
    let absent = TokenId::from_uuid(fresh_uuid());
    for (token, now) in [(ends, at(50)), (ends, at(51)), (ended, at(0)), (absent, at(0))] {
        let result = house.store.commit(unit(token, now)).await;
        assert_eq!(refusal(result), Refused::TokenDead, "{token:?} {now:?}");
    }
}

pub async fn last_used_is_kept_to_the_minute(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let token = house.token(None).await;
    let idle = house.token(None).await;
    let clock = backend.clock();
    let call = |phase: Phase, token: TokenId| {
        let mut used = record("read");
        (used.phase, used.token) = (phase, Some(token));
        UnitOfWork::records(vec![used])
    };
    let used = async || house.store.token(token).await.unwrap().unwrap().summary.last_used;

    let first = clock.now();
    house.store.commit(call(Phase::Observed, token)).await.unwrap();
    assert_eq!(used().await, Some(first), "the first use shows at once");
    clock.advance_millis(30_000);
    house.store.commit(call(Phase::Observed, token)).await.unwrap();
    assert_eq!(used().await, Some(first));
    clock.advance_millis(30_000);
    house.store.commit(call(Phase::Refused, token)).await.unwrap();
    assert_eq!(used().await, Some(clock.now()));
    let listed = house.store.tokens(None).await.unwrap();
    assert_eq!(listed.iter().find(|t| t.id == token).unwrap().last_used, Some(clock.now()));
    assert_eq!(listed.iter().find(|t| t.id == idle).unwrap().last_used, None);

    // A record may name a token nobody has.
    let absent = TokenId::from_uuid(fresh_uuid());
    house.store.commit(call(Phase::Observed, absent)).await.unwrap();
}
