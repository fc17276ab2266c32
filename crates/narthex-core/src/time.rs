//! A point in time. The clock that makes them lives at the edge.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment plus some milliseconds, held at the ends of the range.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

/// RFC 3339 in UTC with milliseconds; out of chrono's range, the bare number.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match chrono::DateTime::from_timestamp_millis(self.0) {
            Some(at) => f.write_str(&at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)),
            None => write!(f, "{}", self.0),
        }
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

/// Not a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a time is written as in RFC 3339")]
pub struct ParseTimestampError;

impl TryFrom<String> for Timestamp {
    type Error = ParseTimestampError;
    fn try_from(text: String) -> Result<Self, ParseTimestampError> {
        match chrono::DateTime::parse_from_rfc3339(&text) {
            Ok(at) => Ok(Self(at.timestamp_millis())),
            Err(_) => text.parse().map(Self).map_err(|_| ParseTimestampError),
        }
    }
}
