//! What an agent has taken in.

use serde::{Deserialize, Serialize};

/// What an agent has taken in; durable per agent and space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Taint {
    /// Owner data.
    pub private: bool,
    /// Text the owner did not write.
    pub untrusted: bool,
}

impl Taint {
    /// Nothing taken in.
    pub const CLEAN: Self = Self { private: false, untrusted: false };

    /// Nothing is set.
    pub const fn is_clean(&self) -> bool {
        !self.private && !self.untrusted
    }

    /// Whether everything set here is set there.
    pub const fn is_within(self, other: Self) -> bool {
        (!self.private || other.private) && (!self.untrusted || other.untrusted)
    }

    /// What is set here and not there.
    pub const fn without(self, other: Self) -> Self {
        Self {
            private: self.private && !other.private,
            untrusted: self.untrusted && !other.untrusted,
        }
    }

    /// Both together: taint only ever adds up.
    pub const fn and(self, other: Self) -> Self {
        Self {
            private: self.private || other.private,
            untrusted: self.untrusted || other.untrusted,
        }
    }

    /// Whether sending something outside now would close the lethal trifecta.
    pub const fn is_trifecta(self) -> bool {
        self.private && self.untrusted
    }
}
