//! What units of one batch see of each other, and what a batch that falls leaves behind.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{
    Actor, Agent, AgentId, AgentKind, Approval, ApprovalId, ApprovalStatus, Arming, Binding,
    Budget, CallId, Cause, Conversation, ConversationId, Digest, Engaged, EngagedBy, Grants,
    Holder, Mode, Phase, Place, Reaches, Reason, RecordDraft, SpaceId, Subject, SwitchScope, Taint,
    Tier, Timestamp, Title, Transport, Usage,
};
use narthex_store::chain::{HeadKey, SealKey};
use narthex_store::{
    Clock as _, Effect, Guard, ManualClock, Refused, StoreError, UnitOfWork, fresh_uuid,
};

use super::{Answer, Books, Writer};
use crate::gate::Bench;
use crate::{SqliteConfig, open};

const BOTH: Taint = Taint { private: true, untrusted: true };

#[tokio::test]
async fn a_call_that_changes_nothing_begins_and_writes_in_one_step() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    assert!(writer.commit_all(vec![place.arming()]).await[0].is_ok());
    let memory_only = || vec![place.not_stopped(), place.taint(BOTH), place.budget(10)];
    for (unit, begins) in [
        (place.call(Vec::new()), false),
        (place.call(memory_only()), false),
        (UnitOfWork { guards: memory_only(), ..place.arming() }, false),
        (place.call(vec![Guard::AgentActive(place.holder.agent)]), true),
        (place.call(vec![place.ceiling()]), true),
        (UnitOfWork { effect: Some(place.engage()), ..place.call(Vec::new()) }, true),
    ] {
        let mut books = Books::after(writer.tail, writer.memory.gate(), writer.reserves.clone());
        let told = format!("{unit:?}");
        let _ = writer.unit(&mut books, unit).await.unwrap();
        assert_eq!(books.begun, begins, "{told}");
        if begins {
            super::execute(&mut writer.conn, "ROLLBACK").await.unwrap();
        }
    }
}

#[tokio::test]
async fn units_of_one_batch_see_each_other() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    let lift = Effect::LiftSwitch { scope: SwitchScope::Everything };
    let answers = writer
        .commit_all(vec![
            place.call(vec![place.taint(Taint::CLEAN), place.not_stopped()]),
            place.arming(),
            place.call(vec![place.taint(Taint::CLEAN)]),
            place.call(vec![place.taint(BOTH)]),
            UnitOfWork { effect: Some(place.engage()), ..UnitOfWork::default() },
            place.call(vec![place.not_stopped()]),
            UnitOfWork { effect: Some(lift), ..UnitOfWork::default() },
            place.call(vec![place.not_stopped()]),
            place.call(vec![place.budget(4)]),
            place.call(vec![place.budget(5)]),
            place.call(vec![place.budget(5)]),
        ])
        .await;
    let told: Vec<Option<Refused>> = answers.into_iter().map(refusal).collect();
    let stopped = Some(Refused::Stopped(SwitchScope::Everything));
    assert_eq!(told[..2], [None, None]);
    assert_eq!(told[2..4], [Some(Refused::TaintMoved), None]);
    assert_eq!(told[4..8], [None, stopped, None, None]);
    assert_eq!(told[8], None, "three went before it");
    assert_eq!(told[9], None);
    assert!(matches!(told[10], Some(Refused::OverBudget(_))), "{told:?}");
    assert_eq!(place.used(&writer), 5);
}

#[tokio::test]
async fn what_a_refused_unit_did_is_not_seen_by_the_next() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    let refused = |effect| UnitOfWork { effect: Some(effect), ..place.arming() };
    let agent = AgentId::from_uuid(fresh_uuid());
    let answers = writer
        .commit_all(vec![
            refused(Effect::SetAgentDisabled { agent, disabled: true }),
            refused(Effect::LiftSwitch { scope: SwitchScope::Everything }),
            place.call(vec![place.taint(Taint::CLEAN), place.budget(1)]),
        ])
        .await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    assert!(answers[2].is_ok());
    assert_eq!((place.used(&writer), writer.memory.gate().taint(&place.holder)), (1, Taint::CLEAN));
    drop(writer);
    let writer = open::writer(&place.config).await.unwrap();
    assert_eq!((place.used(&writer), writer.memory.gate().taint(&place.holder)), (1, Taint::CLEAN));
}

