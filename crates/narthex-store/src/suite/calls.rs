//! Agents' calls, for the cases about what the gate remembers of them.

use std::time::Duration;

use narthex_core::{
    Actor, Agent, Approval, ApprovalId, ApprovalStatus, Arming, Binding, Budget, CallId, Cause,
    Digest, Holder, Mode, Moment, Phase, Reason, RecordDraft, Subject, Taint, Tier, Timestamp,
    Transport, Usage,
};
use serde_json::json;

use super::Backend;
use super::house::{House, record};
use crate::{Clock as _, Committed, Effect, Effected, Guard, StoreError, UnitOfWork, fresh_uuid};

pub(super) const PRIVATE: Taint = Taint { private: true, untrusted: false };
pub(super) const UNTRUSTED: Taint = Taint { private: false, untrusted: true };
pub(super) const BOTH: Taint = Taint { private: true, untrusted: true };
pub(super) const TEN_MINUTES: Duration = Duration::from_mins(10);
pub(super) const MINUTE: i64 = 60_000;

impl House {
    pub(super) async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError> {
        self.store.commit(unit).await
    }

    pub(super) async fn approval(&self, id: ApprovalId) -> Approval {
        self.store.approval(id).await.expect("reads").expect("there is such a request")
    }

    pub(super) async fn status(&self, id: ApprovalId) -> ApprovalStatus {
        self.approval(id).await.status
    }

    /// Asks for an approval, which then waits.
    pub(super) async fn ask(&self, approval: &Approval) -> Approval {
        match self.done(ask(approval, 100)).await {
            Effected::Waits(waiting) => *waiting,
            other => panic!("expected a waiting request, got {other:?}"),
        }
    }

    /// Asks for an approval and gives it.
    pub(super) async fn approved(&self, backend: &dyn Backend, target: &str) -> Approval {
        let asked = self.ask(&request(&self.agent, target, backend)).await;
        self.done(decide(&asked, true, backend)).await;
        asked
    }

    /// What was used up in the last ten minutes.
    pub(super) async fn used(&self, holder: Holder, backend: &dyn Backend) -> Usage {
        let spent = self.store.spent(holder).await.expect("reads");
        spent.within(backend.clock().now(), TEN_MINUTES)
    }

    pub(super) async fn taint(&self, holder: Holder) -> Taint {
        self.store.latch(holder).await.expect("reads").taint()
    }
}

pub(super) const fn holder(agent: &Agent) -> Holder {
    Holder { agent: agent.id, space: agent.space }
}

/// The record of a call that an agent made.
pub(super) fn call(agent: &Agent, phase: Phase, tier: Tier) -> RecordDraft {
    let id = CallId::from_uuid(fresh_uuid());
    RecordDraft {
        space: agent.space,
        tier: Some(tier),
        ..RecordDraft::new(phase, id, Actor::from(agent), Transport::Http, "tool")
    }
}

/// A unit of one observed call, with these guards.
pub(super) fn guarded(agent: &Agent, guards: Vec<Guard>) -> UnitOfWork {
    let records = vec![call(agent, Phase::Observed, Tier::T0)];
    UnitOfWork { guards, records, ..UnitOfWork::default() }
}

/// So many T0 calls in ten minutes.
pub(super) fn calls(most: u64) -> Budget {
    Budget { window_seconds: 600, calls: [Some(most), None, None, None], ..Budget::default() }
}

pub(super) fn within(agent: &Agent, budget: Budget, now: Timestamp) -> Guard {
    Guard::WithinBudget { holder: holder(agent), budget, now }
}

pub(super) fn cause(now: Moment) -> Cause {
    Cause {
        surface: "workspace".to_owned(),
        tool: "read".to_owned(),
        call: CallId::from_uuid(fresh_uuid()),
        subject: Subject::one("page", "p"),
        first: now,
        last: now,
    }
}

/// A unit of one observed call whose answer sets this.
pub(super) fn arming(agent: &Agent, taint: Taint, now: Moment) -> UnitOfWork {
    let arms = Arming { holder: holder(agent), taint, cause: cause(now) };
    UnitOfWork { arms: Some(arms), ..guarded(agent, Vec::new()) }
}

/// A request for approval of one exact call, that waits for ten minutes.
pub(super) fn request(agent: &Agent, target: &str, backend: &dyn Backend) -> Approval {
    let now = backend.clock().moment();
    let binding = Binding {
        holder: holder(agent),
        surface: "servers/web".to_owned(),
        tool: "post".to_owned(),
        definition: Digest::of(b"definition"),
        arguments: json!({"to": target, "n": 1.5, "text": "a\u{2028}b\u{0}c"}),
        tier: Tier::T2,
        mode: Mode::Guarded,
        policy: Digest::of(b"policy"),
        run: None,
    };
    let (id, until) = (ApprovalId::from_uuid(fresh_uuid()), now.wall.plus_millis(10 * MINUTE));
    let asked = Approval::waiting(id, binding, Reason::Tainted, UNTRUSTED, now, until);
    Approval { target: Some(target.to_owned()), ..asked }
}

pub(super) fn ask(approval: &Approval, cap: u32) -> Effect {
    Effect::RequestApproval { approval: Box::new(approval.clone()), cap }
}

pub(super) fn decide(approval: &Approval, approve: bool, backend: &dyn Backend) -> Effect {
    Effect::DecideApproval {
        id: approval.id,
        digest: approval.digest,
        approve,
        note: Some("so be it".to_owned()),
        at: backend.clock().moment(),
    }
}

/// A unit that uses an approval up, and does nothing else but record it.
pub(super) fn using(approval: &Approval, backend: &dyn Backend) -> UnitOfWork {
    let guard = Guard::Approved {
        id: approval.id,
        digest: approval.digest,
        call: CallId::from_uuid(fresh_uuid()),
        now: backend.clock().moment(),
        valid: TEN_MINUTES,
    };
    UnitOfWork {
        guards: vec![guard],
        records: vec![record("approved call")],
        ..UnitOfWork::default()
    }
}
