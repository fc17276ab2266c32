//! Requests for approval: shown whole, answered once.

use narthex_core::{
    Age, Approval, ApprovalId, ApprovalMark, ApprovalStatus, Approver, Bound, Digest, Outcome,
    ParkedRun, Reason, RecordDraft, Subject, clean_line,
};
use narthex_store::{ApprovalFilter, Effect, Effected, Refused, StoreError, UnitOfWork};
use subtle::ConstantTimeEq as _;

use super::desk::{conflict, invalid, not_found, owner_record};
use super::taint::later;
use super::{
    Answer, ApprovalAnswered, ApprovalDetail, ApprovalInfo, ApprovalRequest, Desk, Nonce,
    OwnerError, Reply, RunShown, Trouble,
};

impl Desk {
    pub(super) async fn approval(&self, request: ApprovalRequest) -> Result<Reply, OwnerError> {
        match request {
            ApprovalRequest::List { agent, all, limit } => {
                let agent = match agent {
                    Some(name) => Some(self.agent_named(&name).await?.id),
                    None => None,
                };
                self.approvals(agent, all, limit).await.map(Reply::Approvals)
            }
            ApprovalRequest::Show { approval } => self.approval_show(&approval).await,
            ApprovalRequest::Answer { approval, digest, answer } => {
                let approval = self.approval_named(&approval).await?;
                match answer {
                    Answer::Approve { nonce } => self.approve(approval, digest, nonce).await,
                    Answer::Deny { reason } => self.deny(approval, digest, reason).await,
                }
            }
        }
    }

    /// Those that wait, or all.
    pub(super) async fn approvals(
        &self,
        agent: Option<narthex_core::AgentId>,
        all: bool,
        limit: u32,
    ) -> Result<Vec<ApprovalInfo>, OwnerError> {
        let statuses = if all { Vec::new() } else { vec![ApprovalStatus::Waiting] };
        let filter = ApprovalFilter { agent, statuses, limit: limit.clamp(1, MAX_LIST) };
        let mut infos = Vec::new();
        for approval in self.store().approvals(&filter).await? {
            let info = self.approval_info(&approval).await?;
            if all || info.status == ApprovalStatus::Waiting {
                infos.push(info);
            }
        }
        Ok(infos)
    }

    async fn approval_show(&self, name: &str) -> Result<Reply, OwnerError> {
        let approval = self.approval_named(name).await?;
        let info = self.approval_info(&approval).await?;
        let latch = self.store().latch(approval.binding.holder).await?;
        let latch = if latch.taint().is_clean() {
            None
        } else {
            Some(self.latch_info(approval.binding.holder, &latch).await?)
        };
        let open = info.status == ApprovalStatus::Waiting && info.needs_nonce;
        let nonce = open.then(|| Nonce::typed(&self.gate.nonce_of(&approval)));
        let runs = self.store().parked_runs(Some(approval.binding.holder)).await?;
        let waits = |run: &ParkedRun| run.waiting.contains(&approval.id);
        let run = runs.into_iter().find(waits).map(RunShown::of);
        let binding = approval.binding;
        Ok(Reply::Approval(Box::new(ApprovalDetail {
            info,
            arguments: binding.arguments,
            mode: binding.mode,
            definition: binding.definition,
            policy: binding.policy,
            latch,
            nonce,
            run,
        })))
    }

    async fn approve(
        &self,
        approval: Approval,
        shown: Digest,
        nonce: Option<Nonce>,
    ) -> Result<Reply, OwnerError> {
        if approval.nonce {
            self.check_nonce(&approval, nonce).await?;
        }
        let answered = self.decide(&approval, shown, true, None).await?;
        Ok(Reply::ApprovalAnswered(answered))
    }

    async fn deny(
        &self,
        approval: Approval,
        shown: Digest,
        reason: Option<String>,
    ) -> Result<Reply, OwnerError> {
        let reason = reason.map(|reason| clean_line("reason", &reason, Bound::REASON_CHARS));
        let note = reason.transpose().map_err(invalid)?;
        let answered = self.decide(&approval, shown, false, note).await?;
        Ok(Reply::ApprovalAnswered(answered))
    }

    async fn decide(
        &self,
        approval: &Approval,
        shown: Digest,
        approve: bool,
        note: Option<String>,
    ) -> Result<ApprovalAnswered, OwnerError> {
        let at = self.gate.clock().moment();
        let effect = Effect::DecideApproval { id: approval.id, digest: shown, approve, note, at };
        let action = if approve { "approval.approve" } else { "approval.deny" };
        let record = record(approval, action, Outcome::Ok, Reason::OwnerAction);
        let committed = self.store().commit(UnitOfWork::effect(effect, record)).await;
        let status = match committed.map_err(|error| unanswered(approval, error))?.effected {
            Effected::Approval(status) => status,
            _ if approve => ApprovalStatus::Approved,
            _ => ApprovalStatus::Denied,
        };
        let valid = self.gate.config().approval_valid;
        let good_until = approve.then(|| later(at.wall, valid));
        Ok(ApprovalAnswered { id: approval.id, status, good_until })
    }

