//! The rows of a proposed merge: a line each.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use narthex_graph::merge::{RowName, Shown};
use narthex_server::owner::{MergeChange, MergeRow, RowFate};
use serde_json::Value;

use crate::output::clean;

/// All rows and conflicts, below each other. What they say is made fit for a terminal.
pub(super) fn shown(change: &MergeChange) -> String {
    let mut out = String::new();
    for row in &change.rows {
        let (sign, style) = match row.change {
            RowFate::Added => ('+', AnsiColor::Green.on_default()),
            RowFate::Removed => ('-', AnsiColor::Red.on_default()),
            RowFate::Changed => ('~', AnsiColor::Yellow.on_default()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{style}{sign} {}{style:#}", clean::line(&line(row)));
    }
    if change.more {
        let _ = writeln!(out, "… and more rows");
    }
    if change.rows.is_empty() && !change.more {
        let _ = writeln!(out, "No row changes.");
    }
    conflicts(&mut out, change);
    out.trim_end().to_owned()
}

/// How many characters a reader would not see.
pub(super) fn hidden(change: &MergeChange) -> usize {
    change.rows.iter().map(|row| clean::hidden(&whole(row))).sum()
}

fn conflicts(out: &mut String, change: &MergeChange) {
    if change.conflicts_total == 0 {
        return;
    }
    let (bold, bad) = (Style::new().bold(), AnsiColor::Red.on_default());
    let _ = writeln!(out, "\n{bold}{} to decide on{bold:#}", change.conflicts_total);
    for conflict in &change.conflicts {
        let _ = writeln!(out, "{bad}! {}{bad:#}", clean::short(&conflict.said, LINE));
        let ways = conflict.conflict.get("resolve").and_then(Value::as_array);
        for way in ways.into_iter().flatten() {
            let _ = writeln!(out, "  resolve {}", clean::line(&way.to_string()));
        }
    }
    if change.conflicts_total as usize > change.conflicts.len() {
        let _ = writeln!(out, "… and more");
    }
}

fn line(row: &MergeRow) -> String {
    let said: Vec<String> = match row.change {
        RowFate::Added => values(row.after.as_ref(), key(row)),
        RowFate::Removed => Vec::new(),
        RowFate::Changed => row.properties.iter().map(|property| changed(row, property)).collect(),
    };
    let text = format!("{} {}", name(row.row.as_ref()), said.join(", "));
    clean::short(&text, LINE)
}

/// Everything in it.
fn whole(row: &MergeRow) -> String {
    let text = |shown: &Option<Shown>| shown.as_ref().map(texts).unwrap_or_default();
    let name = row.row.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{name}{}{}", text(&row.before), text(&row.after))
}

fn texts(shown: &Shown) -> String {
    fn all(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => out.push_str(text),
            Value::Array(items) => items.iter().for_each(|item| all(item, out)),
            Value::Object(fields) => fields.values().for_each(|item| all(item, out)),
            _ => {}
        }
    }
    let mut out = String::new();
    shown.values().for_each(|value| all(value, &mut out));
    out
}

fn changed(row: &MergeRow, property: &str) -> String {
    let of = |shown: &Option<Shown>| {
        shown
            .as_ref()
            .and_then(|shown| shown.get(property))
            .map_or_else(|| "null".to_owned(), value)
    };
    format!("{property} {} → {}", of(&row.before), of(&row.after))
}

/// What is in a row, but for the value that its name has already.
fn values(shown: Option<&Shown>, key: Option<&str>) -> Vec<String> {
    let said = |(name, is): (&String, &Value)| {
        let named = key.is_some_and(|key| is.as_str() == Some(key));
        (!named && !is.is_null()).then(|| format!("{name} {}", value(is)))
    };
    shown.into_iter().flatten().filter_map(said).collect()
}

fn key(row: &MergeRow) -> Option<&str> {
    match row.row.as_ref()? {
        RowName::Node { key, .. } => Some(key),
        RowName::Edge { .. } => None,
    }
}

fn name(name: Option<&RowName>) -> String {
    match name {
        Some(RowName::Node { type_name, key }) => format!("{type_name} {}", quoted(key)),
        Some(RowName::Edge { type_name, from, to, key }) => {
            let key = if key.is_empty() { String::new() } else { format!(" ({})", key.join(", ")) };
            format!("{type_name} {} → {}{key}", quoted(&from.1), quoted(&to.1))
        }
        None => "a row of a type that is gone".to_owned(),
    }
}

/// As data, and short.
fn value(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), quoted);
    clean::short(&text, VALUE)
}

/// In quotes that what is in them cannot end.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Characters of a line, and of a value in it.
const LINE: usize = 400;
const VALUE: usize = 80;

#[cfg(test)]
mod tests {
    use narthex_server::owner::MergeChange;
    use serde_json::json;

    use super::{hidden, shown};

    #[test]
    fn a_row_is_a_line_and_none_steers_the_terminal() {
        let change: MergeChange = serde_json::from_value(json!({
            "from_now": null, "into_now": null, "as_merged": true, "more": true,
            "rows": [
                {"change": "added", "row": {"type": "Person", "key": "ada"}, "properties": ["age"],
                 "after": {"age": 36, "name": "A\u{1b}[2J\n\"da", "seen": null, "slug": "ada"}},
                {"change": "changed", "row": {"type": "Person", "key": "bob"},
                 "properties": ["age", "name"], "before": {"age": 40, "name": "Bob"},
                 "after": {"age": 41}},
                {"change": "removed", "properties": ["since"], "before": {"since": "2026-01-31"},
                 "row": {"type": "Knows", "from": ["Person", "ada"], "to": ["Person", "\u{202e}b"]}},
                {"change": "removed", "row": null, "properties": []},
            ],
            "conflicts_total": 2,
            "conflicts": [{"said": "Person `\u{7}`: changed on both sides",
                "conflict": {"resolve": [{"row": {"key": "\u{7}"}, "take": "ours"}]}}],
        }))
        .expect("a change");
        let text = anstream::adapter::strip_str(&shown(&change)).to_string();
        assert_eq!(
            text,
            "+ Person \"ada\" age 36, name \"A⟨U+001B⟩[2J \\\"da\"\n\
             ~ Person \"bob\" age 40 → 41, name \"Bob\" → null\n\
             - Knows \"ada\" → \"⟨U+202E⟩b\"\n\
             - a row of a type that is gone\n\
             … and more rows\n\n\
             2 to decide on\n\
             ! Person `⟨U+0007⟩`: changed on both sides\n  \
             resolve {\"row\":{\"key\":\"\\u0007\"},\"take\":\"ours\"}\n\
             … and more"
        );
        assert_eq!(hidden(&change), 2);
    }

    #[test]
    fn long_values_and_lines_are_cut() {
        let rows: Vec<_> = (0..9).map(|n| (format!("p{n}"), json!("x".repeat(500)))).collect();
        let change = json!({
            "from_now": null, "into_now": null, "as_merged": true, "more": false,
            "rows": [{"change": "added", "row": {"type": "T", "key": "k"}, "properties": [],
                      "after": rows.into_iter().collect::<serde_json::Map<_, _>>()}],
            "conflicts_total": 0, "conflicts": [],
        });
        let text = shown(&serde_json::from_value(change).expect("a change"));
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text.lines().count(), 1);
        assert!(text.chars().count() <= 410, "{text}");
        assert!(text.contains("p0 \"xx") && text.contains("x…, p1"), "{text}");
    }
}
