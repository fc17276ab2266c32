//! Text that someone else wrote, made fit for a terminal.
//!
//! A page, a proposal or an error can hold what an agent chose. Nothing of it may move the
//! cursor, colour the screen, set a title or turn the reading order around; and nothing of it may
//! hide: what would not be seen is shown as `⟨U+E0041⟩`.

/// Several lines: line breaks and tabs stay.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\n' | '\t' => out.push(c),
            other => show(&mut out, other),
        }
    }
    out
}

/// One line: line breaks and tabs become spaces.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        show(&mut out, if is_break(c) { ' ' } else { c });
    }
    out.trim().to_owned()
}

/// How many characters of a text a reader would not see.
pub fn hidden(text: &str) -> usize {
    text.chars().filter(|c| !is_break(*c) && !is_plain(*c)).count()
}

fn show(out: &mut String, c: char) {
    use std::fmt::Write as _;
    if is_plain(c) {
        out.push(c);
    } else {
        // Writing to a String cannot fail.
        let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
    }
}

/// One line of at most so many characters.
pub fn short(text: &str, limit: usize) -> String {
    let whole = line(text);
    if whole.chars().count() <= limit {
        return whole;
    }
    let kept: String = whole.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Neither a control character nor one of those that hide or reorder what stands beside them.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{line, short, text};

    #[test]
    fn nothing_steers_a_terminal_and_nothing_hides() {
        for (hostile, expected) in [
            ("plain", "plain"),
            ("\u{1b}[31mred", "⟨U+001B⟩[31mred"),
            ("\u{1b}]0;title\u{7}x", "⟨U+001B⟩]0;title⟨U+0007⟩x"),
            ("\u{9b}31mred", "⟨U+009B⟩31mred"),
            ("a\u{8}b", "a⟨U+0008⟩b"),
            ("a\rb", "a⟨U+000D⟩b"),
            ("a\r\nb", "a\nb"),
            ("tab\tstays", "tab\tstays"),
            ("nul\0", "nul⟨U+0000⟩"),
            ("\u{202e}evil", "⟨U+202E⟩evil"),
            ("\u{2066}x", "⟨U+2066⟩x"),
            ("zero\u{200b}width", "zero⟨U+200B⟩width"),
            ("tags\u{e0041}\u{e007f}", "tags⟨U+E0041⟩⟨U+E007F⟩"),
            ("line\u{2028}sep", "line⟨U+2028⟩sep"),
            ("caf\u{e9} \u{65e5}\u{672c} \u{1f600}", "caf\u{e9} \u{65e5}\u{672c} \u{1f600}"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}\u{200d}\u{1f469}"),
        ] {
            assert_eq!(text(hostile), expected, "{hostile:?}");
        }
    }

    #[test]
    fn a_line_is_one_line_and_a_short_one_fits() {
        assert_eq!(line(" a\nb\tc\u{85}d\r\n"), "a b c d");
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("abcdefg", 6), "abcde…");
        assert_eq!(short("abc  efg", 6), "abc…");
        assert_eq!(short("x", 0), "…");
    }
}
