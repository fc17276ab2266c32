//! Budgets as an owner changes them: what is not named stays as it is.

use narthex_core::{Budget, Cost};
use serde::{Deserialize, Serialize};

/// What an agent is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetChange {
    /// What the house gives everyone.
    House,
    /// A budget of its own.
    Own(BudgetSpec),
}

/// What is to be different in a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BudgetSpec {
    /// The window, in seconds.
    pub window_seconds: Option<u32>,
    /// Calls, by tier.
    pub calls: [Option<Limit>; 4],
    /// Bytes returned.
    pub bytes: Option<Limit>,
    /// Wall time, in milliseconds.
    pub millis: Option<Limit>,
    /// Cost, in millionths.
    pub cost: Option<Limit>,
}

/// How much of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// As much as it likes.
    Unlimited,
    /// At most so much.
    Most(u64),
}

impl Limit {
    const fn most(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Most(most) => Some(most),
        }
    }
}

impl BudgetSpec {
    /// The budget that comes of it.
    pub fn over(self, before: Budget) -> Budget {
        let mut calls = before.calls;
        for (limit, said) in calls.iter_mut().zip(self.calls) {
            *limit = said.map_or(*limit, Limit::most);
        }
        let cost = |said: Limit| said.most().map(Cost::from_millionths);
        Budget {
            window_seconds: self.window_seconds.unwrap_or(before.window_seconds),
            calls,
            bytes: self.bytes.map_or(before.bytes, Limit::most),
            millis: self.millis.map_or(before.millis, Limit::most),
            cost: self.cost.map_or(before.cost, cost),
        }
    }
}

/// Whether more may be used up than before, in any part.
pub fn loosens(before: &Budget, after: &Budget) -> bool {
    let more = |before: Option<u64>, after: Option<u64>| match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after > before,
    };
    let calls = before.calls.into_iter().zip(after.calls);
    let cost = |budget: &Budget| budget.cost.map(Cost::millionths);
    after.window_seconds < before.window_seconds
        || calls.into_iter().any(|(before, after)| more(before, after))
        || more(before.bytes, after.bytes)
        || more(before.millis, after.millis)
        || more(cost(before), cost(after))
}

/// A budget in a word, for the ledger.
pub(super) fn words(budget: Option<&Budget>) -> String {
    let Some(budget) = budget else { return "default".to_owned() };
    let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |n| n.to_string());
    let [t0, t1, t2, t3] = budget.calls.map(limit);
    format!(
        "window={}s,t0={t0},t1={t1},t2={t2},t3={t3},bytes={},time={}ms,cost={}",
        budget.window_seconds,
        limit(budget.bytes),
        limit(budget.millis),
        limit(budget.cost.map(Cost::millionths)),
    )
}

#[cfg(test)]
mod tests {
    use super::{BudgetSpec, Limit, loosens, words};
    use narthex_core::{Budget, Cost};

    #[test]
    fn what_is_not_named_stays_and_more_of_anything_is_more() {
        let base = Budget {
            calls: [None, Some(600), Some(120), Some(12)],
            bytes: Some(1_000),
            ..Budget::default()
        };
        let call = |n: usize, limit| {
            let mut calls = [None; 4];
            calls[n] = Some(limit);
            BudgetSpec { calls, ..BudgetSpec::default() }
        };
        let nothing = BudgetSpec::default();
        assert_eq!(nothing.over(base), base);
        for (spec, more) in [
            (nothing, false),
            (call(0, Limit::Most(5)), false),
            (call(1, Limit::Most(601)), true),
            (call(1, Limit::Most(0)), false),
            (call(3, Limit::Unlimited), true),
            (call(0, Limit::Unlimited), false),
            (BudgetSpec { bytes: Some(Limit::Most(1_001)), ..nothing }, true),
            (BudgetSpec { bytes: Some(Limit::Unlimited), ..nothing }, true),
            (BudgetSpec { millis: Some(Limit::Most(1)), ..nothing }, false),
            (BudgetSpec { cost: Some(Limit::Most(1)), ..nothing }, false),
            (BudgetSpec { window_seconds: Some(60), ..nothing }, true),
            (BudgetSpec { window_seconds: Some(7_200), ..nothing }, false),
        ] {
            assert_eq!(loosens(&base, &spec.over(base)), more, "{spec:?}");
        }
    }

    #[test]
    fn the_ledger_has_every_part_of_it() {
        let budget = Budget {
            calls: [None, Some(1), Some(2), Some(3)],
            bytes: Some(4),
            millis: Some(5),
            cost: Some(Cost::from_millionths(6)),
            window_seconds: 60,
        };
        assert_eq!(
            words(Some(&budget)),
            "window=60s,t0=none,t1=1,t2=2,t3=3,bytes=4,time=5ms,cost=6"
        );
        assert_eq!(words(None), "default");
    }
}
