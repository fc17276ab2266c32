//! Text that someone else wrote, made fit for a terminal.
//!
//! A page, a proposal or an error can hold what an agent chose. Nothing of it may move the
//! cursor, colour the screen, set a title, hide itself or turn the reading order around.

/// Several lines: control characters are taken out, line breaks and tabs stay.
pub fn text(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || is_plain(*c))
        .collect()
}

/// One line: line breaks and tabs become spaces.
pub fn line(text: &str) -> String {
    let spaced = text.chars().map(|c| if is_break(c) { ' ' } else { c });
    spaced.filter(|c| is_plain(*c)).collect::<String>().trim().to_owned()
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
    fn nothing_that_steers_a_terminal_survives() {
        for (hostile, expected) in [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m", "[31mred[0m"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("\u{9b}31mred", "31mred"),
            ("a\u{8}\u{8}b", "ab"),
            ("a\rb", "ab"),
            ("a\r\nb", "a\nb"),
            ("tab\tstays", "tab\tstays"),
            ("nul\0", "nul"),
            ("del\u{7f}", "del"),
            ("\u{202e}evil\u{202c}", "evil"),
            ("\u{2066}x\u{2069}", "x"),
            ("zero\u{200b}width", "zerowidth"),
            ("tags\u{e0041}\u{e007f}", "tags"),
            ("line\u{2028}sep", "linesep"),
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
