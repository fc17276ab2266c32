use std::time::Duration;

use narthex_core::{AgentId, BootId, Consent, Moment, Reason, Tier, Timestamp};
use secrecy::ExposeSecret as _;
use uuid::Uuid;

use super::{SessionTerms, Sessions};
use crate::SessionConfig;

const A: AgentId = AgentId::from_uuid(Uuid::from_u128(1));
const B: AgentId = AgentId::from_uuid(Uuid::from_u128(2));

fn at(seconds: i64) -> Moment {
    Moment {
        wall: Timestamp::from_millis(1_700_000_000_000 + seconds * 1_000),
        boot: BootId::from_uuid(Uuid::from_u128(1)),
        up: 50_000_000_u64.saturating_add_signed(seconds * 1_000),
    }
}

fn sessions(per_agent: usize) -> Sessions {
    let (idle, absolute) = (Duration::from_secs(10), Duration::from_secs(25));
    Sessions::new(Some(SessionConfig { idle, absolute, per_agent }))
}

fn open(sessions: &Sessions, agent: AgentId, now: Moment) -> Result<String, Reason> {
    let terms = SessionTerms {
        consent: Consent::AtMost(Tier::T0),
        opens_urls: true,
        ..SessionTerms::default()
    };
    sessions.open(agent, terms, now).map(|new| new.secret.expose_secret().to_owned())
}

#[test]
fn a_session_is_its_agents_alone_and_ends_in_time() {
    let sessions = sessions(2);
    let id = open(&sessions, A, at(0)).expect("room");
    assert_eq!(id.len(), 64);
    assert!(sessions.resume(B, &id, at(0)).is_none(), "another agent's");
    assert!(!sessions.end(B, &id));
    for wrong in ["", "x", &id[1..], &id.to_uppercase()] {
        assert!(sessions.resume(A, wrong, at(0)).is_none(), "{wrong}");
    }
    let known = sessions.resume(A, &id, at(9)).expect("open");
    assert_eq!(known.terms.consent, Consent::AtMost(Tier::T0));
    assert!(known.terms.opens_urls && !known.id.as_str().contains(&id));
    assert!(sessions.resume(A, &id, at(18)).is_some(), "each message keeps it");
    assert!(sessions.resume(B, &id, at(19)).is_none());
    assert!(sessions.resume(A, &id, at(25)).is_some());
    assert!(!known.ended.is_cancelled());
    assert!(sessions.resume(A, &id, at(26)).is_none(), "but not for ever");
    assert!(known.ended.is_cancelled());
}

#[test]
fn silence_ends_a_session_and_nobody_need_ask() {
    let sessions = sessions(2);
    let id = open(&sessions, A, at(0)).expect("room");
    let known = sessions.resume(A, &id, at(1)).expect("open");
    assert_eq!(sessions.list(at(11)).len(), 1);
    assert!(sessions.list(at(12)).is_empty());
    assert!(known.ended.is_cancelled());
}

#[test]
fn a_clock_that_jumps_ends_a_session() {
    for jump in [-3_600, 3_600] {
        let sessions = sessions(2);
        let id = open(&sessions, A, at(0)).expect("room");
        let set = Moment { wall: at(jump).wall, ..at(1) };
        assert!(sessions.resume(A, &id, set).is_none(), "{jump}");
    }
}

#[test]
fn one_too_many_is_refused_and_nobody_is_put_out() {
    let sessions = sessions(2);
    let ids: Vec<_> = (0..2).map(|_| open(&sessions, A, at(0))).collect();
    assert_eq!(open(&sessions, A, at(0)), Err(Reason::LimitReached));
    assert!(open(&sessions, B, at(0)).is_ok(), "another agent has its own");
    for id in ids.into_iter().flatten() {
        assert!(sessions.resume(A, &id, at(0)).is_some());
        assert!(sessions.end(A, &id) && !sessions.end(A, &id));
    }
    assert_eq!(sessions.list(at(0)).len(), 1);
    assert!(open(&sessions, A, at(0)).is_ok(), "what was ended is free again");
}

#[test]
fn two_may_listen_and_a_place_is_given_back() {
    let sessions = sessions(1);
    let id = open(&sessions, A, at(0)).expect("room");
    let places: Vec<_> = (0..3)
        .map(|_| sessions.resume(A, &id, at(0)).and_then(|session| session.listen()))
        .collect();
    assert_eq!(places.iter().flatten().count(), 2);
    drop(places);
    assert!(sessions.resume(A, &id, at(0)).and_then(|session| session.listen()).is_some());
}

#[test]
fn whatever_runs_out_is_told_once_with_its_reason() {
    type Finds = fn(&Sessions, &str, Moment);
    let finders: [(&str, Finds); 3] = [
        ("its next message", |sessions, id, now| assert!(sessions.resume(A, id, now).is_none())),
        ("another handshake", |sessions, _, now| drop(open(sessions, B, now))),
        ("a look", |sessions, _, now| assert!(sessions.list(now).is_empty())),
    ];
    for (who, find) in finders {
        for (heard, found, why) in [
            (0, 11, Reason::SessionIdle),
            (20, 26, Reason::SessionExpired),
            (20, 60, Reason::SessionExpired),
        ] {
            let sessions = sessions(2);
            let id = open(&sessions, A, at(0)).expect("room");
            for second in (0..=heard).step_by(10) {
                assert!(sessions.resume(A, &id, at(second)).is_some(), "{second}");
            }
            assert_eq!(sessions.take_run_out(), []);
            for _ in 0..3 {
                find(&sessions, &id, at(found));
            }
            let told: Vec<_> = sessions.take_run_out();
            let told: Vec<_> = told.iter().map(|one| (one.agent, one.why)).collect();
            assert_eq!(told, [(A, why)], "{who}");
            find(&sessions, &id, at(found));
            assert_eq!(sessions.take_run_out(), [], "{who}, again");
        }
    }
}

#[test]
fn what_its_client_ended_has_not_run_out() {
    let sessions = sessions(2);
    let id = open(&sessions, A, at(0)).expect("room");
    assert!(sessions.end(A, &id));
    assert!(sessions.list(at(100)).is_empty());
    assert_eq!(sessions.take_run_out(), []);
}
