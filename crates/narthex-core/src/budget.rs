//! What an agent may use up in a window of time, and what it has.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Actor, Holder, Phase, RecordDraft, Ruled, Tier, Timestamp};

/// What a call cost, in millionths, as an upstream may say.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cost(u64);

/// Not a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cost is a finite number from 0 to {}", Cost::MOST)]
pub struct CostError;

impl Cost {
    /// The most a single figure may say.
    pub const MOST: f64 = 1_000_000_000.0;
    /// The same in millionths.
    pub const MOST_MILLIONTHS: u64 = 1_000_000_000_000_000;

    /// From millionths.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    /// Whether it is nothing.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// In millionths.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// From a figure. Only finite, non-negative ones are costs; what is in between is rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10^15 after the check"
    )]
    pub fn from_figure(figure: f64) -> Result<Self, CostError> {
        if !(0.0..=Self::MOST).contains(&figure) {
            return Err(CostError);
        }
        Ok(Self((figure * 1_000_000.0).ceil() as u64))
    }
}

/// What was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Calls, by tier.
    pub calls: [u64; 4],
    /// Bytes returned.
    pub bytes: u64,
    /// Wall time, in microseconds.
    pub micros: u64,
    /// Cost.
    pub cost: Cost,
}

/// What a call that acts outside may use up before its outcome is known. It is in the record of its
/// intent, and counts as used up until its outcome is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reserve {
    /// Wall time, in microseconds.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub micros: u64,
    /// Bytes of what is told on the way.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub bytes: u64,
    /// Cost.
    #[serde(skip_serializing_if = "Cost::is_zero", default)]
    pub cost: Cost,
}

impl Reserve {
    /// Whether there is nothing in it.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What the intents among these records put in reserve, together.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a RecordDraft>) -> Self {
        let intents = records.into_iter().filter(|record| record.phase == Phase::Intent);
        intents.fold(Self::default(), |sum, intent| {
            let (sum, more) = (sum.usage(), intent.reserve.usage());
            let Usage { micros, bytes, cost, .. } = sum.and(more);
            Self { micros, bytes, cost }
        })
    }

    /// The same as if it was used up.
    pub fn usage(&self) -> Usage {
        let Self { micros, bytes, cost } = *self;
        Usage { bytes, micros, cost, ..Usage::default() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// What a record says was used up, and by whom. The ledger is the account: nothing is charged
    /// that is not in it, and a refusal costs nothing.
    pub fn of(record: &RecordDraft) -> Option<(Holder, Self)> {
        let (Actor::Agent { id, .. }, Some(tier)) = (&record.actor, record.tier) else {
            return None;
        };
        if record.decision != Ruled::Allow {
            return None;
        }
        let mut usage = Self::default();
        if matches!(record.phase, Phase::Observed | Phase::Intent)
            && let Some(calls) = usage.calls.get_mut(tier as usize)
        {
            *calls = 1;
        }
        if matches!(record.phase, Phase::Observed | Phase::Outcome) {
            usage.bytes = record.bytes.unwrap_or(0);
            usage.micros = record.micros.unwrap_or(0);
            usage.cost = record.cost.unwrap_or_default();
        }
        Some((Holder { agent: *id, space: record.space }, usage))
    }

    /// One call of this tier, whatever comes of it.
    pub fn one_call(tier: Tier) -> Self {
        let mut usage = Self::default();
        if let Some(calls) = usage.calls.get_mut(tier as usize) {
            *calls = 1;
        }
        usage
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        let mut calls = self.calls;
        calls.iter_mut().zip(other.calls).for_each(|(to, more)| *to = to.saturating_add(more));
        Self {
            calls,
            bytes: self.bytes.saturating_add(other.bytes),
            micros: self.micros.saturating_add(other.micros),
            cost: Cost(self.cost.0.saturating_add(other.cost.0)),
        }
    }
}

/// What may be used up in a window. Nothing said about a thing means no limit on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The window, in seconds.
    pub window_seconds: u32,
    /// Calls, by tier.
    pub calls: [Option<u64>; 4],
    /// Bytes returned.
    pub bytes: Option<u64>,
    /// Wall time, in milliseconds.
    pub millis: Option<u64>,
    /// Cost.
    pub cost: Option<Cost>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { window_seconds: 3_600, calls: [None; 4], bytes: None, millis: None, cost: None }
    }
}

