//! Tables: a head, a line, rows. Ids stay whole, the last column gives way.

use anstyle::{AnsiColor, Style};
use comfy_table::{
    Attribute, Cell, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
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

/// Rows under columns. Every cell is made fit for a terminal here.
pub fn rows<R>(columns: &[Column], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut table = Table::new();
    table.load_style(LIGHT).set_content_arrangement(ContentArrangement::Dynamic);
    // Colours are put in always; the way to standard output takes them out where needed.
    table.enforce_styling();
    table.set_header(columns.iter().map(|column| {
        let (Column::Whole(name) | Column::Flows(name)) = column;
        Cell::new(name).add_attribute(Attribute::Bold)
    }));
    for row in rows {
        table.add_row(row.into_iter().map(|cell| Cell::new(clean::line(&cell))));
    }
    for (n, column) in columns.iter().enumerate() {
        let Some(formed) = table.column_mut(n) else { continue };
        formed.set_padding((0, 2));
        if matches!(column, Column::Whole(_)) {
            formed.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.trim_fmt()
}

/// Names and values of one thing, below each other.
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let facts: Vec<(&str, String)> = facts.into_iter().collect();
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let dim = Style::new().dimmed();
    let lines = facts.iter().map(|(name, value)| {
        format!("{dim}{name:<width$}{dim:#}  {}", clean::line(value)).trim_end().to_owned()
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

/// A word that says all is well, or that it is not.
pub fn verdict(word: &str, good: bool) -> String {
    let style = if good { AnsiColor::Green } else { AnsiColor::Red }.on_default();
    format!("{style}{}{style:#}", clean::line(word))
}

/// One line under the head, and no other.
const LIGHT: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
