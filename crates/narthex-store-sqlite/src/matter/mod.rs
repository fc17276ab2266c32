//! Open matters in a database that cannot be believed: requests for approval that wait, or are
//! approved and not used, proposals that wait, or are merges that were in conflict, and parked runs.
//!
//! Each row carries a MAC over all its fields, so that an edited one is not served. One put back as
//! it once was, approved before its use, waiting before it was applied, is genuine too: so the
//! writer holds the MAC of every open one ([`Matters`]), an open row counts only with that one, and
//! the seal over the gate's state is over them as well. From what is decided nothing follows any
//! more: it needs no more than its own MAC.

mod approvals;
mod load;
mod proposals;
mod runs;

pub(crate) use approvals::{APPROVAL_BY_ID, approval, approvals, insert, update};
pub(crate) use load::{SEALED, look};
pub(crate) use proposals::{PROPOSAL_BY_ID, mac_of, merge_text, proposal, proposals};
pub(crate) use runs::{RUN_BY_ID, insert_run, remove_run, run, runs};

use std::sync::Arc;

use narthex_core::{
    Approval, ApprovalId, ApprovalStatus, Digest, Proposal, ProposalId, ProposalStatus, RunId,
};

use crate::fault::Fault;
use crate::gate::Bench;
use crate::held::{Held, Named};
use crate::identity::older;

/// Which matter, in the order their MACs are sealed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Matter {
    /// A request for approval.
    Approval(ApprovalId),
    /// A proposal.
    Proposal(ProposalId),
    /// A run that waits.
    Run(RunId),
}

impl Named for Matter {
    const SEAL: &'static str = "gate_seal open";
}

impl std::fmt::Display for Matter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Approval(id) => write!(f, "approval {id}"),
            Self::Proposal(id) => write!(f, "proposal {id}"),
            Self::Run(id) => write!(f, "run {id}"),
        }
    }
}

/// The MAC of every open one.
pub(crate) type Matters = Held<Matter>;

/// A row whose MAC is genuine.
#[derive(Debug)]
pub(crate) struct Genuine<T> {
    /// What it says.
    pub(crate) said: T,
    matter: Matter,
    mac: Digest,
    open: bool,
}

impl<T> Genuine<T> {
    /// Whether it is decided, or open and as it was written last.
    pub(crate) fn is_current(&self, known: &Matters) -> bool {
        !self.open || known.holds(&self.matter, &self.mac)
    }

    /// What it says, if that still counts.
    pub(crate) fn current(self, known: &Matters) -> Result<T, Fault> {
        if self.is_current(known) { Ok(self.said) } else { Err(older(&self.matter)) }
    }
}

/// Whether something may still follow from it.
pub(crate) const fn is_open_approval(approval: &Approval) -> bool {
    matches!(approval.status, ApprovalStatus::Waiting | ApprovalStatus::Approved)
}

/// Whether it may still be applied: a merge also when it was in conflict.
pub(crate) const fn is_open_proposal(proposal: &Proposal) -> bool {
    match proposal.status {
        ProposalStatus::Pending => true,
        ProposalStatus::Conflict => proposal.merge.is_some(),
        ProposalStatus::Applied | ProposalStatus::Rejected => false,
    }
}

impl Bench<'_> {
    /// Notes the MAC that a row was just written with, while it is open.
    pub(crate) fn hold(&mut self, matter: Matter, open: bool, mac: Digest) {
        if open {
            Arc::make_mut(self.gate).matters_mut().keep(matter, mac);
        } else {
            self.let_go(&matter);
        }
    }

    /// Notes that it is open no more.
    pub(crate) fn let_go(&mut self, matter: &Matter) {
        if self.gate.matters().knows(matter) {
            Arc::make_mut(self.gate).matters_mut().forget(matter);
        }
    }

    /// Takes the MAC off a row that was found edited: nobody is served it from then on, and the
    /// next start need not say it again.
    pub(crate) async fn disown_matter(&mut self, matter: Matter) -> Result<(), Fault> {
        let query = match &matter {
            Matter::Approval(id) => {
                sqlx::query("UPDATE approvals SET mac = zeroblob(32) WHERE id = ?1")
                    .bind(id.as_bytes().as_slice())
            }
            Matter::Proposal(id) => sqlx::query("UPDATE proposals SET mac = NULL WHERE id = ?1")
                .bind(id.as_bytes().as_slice()),
            Matter::Run(id) => sqlx::query("UPDATE runs SET mac = zeroblob(32) WHERE id = ?1")
                .bind(id.as_bytes().as_slice()),
        };
        query.execute(&mut *self.conn).await?;
        self.let_go(&matter);
        Ok(())
    }
}
