//! What calls under way may still use up. It is held from their intent to their outcome, in memory
//! alone: a call that a restart finds without its outcome is under way no more.

use std::collections::HashMap;
use std::sync::Arc;

use narthex_core::{CallId, Holder, Usage};

/// What one call may still use up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserve {
    pub(crate) holder: Holder,
    pub(crate) usage: Usage,
}

/// Those of all calls under way. Cloning shares them: most batches change none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reserves(Arc<HashMap<CallId, Reserve>>);

impl Reserves {
    /// Of one holder, together.
    pub(super) fn of(&self, holder: &Holder) -> Usage {
        let own = self.0.values().filter(|reserve| reserve.holder == *holder);
        own.fold(Usage::default(), |sum, reserve| sum.and(reserve.usage))
    }

    pub(super) fn hold(&mut self, call: CallId, reserve: Reserve) {
        Arc::make_mut(&mut self.0).insert(call, reserve);
    }

    /// The outcome says what was used up.
    pub(super) fn settle(&mut self, call: &CallId) {
        if self.0.contains_key(call) {
            Arc::make_mut(&mut self.0).remove(call);
        }
    }
}