/// A part of a budget that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{part} must be from {least} to {most}")]
pub struct OutOfBounds {
    part: &'static str,
    least: u64,
    most: u64,
}

/// Which part of a budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Overspent {
    /// Calls of a tier.
    #[error("{used} of {limit} {tier} calls are used up")]
    Calls {
        /// Which tier.
        tier: Tier,
        /// How many were made.
        used: u64,
        /// How many may be.
        limit: u64,
    },
    /// Bytes returned.
    #[error("{used} of {limit} bytes are used up, and this answer has {more}")]
    Bytes {
        /// How many were returned.
        used: u64,
        /// How many may be.
        limit: u64,
        /// How many this answer has.
        more: u64,
    },
    /// Wall time.
    #[error("{used} of {limit} milliseconds are used up")]
    Time {
        /// How many were taken.
        used: u64,
        /// How many may be.
        limit: u64,
    },
    /// Cost.
    #[error("{used} of {limit} millionths of cost are used up")]
    Cost {
        /// How much was spent.
        used: u64,
        /// How much may be.
        limit: u64,
    },
}

impl Budget {
    /// The longest window, in seconds: what was used up is remembered for so long.
    pub const LONGEST_WINDOW: u32 = 31 * 24 * 3_600;
    /// The most calls of a tier.
    pub const MOST_CALLS: u64 = 1_000_000_000;
    /// The most bytes.
    pub const MOST_BYTES: u64 = 1_000_000_000_000_000;
    /// The most wall time, in seconds.
    pub const MOST_SECONDS: u64 = Self::LONGEST_WINDOW as u64;

    /// Whether every part is within its bounds, wherever it was written down.
    pub fn check(&self) -> Result<(), OutOfBounds> {
        let [t0, t1, t2, t3] = self.calls;
        let (calls, window) = (Self::MOST_CALLS, u64::from(Self::LONGEST_WINDOW));
        let seconds = self.millis.map(|millis| millis / 1_000);
        for (part, said, least, most) in [
            ("window, in seconds,", Some(self.window_seconds.into()), 1, window),
            ("t0", t0, 0, calls),
            ("t1", t1, 0, calls),
            ("t2", t2, 0, calls),
            ("t3", t3, 0, calls),
            ("bytes", self.bytes, 1, Self::MOST_BYTES),
            ("time, in seconds,", seconds, 1, Self::MOST_SECONDS),
            ("cost, in millionths,", self.cost.map(Cost::millionths), 0, Cost::MOST_MILLIONTHS),
        ] {
            if said.is_some_and(|said| !(least..=most).contains(&said)) {
                return Err(OutOfBounds { part, least, most });
            }
        }
        Ok(())
    }

    /// The window.
    pub fn window(&self) -> Duration {
        Duration::from_secs(u64::from(self.window_seconds.max(1)))
    }

    /// Whether there is any limit at all.
    pub fn is_unlimited(&self) -> bool {
        Self { window_seconds: self.window_seconds, ..Self::default() } == *self
    }

    /// Whether so much more may be used after so much. Calls and bytes are held exactly. Time and cost
    /// are known only afterwards: what a call may use up of them is put in reserve before
    /// ([`Self::holds`]) and counts as used; where nothing says how much that is, they are held from
    /// the first call that begins past the limit.
    pub fn admits(&self, used: &Usage, more: &Usage) -> Result<(), Overspent> {
        for (n, tier) in Tier::ALL.into_iter().enumerate() {
            let at = |of: &[u64; 4]| of.get(n).copied().unwrap_or(0);
            if let Some(limit) = self.calls.get(n).copied().flatten()
                && at(&more.calls) > 0
                && at(&used.calls).saturating_add(at(&more.calls)) > limit
            {
                return Err(Overspent::Calls { tier, used: at(&used.calls), limit });
            }
        }
        if let Some(limit) = self.bytes {
            let after = used.bytes.saturating_add(more.bytes);
            if used.bytes >= limit || after > limit {
                return Err(Overspent::Bytes { used: used.bytes, limit, more: more.bytes });
            }
        }
        if let Some(limit) = self.millis
            && used.micros / 1_000 >= limit
        {
            return Err(Overspent::Time { used: used.micros / 1_000, limit });
        }
        if let Some(limit) = self.cost
            && used.cost >= limit
        {
            return Err(Overspent::Cost { used: used.cost.0, limit: limit.0 });
        }
        Ok(())
    }
}

