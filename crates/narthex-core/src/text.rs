//! Short pieces of text that people read on one line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Bound;

/// What is wrong with a piece of text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing in it.
    #[error("{what} is empty")]
    Empty {
        /// Which text.
        what: &'static str,
    },
    /// Over its bound.
    #[error("{what} is longer than {limit} {unit}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// The bound.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A line break, an escape or another control character.
    #[error("{what} contains a control character")]
    Control {
        /// Which text.
        what: &'static str,
    },
    /// More items than allowed.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Which items.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// A page's or a space's title: one line, not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Title(String);

impl Title {
    /// Trims and checks.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        clean_line("title", text, Bound::TITLE_CHARS).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Title {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        Self::parse(&text)
    }
}

impl From<Title> for String {
    fn from(title: Title) -> Self {
        title.0
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One trimmed line without control characters, within `limit` characters.
pub fn clean_line(what: &'static str, text: &str, limit: usize) -> Result<String, TextError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextError::Empty { what });
    }
    if text.chars().count() > limit {
        return Err(TextError::TooLong { what, limit, unit: "characters" });
    }
    if text.chars().any(breaks_a_line) {
        return Err(TextError::Control { what });
    }
    Ok(text.to_owned())
}

/// Controls, line and paragraph separators, and the bidirectional overrides that reorder a line.
fn breaks_a_line(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
