//! How far a call reaches, and how far it may.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a call can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// Observes.
    T0,
    /// Small and reversible.
    T1,
    /// Changes shared state.
    T2,
    /// Cannot be undone, or leaves the house.
    T3,
}

impl Tier {
    /// Every tier, lowest first.
    pub const ALL: [Self; 4] = [Self::T0, Self::T1, Self::T2, Self::T3];

    /// `T0` to `T3`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
        }
    }
}

/// Not a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a tier is T0, T1, T2 or T3")]
pub struct ParseTierError;

impl FromStr for Tier {
    type Err = ParseTierError;
    fn from_str(text: &str) -> Result<Self, ParseTierError> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == text).ok_or(ParseTierError)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The server's posture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// T0 only.
    Readonly,
    /// T0 to T2.
    #[default]
    Guarded,
    /// Everything, each behind its own gate.
    Open,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Readonly, Self::Guarded, Self::Open];

    /// The highest tier this mode lets through at all.
    pub const fn ceiling(self) -> Tier {
        match self {
            Self::Readonly => Tier::T0,
            Self::Guarded => Tier::T2,
            Self::Open => Tier::T3,
        }
    }

    /// The word in config and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Readonly => "readonly",
            Self::Guarded => "guarded",
            Self::Open => "open",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mode is readonly, guarded or open")]
pub struct ParseModeError;

impl FromStr for Mode {
    type Err = ParseModeError;
    fn from_str(text: &str) -> Result<Self, ParseModeError> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or(ParseModeError)
    }
}

/// What a client said it consents to, in one request or for a stdio process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    /// Nothing said: the rest stays in force.
    #[default]
    Absent,
    /// At most this tier.
    AtMost(Tier),
    /// Something that is no tier: taken as T0.
    Malformed,
}

impl Consent {
    /// Reads what a client sent; anything that is not exactly a tier is malformed.
    pub fn parse(value: Option<&serde_json::Value>) -> Self {
        match value {
            None => Self::Absent,
            Some(value) => value
                .as_str()
                .and_then(|text| text.parse().ok())
                .map_or(Self::Malformed, Self::AtMost),
        }
    }

    /// The tier it lowers to, if it says anything.
    pub const fn tier(self) -> Option<Tier> {
        match self {
            Self::Absent => None,
            Self::AtMost(tier) => Some(tier),
            Self::Malformed => Some(Tier::T0),
        }
    }

    /// Two consents together: the lower one holds.
    pub fn and(self, other: Self) -> Self {
        match (self.tier(), other.tier()) {
            (None, None) => Self::Absent,
            (Some(tier), None) | (None, Some(tier)) => Self::AtMost(tier),
            (Some(a), Some(b)) => Self::AtMost(a.min(b)),
        }
    }
}

/// The highest tier allowed now: the lowest of everything that speaks to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling(Tier);

impl Ceiling {
    /// The lowest of mode, space, agent and consent.
    pub fn of(mode: Mode, space: Option<Tier>, agent: Tier, consent: Consent) -> Self {
        let lowest =
            [Some(mode.ceiling()), space, Some(agent), consent.tier()].into_iter().flatten().min();
        Self(lowest.unwrap_or(Tier::T0))
    }

    /// The tier.
    pub const fn tier(self) -> Tier {
        self.0
    }

    /// Whether a call of this tier fits under it.
    pub fn admits(self, tier: Tier) -> bool {
        tier <= self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Ceiling, Consent, Mode, Tier};
    use serde_json::json;

    #[test]
    fn a_client_lowers_and_never_raises() {
        for agent in Tier::ALL {
            for mode in Mode::ALL {
                let without = Ceiling::of(mode, None, agent, Consent::Absent).tier();
                for said in [
                    json!("T0"),
                    json!("T1"),
                    json!("T2"),
                    json!("T3"),
                    json!("t3"),
                    json!(3),
                    json!(null),
                    json!("T4"),
                    json!({}),
                ] {
                    let with = Ceiling::of(mode, None, agent, Consent::parse(Some(&said))).tier();
                    assert!(with <= without, "{said} raised {without} to {with}");
                }
            }
        }
    }

    #[test]
    fn malformed_consent_means_t0() {
        for said in [
            json!(null),
            json!(""),
            json!("t1"),
            json!(" T1"),
            json!(1),
            json!(["T3"]),
            json!({"tier": "T3"}),
        ] {
            let ceiling = Ceiling::of(Mode::Open, None, Tier::T3, Consent::parse(Some(&said)));
            assert_eq!(ceiling.tier(), Tier::T0, "{said}");
        }
    }
}
