//! What is different, for a person who is to say whether that is all right.

use std::time::Duration;

use crate::located::{self, Reading};
use crate::text::visible;

/// A unified diff of two canonical texts, a value a line, with everything unseen made visible.
pub fn diff_texts(old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    similar::TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header("approved", "offered")
        .to_string()
}

/// One value a line; what is no JSON as it stands.
fn lines(text: &str) -> String {
    match located::read(text, &READING) {
        Ok(node) => visible(&located::pretty(&node)),
        Err(_) => visible(text),
    }
}

const DIFF_TIME: Duration = Duration::from_secs(1);
/// What was read once is read again; a little more than a definition may have.
const READING: Reading = Reading { comments: false, bytes: 1024 * 1024, depth: 64, nodes: 100_000 };

#[cfg(test)]
mod tests {
    use super::diff_texts;

    #[test]
    fn what_changed_is_seen_even_if_it_is_invisible() {
        let old = r#"{"description":"Reads.","name":"a"}"#;
        let new = "{\"description\":\"Reads.\u{200b}\u{e0061}\",\"name\":\"a\"}";
        let diff = diff_texts(old, new);
        assert!(diff.contains("-  \"description\": \"Reads.\""), "{diff}");
        let shown = "+  \"description\": \"Reads.\u{27e8}U+200B\u{27e9}\u{27e8}tag a\u{27e9}\"";
        assert!(diff.contains(shown), "{diff}");
        assert!(diff.contains("   \"name\": \"a\""), "{diff}");
    }

    #[test]
    fn a_value_cannot_forge_a_line_of_the_diff() {
        let new = r#"{"description":"x\n+  \"approved\": true\u001b[2K\r","name":"a"}"#;
        let diff = diff_texts(r#"{"name":"a"}"#, new);
        assert_eq!(diff.lines().filter(|line| line.starts_with("+ ")).count(), 1, "{diff}");
        assert!(!diff.contains('\u{1b}') && !diff.contains('\r'));
    }
}
