//! Shows what cannot be seen.

use std::fmt::Write as _;

use narthex_core::unseen;

/// The text with every unseen character spelled out: `⟨U+200B⟩`, and for the tag block the letter
/// it stands for as well (`⟨tag a⟩`). Line feeds and tabs stay.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(c, &mut out);
    }
    out
}

/// The same on one line, and no longer than `most` characters.
pub fn shown(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    for c in text.chars() {
        let before = out.len();
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => push(c, &mut out),
        }
        let added = out.get(before..).map_or(0, |added| added.chars().count());
        if added > left {
            out.truncate(before);
            out.push('\u{2026}');
            break;
        }
        left -= added;
    }
    out
}

fn push(c: char, out: &mut String) {
    let code = c as u32;
    // Writing to a String cannot fail.
    let _ = match (c, unseen(c)) {
        (_, None) => write!(out, "{c}"),
        ('\u{e0021}'..='\u{e007e}', _) => {
            write!(out, "\u{27e8}tag {}\u{27e9}", char::from_u32(code - 0xe0000).unwrap_or('?'))
        }
        _ => write!(out, "\u{27e8}U+{code:04X}\u{27e9}"),
    };
}

#[cfg(test)]
mod tests {
    use super::{shown, visible};

    #[test]
    fn what_was_hidden_can_be_read() {
        for (text, seen) in [
            ("plain \u{e9}\n", "plain \u{e9}\n"),
            ("a\u{200b}b", "a\u{27e8}U+200B\u{27e9}b"),
            ("\u{1b}[31m", "\u{27e8}U+001B\u{27e9}[31m"),
            ("\u{e0068}\u{e0069}", "\u{27e8}tag h\u{27e9}\u{27e8}tag i\u{27e9}"),
            ("\u{e0001}", "\u{27e8}U+E0001\u{27e9}"),
            ("\u{26a0}\u{fe0f}", "\u{26a0}\u{27e8}U+FE0F\u{27e9}"),
        ] {
            assert_eq!(visible(text), seen);
        }
    }

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown("a\nb\tc", 10), "a\\nb\\tc");
        assert_eq!(shown("abcdef", 6), "abcdef");
        assert_eq!(shown("abcdefg", 6), "abcdef\u{2026}");
        assert_eq!(shown("ab\u{200b}", 6), "ab\u{2026}");
        assert_eq!(shown(&"\u{200b}".repeat(100_000), 24).chars().count(), 25);
    }
}