impl Budget {
    /// Whether so much can be put in reserve after so much was used up or reserved.
    pub fn holds(&self, used: &Usage, reserve: &Reserve) -> Result<(), Overspent> {
        if let Some(limit) = self.bytes
            && reserve.bytes > 0
            && used.bytes.saturating_add(reserve.bytes) > limit
        {
            return Err(Overspent::Bytes { used: used.bytes, limit, more: reserve.bytes });
        }
        if let Some(limit) = self.millis {
            let most = limit.saturating_mul(1_000);
            if reserve.micros > 0 && used.micros.saturating_add(reserve.micros) > most {
                return Err(Overspent::Time { used: used.micros / 1_000, limit });
            }
        }
        if let Some(limit) = self.cost
            && reserve.cost > Cost::default()
            && used.and(reserve.usage()).cost > limit
        {
            return Err(Overspent::Cost { used: used.cost.0, limit: limit.0 });
        }
        Ok(())
    }

    /// What of it is about the bytes of an answer alone.
    #[must_use]
    pub fn of_bytes(&self) -> Self {
        Self { window_seconds: self.window_seconds, bytes: self.bytes, ..Self::default() }
    }

    /// The bytes that are left after so much, if there is a limit.
    pub fn bytes_left(&self, used: &Usage) -> Option<u64> {
        Some(self.bytes?.saturating_sub(used.bytes))
    }

    /// The time that is left after so much, if there is a limit.
    pub fn time_left(&self, used: &Usage) -> Option<Duration> {
        let most = self.millis?.saturating_mul(1_000);
        Some(Duration::from_micros(most.saturating_sub(used.micros)))
    }
}

/// What was used up lately, in steps of a sixtieth of the window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent(VecDeque<Step>);

/// What was used up from a moment on, for the length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    from: i64,
    until: i64,
    usage: Usage,
}

impl Spent {
    /// Adds what was used now. What a window of this length no longer sees is forgotten.
    pub fn add(&mut self, at: Timestamp, usage: Usage, window: Duration) {
        let now = at.as_millis();
        let length = millis(window);
        let step = (length / STEPS).max(1);
        match self.0.back_mut() {
            Some(last) if (last.from..last.until).contains(&now) => {
                last.usage = last.usage.and(usage);
            }
            _ => self.0.push_back(Step { from: now, until: now.saturating_add(step), usage }),
        }
        let keep = length.max(LONGEST_MILLIS.min(length.saturating_mul(2)));
        while self.0.front().is_some_and(|first| first.until <= now.saturating_sub(keep)) {
            self.0.pop_front();
        }
        // A clock that jumps about makes steps out of order: the oldest are then joined, never
        // dropped, so that nothing is forgotten before its time.
        while self.0.len() > MOST_STEPS {
            let Some(first) = self.0.pop_front() else { break };
            if let Some(next) = self.0.front_mut() {
                next.usage = next.usage.and(first.usage);
            }
        }
    }

    /// What a window of this length sees now. A step counts until all of it has passed.
    pub fn within(&self, now: Timestamp, window: Duration) -> Usage {
        let since = now.as_millis().saturating_sub(millis(window));
        self.0
            .iter()
            .filter(|step| step.until > since)
            .fold(Usage::default(), |sum, step| sum.and(step.usage))
    }
}

