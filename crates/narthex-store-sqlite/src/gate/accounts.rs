//! What was used up, by agent and space.

use std::collections::HashMap;
use std::time::Duration;

use narthex_core::{Holder, RecordDraft, Spent, Timestamp, Usage};

/// What one holder has used up, and the window it was last measured by.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) spent: Spent,
    pub(crate) window: Duration,
}

impl Account {
    pub(crate) fn new(window: Duration) -> Self {
        Self { spent: Spent::default(), window }
    }

    pub(crate) fn add(&mut self, charge: &Charge) {
        if let Some(window) = charge.window {
            self.window = window;
        }
        self.spent.add(charge.at, charge.usage, self.window);
    }
}

/// What one record uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) holder: Holder,
    pub(crate) usage: Usage,
    /// When the record was made.
    pub(crate) at: Timestamp,
    /// The window it was checked against, where it was.
    pub(crate) window: Option<Duration>,
}

impl Charge {
    /// What the ledger says was used up; nothing where that is nothing.
    pub(crate) fn of(record: &RecordDraft, at: Timestamp) -> Option<Self> {
        let (holder, usage) = Usage::of(record)?;
        (usage != Usage::default()).then_some(Self { holder, usage, at, window: None })
    }

    /// With the window its budget was checked by, if it was this holder's.
    pub(crate) fn checked_by(self, checked: Option<(Holder, Duration)>) -> Self {
        let own = checked.filter(|(holder, _)| *holder == self.holder);
        Self { window: own.map(|(_, window)| window), ..self }
    }
}

/// Everyone's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accounts(HashMap<Holder, Account>);

impl Accounts {
    pub(crate) fn get(&self, holder: &Holder) -> Option<&Account> {
        self.0.get(holder)
    }

    pub(crate) fn insert(&mut self, holder: Holder, account: Account) {
        self.0.insert(holder, account);
    }

    pub(crate) fn add(&mut self, charge: &Charge) {
        self.0.entry(charge.holder).or_insert_with(|| Account::new(UNTIL_TOLD)).add(charge);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Holder, &Account)> {
        self.0.iter()
    }

    pub(crate) fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.0.keys()
    }

    /// What a window of this length sees now.
    pub(crate) fn within(&self, holder: &Holder, now: Timestamp, window: Duration) -> Usage {
        self.get(holder).map_or_else(Usage::default, |account| account.spent.within(now, window))
    }
}

/// The window of an account that was never checked against a budget.
pub(crate) const UNTIL_TOLD: Duration = Duration::from_hours(1);
