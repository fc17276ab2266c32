//! The place in a text that is wrong: its line, and a mark under what is meant.

use narthex_server::owner::TextFault;

/// What is wrong and where, as compilers say it.
pub(super) fn drawn(name: &str, text: &str, fault: &TextFault) -> String {
    let TextFault { message, line, column, start, end, help } = fault;
    let said = format!("{name}:{line}:{column}: {message}");
    let whole: Vec<char> = text.lines().nth(line - 1).unwrap_or_default().chars().collect();
    let from = column.saturating_sub(BEFORE).min(whole.len());
    let shown: String = whole.iter().skip(from).take(WIDTH).map(|c| plain(*c)).collect();
    let meant = text.get(*start..*end).unwrap_or_default();
    let meant = meant.lines().next().unwrap_or_default().chars().count();
    let indent = " ".repeat((column - 1).saturating_sub(from));
    let room = WIDTH.saturating_sub(indent.chars().count());
    let marks = "^".repeat(meant.clamp(1, room.max(1)));
    let help = help.as_ref().map(|help| format!(" {help}")).unwrap_or_default();
    let gutter = line.to_string();
    let empty = " ".repeat(gutter.len());
    let shown = shown.trim_end();
    format!("{said}\n  {gutter} | {shown}\n  {empty} | {indent}{marks}{help}")
}

/// A tab is one column here.
const fn plain(c: char) -> char {
    if c == '\t' { ' ' } else { c }
}

/// Characters of a line that are shown before the place, and all in all.
const BEFORE: usize = 60;
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use narthex_graph::{Diagnostic, Span};
    use narthex_server::owner::TextFault;

    use super::drawn;

    #[test]
    fn the_mark_stands_under_what_is_meant() {
        let text = "query q() {\n\tmatch { $é: Persn }\n}";
        let start = text.find("Persn").unwrap_or_default();
        let found = Diagnostic::at(text, Span::new(start, start + 5), "no such type")
            .help("did you mean `Person`?");
        assert_eq!(
            drawn("x.gq", text, &TextFault::from(&found)),
            "x.gq:2:14: no such type\n  2 |  match { $é: Persn }\n    |              ^^^^^ did you mean `Person`?"
        );
    }

    #[test]
    fn a_place_anywhere_can_be_drawn() {
        let long = format!("{}x{}", " ".repeat(5_000), "y".repeat(5_000));
        for text in ["", "\n", "a", long.as_str()] {
            for (start, end) in [(0, 0), (0, 9_999), (5_000, 5_001), (1, 1)] {
                let found = Diagnostic::at(text, Span::new(start, end), "wrong");
                let said = drawn("x", text, &TextFault::from(&found));
                assert!(said.lines().all(|line| line.chars().count() < 140), "{said}");
                assert!(said.contains('^'));
            }
        }
    }
}
