//! The place in a file that an error is about.

use std::ops::Range;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
    SourceSpan,
};

/// Draws the lines around a place. Without colours: what prints it also cleans it.
pub fn excerpt(file: &str, text: &str, span: Range<usize>, label: &str) -> String {
    let span = SourceSpan::from(within(text, span));
    // The message itself is said elsewhere; here only the drawing is wanted.
    let diagnostic = MietteDiagnostic::new(String::new())
        .with_label(LabeledSpan::new_with_span(Some(label.to_owned()), span));
    let report = Report::new(diagnostic).with_source_code(NamedSource::new(file, text.to_owned()));
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .with_context_lines(1);
    if handler.render_report(&mut drawn, report.as_ref()).is_err() {
        return String::new();
    }
    let lines = drawn.lines().map(str::trim_end).filter(|line| !matches!(line.trim(), "" | "×"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Line and column of a place, from 1, counted in characters.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Held inside the text, on character boundaries and on a line, or miette draws nothing.
fn within(text: &str, span: Range<usize>) -> Range<usize> {
    let last = text.trim_end().len();
    let down = |mut at: usize| {
        at = at.min(last);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = down(span.start);
    start..down(span.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::{excerpt, position};

    #[test]
    fn positions_count_characters_from_one() {
        for (text, offset, expected) in [
            ("", 0, (1, 1)),
            ("abc", 2, (1, 3)),
            ("a\nbc", 2, (2, 1)),
            ("\u{e9}x\n\u{e9}x", 2, (1, 2)),
            ("ab", 99, (1, 3)),
        ] {
            assert_eq!(position(text, offset), expected, "{text:?} {offset}");
        }
    }

    #[test]
    fn a_span_outside_the_text_is_drawn_at_its_end() {
        for span in [0..0, 1..2, 3..900, 900..901] {
            let drawn = excerpt("x.toml", "a = \u{e9}\nb = 2\n", span.clone(), "here");
            assert!(drawn.contains("here") && drawn.contains("x.toml"), "{span:?} {drawn}");
        }
    }
}
