//! A store in memory: it keeps records and agents, and has nothing else to tell.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use narthex_core::{
    Agent, AgentId, Approval, ApprovalId, ApprovalStatus, Digest, Holder, RecordDraft, Slug,
};
use narthex_store::{
    Agents, ApprovalFilter, Approvals, Clock as _, Commits, Committed, Effect, Effected, Guard,
    Receipt, Refused, StoreError, SystemClock, UnitOfWork,
};

#[derive(Debug)]
pub(crate) struct MemoryStore {
    agents: Mutex<Vec<Agent>>,
    records: Mutex<Vec<RecordDraft>>,
    approvals: Mutex<Vec<Approval>>,
    broken: AtomicBool,
    epoch: AtomicU64,
}

impl MemoryStore {
    pub(crate) fn new(agents: &[Agent]) -> Self {
        Self {
            agents: Mutex::new(agents.to_vec()),
            records: Mutex::default(),
            approvals: Mutex::default(),
            broken: AtomicBool::new(false),
            epoch: AtomicU64::new(1),
        }
    }

    pub(crate) fn records(&self) -> Vec<RecordDraft> {
        self.records.lock().expect("not poisoned").clone()
    }

    /// From now on nothing can be written.
    pub(crate) fn break_ledger(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// From now on it can be written again.
    pub(crate) fn mend_ledger(&self) {
        self.broken.store(false, Ordering::SeqCst);
    }

    /// The owner says yes to everything that waits.
    pub(crate) fn approve_all(&self) {
        for approval in self.approvals.lock().expect("not poisoned").iter_mut() {
            if approval.status == ApprovalStatus::Waiting {
                approval.status = ApprovalStatus::Approved;
                approval.decided = Some(SystemClock.moment());
            }
        }
    }

    pub(crate) fn approvals(&self) -> Vec<Approval> {
        self.approvals.lock().expect("not poisoned").clone()
    }

    /// Uses up what a unit was approved with.
    fn burn(&self, guards: &[Guard]) -> Result<(), StoreError> {
        let mut approvals = self.approvals.lock().expect("not poisoned");
        for guard in guards {
            if let Guard::Approved { id, digest, call, now, valid } = guard {
                let known = approvals.iter_mut().find(|known| known.id == *id);
                let used = known.expect("it exists").use_up(*digest, *call, *now, *valid);
                used.map_err(|status| StoreError::Refused(Refused::NotApproved(status)))?;
            }
        }
        Ok(())
    }

    /// Puts a request among those that wait, unless the same waits already.
    fn ask(&self, approval: Approval) -> Approval {
        let mut approvals = self.approvals.lock().expect("not poisoned");
        let waits = |known: &&Approval| {
            known.digest == approval.digest && known.status == ApprovalStatus::Waiting
        };
        if let Some(known) = approvals.iter().find(waits) {
            return known.clone();
        }
        approvals.push(approval.clone());
        approval
    }

    pub(crate) fn disable(&self, id: AgentId) {
        for agent in self.agents.lock().expect("not poisoned").iter_mut() {
            agent.disabled |= agent.id == id;
        }
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Commits for MemoryStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("on purpose".to_owned()));
        }
        self.burn(&unit.guards)?;
        let mut records = self.records.lock().expect("not poisoned");
        let receipts = unit.records.iter().enumerate().map(|(n, _)| {
            Receipt::after_commit((records.len() + n + 1) as u64, Digest::of(b"a record"))
        });
        let receipts = receipts.collect();
        records.extend(unit.records);
        let effected = match unit.effect {
            Some(Effect::RequestApproval { approval, .. }) => {
                Effected::Waits(Box::new(self.ask(*approval)))
            }
            _ => Effected::Done,
        };
        Ok(Committed { effected, receipts })
    }

    fn is_writable(&self) -> bool {
        !self.broken.load(Ordering::SeqCst)
    }

    fn identity_epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Agents for MemoryStore {
    async fn agent(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        Ok(self.agents.lock().expect("not poisoned").iter().find(|agent| agent.id == id).cloned())
    }
    async fn agent_by_slug(&self, _: &Slug) -> Result<Option<Agent>, StoreError> {
        Ok(None)
    }
    async fn agents(&self) -> Result<Vec<Agent>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Approvals for MemoryStore {
    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let approvals = self.approvals.lock().expect("not poisoned");
        Ok(approvals.iter().find(|approval| approval.id == id).cloned())
    }
    async fn approval_of(&self, _: Holder, digest: Digest) -> Result<Option<Approval>, StoreError> {
        let approvals = self.approvals.lock().expect("not poisoned");
        Ok(approvals.iter().rev().find(|approval| approval.digest == digest).cloned())
    }
    async fn approvals(&self, _: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        Ok(self.approvals.lock().expect("not poisoned").clone())
    }
}
