//! What a call leaves in the ledger, gathered while it goes through.

use std::collections::BTreeMap;
use std::time::Instant;

use narthex_core::{
    Actor, ApprovalMark, Bound, CallId, Cost, Digest, Outcome, Phase, Reason, RecordDraft,
    RequestId, Reserve, Ruled, RunId, SessionId, SpaceId, Subject, Taint, Tier, TokenId, Transport,
};

use super::Admitted;

/// Everything about a call that its records share.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) call: CallId,
    pub(crate) actor: Actor,
    pub(crate) token: Option<TokenId>,
    pub(crate) transport: Transport,
    pub(crate) space: Option<SpaceId>,
    pub(crate) surface: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: Option<Digest>,
    pub(crate) values: BTreeMap<String, Digest>,
    pub(crate) taint: Taint,
    pub(crate) approval: Option<ApprovalMark>,
    pub(crate) tier: Option<Tier>,
    pub(crate) request: Option<RequestId>,
    pub(crate) session: Option<SessionId>,
    pub(crate) run: Option<RunId>,
    pub(crate) started: Instant,
}

impl Trace {
    /// Of someone who got no further than the door.
    pub(crate) fn door(call: CallId, actor: Actor, transport: Transport) -> Self {
        Self {
            call,
            actor,
            transport,
            token: None,
            space: None,
            surface: None,
            tool: "door".to_owned(),
            arguments: None,
            values: BTreeMap::new(),
            taint: Taint::CLEAN,
            approval: None,
            tier: None,
            request: None,
            session: None,
            run: None,
            started: Instant::now(),
        }
    }

    /// Of someone who is inside and asks for something.
    pub(crate) fn inside(call: CallId, admitted: &Admitted, surface: &str, tool: &str) -> Self {
        Self {
            token: admitted.principal.token,
            space: admitted.scope.space(),
            surface: Some(surface.to_owned()),
            tool: tool.chars().take(Bound::TOOL_NAME_CHARS).collect(),
            run: admitted.run.map(|run| run.id),
            ..Self::door(call, Actor::from(admitted.principal.agent.as_ref()), admitted.transport)
        }
    }

    /// One record for decision and outcome together.
    pub(crate) fn observed(
        &self,
        outcome: Outcome,
        reason: Reason,
        subject: Subject,
    ) -> RecordDraft {
        self.draft(Phase::Observed, Ruled::Allow, reason, outcome, subject)
    }

    /// The decision to act.
    pub(crate) fn intent(&self, subject: Subject) -> RecordDraft {
        RecordDraft {
            micros: None,
            ..self.draft(Phase::Intent, Ruled::Allow, Reason::Permitted, Outcome::Open, subject)
        }
    }

    /// What came of it.
    pub(crate) fn outcome(
        &self,
        outcome: Outcome,
        reason: Reason,
        subject: Subject,
    ) -> RecordDraft {
        self.draft(Phase::Outcome, Ruled::Allow, reason, outcome, subject)
    }

    /// A refusal, or so many of the same kind.
    pub(crate) fn refused(&self, reason: Reason, count: u64) -> RecordDraft {
        let subject = Subject { count: (count > 1).then_some(count), ..Subject::default() };
        self.draft(Phase::Refused, Ruled::Refuse, reason, Outcome::Refused, subject)
    }

    /// A call that waits for the owner.
    pub(crate) fn waits(&self, reason: Reason, mark: ApprovalMark) -> RecordDraft {
        let subject = Subject::one("approval", mark.id);
        RecordDraft {
            approval: Some(mark),
            ..self.draft(Phase::Refused, Ruled::Approval, reason, Outcome::Refused, subject)
        }
    }

    fn draft(
        &self,
        phase: Phase,
        decision: Ruled,
        reason: Reason,
        outcome: Outcome,
        subject: Subject,
    ) -> RecordDraft {
        RecordDraft {
            phase,
            call: self.call,
            actor: self.actor.clone(),
            token: self.token,
            transport: self.transport,
            space: self.space,
            surface: self.surface.clone(),
            tool: self.tool.clone(),
            arguments: self.arguments,
            values: self.values.clone(),
            bytes: None,
            cost: None,
            reserve: Reserve::default(),
            taint: self.taint,
            armed: Taint::CLEAN,
            approval: self.approval.clone(),
            decision,
            reason,
            tier: self.tier,
            outcome,
            micros: Some(u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)),
            request: self.request.clone(),
            session: self.session.clone(),
            run: self.run,
            subject,
        }
    }
}

/// What a record says of the answer it releases.
pub(crate) struct Released<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) reason: Reason,
    pub(crate) subject: &'a Subject,
    pub(crate) bytes: Option<u64>,
    pub(crate) cost: Option<Cost>,
    pub(crate) armed: Taint,
}

impl Released<'_> {
    /// Fills in a record of the trace's own.
    pub(crate) fn on(self, record: RecordDraft) -> RecordDraft {
        RecordDraft {
            outcome: self.outcome,
            reason: self.reason,
            subject: self.subject.clone(),
            bytes: self.bytes,
            cost: self.cost,
            armed: self.armed,
            ..record
        }
    }
}
