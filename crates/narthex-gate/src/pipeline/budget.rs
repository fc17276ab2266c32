//! What a call may use up: looked at before the owner is asked, and put in reserve while it acts
//! outside.

use std::time::Duration;

use narthex_core::{Budget, Holder, Overspent, Reserve, Tier, Usage};
use narthex_store::{Guard, StoreError};

use super::decide::Permit;
use crate::gate::Inner;

impl Inner {
    /// Whether there is room for one more call, as far as can be told before the transaction: the
    /// owner is not asked about one that would be refused anyway.
    pub(super) async fn has_room(
        &self,
        holder: Holder,
        budget: &Budget,
        tier: Tier,
    ) -> Result<Result<(), Overspent>, StoreError> {
        if budget.is_unlimited() {
            return Ok(Ok(()));
        }
        Ok(budget.admits(&self.used(holder, budget).await?, &Usage::one_call(tier)))
    }

    /// How long a call outside may take: no longer than there is time left in its budget.
    pub(super) async fn time_for(&self, permit: &Permit) -> Result<Duration, StoreError> {
        let most = self.config.call_deadline;
        if permit.budget.millis.is_none() {
            return Ok(most);
        }
        let used = self.used(permit.holder, &permit.budget).await?;
        Ok(permit.budget.time_left(&used).map_or(most, |left| left.min(most)))
    }

    /// The budget, if there is one.
    pub(super) fn within_budget(&self, permit: &Permit) -> Option<Guard> {
        let (holder, budget, now) = (permit.holder, permit.budget, self.clock.now());
        (!budget.is_unlimited()).then_some(Guard::WithinBudget { holder, budget, now })
    }

    /// What a call outside may use up that is known only afterwards.
    pub(super) fn reserve(permit: &Permit, time: Duration, words: u64) -> Reserve {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Reserve {
            micros: permit.budget.millis.map_or(0, |_| micros),
            bytes: permit.budget.bytes.map_or(0, |_| words),
            cost: permit.spec.cost.filter(|_| permit.budget.cost.is_some()).unwrap_or_default(),
        }
    }

    /// Of an answer that came from outside only its bytes can still be withheld.
    pub(super) fn within_bytes(&self, permit: &Permit) -> Option<Guard> {
        let (holder, now) = (permit.holder, self.clock.now());
        let budget = permit.budget.of_bytes();
        (!budget.is_unlimited()).then_some(Guard::WithinBudget { holder, budget, now })
    }

    pub(super) async fn used(&self, holder: Holder, budget: &Budget) -> Result<Usage, StoreError> {
        let spent = self.store.spent(holder).await?;
        Ok(spent.within(self.clock.now(), budget.window()))
    }
}
