//! Definitions, before anyone sees them.

use std::collections::{BTreeMap, HashSet};

use crate::pin::{Definition, Key, Kind, Offer};
use crate::text::strip;

use super::finding::{Code, Finding, Findings, Severity};
use super::links::{self, Stands};
use super::names::{Names, mixed_word};
use super::neighbours::Neighbours;
use super::walk::{Spot, texts};
use super::{param_header, phrases, schema};

/// What was found in everything a server offers.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Of each definition in which something was found.
    pub by_key: BTreeMap<Key, Vec<Finding>>,
    /// Of what could not be taken at all, which nobody is offered.
    pub refused: Vec<Finding>,
}

impl Report {
    /// Of one definition.
    pub fn of(&self, key: &Key) -> &[Finding] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether it is to be kept back until the owner has seen why.
    pub fn quarantines(&self, key: &Key) -> bool {
        self.of(key).iter().any(|finding| finding.severity == Severity::High)
    }
}

/// Looks at everything a server offers, beside what others offer.
pub fn definitions(offer: &Offer, neighbours: &Neighbours) -> Report {
    let names = Names::of(&offer.definitions);
    let own: HashSet<&str> =
        offer.definitions.iter().map(|definition| definition.key.name.as_str()).collect();
    let mut report = Report::default();
    for definition in &offer.definitions {
        let mut found = Findings::default();
        names.look_at(definition, neighbours, &mut found);
        look_at_texts(definition, neighbours, &own, &mut found);
        look_at_schemas(definition, &mut found);
        let found = found.done();
        if !found.is_empty() {
            report.by_key.entry(definition.key.clone()).or_default().extend(found);
        }
    }
    for refused in &offer.refused {
        let place = format!("/{}/{}", refused.kind, refused.index);
        report.refused.push(Finding::new(Code::Unpinnable, place, &refused.fault.to_string()));
    }
    report
}

fn look_at_schemas(definition: &Definition, found: &mut Findings) {
    if definition.key.kind != Kind::Tool {
        return;
    }
    if let Some(input) = definition.value.get("inputSchema") {
        schema::look("inputSchema", input, found);
        param_header::look(input, found);
    }
    if let Some(output) = definition.value.get("outputSchema") {
        schema::look("outputSchema", output, found);
    }
}

fn look_at_texts(
    definition: &Definition,
    neighbours: &Neighbours,
    own: &HashSet<&str>,
    found: &mut Findings,
) {
    texts(&definition.value, &mut |spot| {
        hidden(spot, found);
        if is_prose(spot) {
            prose(spot, neighbours, own, found);
        }
    });
}

/// What nobody sees is found in every text, whatever it is for.
fn hidden(spot: &Spot<'_>, found: &mut Findings) {
    for removed in strip(spot.text).removed {
        let text = format!("{} {}: {}", removed.count, removed.kind, removed.sample);
        found.add(Finding::new(removed.kind.into(), spot.place(), &text));
    }
    if let Some(word) = mixed_word(spot.text) {
        let severity = if spot.is_key { Severity::High } else { Severity::Warn };
        found.add(Finding::graded(Code::MixedScript, severity, spot.place(), word));
    }
}

/// Whether a model reads it as text. An address, a pattern or an icon it does not.
fn is_prose(spot: &Spot<'_>) -> bool {
    let machine = [
        "$schema",
        "$id",
        "$ref",
        "$dynamicRef",
        "pattern",
        "format",
        "mimeType",
        "uri",
        "uriTemplate",
        "src",
        "type",
        "websiteUrl",
    ];
    spot.is_key || !spot.key().is_some_and(|key| machine.contains(&key))
}

fn prose(spot: &Spot<'_>, neighbours: &Neighbours, own: &HashSet<&str>, found: &mut Findings) {
    let place = || spot.place();
    let text = looked_at(spot, found);
    phrases::look(text, &place, found);
    links::look(text, Stands::InDefinition, &place, found);
    for (neighbour, at) in neighbours.named_in(text, own) {
        let rest = text.get(at..).unwrap_or_default();
        let told = format!("{} of {}: {rest}", neighbour.name, neighbour.owner);
        found.add(Finding::new(Code::Shadowing, place(), &told));
    }
    if is_padded(text) {
        found.add(Finding::new(Code::Padding, place(), text));
    }
    if has_encoded(text) {
        found.add(Finding::new(Code::Encoded, place(), text));
    }
}

/// As much of a text as is looked at. What is far too long is grave already, and the owner is told
/// that nobody read the rest.
fn looked_at<'a>(spot: &Spot<'a>, found: &mut Findings) -> &'a str {
    let text = spot.text;
    if text.len() <= MAX_PROSE {
        return text;
    }
    let end = text.char_indices().nth(FAR_TOO_LONG).map(|(end, _)| end);
    let long = text.chars().count();
    let (severity, told) = match end {
        Some(_) => (Severity::High, format!("{long} characters, not looked at to the end: {text}")),
        None if long > MAX_PROSE => (Severity::Warn, format!("{long} characters: {text}")),
        None => return text,
    };
    found.add(Finding::graded(Code::LongText, severity, spot.place(), &told));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Blank lines or blanks enough to push what follows out of sight.
fn is_padded(text: &str) -> bool {
    let (mut lines, mut blanks) = (0, 0);
    for c in text.trim_end().chars() {
        if c == '\n' {
            lines += 1;
            blanks = 0;
        } else if c.is_whitespace() {
            blanks += 1;
        } else {
            lines = 0;
            blanks = 0;
        }
        if lines > MAX_BLANK_LINES || blanks > MAX_BLANKS {
            return true;
        }
    }
    false
}

/// A run that nobody reads, and a machine decodes.
fn has_encoded(text: &str) -> bool {
    let mut run = 0;
    for byte in text.bytes() {
        let part = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
        run = if part { run + 1 } else { 0 };
        if run > MAX_RUN {
            return true;
        }
    }
    false
}

const MAX_PROSE: usize = 4_000;
const FAR_TOO_LONG: usize = 32_000;
const MAX_BLANK_LINES: usize = 12;
const MAX_BLANKS: usize = 80;
const MAX_RUN: usize = 120;

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
