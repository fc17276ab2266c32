//! Text of others inside a comment.

use super::text::{is_hidden, push_visible};

/// A text as lines of a comment: nothing ends the comment, nothing is one of its tags or a word to
/// the compiler, nothing hides.
pub(super) fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut before = '\n';
    let mut chars = text.chars().peekable();
    let mut left = most;
    while let Some(c) = chars.next() {
        if left == 0 {
            push(&mut lines, '\u{2026}');
            break;
        }
        left -= 1;
        match c {
            '\r' if chars.peek() == Some(&'\n') => continue,
            '\r' | '\n' => lines.push(String::new()),
            '\t' => push(&mut lines, ' '),
            '/' if before == '*' => lines.last_mut().into_iter().for_each(|l| l.push_str("\\/")),
            // An address keeps its sign, a tag (at a line's start, after a space, in braces) does not.
            '@' if !before.is_alphanumeric() => {
                lines.last_mut().into_iter().for_each(|l| l.push_str("\\@"));
            }
            c => push(&mut lines, c),
        }
        before = c;
    }
    tidy(lines)
}

/// A value in one line, cut to this many characters.
pub(super) fn line(text: &str, most: usize) -> String {
    lines(text, most).join(" ")
}

/// The comment, each line indented. Nothing for no lines.
pub(super) fn block(lines: &[String], indent: usize) -> String {
    let space = " ".repeat(indent);
    match lines {
        [] => String::new(),
        [only] => format!("{space}/** {only} */\n"),
        many => {
            let mut out = format!("{space}/**\n");
            for line in many {
                out.push_str(&space);
                out.push_str(if line.is_empty() { " *" } else { " * " });
                out.push_str(line);
                out.push('\n');
            }
            out.push_str(&space);
            out.push_str(" */\n");
            out
        }
    }
}

/// How long the comment will be, at most.
pub(super) fn room(lines: &[String], indent: usize) -> usize {
    if lines.is_empty() {
        return 0;
    }
    lines.iter().map(|line| line.len() + indent + 4).sum::<usize>() + 2 * (indent + 5)
}

fn push(lines: &mut [String], c: char) {
    if let Some(line) = lines.last_mut() {
        push_visible(line, c);
    }
}

/// Without space at the ends, and never two empty lines in a row.
fn tidy(lines: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines {
        let line = line.trim_end();
        if !line.is_empty() || out.last().is_some_and(|last| !last.is_empty()) {
            out.push(line.to_owned());
        }
    }
    if out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    debug_assert!(out.iter().all(|line| !line.contains("*/") && !line.contains(is_hidden)));
    out
}

#[cfg(test)]
mod tests {
    use super::{block, line, lines};

    #[test]
    fn nothing_leaves_a_comment() {
        for (text, expected) in [
            ("a */ evil() /* b", "a *\\/ evil() /* b"),
            ("**/ */", "**\\/ *\\/"),
            ("*\u{200b}/", "*\\u{200b}/"),
            ("a\u{2028}b\u{2029}c\u{85}d\u{202e}", "a\\u{2028}b\\u{2029}c\\u{85}d\\u{202e}"),
            ("@ts-ignore", "\\@ts-ignore"),
            ("x @deprecated {@link y} a@b.example", "x \\@deprecated {\\@link y} a@b.example"),
            ("a\r\nb\rc\n\n\n\nd\n\n", "a b c  d"),
            ("", ""),
        ] {
            assert_eq!(line(text, 100), expected, "{text:?}");
        }
        assert_eq!(block(&lines("*\n/", 100), 0), "/**\n * *\n * /\n */\n");
        assert_eq!(block(&lines("/", 100), 2), "  /** / */\n");
    }

    #[test]
    fn long_texts_are_cut() {
        for n in [99, 100, 101, 100_000] {
            let made = line(&"\u{e9}".repeat(n), 100);
            assert_eq!(made.chars().count(), n.min(101), "{n}");
            assert_eq!(made.ends_with('\u{2026}'), n > 100, "{n}");
        }
    }
}
