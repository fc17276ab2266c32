//! Requests for approval: asked for, decided by the owner, used up by exactly one call.

use std::sync::Arc;

use narthex_core::{Approval, ApprovalId, ApprovalStatus, Digest, Holder};

use super::Backend;
use super::calls::{MINUTE, ask, call, calls, decide, holder, request, using, within};
use super::commits::join;
use super::house::{House, draft, new_page, record, refusal};
use crate::{
    ApprovalFilter, Clock as _, Effect, Effected, Guard, Refused, StoreError, UnitOfWork,
    fresh_uuid,
};

use ApprovalStatus::{Approved, Denied, Used, Void, Waiting};

pub async fn a_request_reads_back_as_asked(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let asked = request(&house.agent, "one", backend);
    let boasting = Approval {
        status: Approved,
        decided: Some(backend.clock().moment()),
        wrong_nonces: 7,
        ..asked.clone()
    };
    assert_eq!(house.ask(&boasting).await, asked, "whatever it claims, it waits");
    assert_eq!(house.approval(asked.id).await, asked);
    let own = holder(&house.agent);
    let of = async |holder: Holder, digest: Digest| {
        house.store.approval_of(holder, digest).await.unwrap()
    };
    assert_eq!(of(own, asked.digest).await, Some(asked.clone()));
    assert_eq!(of(Holder { space: None, ..own }, asked.digest).await, None);
    assert_eq!(of(holder(&house.other), asked.digest).await, None);
    assert_eq!(of(own, Digest::of(b"other")).await, None);
    let nobody = ApprovalId::from_uuid(fresh_uuid());
    assert_eq!(house.store.approval(nobody).await.unwrap(), None);
    let again = house
        .attempt(ask(&Approval { id: asked.id, ..request(&house.agent, "two", backend) }, 9))
        .await;
    assert_eq!(refusal(again), Refused::Taken("id"));
}

pub async fn a_request_is_for_the_call_it_shows(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let asked = Approval { digest: Digest::of(b"other"), ..request(&house.agent, "one", backend) };
    let result = house.attempt(ask(&asked, 9)).await;
    assert!(matches!(result, Err(StoreError::Damaged(_))), "{result:?}");
    assert_eq!(house.store.approval(asked.id).await.unwrap(), None);
}

pub async fn lists_are_filtered_and_newest_first(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut asked = Vec::new();
    for (agent, target) in [(&house.agent, "a"), (&house.other, "b"), (&house.agent, "c")] {
        backend.clock().advance_millis(1_000);
        asked.push(house.ask(&request(agent, target, backend)).await.id);
    }
    house.done(decide(&house.approval(asked[2]).await, false, backend)).await;
    let list = async |agent, statuses: &[ApprovalStatus], limit| {
        let filter = ApprovalFilter { agent, statuses: statuses.to_vec(), limit };
        let found = house.store.approvals(&filter).await.unwrap();
        found.into_iter().map(|approval| approval.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, &[], 9).await, [asked[2], asked[1], asked[0]]);
    assert_eq!(list(None, &[], 1).await, [asked[2]]);
    assert_eq!(list(Some(house.agent.id), &[], 9).await, [asked[2], asked[0]]);
    assert_eq!(list(None, &[Waiting], 9).await, [asked[1], asked[0]]);
    assert_eq!(list(None, &[Denied, Used], 9).await, [asked[2]]);
}

pub async fn the_same_call_waits_once(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let first = house.ask(&request(&house.agent, "one", backend)).await;
    let before = house.records().await;
    backend.clock().advance_millis(MINUTE);
    let again = request(&house.agent, "one", backend);
    assert_eq!(house.ask(&again).await, first);
    assert_eq!(house.records().await, before + 1, "the asking is still in the ledger");
    assert_eq!(house.store.approval(again.id).await.unwrap(), None);
    let other = request(&house.agent, "two", backend);
    assert_eq!(house.ask(&other).await.id, other.id);
    // Once it is decided, asking again is a new request.
    house.done(decide(&first, false, backend)).await;
    assert_eq!(house.ask(&again).await.id, again.id);
    let newest = house.store.approval_of(holder(&house.agent), first.digest).await.unwrap();
    assert_eq!(newest.map(|approval| approval.id), Some(again.id));
}

pub async fn the_newest_is_the_one_asked_for_last_whatever_the_clock_said(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let old = house.approved(backend, "one").await;
    house.commit(using(&old, backend)).await.unwrap();
    backend.clock().set_wall_by(-60 * MINUTE);
    let new = house.approved(backend, "one").await;
    assert_eq!(new.digest, old.digest);
    let newest = house.store.approval_of(holder(&house.agent), new.digest).await.unwrap();
    assert_eq!(newest.map(|approval| approval.id), Some(new.id));
}

