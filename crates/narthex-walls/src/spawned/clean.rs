//! Text from somebody else's process, made harmless to look at.

/// The text without controls, sequences for terminals, and characters that nobody sees or that
/// reorder a line. A tab becomes a space.
pub(super) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut chars = text.chars().peekable();
    let mut cleaned = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => skip_control_sequence(&mut chars),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
                // A short sequence may have characters in between before its last one.
                Some(' '..='/') => {
                    while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
                    let _last = chars.next_if(|c| matches!(c, '0'..='~'));
                }
                _ => {}
            },
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\t' => cleaned.push(' '),
            c if unseen(c) => {}
            c => cleaned.push(c),
        }
    }
    cleaned
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Up to its last character; one that does not belong ends it too, and stays.
fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    let _last = chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Up to where it says it ends, or to the end of the line.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next() {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if chars.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}

fn unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{AD}'
                | '\u{61C}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn nothing_is_left_that_a_terminal_would_act_on() {
        let cases: &[(&[u8], &str)] = &[
            (b"plain", "plain"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b]52;c;c2VjcmV0\x07after", "after"),
            (b"\x1b]8;;https://evil.test\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPdevice\x1b\\x", "x"),
            (b"\x1b(Bx", "x"),
            ("\u{9b}31mred".as_bytes(), "red"),
            ("\u{9d}52;c;x\u{9c}after".as_bytes(), "after"),
            (b"over\x08\x08\x08\x08write\r", "overwrite"),
            (b"a\tb\0c\x7f", "a bc"),
            (b"\x1b[\x1b[31mnested", "nested"),
            (b"\x1b", ""),
            (b"\x1b]unended", ""),
            ("rtl\u{202e}x\u{2066}y\u{200b}z\u{feff}".as_bytes(), "rtlxyz"),
            ("tag\u{e0041}\u{e0042}".as_bytes(), "tag"),
            (b"bad \xff byte", "bad \u{fffd} byte"),
        ];
        for (raw, wanted) in cases {
            let cleaned = clean(raw);
            assert_eq!(&cleaned, wanted, "{raw:?}");
            assert!(!cleaned.chars().any(char::is_control), "{raw:?}");
        }
    }
}