    /// INVARIANT: a wrong nonce is counted and recorded before it is told, and what was typed is
    /// nowhere.
    async fn check_nonce(
        &self,
        approval: &Approval,
        typed: Option<Nonce>,
    ) -> Result<(), OwnerError> {
        let Some(typed) = typed else {
            return Err(invalid(format!(
                "this call cannot be undone, so the nonce must be typed; see it with: narthex approvals show {}",
                approval.id
            )));
        };
        let right = self.gate.nonce_of(approval);
        if bool::from(right.as_bytes().ct_eq(typed.in_clear().as_bytes())) {
            return Ok(());
        }
        let most = self.gate.config().wrong_nonces;
        let effect = Effect::WrongNonce { id: approval.id, most };
        let record =
            record(approval, "approval.wrong_nonce", Outcome::Refused, Reason::ApprovalNeeded);
        let committed = self.store().commit(UnitOfWork::effect(effect, record)).await;
        let status = committed.map_err(|error| unanswered(approval, error))?.effected;
        let message = if status == Effected::Approval(ApprovalStatus::Void) {
            "not approved: wrong nonces were typed too often, so the request is void; the agent must ask again".to_owned()
        } else {
            format!(
                "not approved: that is not the nonce; see it with: narthex approvals show {}",
                approval.id
            )
        };
        Err(OwnerError { kind: Trouble::Denied, message })
    }

    async fn approval_named(&self, name: &str) -> Result<Approval, OwnerError> {
        let missing = || not_found("request for approval", name, "narthex approvals list --all");
        let id: ApprovalId = name.parse().map_err(|_| missing())?;
        self.store().approval(id).await?.ok_or_else(missing)
    }

    async fn approval_info(&self, approval: &Approval) -> Result<ApprovalInfo, OwnerError> {
        let holder = approval.binding.holder;
        let (status, until) = self.standing(approval);
        Ok(ApprovalInfo {
            id: approval.id,
            agent: self.slug_of_agent(holder.agent).await?,
            agent_id: holder.agent,
            space: self.slug_of_space(holder.space).await?,
            space_id: holder.space,
            surface: approval.binding.surface.clone(),
            tool: approval.binding.tool.clone(),
            tier: approval.binding.tier,
            target: approval.target.clone(),
            because: approval.because,
            taint: approval.taint,
            needs_nonce: approval.nonce,
            status,
            requested: approval.requested.wall,
            until,
            decided: approval.decided.map(|at| at.wall),
            note: approval.note.clone(),
            used_by: approval.used_by,
            wrong_nonces: approval.wrong_nonces,
            digest: approval.digest,
        })
    }

    /// What it is worth now, and until when.
    fn standing(&self, approval: &Approval) -> (ApprovalStatus, narthex_core::Timestamp) {
        let now = self.gate.clock().moment();
        let config = self.gate.config();
        let (since, limit, until) = match (approval.status, approval.decided) {
            (ApprovalStatus::Approved, Some(at)) => {
                (at, config.approval_valid, later(at.wall, config.approval_valid))
            }
            _ => (approval.requested, config.approval_wait, approval.until),
        };
        let open = matches!(approval.status, ApprovalStatus::Waiting | ApprovalStatus::Approved);
        let over = now.age(since, limit) != Age::Within || now.wall > until;
        (if open && over { ApprovalStatus::Void } else { approval.status }, until)
    }
}

fn record(approval: &Approval, action: &str, outcome: Outcome, reason: Reason) -> RecordDraft {
    let subject =
        Subject { digest: Some(approval.digest), ..Subject::one("approval", approval.id) };
    let approver = (outcome == Outcome::Ok).then_some(Approver::Owner);
    RecordDraft {
        tier: Some(approval.binding.tier),
        approval: Some(ApprovalMark {
            id: approval.id,
            digest: approval.digest,
            approver,
            dry_run: false,
        }),
        ..owner_record(action, approval.binding.holder.space, subject, outcome, reason)
    }
}

/// Why an answer was not taken, with the way out.
fn unanswered(approval: &Approval, error: StoreError) -> OwnerError {
    let StoreError::Refused(Refused::NotApproved(status)) = error else { return error.into() };
    conflict(match status {
        ApprovalStatus::Void => "it waited too long, or is void for another reason (wrong nonces, a clock that jumped, a restart of the machine); the agent must ask again".to_owned(),
        ApprovalStatus::Waiting => format!(
            "it is not what was shown; look again: narthex approvals show {}",
            approval.id
        ),
        decided => format!("it is {decided} already"),
    })
}

const MAX_LIST: u32 = 1_000;
