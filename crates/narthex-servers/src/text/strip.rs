//! Takes out what nobody sees, and says what it was.

use std::borrow::Cow;

use narthex_core::{Unseen, unseen, writing_needs};

use super::sequence::Sequences;
use super::visible::shown;

/// A text without what nobody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped<'a> {
    /// What is left; the text itself, if nothing was taken.
    pub text: Cow<'a, str>,
    /// What was taken out, each kind once.
    pub removed: Vec<Removed>,
}

/// What was taken out of a text, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The kind.
    pub kind: Unseen,
    /// How many characters, or sequences.
    pub count: usize,
    /// The first of them, made visible.
    pub sample: String,
}

/// Takes out control sequences whole, control characters, and what takes no room. Tabs, line feeds
/// and what writing needs stay.
pub fn strip(text: &str) -> Stripped<'_> {
    if is_plain(text) {
        return Stripped { text: Cow::Borrowed(text), removed: Vec::new() };
    }
    let mut out = String::with_capacity(text.len());
    let mut samples = Samples::default();
    let mut sequences = Sequences::default();
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let kind = unseen(c).filter(|_| !writing_needs(before, c, || after.chars().next()));
        let starts = matches!(c, '\u{1b}' | '\u{80}'..='\u{9f}');
        let length = if starts { sequences.length(rest) } else { c.len_utf8() };
        let (taken, next) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match kind {
            None => {
                out.push(c);
                before = Some(c);
            }
            Some(_) if starts => samples.add(Unseen::Sequence, taken),
            Some(kind) => samples.add(kind, taken),
        }
        rest = next;
    }
    if samples.0.is_empty() {
        return Stripped { text: Cow::Borrowed(text), removed: Vec::new() };
    }
    Stripped { text: Cow::Owned(out), removed: samples.0 }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'))
}

#[derive(Default)]
struct Samples(Vec<Removed>);

impl Samples {
    fn add(&mut self, kind: Unseen, taken: &str) {
        match self.0.iter_mut().find(|removed| removed.kind == kind) {
            Some(removed) => {
                removed.count += 1;
                // Hidden letters are told together: they spell something.
                if removed.count <= SPELLED {
                    removed.sample.push_str(&shown(taken, SAMPLE));
                }
            }
            None => self.0.push(Removed { kind, count: 1, sample: shown(taken, SAMPLE) }),
        }
    }
}

/// Characters of one thing that was taken out.
const SAMPLE: usize = 120;
/// How many of them are told.
const SPELLED: usize = 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::strip;
    use narthex_core::{Unseen, unseen_in};

    #[test]
    fn what_moves_a_terminal_or_hides_is_taken_out() {
        use Unseen::{Bidi, Control, Private, Sequence, Tag, Variation, ZeroWidth};
        for (text, left, kinds) in [
            ("plain\n\ttext \u{e9}", "plain\n\ttext \u{e9}", &[] as &[Unseen]),
            ("a\r\nb", "a\r\nb", &[]),
            ("\u{1b}[31mred\u{1b}[0m", "red", &[Sequence]),
            ("\u{9b}31mred", "red", &[Sequence]),
            ("\u{1b}[38;5;1!pX", "X", &[Sequence]),
            ("\u{1b}]8;;https://evil\u{1b}\\here\u{1b}]8;;\u{1b}\\", "here", &[Sequence]),
            ("\u{1b}]52;c;aGk=\u{7}x", "x", &[Sequence]),
            ("\u{9d}0;title\u{9c}x", "x", &[Sequence]),
            ("\u{1b}Pq#0\u{1b}\\x", "x", &[Sequence]),
            ("\u{1b}_payload\u{1b}\\x", "x", &[Sequence]),
            ("\u{1b}(Bx\u{1b}cx", "xx", &[Sequence]),
            ("\u{1b}]0;no end", "0;no end", &[Sequence]),
            ("\u{1b}]0;broken off\u{1b}[0mx", "0;broken offx", &[Sequence]),
            ("\u{1b}[12", "12", &[Sequence]),
            ("\u{1b}", "", &[Sequence]),
            ("\u{1b}\u{e9}", "\u{e9}", &[Sequence]),
            ("good\u{8}\u{8}\u{8}\u{8}evil", "goodevil", &[Control]),
            ("seen\rhidden", "seenhidden", &[Control]),
            ("a\u{0}b\u{7f}c\u{85}d", "abcd", &[Control, Sequence]),
            ("a\u{2028}b", "ab", &[Control]),
            ("a\u{200b}b\u{feff}", "ab", &[ZeroWidth]),
            ("a\u{202e}b\u{2066}", "ab", &[Bidi]),
            ("hi\u{e0068}\u{e0069}", "hi", &[Tag]),
            ("a\u{fe01}\u{e0101}b", "ab", &[Variation]),
            ("\u{26a0}\u{fe0f}", "\u{26a0}\u{fe0f}", &[]),
            ("a\u{e000}\u{f0000}b", "ab", &[Private]),
        ] {
            let stripped = strip(text);
            assert_eq!(stripped.text, left, "{text:?}");
            let found: Vec<Unseen> = stripped.removed.iter().map(|removed| removed.kind).collect();
            assert_eq!(found, kinds, "{text:?}");
        }
    }

    #[test]
    fn what_was_taken_is_told() {
        let stripped = strip("a\u{e0068}\u{e0069}\u{1b}]52;c;aGk=\u{7}");
        let told: Vec<_> = stripped.removed.iter().map(|r| (r.count, r.sample.as_str())).collect();
        let osc = "\u{27e8}U+001B\u{27e9}]52;c;aGk=\u{27e8}U+0007\u{27e9}";
        assert_eq!(told, [(2, "\u{27e8}tag h\u{27e9}\u{27e8}tag i\u{27e9}"), (1, osc)]);
    }

    #[test]
    fn the_worst_text_takes_no_longer_than_a_plain_one() {
        // Quadratic, each of these would take minutes.
        for text in ["\u{1b}]", "\u{1b}[", "\u{1b}", "\u{9d}", "\u{200d}", "\u{1b}]\u{1b}["] {
            let text = text.repeat(500_000);
            assert!(strip(&text).text.len() < text.len());
        }
    }

    proptest! {
        #[test]
        fn nothing_unseen_is_left(
            text in "[a-c\u{1b}\u{9b}\u{9d}\u{90}\\[\\];0-9m\u{7}\\\\\u{200d}\u{fe0f}\u{26a0}\u{e0041}\r\n]{0,40}"
        ) {
            let once = strip(&text).text.into_owned();
            prop_assert_eq!(unseen_in(&once).count(), 0, "{:?}", once);
            prop_assert_eq!(strip(&once).text.into_owned(), once);
        }

        #[test]
        fn plain_text_is_left_as_it_is(text in "[ -~\u{e9}\u{65e5}\n\t]{0,40}") {
            prop_assert_eq!(strip(&text).text, text.clone());
        }
    }
}
