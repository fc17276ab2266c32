//! What calls under way may still use up. It is held from their intent to their outcome, in memory; it
//! is in the record of their intent too, and a restart that finds no outcome charges it.

use std::collections::HashMap;
use std::sync::Arc;

use narthex_core::{CallId, Holder, Phase, RecordDraft, Usage};

/// What one call may still use up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) holder: Holder,
    pub(crate) usage: Usage,
}

/// Those of all calls under way. Cloning shares them: most batches change none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reserves(Arc<HashMap<CallId, Held>>);

impl Reserves {
    /// Of one holder, together, but for the calls whose outcome is among these records.
    pub(super) fn of(&self, holder: &Holder, records: &[RecordDraft]) -> Usage {
        let ends = |call: &CallId| {
            records.iter().any(|record| record.phase == Phase::Outcome && record.call == *call)
        };
        let own = self.0.iter().filter(|(call, held)| held.holder == *holder && !ends(call));
        own.fold(Usage::default(), |sum, (_, held)| sum.and(held.usage))
    }

    pub(super) fn hold(&mut self, call: CallId, reserve: Held) {
        Arc::make_mut(&mut self.0).insert(call, reserve);
    }

    /// The outcome says what was used up.
    pub(super) fn settle(&mut self, call: &CallId) {
        if self.0.contains_key(call) {
            Arc::make_mut(&mut self.0).remove(call);
        }
    }
}
