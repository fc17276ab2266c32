//! Characters that nobody sees, or that change what others show.

use std::fmt;

/// Why a character, or a run of them, is not plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unseen {
    /// Moves a terminal's cursor, rings, overwrites, breaks a line where none is seen.
    Control,
    /// A terminal's control sequence (CSI, OSC, DCS and their like), whole.
    Sequence,
    /// Takes no room.
    ZeroWidth,
    /// Reorders what is shown.
    Bidi,
    /// The tag block: a second alphabet that only machines read.
    Tag,
    /// Picks a glyph; a run of them spells bytes.
    Variation,
    /// Means whatever someone agreed on.
    Private,
}

impl Unseen {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Control,
        Self::Sequence,
        Self::ZeroWidth,
        Self::Bidi,
        Self::Tag,
        Self::Variation,
        Self::Private,
    ];

    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control characters",
            Self::Sequence => "terminal control sequences",
            Self::ZeroWidth => "zero-width characters",
            Self::Bidi => "bidirectional controls",
            Self::Tag => "Unicode tag characters",
            Self::Variation => "variation selectors",
            Self::Private => "private-use characters",
        }
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a character is, if it is not plain text. Tabs and line feeds are.
pub const fn unseen(c: char) -> Option<Unseen> {
    Some(match c {
        '\t' | '\n' | ' '..='~' => return None,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => Unseen::Control,
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' => Unseen::ZeroWidth,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Unseen::Bidi
        }
        '\u{180b}'..='\u{180d}'
        | '\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Unseen::Variation,
        '\u{e0000}'..='\u{e0fff}' => Unseen::Tag,
        '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..='\u{10ffff}' => {
            Unseen::Private
        }
        c if c as u32 & 0xfffe == 0xfffe => Unseen::Private,
        _ => return None,
    })
}

/// Each of them in a text with its place in bytes, but for those that writing needs: the joiners
/// of emoji and of scripts that join letters, the selector that colours an emoji, and the
/// carriage return of a line's end.
pub fn unseen_in(text: &str) -> impl Iterator<Item = (usize, char, Unseen)> {
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let previous = before.replace(c);
        let kind = unseen(c)?;
        let next = || text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        (!writing_needs(previous, c, next)).then_some((at, c, kind))
    })
}

/// Whether a character that nobody sees is part of how something is written, between these two.
pub fn writing_needs(before: Option<char>, c: char, after: impl FnOnce() -> Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\r' => after() == Some('\n'),
        '\u{fe0e}' | '\u{fe0f}' => takes_a_selector(before),
        '\u{200d}' if is_emoji(before) || before == '\u{fe0f}' => after().is_some_and(is_emoji),
        '\u{200c}' | '\u{200d}' => joins(before) && after().is_some_and(joins),
        _ => false,
    }
}

fn takes_a_selector(c: char) -> bool {
    is_emoji(c) || c.is_ascii_digit() || matches!(c, '#' | '*')
}

const fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Letters and marks of the scripts that write with joiners, Arabic to Sinhala.
fn joins(c: char) -> bool {
    let mark = matches!(c, '\u{900}'..='\u{dff}') && !c.is_numeric();
    mark || (matches!(c, '\u{600}'..='\u{8ff}') && c.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{Unseen, unseen, unseen_in};

    #[test]
    fn each_block_is_known_by_both_of_its_ends() {
        for (first, last, kind) in [
            ('\0', '\u{8}', Unseen::Control),
            ('\u{b}', '\u{1f}', Unseen::Control),
            ('\u{7f}', '\u{9f}', Unseen::Control),
            ('\u{2028}', '\u{2029}', Unseen::Control),
            ('\u{200b}', '\u{200d}', Unseen::ZeroWidth),
            ('\u{2060}', '\u{2064}', Unseen::ZeroWidth),
            ('\u{3164}', '\u{3164}', Unseen::ZeroWidth),
            ('\u{feff}', '\u{feff}', Unseen::ZeroWidth),
            ('\u{200e}', '\u{200f}', Unseen::Bidi),
            ('\u{202a}', '\u{202e}', Unseen::Bidi),
            ('\u{2066}', '\u{2069}', Unseen::Bidi),
            ('\u{e0000}', '\u{e007f}', Unseen::Tag),
            ('\u{fe00}', '\u{fe0f}', Unseen::Variation),
            ('\u{e0100}', '\u{e01ef}', Unseen::Variation),
            ('\u{e000}', '\u{f8ff}', Unseen::Private),
            ('\u{f0000}', '\u{10ffff}', Unseen::Private),
            ('\u{ffff}', '\u{ffff}', Unseen::Private),
        ] {
            for c in first..=last {
                assert_eq!(unseen(c), Some(kind), "{:x}", c as u32);
            }
        }
        for c in ['\n', '\t', ' ', '~', '\u{e9}', '\u{65e5}', '\u{1f600}', '\u{fffd}', '\u{a0}'] {
            assert_eq!(unseen(c), None, "{c:?}");
        }
    }

    #[test]
    fn what_writing_needs_is_left_alone_and_nothing_else() {
        for (text, found) in [
            ("a\r\nb", 0),
            ("a\rb", 1),
            ("\u{26a0}\u{fe0f} careful", 0),
            ("1\u{fe0f}\u{20e3}", 0),
            ("\u{1f468}\u{200d}\u{1f469}", 0),
            ("\u{2764}\u{fe0f}\u{200d}\u{1f525}", 0),
            ("\u{645}\u{200c}\u{6cc}", 0),
            ("\u{915}\u{94d}\u{200d}\u{937}", 0),
            ("a\u{fe0f}", 1),
            ("\u{26a0}\u{fe0f}\u{fe0f}", 1),
            ("\u{fe0f}", 1),
            ("\u{1f600}\u{200d}a", 1),
            ("a\u{200d}b", 1),
            ("ig\u{200c}nore", 1),
            ("\u{1f3f4}\u{e0067}\u{e007f}", 2),
            ("\u{26a0}\u{e0100}", 1),
        ] {
            assert_eq!(unseen_in(text).count(), found, "{text:?}");
        }
    }
}
