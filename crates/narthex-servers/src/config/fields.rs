//! Takes an object apart, key by key, so that what is left over was unknown.

use narthex_core::{Cost, CostError};

use crate::located::{Kind, Node, Place};
use crate::text::{shown, unseen};

use super::error::{ConfigError, ConfigFault, ConfigWarning, WarningKind};

/// An object that is being taken apart.
pub(super) struct Fields<'a> {
    path: String,
    at: Place,
    entries: Vec<Option<Field<'a>>>,
    known: Vec<&'static str>,
}

/// A value with its place and its path.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) key_at: Place,
    pub(super) path: String,
    pub(super) node: &'a Node,
}

pub(super) type Outcome<T> = Result<T, ConfigError>;

impl<'a> Fields<'a> {
    pub(super) fn root(node: &'a Node) -> Outcome<Self> {
        Field { key: "", key_at: node.at, path: String::new(), node }.fields()
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let of =
            |entry: &&mut Option<Field<'_>>| entry.as_ref().is_some_and(|field| field.key == key);
        self.entries.iter_mut().find(of).and_then(Option::take)
    }

    /// Takes the keys of other clients, each with a warning.
    pub(super) fn ignore(
        &mut self,
        table: &'static [(&'static str, &'static str)],
        warnings: &mut Vec<ConfigWarning>,
    ) {
        for &(key, why) in table {
            if let Some(field) = self.take(key) {
                // Whoever means another key is not sent to one that does nothing.
                self.known.pop();
                let kind = WarningKind::Ignored { key, why };
                warnings.push(ConfigWarning { at: field.key_at, path: field.path, kind });
            } else {
                self.known.pop();
            }
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Outcome<()> {
        let Some(left) = self.entries.into_iter().flatten().next() else { return Ok(()) };
        let near = self
            .known
            .iter()
            .map(|known| (strsim::normalized_damerau_levenshtein(known, left.key), *known))
            .filter(|(likeness, _)| *likeness > NEAR)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, known)| known);
        let fault = ConfigFault::UnknownKey { key: shown(left.key, 80), near };
        Err(ConfigError { at: left.key_at, path: self.path, fault })
    }

    /// Every entry, where the keys are names of the owner's choosing.
    pub(super) fn all(self, what: &'static str, most: usize) -> Outcome<Vec<Field<'a>>> {
        if self.entries.len() > most {
            let fault = ConfigFault::TooMany { what, most, way_out: "" };
            return Err(ConfigError { at: self.at, path: self.path, fault });
        }
        Ok(self.entries.into_iter().flatten().collect())
    }

    pub(super) fn fault<T>(&self, fault: ConfigFault) -> Outcome<T> {
        Err(ConfigError { at: self.at, path: self.path.clone(), fault })
    }
}

impl<'a> Field<'a> {
    pub(super) fn error(&self, fault: ConfigFault) -> ConfigError {
        ConfigError { at: self.node.at, path: self.path.clone(), fault }
    }

    pub(super) fn fault<T>(&self, fault: ConfigFault) -> Outcome<T> {
        Err(self.error(fault))
    }

    fn wrong_kind<T>(&self, expected: &'static str) -> Outcome<T> {
        self.fault(ConfigFault::Kind { expected, found: self.node.kind_name() })
    }

    pub(super) fn fields(self) -> Outcome<Fields<'a>> {
        let Kind::Object(entries) = &self.node.kind else { return self.wrong_kind("an object") };
        let entries = entries
            .iter()
            .map(|(key, node)| {
                let path = join(&self.path, &shown(&key.name, 80));
                Some(Field { key: &key.name, key_at: key.at, path, node })
            })
            .collect();
        Ok(Fields { path: self.path, at: self.node.at, entries, known: Vec::new() })
    }

    pub(super) fn items(&self, what: &'static str, most: usize) -> Outcome<Vec<Self>> {
        let Kind::List(items) = &self.node.kind else { return self.wrong_kind("a list") };
        if items.len() > most {
            return self.fault(ConfigFault::TooMany { what, most, way_out: "" });
        }
        let item = |(n, node): (usize, &'a Node)| Field {
            key: self.key,
            key_at: node.at,
            path: format!("{}[{n}]", self.path),
            node,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    pub(super) fn text(&self) -> Outcome<&'a str> {
        self.node.as_text().map_or_else(|| self.wrong_kind("text"), Ok)
    }

    /// Text of the owner's that hides nothing.
    pub(super) fn plain(&self, what: &'static str, most: usize) -> Outcome<&'a str> {
        let text = self.text()?;
        let hides = |c: char| unseen(c).is_some() || matches!(c, '\n' | '\t');
        if text.is_empty() || text.chars().count() > most || text.chars().any(hides) {
            return self.fault(ConfigFault::Text { what, most });
        }
        Ok(text)
    }

    pub(super) fn bool(&self) -> Outcome<bool> {
        match self.node.kind {
            Kind::Bool(yes) => Ok(yes),
            _ => self.wrong_kind("true or false"),
        }
    }

    pub(super) fn number(&self, least: u64, most: u64) -> Outcome<u64> {
        let Kind::Number(text) = &self.node.kind else { return self.wrong_kind("a whole number") };
        match text.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => self.fault(ConfigFault::Range { least, most }),
        }
    }

    /// What something costs, at most.
    pub(super) fn cost(&self) -> Outcome<Cost> {
        let Kind::Number(text) = &self.node.kind else { return self.wrong_kind("a number") };
        let cost = text.parse().ok().and_then(|figure: f64| Cost::from_figure(figure).ok());
        cost.map_or_else(|| self.fault(ConfigFault::Cost(CostError)), Ok)
    }

    /// One of a closed list of words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)], all: &'static str) -> Outcome<T> {
        let text = self.text()?;
        let known = words.iter().find(|(word, _)| *word == text);
        known.map_or_else(|| self.fault(ConfigFault::Word(all)), |(_, value)| Ok(*value))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// How alike two keys are that one is offered for the other.
const NEAR: f64 = 0.6;
