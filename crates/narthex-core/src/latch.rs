//! The latch: what an agent took in, in one space, and what set it. Only the owner opens it again.

use serde::{Deserialize, Serialize};

use crate::{AgentId, CallId, Moment, SpaceId, Subject, Taint};

/// Whose state it is: everything the gate remembers belongs to an agent in a space.
///
/// The companion across all spaces has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Holder {
    /// The agent.
    pub agent: AgentId,
    /// The space.
    pub space: Option<SpaceId>,
}

/// What set a latch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The surface that answered.
    pub surface: String,
    /// The tool, resource or prompt.
    pub tool: String,
    /// The call, as the ledger knows it.
    pub call: CallId,
    /// What it was about: kind and id, never a text.
    pub subject: Subject,
    /// When it was set first.
    pub first: Moment,
    /// When it was last set again, to a second: also where no window runs, as one may later.
    pub last: Moment,
}

/// What an agent took in, and what set it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Latch {
    /// Owner data.
    pub private: Option<Cause>,
    /// Text the owner did not write.
    pub untrusted: Option<Cause>,
}

impl Latch {
    /// What is set.
    pub const fn taint(&self) -> Taint {
        Taint { private: self.private.is_some(), untrusted: self.untrusted.is_some() }
    }

    /// Sets what is not set yet. True if anything worth keeping changed: a bit that is set keeps
    /// its first cause, and learns when it was last set only once a second.
    pub fn arm(&mut self, taint: Taint, cause: &Cause) -> bool {
        let mut changed = false;
        let bits = [(taint.private, &mut self.private), (taint.untrusted, &mut self.untrusted)];
        for (arms, bit) in bits {
            if arms && is_news(bit.as_ref(), cause.last) {
                match bit {
                    None => *bit = Some(cause.clone()),
                    Some(set) => set.last = cause.last,
                }
                changed = true;
            }
        }
        changed
    }

    /// Whether setting this now would change anything worth keeping.
    pub fn would_arm(&self, taint: Taint, now: Moment) -> bool {
        taint.private && is_news(self.private.as_ref(), now)
            || taint.untrusted && is_news(self.untrusted.as_ref(), now)
    }

    /// Opens what is named. True if anything was set.
    pub fn clear(&mut self, taint: Taint) -> bool {
        let private = taint.private && self.private.take().is_some();
        let untrusted = taint.untrusted && self.untrusted.take().is_some();
        private || untrusted
    }
}

fn is_news(set: Option<&Cause>, now: Moment) -> bool {
    set.is_none_or(|set| now.wall.as_millis().abs_diff(set.last.wall.as_millis()) >= KEPT_TO_MILLIS)
}

/// What an answer does to a latch, in the same transaction as the record that releases it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arming {
    /// Whose.
    pub holder: Holder,
    /// What it sets.
    pub taint: Taint,
    /// By what.
    pub cause: Cause,
}

/// How exactly the last setting is kept. Not every answer is worth a row.
const KEPT_TO_MILLIS: u64 = 1_000;