pub async fn only_so_many_may_wait(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let asking =
        async |agent, target: &str| house.attempt(ask(&request(agent, target, backend), 2)).await;
    asking(&house.agent, "a").await.unwrap();
    asking(&house.agent, "b").await.unwrap();
    let before = house.records().await;
    assert_eq!(refusal(asking(&house.agent, "c").await), Refused::TooManyWaiting { cap: 2 });
    assert_eq!(house.records().await, before);
    asking(&house.agent, "b").await.expect("one that waits already needs no place");
    asking(&house.other, "c").await.expect("everyone has places of their own");
    // Those nobody can decide on any more stand in nobody's way.
    backend.clock().advance_millis(10 * MINUTE + 1);
    asking(&house.agent, "c").await.unwrap();
}

pub async fn one_that_waited_too_long_is_void(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for way in ["late", "clock set back", "clock set ahead", "another boot"] {
        let old = house.ask(&request(&house.agent, way, backend)).await;
        match way {
            "late" => backend.clock().advance_millis(10 * MINUTE + 1),
            "clock set back" => backend.clock().set_wall_by(-60 * MINUTE),
            "clock set ahead" => backend.clock().set_wall_by(60 * MINUTE),
            _ => backend.clock().reboot(),
        }
        let refused = house.refused(decide(&old, true, backend)).await;
        assert_eq!(refused, Refused::NotApproved(Void), "{way}");
        let fresh = request(&house.agent, way, backend);
        assert_eq!(house.ask(&fresh).await.id, fresh.id, "{way}");
        assert_eq!(house.status(old.id).await, Void, "{way}");
        assert_eq!(house.refused(decide(&old, true, backend)).await, Refused::NotApproved(Void));
        house.done(decide(&fresh, false, backend)).await;
    }
}

pub async fn the_owner_decides_once_and_on_what_was_shown(backend: &dyn Backend) {
    let house = House::open(backend).await;
    for (approve, status) in [(true, Approved), (false, Denied)] {
        let asked = house.ask(&request(&house.agent, "one", backend)).await;
        let other = Approval { digest: Digest::of(b"other"), ..asked.clone() };
        assert_eq!(
            house.refused(decide(&other, approve, backend)).await,
            Refused::NotApproved(Waiting)
        );
        let done = house.done(decide(&asked, approve, backend)).await;
        assert_eq!(done, Effected::Approval(status));
        let decided = house.approval(asked.id).await;
        let note = Some("so be it".to_owned());
        let at = Some(backend.clock().moment());
        assert_eq!(decided, Approval { status, note, decided: at, ..asked.clone() });
        for again in [true, false] {
            let refused = house.refused(decide(&asked, again, backend)).await;
            assert_eq!(refused, Refused::NotApproved(status));
        }
    }
    let nobody = request(&house.agent, "never asked", backend);
    assert_eq!(house.refused(decide(&nobody, true, backend)).await, Refused::NotFound("approval"));
}

pub async fn wrong_nonces_end_it(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let asked = house.ask(&request(&house.agent, "one", backend)).await;
    let wrong = Effect::WrongNonce { id: asked.id, most: 3 };
    for (status, count) in [(Waiting, 1), (Waiting, 2), (Void, 3)] {
        assert_eq!(house.done(wrong.clone()).await, Effected::Approval(status));
        assert_eq!(house.approval(asked.id).await.wrong_nonces, count);
    }
    assert_eq!(house.refused(wrong).await, Refused::NotApproved(Void));
    assert_eq!(house.refused(decide(&asked, true, backend)).await, Refused::NotApproved(Void));
    assert_eq!(refusal(house.commit(using(&asked, backend)).await), Refused::NotApproved(Void));
}

pub async fn it_is_good_once_and_for_its_call(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let asked = house.ask(&request(&house.agent, "one", backend)).await;
    let refused = async |approval: &Approval| {
        let before = house.records().await;
        let refused = refusal(house.commit(using(approval, backend)).await);
        assert_eq!(house.records().await, before);
        refused
    };
    assert_eq!(refused(&asked).await, Refused::NotApproved(Waiting));
    house.done(decide(&asked, true, backend)).await;
    let another = Approval { digest: Digest::of(b"another"), ..asked.clone() };
    assert_eq!(refused(&another).await, Refused::NotApproved(Void), "good, but for another call");
    let unknown = Approval { id: ApprovalId::from_uuid(fresh_uuid()), ..asked.clone() };
    assert_eq!(refused(&unknown).await, Refused::NotApproved(Void));
    let unit = using(&asked, backend);
    let Guard::Approved { call, .. } = unit.guards[0] else { panic!("a burn") };
    house.commit(unit).await.unwrap();
    let used = house.approval(asked.id).await;
    assert_eq!((used.status, used.used_by), (Used, Some(call)));
    assert_eq!(refused(&asked).await, Refused::NotApproved(Used));
    let denied = house.ask(&request(&house.agent, "two", backend)).await;
    house.done(decide(&denied, false, backend)).await;
    assert_eq!(refused(&denied).await, Refused::NotApproved(Denied));
}