/// The burn, the effect and the row of the latch stand or fall together, whatever else is in the
/// batch.
#[tokio::test]
async fn what_a_refused_unit_used_up_is_not_used_up() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    let approved = place.approved(&mut writer).await;
    let refused = Effect::LiftSwitch { scope: SwitchScope::Everything };
    let burn = || place.using(&approved);
    let answers = writer
        .commit_all(vec![
            place.call(Vec::new()),
            UnitOfWork { effect: Some(refused), ..place.call(vec![burn()]) },
            UnitOfWork { arms: place.arming().arms, ..place.call(vec![burn(), place.budget(1)]) },
            place.call(Vec::new()),
        ])
        .await;
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true]);
    assert_eq!(House::status(&mut writer, &approved).await, ApprovalStatus::Approved);
    let answers = writer.commit_all((0..8).map(|_| place.call(vec![burn()])).collect()).await;
    let told: Vec<Option<Refused>> = answers.into_iter().map(refusal).collect();
    let used = Some(Refused::NotApproved(ApprovalStatus::Used));
    assert!(told[0].is_none() && told[1..].iter().all(|told| *told == used), "{told:?}");
    assert_eq!(House::status(&mut writer, &approved).await, ApprovalStatus::Used);
    drop(writer);
    let writer = open::writer(&place.config).await.unwrap();
    assert!(writer.memory.gate().is_bare(), "sound, and no latch was left behind");
    assert_eq!(place.used(&writer), 3);
}

/// Everything that is kept in memory, in one batch.
fn everything(place: &House) -> Vec<UnitOfWork> {
    let mode = Effect::NoteMode { mode: Mode::Open, chosen: None };
    vec![
        place.call(vec![place.budget(9)]),
        place.arming(),
        UnitOfWork { effect: Some(place.engage()), ..place.call(Vec::new()) },
        UnitOfWork { effect: Some(mode), ..UnitOfWork::default() },
    ]
}

fn is_untouched(place: &House, writer: &Writer) -> bool {
    let gate = writer.memory.gate();
    let nothing = gate.latches().next().is_none() && gate.switches().engaged().is_empty();
    nothing && gate.mode().is_none() && gate.is_bare() && place.used(writer) == 0
}

#[tokio::test]
async fn a_batch_whose_commit_fails_leaves_memory_untouched() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    writer.conn.lock_handle().await.unwrap().set_commit_hook(|| false);
    let answers = writer.commit_all(everything(&place)).await;
    assert!(answers.iter().all(Result::is_err), "{answers:?}");
    assert!(is_untouched(&place, &writer));
    drop(writer);
    let mut writer = open::writer(&place.config).await.unwrap();
    assert!(is_untouched(&place, &writer));
    let answers = writer.commit_all(everything(&place)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert!(!is_untouched(&place, &writer));
}

#[tokio::test]
async fn a_batch_that_does_not_fit_leaves_memory_untouched_and_may_pass_later() {
    let place = House::new();
    let mut writer = open::writer(&place.config).await.unwrap();
    let pages: i64 =
        sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut writer.conn).await.unwrap();
    let limit = |pages: i64| sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
    sqlx::query(limit(pages + 4)).execute(&mut writer.conn).await.unwrap();
    let mut batch = everything(&place);
    batch.push(large());
    let answers = writer.commit_all(batch).await;
    assert!(answers.iter().all(Result::is_err), "{answers:?}");
    assert!(is_untouched(&place, &writer));
    sqlx::query(limit(1_000_000)).execute(&mut writer.conn).await.unwrap();
    let answers = writer.commit_all(everything(&place)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let told = (place.used(&writer), writer.tail);
    drop(writer);
    let writer = open::writer(&place.config).await.unwrap();
    // The log may still be there, since the house was not closed: then it says so, and no more.
    let (used, tail) = told;
    assert_eq!(place.used(&writer), used);
    assert!(writer.tail.seq - tail.seq <= 1, "sound, and nothing else to say");
    assert_eq!(writer.memory.gate().taint(&place.holder), BOTH);
}

fn refusal(answer: Answer) -> Option<Refused> {
    match answer {
        Ok(_) => None,
        Err(StoreError::Refused(refused)) => Some(refused),
        Err(other) => panic!("expected a refusal, got {other:?}"),
    }
}

