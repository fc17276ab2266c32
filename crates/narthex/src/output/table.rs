//! Tables: a head, a line, rows. Ids stay whole, the last column gives way.

use anstyle::{AnsiColor, Style};
use comfy_table::{
    Attribute, Cell, Color, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};
use narthex_core::Timestamp;

use super::clean;

/// A column's name, and whether it may be wrapped where the terminal is narrow.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// Never wrapped: an id, a slug, a word to copy.
    Whole(&'static str),
    /// Wrapped where it must be.
    Flows(&'static str),
}

/// What stands in a cell. It is made fit for a terminal when it is printed.
#[derive(Debug, Clone)]
pub struct Said {
    text: String,
    tone: Option<AnsiColor>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, tone: None }
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// Something that is as it should be.
pub fn good(text: impl Into<String>) -> Said {
    Said { text: text.into(), tone: Some(AnsiColor::Green) }
}

/// Something to look at.
pub fn fair(text: impl Into<String>) -> Said {
    Said { text: text.into(), tone: Some(AnsiColor::Yellow) }
}

/// Something that is not as it should be.
pub fn bad(text: impl Into<String>) -> Said {
    Said { text: text.into(), tone: Some(AnsiColor::Red) }
}

/// Rows under columns.
pub fn rows<R, S>(columns: &[Column], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = S>,
    S: Into<Said>,
{
    let columns = columns.iter().map(|column| match column {
        Column::Whole(name) => (*name, true),
        Column::Flows(name) => (*name, false),
    });
    formed(columns.collect(), rows).trim_fmt()
}

/// Rows under columns whose names someone else chose.
pub fn grid<R, S>(names: &[String], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = S>,
    S: Into<Said>,
{
    let names: Vec<String> = names.iter().map(|name| clean::line(name)).collect();
    formed(names.iter().map(|name| (name.as_str(), false)).collect(), rows).trim_fmt()
}

/// Names and values of one thing, below each other.
pub fn facts<'a, S: Into<Said>>(facts: impl IntoIterator<Item = (&'a str, S)>) -> String {
    let facts: Vec<(&str, Said)> = facts.into_iter().map(|(k, v)| (k, v.into())).collect();
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let dim = Style::new().dimmed();
    let lines = facts.iter().map(|(name, said)| {
        let tone = said.tone.map_or_else(Style::new, AnsiColor::on_default);
        let text = clean::line(&said.text);
        format!("{dim}{name:<width$}{dim:#}  {tone}{text}{tone:#}").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A moment, to the minute.
pub fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) if text.ends_with('Z') => format!("{day} {time}Z"),
        _ => text,
    }
}

/// A moment, or a dash.
pub fn moment_or_dash(at: Option<Timestamp>) -> String {
    at.map_or_else(dash, moment)
}

/// What stands where nothing is.
pub fn dash() -> String {
    "-".to_owned()
}

/// Columns are a name, and whether they stay whole.
fn formed<R, S>(columns: Vec<(&str, bool)>, rows: impl IntoIterator<Item = R>) -> Table
where
    R: IntoIterator<Item = S>,
    S: Into<Said>,
{
    let mut table = Table::new();
    table.load_style(LIGHT).set_content_arrangement(ContentArrangement::Dynamic);
    // Colours are put in always; the way to standard output takes them out where needed.
    table.enforce_styling();
    table
        .set_header(columns.iter().map(|(name, _)| Cell::new(name).add_attribute(Attribute::Bold)));
    for row in rows {
        table.add_row(row.into_iter().map(|said| cell(&said.into())));
    }
    for (n, (_, whole)) in columns.into_iter().enumerate() {
        let Some(formed) = table.column_mut(n) else { continue };
        formed.set_padding((0, 1));
        if whole {
            formed.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

fn cell(said: &Said) -> Cell {
    let cell = Cell::new(clean::line(&said.text));
    match said.tone {
        Some(AnsiColor::Green) => cell.fg(Color::Green),
        Some(AnsiColor::Yellow) => cell.fg(Color::Yellow),
        Some(_) => cell.fg(Color::Red),
        None => cell,
    }
}

/// One line under the head, and no other.
const LIGHT: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

#[cfg(test)]
mod tests {
    use super::{bad, facts, formed, good, grid, moment};
    use narthex_core::Timestamp;

    #[test]
    fn ids_stay_whole_where_the_terminal_is_narrow() {
        let id = "0198c0de-0000-7000-8000-000000000001";
        let columns = vec![("ID", true), ("AGENT", true), ("REASON", false)];
        let long = "because the page says something else than the source it cites, in two places";
        let mut table = formed(columns, [[id, "claude", long], [id, "x", "short"]]);
        let drawn = anstream::adapter::strip_str(&table.set_width(80).trim_fmt()).to_string();
        assert_eq!(drawn.matches(id).count(), 2, "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        assert!(drawn.contains("claude"), "{drawn}");
    }

    #[test]
    fn a_cell_brings_no_escapes_and_no_lines_of_its_own() {
        let drawn = grid(&["A\u{1b}[2J".to_owned()], [["x\u{1b}[2J\ny\u{9b}z"]]);
        let drawn = anstream::adapter::strip_str(&drawn).to_string();
        assert_eq!(drawn.lines().next().map(str::trim_end), Some("A⟨U+001B⟩[2J"), "{drawn:?}");
        assert_eq!(
            drawn.lines().nth(2).map(str::trim_end),
            Some("x⟨U+001B⟩[2J y⟨U+009B⟩z"),
            "{drawn:?}"
        );
    }

    #[test]
    fn facts_stand_in_line_and_times_are_short() {
        let drawn = facts([("a", good("yes")), ("long", bad("n\u{7}o"))]);
        let drawn = anstream::adapter::strip_str(&drawn).to_string();
        assert_eq!(drawn, "a     yes\nlong  n⟨U+0007⟩o");
        assert_eq!(moment(Timestamp::from_millis(0)), "1970-01-01 00:00Z");
        assert_eq!(moment(Timestamp::from_millis(i64::MAX)), i64::MAX.to_string());
    }
}
