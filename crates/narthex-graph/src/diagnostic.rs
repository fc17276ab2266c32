//! What is wrong with a text, where, and what was probably meant.

use std::fmt;

/// A part of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl Span {
    /// From here to there.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// From the beginning of one to the end of another.
    pub const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// An error in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes.
    pub span: Span,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text that is meant, of one line and not too long.
    pub text: String,
    /// What to do instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Something is wrong here in this source.
    pub fn at(source: &str, span: Span, message: impl Into<String>) -> Self {
        let start = floor(source, span.start);
        let end = floor(source, span.end.max(start));
        let before = source.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = source.get(start..end).unwrap_or_default();
        Self {
            message: message.into(),
            span: Span { start, end },
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            text: text.lines().next().unwrap_or_default().chars().take(TEXT_CHARS).collect(),
            help: None,
        }
    }

    /// With what to do instead.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// With the nearest of the names there are, if one is near.
    pub fn nearest<'a>(self, got: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(got, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if !self.text.is_empty() {
            write!(f, " (at `{}`)", self.text)?;
        }
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The name that was probably meant.
pub fn nearest<'a>(got: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Measuring costs the product of both lengths, and a long text is no misspelt name.
    if got.len() > NAME_BYTES {
        return None;
    }
    let got = got.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&got, &name.to_lowercase());
    let near = known.into_iter().map(|name| (distance(name), name)).min()?;
    // A name of one letter is near to every other of one letter, and means none of them.
    let letters = got.chars().count();
    (near.0 <= (1 + letters / 4).min(letters.saturating_sub(1))).then_some(near.1)
}

/// The beginning of the character that this byte is in.
fn floor(source: &str, at: usize) -> usize {
    let at = at.min(source.len());
    (0..=at).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
}

/// How much of a text is shown.
const TEXT_CHARS: usize = 60;
/// How long a name can be that is looked for.
const NAME_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Span, nearest};

    #[test]
    fn line_and_column_count_characters() {
        let source = "ä\nbé $x";
        let found = Diagnostic::at(source, Span::new(7, 9), "unknown");
        assert_eq!((found.line, found.column, found.text.as_str()), (2, 4, "$x"));
        assert_eq!(found.to_string(), "2:4: unknown (at `$x`)");
        for (start, end) in [(0, 99), (1, 1), (99, 3), (4, 5)] {
            let _ = Diagnostic::at(source, Span::new(start, end), "never panics");
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("persn", ["Person", "Company"]), Some("Person"));
        assert_eq!(nearest("x", ["Person"]), None);
        assert_eq!(nearest("x", ["p"]), None);
        assert_eq!(nearest("x", ["X"]), Some("X"));
    }
}