pub async fn an_old_one_is_no_good(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let clock = backend.clock();
    for way in ["late", "clock set back", "clock set ahead", "another boot"] {
        let approved = house.approved(backend, way).await;
        match way {
            "late" => clock.advance_millis(10 * MINUTE + 1_000),
            "clock set back" => clock.set_wall_by(-60 * MINUTE),
            "clock set ahead" => clock.set_wall_by(60 * MINUTE),
            _ => clock.reboot(),
        }
        let result = house.commit(using(&approved, backend)).await;
        assert_eq!(refusal(result), Refused::NotApproved(Void), "{way}");
    }
    let approved = house.approved(backend, "just in time").await;
    clock.advance_millis(10 * MINUTE);
    house.commit(using(&approved, backend)).await.unwrap();
}

pub async fn a_call_that_does_not_go_ahead_uses_nothing_up(backend: &dyn Backend) {
    let house = House::open(backend).await;
    house.write(house.a, "taken", "Taken", "").await;
    let approved = house.approved(backend, "one").await;
    let now = backend.clock().now();
    let none_left = within(&house.agent, calls(0), now);
    let observed = vec![call(&house.agent, narthex_core::Phase::Observed, narthex_core::Tier::T0)];
    let base = || using(&approved, backend);
    let effect = |slug| Some(Effect::WritePage(new_page(house.a, draft(slug, "Page", ""))));
    let before = [none_left.clone()].into_iter().chain(base().guards).collect();
    let after = base().guards.into_iter().chain([none_left]).collect();
    for unit in [
        UnitOfWork { effect: effect("taken"), ..base() },
        UnitOfWork { guards: before, records: observed.clone(), effect: effect("new"), ..base() },
        UnitOfWork { guards: after, records: observed, effect: effect("new"), ..base() },
    ] {
        let refused = refusal(house.commit(unit).await);
        assert!(!matches!(refused, Refused::NotApproved(_)), "{refused:?}");
        assert_eq!(house.status(approved.id).await, Approved);
    }
    house.commit(UnitOfWork { effect: effect("new"), ..base() }).await.unwrap();
    assert_eq!(house.status(approved.id).await, Used);
    // And without it no effect.
    let unit = UnitOfWork { effect: effect("another"), ..base() };
    assert_eq!(refusal(house.commit(unit).await), Refused::NotApproved(Used));
    assert_eq!(house.store.page_count(house.a).await.unwrap(), 2);
}

pub async fn it_outlives_a_restart(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let approved = house.approved(backend, "approved").await;
    let waiting = house.ask(&request(&house.agent, "waiting", backend)).await;
    let used = house.approved(backend, "used").await;
    house.commit(using(&used, backend)).await.unwrap();
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.approval(waiting.id).await, waiting);
    assert_eq!(house.ask(&request(&house.agent, "waiting", backend)).await, waiting);
    let again = house.commit(using(&used, backend)).await;
    assert_eq!(refusal(again), Refused::NotApproved(Used));
    house.commit(using(&approved, backend)).await.unwrap();
    assert_eq!(house.status(approved.id).await, Used);
}

pub async fn each_is_used_exactly_once_under_load(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let mut approved = Vec::new();
    for n in 0..8 {
        approved.push(house.approved(backend, &format!("call {n}")).await);
    }
    let mut attempts = Vec::new();
    for _ in 0..64 {
        for (n, approval) in approved.iter().enumerate() {
            let store = Arc::clone(&house.store);
            let unit = using(approval, backend);
            attempts.push(async move { (n, store.commit(unit).await) });
        }
    }
    let mut went = vec![0; approved.len()];
    for (n, result) in join(attempts).await {
        match result {
            Ok(_) => went[n] += 1,
            Err(error) => {
                let used = Refused::NotApproved(Used);
                assert!(matches!(&error, StoreError::Refused(r) if *r == used), "{error:?}");
            }
        }
    }
    assert_eq!(went, vec![1; approved.len()]);
}

pub async fn what_was_asked_for_long_ago_is_forgotten(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let denied = house.ask(&request(&house.agent, "denied", backend)).await;
    house.done(decide(&denied, false, backend)).await;
    let approved = house.approved(backend, "approved").await;
    backend.clock().advance_millis(29 * 24 * 60 * MINUTE);
    let in_time = house.ask(&request(&house.agent, "in time", backend)).await;
    assert_eq!(house.status(denied.id).await, Denied);
    assert_eq!(house.status(approved.id).await, Approved);
    backend.clock().advance_millis(2 * 24 * 60 * MINUTE);
    house.ask(&request(&house.agent, "later", backend)).await;
    for id in [denied.id, approved.id] {
        assert_eq!(house.store.approval(id).await.unwrap(), None);
    }
    assert_eq!(house.status(in_time.id).await, Void);
    house.commit(UnitOfWork::records(vec![record("goes on")])).await.unwrap();
}
