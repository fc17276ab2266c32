//! A call that waits for the owner: looked up, asked for, told of.

use narthex_core::{
    Approval, ApprovalId, ApprovalMark, ApprovalStatus, Approver, Binding, Digest, ForCall, Reason,
    Taint, Timestamp, canonical_json,
};
use narthex_store::{Effect, Effected, Guard, Refused, StoreError, UnitOfWork, fresh_uuid};

use super::record::Trace;
use crate::gate::Inner;
use crate::{CallError, Gate, Waiting};

/// An approval a call may go ahead with. It is used up with the intent, not before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approved {
    pub(super) id: ApprovalId,
    pub(super) digest: Digest,
}

/// What is asked of the owner.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) binding: Binding,
    pub(super) because: Reason,
    pub(super) taint: Taint,
    pub(super) target: Option<String>,
    pub(super) nonce: bool,
}

impl Approved {
    pub(super) const fn mark(&self) -> ApprovalMark {
        ApprovalMark {
            id: self.id,
            digest: self.digest,
            approver: Some(Approver::Owner),
            dry_run: false,
        }
    }
}

impl Inner {
    /// The approval for exactly this call, or what to tell instead. A refusal or a waiting
    /// request is recorded before it is told.
    pub(super) async fn approved(
        &self,
        trace: &Trace,
        asked: Asked,
    ) -> Result<Approved, CallError> {
        let digest = asked.binding.digest();
        let known = self.store.approval_of(asked.binding.holder, digest).await;
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                tracing::error!(%error, "approvals cannot be read");
                let record = trace.refused(Reason::Unavailable, 1);
                return Err(self.refuse(CallError::Unavailable, record).await);
            }
        };
        let now = self.clock.moment();
        if let Some(known) = known {
            let (valid, wait) = (self.config.approval_valid, self.config.approval_wait);
            match known.for_call(now, valid, wait) {
                ForCall::Use => return Ok(Approved { id: known.id, digest }),
                ForCall::WasUsed => {
                    return Err(self.tell(trace, &known, Reason::ApprovalUsed).await);
                }
                ForCall::WasDenied => {
                    return Err(self.tell(trace, &known, Reason::ApprovalDenied).await);
                }
                ForCall::Ask => {}
            }
        }
        Err(self.ask(trace, asked, digest).await)
    }

    /// Puts the call before the owner; the same call that waits already is not put there twice.
    async fn ask(&self, trace: &Trace, asked: Asked, digest: Digest) -> CallError {
        let most = self.config.approval_bytes;
        if canonical_json(&asked.binding.arguments).len() > most {
            let message = format!(
                "this call needs the owner's approval, and its arguments are more than the {most} bytes an owner can look at: make it smaller, or do it where no approval is needed"
            );
            let reason = Reason::LimitReached;
            return self.told(trace.refused(reason, 1), reason, message).await;
        }
        let now = self.clock.moment();
        let wait = i64::try_from(self.config.approval_wait.as_millis()).unwrap_or(i64::MAX);
        let approval = Approval {
            id: ApprovalId::from_uuid(fresh_uuid()),
            binding: asked.binding,
            digest,
            because: asked.because,
            taint: asked.taint,
            target: asked.target,
            nonce: asked.nonce,
            status: ApprovalStatus::Waiting,
            requested: now,
            until: now.wall.plus_millis(wait),
            decided: None,
            note: None,
            used_by: None,
            wrong_nonces: 0,
        };
        let mark = ApprovalMark { id: approval.id, digest, approver: None, dry_run: true };
        let unit = UnitOfWork::effect(
            Effect::RequestApproval {
                approval: Box::new(approval),
                cap: self.config.approvals_waiting,
            },
            trace.waits(asked.because, mark),
        );
        match self.store.commit(unit).await.map(|committed| committed.effected) {
            Ok(Effected::Waits(waiting)) => CallError::Waiting(Box::new(Waiting::of(&waiting))),
            Ok(_) => CallError::Internal,
            Err(StoreError::Refused(refused @ Refused::TooManyWaiting { .. })) => {
                let record = trace.refused(Reason::LimitReached, 1);
                self.told(record, Reason::LimitReached, refused.to_string()).await
            }
            Err(error) => {
                tracing::error!(%error, "a request for approval could not be kept");
                CallError::Unavailable
            }
        }
    }

    async fn tell(&self, trace: &Trace, known: &Approval, reason: Reason) -> CallError {
        let until = known.decided.unwrap_or(known.requested).wall;
        let message = match (reason, &known.note) {
            (Reason::ApprovalUsed, _) => format!(
                "{}; if it must run again, ask again after {}",
                reason.message(),
                later(until, self.config.approval_valid)
            ),
            (_, Some(note)) => format!("{}: {note}", reason.message()),
            (_, None) => reason.message().to_owned(),
        };
        self.told(trace.refused(reason, 1), reason, message).await
    }

    async fn told(
        &self,
        record: narthex_core::RecordDraft,
        reason: Reason,
        message: String,
    ) -> CallError {
        match self.store.commit(UnitOfWork::records(vec![record])).await {
            Ok(_) => CallError::Refused { reason, message },
            Err(error) => {
                tracing::error!(%error, "a refusal could not be recorded");
                CallError::Unavailable
            }
        }
    }

    /// Uses the approval up, inside the transaction of the intent.
    pub(super) fn burns(&self, trace: &Trace, approved: Approved) -> Guard {
        Guard::Approved {
            id: approved.id,
            digest: approved.digest,
            call: trace.call,
            now: self.clock.moment(),
            valid: self.config.approval_valid,
        }
    }
}

impl Gate {
    /// What the owner must type to approve a call that cannot be undone. It is derived, so it
    /// lies nowhere; only what speaks to the owner may ask for it.
    pub fn nonce_of(&self, approval: &Approval) -> String {
        let mut text = b"narthex nonce v1\n".to_vec();
        text.extend_from_slice(approval.id.as_bytes());
        text.extend_from_slice(approval.digest.as_bytes());
        let hash = self.inner().rows.value(&text);
        hash.as_bytes()
            .iter()
            .take(NONCE_CHARS)
            .filter_map(|byte| NONCE_ALPHABET.get(usize::from(byte % 32)))
            .map(|byte| char::from(*byte))
            .collect()
    }
}

fn later(at: Timestamp, by: std::time::Duration) -> Timestamp {
    at.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

/// Forty bits, tried at most a few times.
const NONCE_CHARS: usize = 8;
/// Without letters that are taken for others.
const NONCE_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
