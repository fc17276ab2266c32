//! What is wrong with a text, said so that whoever wrote it can put it right.

use oxc_diagnostics::{OxcDiagnostic, Severity};
use thiserror::Error;

use super::places::{Place, count};

/// A text that no program can be made of.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}\n  {excerpt}")]
pub struct Misshapen {
    /// From 1, in the text as it was sent.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// What is wrong, and what to do about it where that is known.
    pub message: String,
    /// The line it is about, or the part of it around the column.
    pub excerpt: String,
}

impl Misshapen {
    pub(super) fn new(sent: &str, place: Place, message: String) -> Self {
        let text = line(sent, place.0);
        let column = character(text, place.1);
        Self { line: place.0, column, message, excerpt: excerpt(text, column) }
    }
}

/// What is wrong, at a byte of the text of some step.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) message: String,
    /// Other places that have to do with it, and what they have to do with it.
    pub(super) also: Vec<(usize, String)>,
}

impl Problem {
    pub(super) fn new(at: u32, message: impl Into<String>) -> Self {
        Self { at: at as usize, message: message.into(), also: Vec::new() }
    }

    /// The first error of these.
    pub(super) fn first(found: &[OxcDiagnostic]) -> Option<Self> {
        let errors = found.iter().filter(|found| found.severity == Severity::Error);
        errors.map(Self::of).min_by_key(|problem| problem.at)
    }

    fn of(found: &OxcDiagnostic) -> Self {
        let message = match &found.help {
            Some(help) => format!("{}. {help}", found.message),
            None => found.message.to_string(),
        };
        // What the first place is called is in the message already.
        let mut labels = found.labels.iter().map(|label| (label.offset() as usize, label.label()));
        let at = labels.next().map_or(0, |(at, _)| at);
        let also = labels.filter_map(|(at, said)| Some((at, said?.to_owned()))).collect();
        Self { at, message, also }
    }
}

/// A line of a text, without its end.
pub(super) fn line(text: &str, line: u32) -> &str {
    text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default()
}

/// The character that a byte of a line belongs to, both from 1.
pub(super) fn character(line: &str, byte: u32) -> u32 {
    let before = (byte as usize).saturating_sub(1);
    count(line.char_indices().take_while(|(at, _)| *at < before).count() + 1)
}

/// A line, or as much of it as anyone reads.
fn excerpt(line: &str, column: u32) -> String {
    let from = (column as usize).saturating_sub(EXCERPT / 2);
    let mut chars = line.chars().skip(from);
    let mut kept: String = chars.by_ref().take(EXCERPT).collect();
    if from > 0 {
        kept.insert(0, '\u{2026}');
    }
    if chars.next().is_some() {
        kept.push('\u{2026}');
    }
    kept
}

/// Characters of a line that are shown.
const EXCERPT: usize = 160;

#[cfg(test)]
mod tests {
    use super::{EXCERPT, Misshapen};

    #[test]
    fn an_error_shows_its_line_and_counts_characters() {
        let wrong = Misshapen::new("a\n\u{e9}\u{e9} = ;\nb", (2, 8), "no".into());
        assert_eq!((wrong.line, wrong.column), (2, 6));
        assert_eq!(wrong.to_string(), "line 2, column 6: no\n  \u{e9}\u{e9} = ;");
    }

    #[test]
    fn a_long_line_is_shown_around_the_column() {
        let text = format!("{}!{}", "x".repeat(1_000), "y".repeat(1_000));
        let wrong = Misshapen::new(&text, (1, 1_001), "no".into());
        assert_eq!(wrong.excerpt.chars().count(), EXCERPT + 2);
        assert!(wrong.excerpt.contains("x!y"), "{}", wrong.excerpt);
    }

    #[test]
    fn a_place_outside_the_text_shows_nothing() {
        assert_eq!(Misshapen::new("", (9, 9), "no".into()).excerpt, "");
    }
}
