//! A unified diff with its colours.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::clean;

/// Colours a unified diff line by line; what the lines say is made fit for a terminal first.
pub fn coloured(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len() * 2);
    let mut in_hunk = false;
    for line in diff.lines() {
        in_hunk |= line.starts_with("@@");
        let style = style_of(line, in_hunk);
        let line = clean::text(line);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{style}{line}{style:#}");
    }
    out.trim_end_matches('\n').to_owned()
}

fn style_of(line: &str, in_hunk: bool) -> Style {
    match line.as_bytes().first() {
        Some(b'@') => AnsiColor::Cyan.on_default(),
        _ if !in_hunk => Style::new().bold(),
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'\\') => Style::new().dimmed(),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn each_kind_of_line_has_its_colour_and_none_brings_its_own() {
        let diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old \u{1b}[2J\n+new\n--- rule\n";
        assert_eq!(
            coloured(diff),
            "\u{1b}[1m--- a\u{1b}[0m\n\u{1b}[1m+++ b\u{1b}[0m\n\
             \u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[0m\n same\n\
             \u{1b}[31m-old ⟨U+001B⟩[2J\u{1b}[0m\n\u{1b}[32m+new\u{1b}[0m\n\
             \u{1b}[31m--- rule\u{1b}[0m"
        );
    }
}
