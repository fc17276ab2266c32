//! Descriptions, within bounds.

use crate::text::strip;

/// Characters of a description that anyone is shown.
pub const DESCRIPTION_CHARS: usize = 2_000;

/// A description without what nobody sees, and no longer than [`DESCRIPTION_CHARS`].
pub fn description(text: &str) -> String {
    cut(&strip(text).text, DESCRIPTION_CHARS)
}

/// The same, so that it cannot end the comment of generated code that it stands in, or be taken for
/// one of its tags.
pub fn for_comment(text: &str) -> String {
    let text = description(text).replace("*/", "*\\/").replace('\r', "");
    let line = |line: &str| match line.trim_start().strip_prefix('@') {
        Some(_) => line.replacen('@', "\\@", 1),
        None => line.to_owned(),
    };
    cut(&text.lines().map(line).collect::<Vec<_>>().join("\n"), DESCRIPTION_CHARS)
}

/// No longer than this; where something is missing, it ends in `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(std::iter::once('\u{2026}')).collect()
}

#[cfg(test)]
mod tests {
    use super::{DESCRIPTION_CHARS, description, for_comment};

    #[test]
    fn a_description_is_plain_and_short() {
        for (text, expected) in [
            ("Plain \u{e9}\n", "Plain \u{e9}\n"),
            ("a\u{1b}[31mb\u{200b}c\u{e0041}", "abc"),
            ("a\u{0}b\u{202e}", "ab"),
        ] {
            assert_eq!(description(text), expected);
        }
        for n in [1_999, 2_000, 2_001, 100_000] {
            let text = "\u{e9}".repeat(n);
            let made = description(&text);
            assert_eq!(made.chars().count(), n.min(DESCRIPTION_CHARS), "{n}");
            assert_eq!(made.ends_with('\u{2026}'), n > DESCRIPTION_CHARS, "{n}");
        }
    }

    #[test]
    fn a_comment_ends_where_it_should() {
        for (text, expected) in [
            ("a */ evil() /* b", "a *\\/ evil() /* b"),
            ("a *\u{200b}/ b", "a *\\/ b"),
            ("x\n@deprecated use evil", "x\n\\@deprecated use evil"),
            ("**/", "**\\/"),
        ] {
            assert_eq!(for_comment(text), expected, "{text:?}");
        }
        let full = "*/".repeat(1_000);
        assert!(for_comment(&full).chars().count() <= DESCRIPTION_CHARS);
        assert!(!for_comment(&full).contains("*/"));
    }
}
