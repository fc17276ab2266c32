//! Kill switches: durable before they answer, and stopping exactly their scope.

use narthex_core::{Engaged, EngagedBy, Place, Reaches, SwitchScope};

use super::Backend;
use super::calls::{arming, guarded};
use super::house::{House, refusal, slug};
use crate::{Clock as _, Effect, Effected, Guard, Refused, UnitOfWork};

fn engaged(scope: &SwitchScope, note: &str, backend: &dyn Backend) -> Engaged {
    let at = backend.clock().now();
    Engaged { scope: scope.clone(), by: EngagedBy::Owner, note: note.to_owned(), at }
}

pub async fn each_stops_its_scope_until_lifted(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let web = Some(slug("web"));
    let place = |agent: &narthex_core::Agent, upstream| {
        guarded(
            agent,
            vec![Guard::NotStopped(Place {
                agent: agent.id,
                reaches: Reaches::of(agent.space),
                upstream,
            })],
        )
    };
    let calls =
        || [place(&house.agent, None), place(&house.other, None), place(&house.agent, web.clone())];
    for (scope, stopped) in [
        (SwitchScope::Everything, [true, true, true]),
        (SwitchScope::Space(house.b), [false, true, false]),
        (SwitchScope::Agent(house.agent.id), [true, false, true]),
        (SwitchScope::Upstream(slug("web")), [false, false, true]),
    ] {
        let engage = Effect::EngageSwitch(engaged(&scope, "now", backend));
        assert_eq!(house.done(engage).await, Effected::Changed(true));
        let before = house.records().await;
        for (unit, stopped) in calls().into_iter().zip(stopped) {
            let result = house.commit(unit).await;
            assert_eq!(result.is_err(), stopped, "{scope}");
            if stopped {
                assert_eq!(refusal(result), Refused::Stopped(scope.clone()));
            }
        }
        let went = u64::try_from(stopped.iter().filter(|stopped| !**stopped).count()).unwrap();
        assert_eq!(house.records().await, before + went);
        house.done(Effect::LiftSwitch { scope }).await;
        for unit in calls() {
            house.commit(unit).await.unwrap();
        }
    }
}

pub async fn engaging_twice_is_engaging_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let scope = SwitchScope::Agent(house.agent.id);
    let first = engaged(&scope, "first", backend);
    assert_eq!(house.done(Effect::EngageSwitch(first.clone())).await, Effected::Changed(true));
    backend.clock().advance_millis(1_000);
    let second = Effect::EngageSwitch(engaged(&scope, "second", backend));
    assert_eq!(house.done(second).await, Effected::Changed(false));
    assert_eq!(house.store.switches().await.unwrap().engaged(), [first]);
    let lift = Effect::LiftSwitch { scope: scope.clone() };
    house.done(lift.clone()).await;
    assert_eq!(house.refused(lift).await, Refused::NotEngaged(scope));
    let lift = Effect::LiftSwitch { scope: SwitchScope::Everything };
    assert_eq!(house.refused(lift).await, Refused::NotEngaged(SwitchScope::Everything));
}

pub async fn it_outlives_a_restart(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let scopes = [
        SwitchScope::Everything,
        SwitchScope::Space(house.a),
        SwitchScope::Agent(house.agent.id),
        SwitchScope::Upstream(slug("web")),
    ];
    for scope in &scopes {
        house.done(Effect::EngageSwitch(engaged(scope, "a\u{2028}note", backend))).await;
    }
    house.done(Effect::LiftSwitch { scope: SwitchScope::Space(house.a) }).await;
    let before = house.store.switches().await.unwrap();
    let house = House { store: backend.reopen().await, ..house };
    let after = house.store.switches().await.unwrap();
    for scope in &scopes {
        assert_eq!(after.get(scope), before.get(scope), "{scope}");
    }
    assert_eq!(after.engaged().len(), 3);
    let place = Place { agent: house.other.id, reaches: Reaches::of(None), upstream: None };
    let unit = guarded(&house.other, vec![Guard::NotStopped(place)]);
    assert!(matches!(refusal(house.commit(unit).await), Refused::Stopped(_)));
}

pub async fn what_is_stopped_leaves_no_trace(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let scope = SwitchScope::Everything;
    house.done(Effect::EngageSwitch(engaged(&scope, "stop", backend))).await;
    let before = house.records().await;
    let place =
        Place { agent: house.agent.id, reaches: Reaches::of(house.agent.space), upstream: None };
    // The first guard that does not hold is the answer.
    let nobody = narthex_core::AgentId::from_uuid(crate::fresh_uuid());
    for (guards, expected) in [
        (
            vec![Guard::NotStopped(place.clone()), Guard::AgentActive(nobody)],
            Refused::Stopped(scope.clone()),
        ),
        (vec![Guard::AgentActive(nobody), Guard::NotStopped(place)], Refused::AgentInactive),
    ] {
        let now = backend.clock().moment();
        let unit = UnitOfWork { guards, ..arming(&house.agent, super::calls::BOTH, now) };
        assert_eq!(refusal(house.commit(unit).await), expected);
    }
    assert_eq!(house.records().await, before);
    assert!(house.store.latches().await.unwrap().is_empty());
}
