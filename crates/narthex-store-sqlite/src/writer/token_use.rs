//! When a token was last used, without a write for each use.

use std::collections::{BTreeMap, HashMap};

use narthex_core::{Timestamp, TokenId};

/// What was written last for each token, as far as remembered.
#[derive(Debug, Default)]
pub(crate) struct TokenUse(HashMap<TokenId, Timestamp>);

impl TokenUse {
    /// Whether this use is worth a write: the first, and then one a minute.
    pub(super) fn is_news(&self, token: TokenId, at: Timestamp) -> bool {
        self.0.get(&token).is_none_or(|last| {
            at.as_millis().saturating_sub(last.as_millis()).unsigned_abs() >= EVERY_MILLIS
        })
    }

    /// Remembers what was committed. Forgetting only costs a write.
    pub(super) fn written(&mut self, uses: &BTreeMap<TokenId, Timestamp>) {
        if self.0.len() + uses.len() > REMEMBERED {
            self.0.clear();
        }
        self.0.extend(uses);
    }
}

const EVERY_MILLIS: u64 = 60_000;
const REMEMBERED: usize = 10_000;
