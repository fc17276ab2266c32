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
    /// A line break, an escape, or a character that nobody would see.
    #[error("{what} contains a control character or one that cannot be seen")]
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

/// Controls, line and paragraph separators, the bidirectional marks that reorder a line, and
/// characters that nobody sees (zero-width ones but for the joiners that letters need, the tag
/// block).
fn breaks_a_line(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{AD}'
                | '\u{61C}'
                | '\u{180E}'
                | '\u{200B}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::Title;

    #[test]
    fn a_title_is_one_line_that_hides_nothing() {
        for good in
            ["Home", " padded ", "caf\u{e9}", "\u{1f468}\u{200d}\u{1f469}", "\u{65e5}\u{672c}"]
        {
            assert!(Title::parse(good).is_ok(), "{good:?}");
        }
        for bad in [
            "",
            " ",
            "a\nb",
            "a\u{1b}[31m",
            "a\u{0}",
            "a\u{2028}b",
            "a\u{202e}b",
            "a\u{2066}b",
            "\u{feff}",
            "a\u{200b}b",
            "a\u{e0041}",
            "a\u{85}b",
            "a\u{9b}b",
        ] {
            assert!(Title::parse(bad).is_err(), "{bad:?}");
        }
    }
}