fn millis(window: Duration) -> i64 {
    i64::try_from(window.as_millis()).unwrap_or(i64::MAX).max(1)
}

const STEPS: i64 = 60;
const MOST_STEPS: usize = 256;
const LONGEST_MILLIS: i64 = Budget::LONGEST_WINDOW as i64 * 1_000;

#[cfg(test)]
mod tests {
    use super::{Budget, Cost, Overspent, Spent, Usage};
    use crate::{Tier, Timestamp};
    use std::time::Duration;

    #[test]
    fn only_finite_non_negative_figures_are_costs() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -0.000_1, 1e308, 1e10] {
            assert!(Cost::from_figure(bad).is_err(), "{bad}");
        }
        for (good, millionths) in
            [(0.0, 0), (-0.0, 0), (0.25, 250_000), (1e-9, 1), (1.0, 1_000_000)]
        {
            assert_eq!(Cost::from_figure(good), Ok(Cost::from_millionths(millionths)), "{good}");
        }
    }

    #[test]
    fn a_limit_is_reached_and_not_passed() {
        let budget = Budget {
            calls: [Some(3), None, Some(0), None],
            bytes: Some(100),
            millis: Some(5),
            cost: Some(Cost::from_millionths(10)),
            ..Budget::default()
        };
        let calls = |n| Usage { calls: [n, 0, 0, 0], ..Usage::default() };
        assert_eq!(budget.admits(&calls(2), &calls(1)), Ok(()));
        let over = Overspent::Calls { tier: Tier::T0, used: 3, limit: 3 };
        assert_eq!(budget.admits(&calls(3), &calls(1)), Err(over));
        let t2 = Usage { calls: [0, 0, 1, 0], ..Usage::default() };
        assert!(budget.admits(&Usage::default(), &t2).is_err());
        let t1 = Usage { calls: [0, 1, 0, 0], ..Usage::default() };
        assert_eq!(budget.admits(&calls(3), &t1), Ok(()), "each tier has its own");
        for (used, more, fits) in [(0, 100, true), (0, 101, false), (99, 1, true), (100, 0, false)]
        {
            let bytes = |bytes| Usage { bytes, ..Usage::default() };
            assert_eq!(budget.admits(&bytes(used), &bytes(more)).is_ok(), fits, "{used}+{more}");
        }
        assert!(budget.admits(&Usage { micros: 4_999, ..t1 }, &t1).is_ok());
        assert!(budget.admits(&Usage { micros: 5_000, ..t1 }, &t1).is_err());
        let cost = |n| Usage { cost: Cost::from_millionths(n), ..Usage::default() };
        assert!(budget.admits(&cost(9), &t1).is_ok() && budget.admits(&cost(10), &t1).is_err());
    }

    #[test]
    fn a_window_rolls_and_forgets_nothing_early() {
        let window = Duration::from_mins(1);
        let mut spent = Spent::default();
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let one = Usage { calls: [1, 0, 0, 0], ..Usage::default() };
        for second in 0..600 {
            spent.add(at(second), one, window);
            let seen = spent.within(at(second), window).calls[0];
            let truth = u64::try_from(second.min(59) + 1).unwrap_or(0);
            assert!((truth..=truth + 1).contains(&seen), "{second}: {seen} of {truth}");
        }
        assert_eq!(spent.within(at(600 + 59), window).calls[0], 1);
        assert_eq!(spent.within(at(600 + 61), window).calls[0], 0);
        // The clock set back an hour: what is ahead still counts.
        assert!(spent.within(at(-3_000), window).calls[0] >= 60);
    }

    #[test]
    fn a_clock_that_jumps_about_loses_nothing() {
        let window = Duration::from_hours(1);
        let mut spent = Spent::default();
        let one = Usage { calls: [1, 0, 0, 0], ..Usage::default() };
        for n in 0..2_000_i64 {
            let at = if n % 2 == 0 { n } else { 3_000_000 - n };
            spent.add(Timestamp::from_millis(at), one, window);
        }
        assert_eq!(spent.within(Timestamp::from_millis(3_000_000), window).calls[0], 2_000);
    }
}
