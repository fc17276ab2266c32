//! Text of others as part of a program: inside a string, or as a name.

use std::fmt::Write as _;

use narthex_core::unseen;

/// A string literal of this text. Nothing in it ends it, on any reading of what a line is.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The name of a property, quoted where it must be.
pub(super) fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// A name that needs no quotes. Other scripts have identifiers too; they are quoted, so that what
/// looks like a plain name is one.
pub(super) fn is_identifier(name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    name.chars().all(part) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// A character that nobody sees or that changes what others show, spelled out.
pub(super) fn push_visible(out: &mut String, c: char) {
    if is_hidden(c) {
        let _ = write!(out, "\\u{{{:x}}}", c as u32);
    } else {
        out.push(c);
    }
}

/// What nobody sees, by the one table there is. Tabs and line feeds are the caller's to place.
pub(super) const fn is_hidden(c: char) -> bool {
    matches!(c, '\t' | '\n') || unseen(c).is_some()
}

#[cfg(test)]
mod tests {
    use super::{key, quoted};

    #[test]
    fn nothing_ends_a_string() {
        for (text, expected) in [
            ("plain \u{e9} 'x' `y`", "\"plain \u{e9} 'x' `y`\""),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\r\n\t\0", r#""\u000d\n\t\u0000""#),
            ("\u{2028}\u{2029}\u{85}", r#""\u2028\u2029\u0085""#),
            ("\u{202e}\u{e0041}", r#""\u202e\udb40\udc41""#),
            ("\\u0022", r#""\\u0022""#),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_plain_names_go_without_quotes() {
        for (name, expected) in [
            ("a_1$", "a_1$"),
            ("__proto__", "__proto__"),
            ("delete", "delete"),
            ("1a", "\"1a\""),
            ("", "\"\""),
            ("a-b", "\"a-b\""),
            ("caf\u{e9}", "\"caf\u{e9}\""),
            ("a: any }; evil", "\"a: any }; evil\""),
        ] {
            assert_eq!(key(name), expected, "{name:?}");
        }
    }
}