/// A place for a house, and one holder in it.
struct House {
    _dir: tempfile::TempDir,
    config: SqliteConfig,
    clock: Arc<ManualClock>,
    holder: Holder,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_700_000_000_000)));
        let (key, seal) = (HeadKey::new([3; 32]), SealKey::from_seed(&[8; 32]));
        let (database, head) = (dir.path().join("db"), dir.path().join("head"));
        let config = SqliteConfig::new(database, head, key, seal, Arc::clone(&clock) as _);
        let agent = AgentId::from_uuid(fresh_uuid());
        let holder = Holder { agent, space: Some(SpaceId::from_uuid(fresh_uuid())) };
        Self { _dir: dir, config, clock, holder }
    }

    fn used(&self, writer: &Writer) -> u64 {
        let window = limits(0).window();
        let now = self.clock.now();
        let Usage { calls, .. } =
            writer.memory.with_accounts(|all| all.within(&self.holder, now, window));
        calls[0]
    }

    fn call(&self, guards: Vec<Guard>) -> UnitOfWork {
        let actor = Actor::Agent { id: self.holder.agent, slug: "agent".parse().unwrap() };
        let call = CallId::from_uuid(fresh_uuid());
        let record = RecordDraft {
            space: self.holder.space,
            tier: Some(Tier::T0),
            ..RecordDraft::new(Phase::Observed, call, actor, Transport::Http, "read")
        };
        UnitOfWork { guards, records: vec![record], ..UnitOfWork::default() }
    }

    /// Sets both, with no call.
    fn arming(&self) -> UnitOfWork {
        let now = self.clock.moment();
        let cause = Cause {
            surface: "workspace".to_owned(),
            tool: "read".to_owned(),
            call: CallId::from_uuid(fresh_uuid()),
            subject: Subject::default(),
            first: now,
            last: now,
        };
        let arms = Arming { holder: self.holder, taint: BOTH, cause };
        UnitOfWork { arms: Some(arms), ..UnitOfWork::default() }
    }

    /// An approval of this holder's, given.
    async fn approved(&self, writer: &mut Writer) -> Approval {
        let now = self.clock.moment();
        let binding = Binding {
            holder: self.holder,
            surface: "servers/web".to_owned(),
            tool: "post".to_owned(),
            definition: Digest::of(b"definition"),
            arguments: serde_json::json!({}),
            tier: Tier::T2,
            mode: Mode::Guarded,
            policy: Digest::of(b"policy"),
            run: None,
        };
        let approval = Approval {
            id: ApprovalId::from_uuid(fresh_uuid()),
            digest: binding.digest(),
            binding,
            because: Reason::Tainted,
            taint: BOTH,
            target: None,
            nonce: false,
            status: ApprovalStatus::Waiting,
            requested: now,
            until: now.wall.plus_millis(1_000),
            decided: None,
            note: None,
            used_by: None,
            wrong_nonces: 0,
        };
        let (id, digest) = (approval.id, approval.digest);
        let asked = Effect::RequestApproval { approval: Box::new(approval.clone()), cap: 1 };
        let decided = Effect::DecideApproval { id, digest, approve: true, note: None, at: now };
        let effects = [Effect::AddAgent(self.agent()), asked, decided];
        let units =
            effects.map(|effect| UnitOfWork { effect: Some(effect), ..UnitOfWork::default() });
        let answers = writer.commit_all(units.into()).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        approval
    }

    fn agent(&self) -> Agent {
        Agent {
            id: self.holder.agent,
            slug: "agent".parse().unwrap(),
            name: Title::parse("Agent").unwrap(),
            kind: AgentKind::External,
            model: None,
            grants: Grants::standard(),
            ceiling: Tier::T3,
            budget: None,
            tiers: narthex_core::ToolTiers::default(),
            space: None,
            disabled: false,
            created: self.clock.now(),
        }
    }

    fn using(&self, approval: &Approval) -> Guard {
        let call = CallId::from_uuid(fresh_uuid());
        let (now, valid) = (self.clock.moment(), Duration::from_mins(10));
        Guard::Approved { id: approval.id, digest: approval.digest, call, now, valid }
    }

    async fn status(writer: &mut Writer, approval: &Approval) -> ApprovalStatus {
        let gate = &mut writer.memory.gate();
        let mut bench = Bench { conn: &mut writer.conn, key: &writer.row_key, gate };
        bench.approval(approval.id).await.unwrap().unwrap().status
    }

    fn engage(&self) -> Effect {
        Effect::EngageSwitch(Engaged {
            scope: SwitchScope::Everything,
            by: EngagedBy::Owner,
            note: String::new(),
            at: self.clock.now(),
        })
    }

    fn not_stopped(&self) -> Guard {
        let Holder { agent, space } = self.holder;
        Guard::NotStopped(Place { agent, reaches: Reaches::of(space), upstream: None })
    }

    const fn taint(&self, decided: Taint) -> Guard {
        Guard::TaintWithin { holder: self.holder, decided }
    }

    const fn ceiling(&self) -> Guard {
        Guard::CeilingAdmits { holder: self.holder, tier: Tier::T0 }
    }

    fn budget(&self, calls: u64) -> Guard {
        let (holder, budget) = (self.holder, limits(calls));
        Guard::WithinBudget { holder, budget, now: self.clock.now() }
    }
}

fn limits(calls: u64) -> Budget {
    Budget { calls: [Some(calls), None, None, None], ..Budget::default() }
}

fn large() -> UnitOfWork {
    let talk = Conversation {
        id: ConversationId::from_uuid(fresh_uuid()),
        title: Title::parse("Long").unwrap(),
        body: "word ".repeat(100_000),
        created: Timestamp::from_millis(1),
    };
    UnitOfWork { effect: Some(Effect::AddConversation(talk)), ..UnitOfWork::default() }
}
