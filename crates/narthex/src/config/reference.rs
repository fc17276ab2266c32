//! The reference of `narthex.toml`, made from the same fields that are read. (Writing to a String
//! cannot fail, so that results of `write!` are dropped here.)

use std::fmt::Write as _;

use serde_json::Value;

use super::check::{holds_keys, named_by_people, schema};

/// The whole reference, as markdown.
pub fn markdown() -> String {
    let schema = schema();
    let mut out = String::from(HEAD);
    for (name, key) in plain(&schema) {
        entry(&mut out, name, key);
    }
    for (name, section) in sections("", &schema) {
        let _ = write!(out, "## `[{name}]`\n\n{}\n\n", words(section));
        for (key_name, key) in plain(section) {
            entry(&mut out, &format!("{name}.{key_name}"), key);
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A whole `narthex.toml` in which every key stands with its words and its default.
pub fn example() -> String {
    let schema = schema();
    let mut out = String::from(EXAMPLE_HEAD);
    for (name, key) in plain(&schema) {
        example_key(&mut out, name, key);
    }
    for (name, section) in sections("", &schema) {
        if name.contains(PLACEHOLDER) {
            example_of_named(&mut out, &name, section);
            continue;
        }
        let _ = write!(out, "\n{}[{name}]\n", comment(&words(section)));
        for (key_name, key) in plain(section) {
            example_key(&mut out, key_name, key);
        }
    }
    out
}

fn entry(out: &mut String, name: &str, key: &Value) {
    let _ = write!(out, "### `{name}`\n\n{}\n\n", words(key));
    let mut facts = vec![format!("- Type: {}", kind(key))];
    facts.push(match default(key) {
        Some(value) => format!("- Default: `{value}`"),
        None => "- Default: not set".to_owned(),
    });
    if let (Some(min), Some(max)) = (key.get("minimum"), key.get("maximum")) {
        facts.push(format!("- Allowed: {min} to {max}"));
    }
    if let Some(values) = choices(key) {
        facts.push(format!("- Allowed: {values}"));
    }
    out.push_str(&facts.join("\n"));
    out.push_str("\n\n");
}

fn example_key(out: &mut String, name: &str, key: &Value) {
    let value = default(key).unwrap_or_else(|| "\"…\"".to_owned());
    let _ = writeln!(out, "{}# {name} = {value}", comment(&words(key)));
}

/// A section whose name people choose: all of it is a comment.
fn example_of_named(out: &mut String, name: &str, section: &Value) {
    let _ = write!(out, "\n{}#   [{name}]\n", comment(&words(section)));
    for (key_name, key) in plain(section) {
        let value = default(key).unwrap_or_else(|| "\"…\"".to_owned());
        let _ = writeln!(out, "{}#   {key_name} = {value}", comment(&words(key)));
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Keys that hold a value.
fn plain(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    properties(schema).filter(|(_, key)| !holds_keys(key))
}

/// Keys that hold others, each followed by those in it.
fn sections<'a>(prefix: &str, schema: &'a Value) -> Vec<(String, &'a Value)> {
    let mut found = Vec::new();
    for (name, section) in properties(schema).filter(|(_, key)| holds_keys(key)) {
        let (name, section) = match named_by_people(section) {
            Some(each) => (format!("{prefix}{name}.{PLACEHOLDER}"), each),
            None => (format!("{prefix}{name}"), section),
        };
        found.push((name.clone(), section));
        found.extend(sections(&format!("{name}."), section));
    }
    found
}

/// The doc comment, its lines joined.
fn words(key: &Value) -> String {
    let text = key.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn kind(key: &Value) -> &'static str {
    if key.get("type").is_some_and(Value::is_array) {
        return "text, list of texts, or table";
    }
    match key.get("type").and_then(Value::as_str) {
        Some("integer") => "whole number",
        Some("number") => "number",
        Some("boolean") => "true or false",
        Some("array") => "list of texts",
        _ => "text",
    }
}

fn choices(key: &Value) -> Option<String> {
    let values = key.get("enum")?.as_array()?;
    Some(values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "))
}

/// As it would stand in the file: TOML and JSON write these values alike.
fn default(key: &Value) -> Option<String> {
    key.get("default").filter(|value| !value.is_null()).map(ToString::to_string)
}

/// A comment of lines of at most 100 characters.
fn comment(words: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in words.split(' ') {
        let full = lines.last().is_some_and(|line| line.len() + word.len() + 1 > 100);
        if full {
            lines.push(String::from("#"));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    format!("{}\n", lines.join("\n"))
}

/// Stands for a name that people choose.
const PLACEHOLDER: &str = "NAME";

const HEAD: &str = "\
# Configuration

<!-- Generated by `narthex reference config`; do not edit. -->

Narthex reads one file, `narthex.toml`: the one that `--config` names, or the one in the data
directory if it is there. Every key has a default, so an empty file, or none, is a whole
configuration. A key that does not exist is refused with its line, and so is a value out of its
bounds.

The data directory is what `--data-dir` names, or `NARTHEX_DATA_DIR`, or `$XDG_DATA_HOME/narthex`,
or `~/.local/share/narthex`. Secrets are never in this file: keys are files of their own in the
data directory, and tokens come from the environment.

";

const EXAMPLE_HEAD: &str = "\
# The settings of this house. Every key stands here with its default; take the '#' away to
# change one. The reference is docs/configuration.md.

";

#[cfg(test)]
mod tests {
    use super::{example, markdown};
    use crate::config::Config;

    #[test]
    fn the_example_is_the_default_also_when_every_key_is_taken_in() {
        let text = example();
        assert_eq!(Config::parse("x", &text), Ok(Config::default()));
        let taken_in: Vec<&str> = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.split_once(" = ").is_some_and(|(name, _)| is_key(name)) => key,
                _ => line,
            })
            .filter(|line| !line.contains('…'))
            .collect();
        let taken_in = taken_in.join("\n");
        assert!(taken_in.contains("\nreaders = 4\n"), "{taken_in}");
        assert_eq!(Config::parse("x", &taken_in), Ok(Config::default()));
    }

    #[test]
    fn every_key_has_words_and_every_number_has_bounds() {
        for entry in markdown().split("\n### ").skip(1) {
            let words = entry.lines().nth(2).unwrap_or_default();
            assert!(words.len() > 10, "{entry}");
            assert!(!entry.contains("whole number") || entry.contains("Allowed: "), "{entry}");
        }
    }

    fn is_key(name: &str) -> bool {
        name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    }
}
