//! What a schema says, as far as histories change it.

use std::collections::BTreeMap;

use super::{Change, Key, Row, Rows};
use crate::merge::Body;
use crate::schema::Schema;

/// What a schema says: each thing under a name that stays. Merged one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Of a schema.
    pub fn of(schema: &Schema) -> Self {
        let mut facts = BTreeMap::new();
        let nodes = schema.nodes.iter().map(|node| (&node.slot, &node.name, &node.properties));
        let edges = schema.edges.iter().map(|edge| (&edge.slot, &edge.name, &edge.properties));
        for (slot, name, properties) in nodes.chain(edges) {
            facts.insert(format!("type {slot}"), name.clone());
            for of in properties {
                facts.insert(format!("property {slot}.{}", of.slot), of.name.clone());
                if let Some(range) = &of.range {
                    facts.insert(format!("range {slot}.{}", of.slot), format!("{range:?}"));
                }
            }
        }
        for node in &schema.nodes {
            for unique in node.uniques.iter().flatten() {
                facts.insert(
                    format!("unique {}.{}", node.slot, node.properties[*unique].slot),
                    String::new(),
                );
            }
        }
        Self(facts)
    }

    /// The schema with this changed.
    pub fn changed(&self, change: Change) -> String {
        let is = |which, now: bool| if which == change { !now } else { now };
        let renamed = self.slot("Person", "title").is_some();
        let name = match (is(Change::Title, renamed), change == Change::Title) {
            (true, false) => "title: String? @index",
            (true, true) => "title: String? @index @rename_from(name)",
            (false, false) => "name: String? @index",
            (false, true) => "name: String? @index @rename_from(title)",
        };
        let range = if is(Change::Range, self.ranged()) { "@range(0..1)" } else { "" };
        let unique = if is(Change::Unique, self.unique().is_some()) { "@unique" } else { "" };
        let nick = if is(Change::Nick, self.slot("Person", "nick").is_some()) {
            format!("nick: String? @index {unique}")
        } else {
            String::new()
        };
        let pet = if is(Change::Pet, self.type_slot("Pet").is_some()) {
            "node Pet { slug: String @key }"
        } else {
            ""
        };
        format!(
            "node Person {{ slug: String @key  {name}  age: I64? {range}  {nick} }}\n{pet}\n\
             edge Knows: Person -> Person {{ since: String? }}"
        )
    }

    /// What a type of this name is stored under.
    pub fn type_slot(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(what, is)| what.starts_with("type ") && *is == name);
        found.map(|(what, _)| what.trim_start_matches("type "))
    }

    /// What a property of this name is stored under.
    pub fn slot(&self, of: &str, name: &str) -> Option<&str> {
        let start = format!("property {of}.");
        let found = self.0.iter().find(|(what, is)| what.starts_with(&start) && *is == name);
        found.map(|(what, _)| what.trim_start_matches(&start))
    }

    /// What people's names are called here.
    pub fn name(&self) -> &'static str {
        if self.slot("Person", "title").is_some() { "title" } else { "name" }
    }

    /// Whether rows of this type can be seen.
    pub fn shows(&self, row: &Row) -> bool {
        self.0.contains_key(&format!("type {}", row.0))
    }

    /// Whether a property can be seen.
    pub fn has(&self, of: &str, slot: &str) -> bool {
        self.0.contains_key(&format!("property {of}.{slot}"))
    }

    fn ranged(&self) -> bool {
        self.0.contains_key("range Person.age")
    }

    fn unique(&self) -> Option<&str> {
        self.0.keys().find_map(|what| what.strip_prefix("unique Person."))
    }

    /// A body without what is no longer seen.
    pub fn seen(&self, row: &Row, body: &Body) -> Body {
        let known = |slot: &String| {
            slot.starts_with('@') || self.0.contains_key(&format!("property {}.{slot}", row.0))
        };
        body.iter()
            .filter(|(slot, _)| known(slot))
            .map(|(slot, value)| (slot.clone(), value.clone()))
            .collect()
    }

    /// Whether rows are as they must be.
    pub fn holds(&self, rows: &Rows) -> bool {
        let people = || rows.iter().filter(|(row, _)| row.0 == "Person").map(|(_, body)| body);
        let ages = people().filter_map(|body| body.get("age")?.as_i64());
        let ranged = !self.ranged() || ages.into_iter().all(|age| (0..=1).contains(&age));
        let unique = self.unique().is_none_or(|slot| {
            let mut nicks: Vec<String> =
                people().filter_map(|body| body.get(slot)).map(ToString::to_string).collect();
            let all = nicks.len();
            nicks.sort_unstable();
            nicks.dedup();
            nicks.len() == all
        });
        ranged && unique && ended(rows)
    }

    /// Whether something that was there is no longer seen.
    pub fn loses(&self, next: &Self) -> bool {
        let data = |what: &str| what.starts_with("type ") || what.starts_with("property ");
        self.0.keys().any(|what| data(what) && !next.0.contains_key(what))
    }

    /// What comes of two, over what both had seen; none if nobody can say.
    pub fn merged(bases: &[&Self], ours: &Self, theirs: &Self) -> Option<Self> {
        let mut merged = None;
        for base in bases {
            let next = Self::over(base, ours, theirs)?;
            match &merged {
                Some(other) if *other != next => return None,
                _ => merged = Some(next),
            }
        }
        merged.filter(Self::is_sound)
    }

    fn over(base: &Self, ours: &Self, theirs: &Self) -> Option<Self> {
        let mut merged = BTreeMap::new();
        for what in ours.0.keys().chain(theirs.0.keys()) {
            let (was, our, their) = (base.0.get(what), ours.0.get(what), theirs.0.get(what));
            let is = match () {
                () if our == their || was == their => our,
                () if was == our => their,
                () => return None,
            };
            merged.extend(is.map(|is| (what.clone(), is.clone())));
        }
        Some(Self(merged))
    }

    /// Nothing is said of what is not there, and nothing is called alike.
    fn is_sound(&self) -> bool {
        let owner = |what: &str| match what.split_once(' ')? {
            ("type", _) => None,
            ("property", of) => Some(format!("type {}", of.split_once('.')?.0)),
            (_, of) => Some(format!("property {of}")),
        };
        let owned = self.0.keys().all(|what| owner(what).is_none_or(|of| self.0.contains_key(&of)));
        let mut names: Vec<(Option<String>, &String)> = self
            .0
            .iter()
            .map(|(what, is)| (owner(what), is))
            .filter(|(_, is)| !is.is_empty())
            .collect();
        names.retain(|(of, _)| of.as_ref().is_none_or(|of| of.starts_with("type ")));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        owned && names.len() == all
    }
}

/// Every edge has its ends.
fn ended(rows: &Rows) -> bool {
    rows.keys().all(|(_, key)| match key {
        Key::Node(_) => true,
        Key::Edge(one, other) => [one, other]
            .iter()
            .all(|end| rows.contains_key(&("Person".to_owned(), Key::Node(**end)))),
    })
}
