//! Requests for approval: asked for by agents, decided by the owner, used up by one call.

use std::time::Duration;

use narthex_core::{Age, Approval, ApprovalId, ApprovalStatus, CallId, Digest, Moment};
use narthex_store::{Effected, Refused, StoreError};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::matter::{self, Matter, approvals};
use crate::rows::Fields;

/// Puts a request before the owner, unless the same call waits there already.
pub(super) async fn request(
    bench: &mut Bench<'_>,
    approval: Approval,
    cap: u32,
) -> Result<Effected, Fault> {
    if approval.binding.digest() != approval.digest {
        // The owner would be shown one call and approve another.
        return Err(Fault::damaged("the digest of a request is not that of its call"));
    }
    let approval = Approval {
        status: ApprovalStatus::Waiting,
        decided: None,
        note: None,
        used_by: None,
        wrong_nonces: 0,
        ..approval
    };
    let waiting = still_waiting(bench, &approval).await?;
    let same = |other: &&Approval| {
        (other.binding.holder, other.digest) == (approval.binding.holder, approval.digest)
    };
    if let Some(older) = waiting.iter().find(same) {
        return Ok(Effected::Waits(Box::new(older.clone())));
    }
    if waiting.len() >= usize::try_from(cap).unwrap_or(usize::MAX) {
        return Err(Refused::TooManyWaiting { cap }.into());
    }
    forget_old(bench, approval.requested).await?;
    matter::insert(bench, &approval).await?;
    Ok(Effected::Waits(Box::new(approval)))
}

/// The agent's requests that the owner can still decide on. The others are void from here on.
async fn still_waiting(bench: &mut Bench<'_>, new: &Approval) -> Result<Vec<Approval>, Fault> {
    let rows = sqlx::query(WAITING_OF_AGENT)
        .bind(new.binding.holder.agent.as_bytes().as_slice())
        .fetch_all(&mut *bench.conn)
        .await?;
    let mut waiting = Vec::with_capacity(rows.len());
    for row in &rows {
        let found = matter::approval(Fields(row), bench.key);
        match found.and_then(|found| found.current(bench.gate.matters())) {
            Ok(approval) if waits(&approval, new.requested) => waiting.push(approval),
            Ok(approval) => {
                let void = Approval { status: ApprovalStatus::Void, ..approval };
                matter::update(bench, &void).await?;
            }
            // Nobody can decide on it, so it stands in nobody's way.
            Err(fault) => {
                let error = StoreError::from(fault);
                tracing::error!(%error, "a request for approval is passed over");
            }
        }
    }
    Ok(waiting)
}

/// The owner's answer.
pub(super) async fn decide(
    bench: &mut Bench<'_>,
    id: ApprovalId,
    shown: Digest,
    answer: (bool, Option<String>),
    at: Moment,
) -> Result<Effected, Fault> {
    let mut approval = waiting(bench, id).await?;
    if approval.digest != shown {
        return Err(Refused::NotApproved(approval.status).into());
    }
    if !waits(&approval, at) {
        return Err(Refused::NotApproved(ApprovalStatus::Void).into());
    }
    let (approve, note) = answer;
    approval.status = if approve { ApprovalStatus::Approved } else { ApprovalStatus::Denied };
    approval.decided = Some(at);
    approval.note = note;
    matter::update(bench, &approval).await?;
    Ok(Effected::Approval(approval.status))
}

/// Counts a wrong nonce; too many end the request.
pub(super) async fn wrong_nonce(
    bench: &mut Bench<'_>,
    id: ApprovalId,
    most: u32,
) -> Result<Effected, Fault> {
    let mut approval = waiting(bench, id).await?;
    approval.wrong_nonces = approval.wrong_nonces.saturating_add(1);
    if approval.wrong_nonces >= most {
        approval.status = ApprovalStatus::Void;
    }
    matter::update(bench, &approval).await?;
    Ok(Effected::Approval(approval.status))
}

/// A call about to use an approval up.
#[derive(Debug)]
pub(in crate::writer) struct Burn {
    pub(in crate::writer) id: ApprovalId,
    pub(in crate::writer) digest: Digest,
    pub(in crate::writer) call: CallId,
    pub(in crate::writer) now: Moment,
    pub(in crate::writer) valid: Duration,
}

/// Uses an approval up, if it is good for exactly this call, now.
///
// INVARIANT: inside the unit's savepoint, so that it is used up with the rest or not at all.
pub(in crate::writer) async fn burn(bench: &mut Bench<'_>, burn: &Burn) -> Result<(), Fault> {
    let refused = |status| Err(Refused::NotApproved(status).into());
    let Some(mut approval) = bench.approval(burn.id).await? else {
        return refused(ApprovalStatus::Void);
    };
    match approval.use_up(burn.digest, burn.call, burn.now, burn.valid) {
        Ok(()) => matter::update(bench, &approval).await,
        Err(status) => refused(status),
    }
}

/// The request, if it still waits.
async fn waiting(bench: &mut Bench<'_>, id: ApprovalId) -> Result<Approval, Fault> {
    let found = bench.approval(id).await?;
    let approval = found.ok_or(Fault::Refused(Refused::NotFound("approval")))?;
    if approval.status == ApprovalStatus::Waiting {
        Ok(approval)
    } else {
        Err(Refused::NotApproved(approval.status).into())
    }
}

/// Whether a waiting request can still be decided on: by both clocks, and in the same boot.
fn waits(approval: &Approval, now: Moment) -> bool {
    let asked = approval.requested;
    let millis = approval.until.as_millis().saturating_sub(asked.wall.as_millis());
    let Ok(millis) = u64::try_from(millis) else { return false };
    now.age(asked, Duration::from_millis(millis)) == Age::Within
}

/// Ends every request that was not used, whether decided on or not.
pub(in crate::writer) async fn void_all(bench: &mut Bench<'_>) -> Result<(), Fault> {
    let matters = bench.gate.matters().clone();
    for matter in matters.names() {
        let Matter::Approval(id) = matter else { continue };
        if let Some(approval) = bench.approval(*id).await? {
            let void = Approval { status: ApprovalStatus::Void, ..approval };
            matter::update(bench, &void).await?;
        }
    }
    Ok(())
}

/// What was asked for long ago goes, some at a time. An open one among it is void by every clock.
async fn forget_old(bench: &mut Bench<'_>, now: Moment) -> Result<(), Fault> {
    let gone: Vec<Vec<u8>> = sqlx::query_scalar(
        "DELETE FROM approvals WHERE id IN (
             SELECT id FROM approvals WHERE requested < ?1 ORDER BY requested LIMIT 64)
         RETURNING id",
    )
    .bind(now.wall.as_millis().saturating_sub(KEPT_MILLIS))
    .fetch_all(&mut *bench.conn)
    .await?;
    for id in &gone {
        bench.let_go(&Matter::Approval(ApprovalId::from_bytes(id).map_err(Fault::damaged)?));
    }
    Ok(())
}

const WAITING_OF_AGENT: &str = approvals!("WHERE agent = ?1 AND status = 'waiting'");

/// Thirty days.
const KEPT_MILLIS: i64 = 30 * 24 * 3_600 * 1_000;
