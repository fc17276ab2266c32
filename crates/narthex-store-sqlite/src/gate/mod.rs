//! What the gate remembers of agents, at hand and on disk.
//!
//! [`Gate`] (latches, kill switches, the noted mode) changes seldom and is a value that is
//! replaced whole; what was used up changes with every call and is an account ([`Account`]) that
//! is added to. [`GateMemory`] holds both for everyone to read. Only the writer changes it, and only
//! after the commit that made the change durable.

mod accounts;
mod budgets;
mod load;
mod replay;
mod rows;
mod state;

pub(crate) use accounts::{Account, Accounts, Charge, UNTIL_TOLD};
pub(crate) use budgets::{BudgetBooks, Closing};
pub(crate) use load::{DAMAGED, Loaded, SEALED, load, sealed_mark, was_sealed};
pub(crate) use replay::{LONGEST, catch_up, rebuild};
pub(crate) use rows::{Bench, anchor, rewrite, write_seal};
pub(crate) use state::{Gate, NotedMode, RowName, Setting};

use std::sync::{Arc, PoisonError, RwLock};

use narthex_core::Holder;

/// What the gate remembers, for everyone to read without asking the database.
///
// INVARIANT: a lock is held for a look or a change, never across an await.
#[derive(Debug, Default)]
pub(crate) struct GateMemory {
    gate: RwLock<Arc<Gate>>,
    accounts: RwLock<Accounts>,
}

impl GateMemory {
    pub(crate) fn new(gate: Gate, accounts: Accounts) -> Self {
        Self { gate: RwLock::new(Arc::new(gate)), accounts: RwLock::new(accounts) }
    }

    /// Latches, switches and mode as they are now.
    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only after the commit.
    pub(crate) fn replace_gate(&self, gate: Arc<Gate>) {
        *self.gate.write().unwrap_or_else(PoisonError::into_inner) = gate;
    }

    /// Looks at what was used up.
    pub(crate) fn with_accounts<T>(&self, look: impl FnOnce(&Accounts) -> T) -> T {
        look(&self.accounts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only after the commit.
    pub(crate) fn charge(&self, charges: &[Charge]) {
        if charges.is_empty() {
            return;
        }
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        for charge in charges {
            accounts.add(charge);
        }
    }
}

/// A holder as two columns: the space is empty where there is none.
pub(crate) fn holder_columns(holder: &Holder) -> (&[u8], &[u8]) {
    let space = holder.space.as_ref().map_or(&[][..], |space| space.as_bytes().as_slice());
    (holder.agent.as_bytes().as_slice(), space)
}
