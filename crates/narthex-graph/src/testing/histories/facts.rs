//! What a schema says, as far as histories change it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Key, Row, Rows};
use crate::merge::Body;
use crate::schema::{Card, Check, Schema};

/// What a schema says: each thing under a name that stays. Merged one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Of a schema.
    pub fn of(schema: &Schema) -> Self {
        let mut facts = BTreeMap::new();
        let nodes = schema.nodes.iter().map(|of| (&of.slot, &of.name, &of.properties, &of.uniques));
        let edges = schema.edges.iter().map(|of| (&of.slot, &of.name, &of.properties, &of.uniques));
        for (slot, name, properties, uniques) in nodes.chain(edges) {
            facts.insert(format!("type {slot}"), name.clone());
            for of in properties {
                let mut say = |what: &str, is: String| {
                    facts.insert(format!("{what} {slot}.{}", of.slot), is);
                };
                say("property", of.name.clone());
                say("kind", of.kind.to_string());
                if let Some(range) = &of.range {
                    say("range", format!("{range:?}"));
                }
                if !of.nullable {
                    say("must", String::new());
                }
            }
            for unique in uniques.iter().flatten() {
                facts.insert(format!("unique {slot}.{}", properties[*unique].slot), String::new());
            }
        }
        for node in &schema.nodes {
            for at in node.checks.iter().flat_map(Check::properties) {
                let slot = &node.properties[at].slot;
                facts.insert(format!("check {}.{slot}", node.slot), String::new());
            }
            for name in &node.interfaces {
                facts.insert(format!("has {} {name}", node.slot), String::new());
            }
        }
        for edge in &schema.edges {
            if let Some(card) = edge.card {
                facts.insert(format!("card {}", edge.slot), format!("{card:?}"));
            }
        }
        Self(facts)
    }

    /// The schema with this changed.
    pub fn changed(&self, change: Change) -> String {
        let is = |which, now: bool| if which == change { !now } else { now };
        let when = |yes: bool, text: &'static str| if yes { text } else { "" };
        let renamed = self.slot("Person", "title").is_some();
        let name = match (is(Change::Title, renamed), change == Change::Title) {
            (true, false) => "title: String? @index",
            (true, true) => "title: String? @index @rename_from(name)",
            (false, false) => "name: String? @index",
            (false, true) => "name: String? @index @rename_from(title)",
        };
        let range = when(is(Change::Range, self.says("range Person.age")), "@range(0..1)");
        let unique = when(is(Change::Unique, self.unlike("nick")), "@unique");
        let nick = if is(Change::Nick, self.slot("Person", "nick").is_some()) {
            format!("nick: String? @index {unique}")
        } else {
            String::new()
        };
        let code = if is(Change::Wide, self.is_wide()) { "I64?" } else { "I32?" };
        let codes = when(is(Change::Code, self.unlike("code")), "@unique");
        let check = when(is(Change::Check, self.says("check Person.code")), "@check(code < 2)");
        let must = is(Change::Must, self.must("mail"));
        let mail = match change {
            Change::Must => true,
            change => self.slot("Person", "mail").is_some() != (change == Change::Mail),
        };
        let mail = match (mail, must) {
            (true, true) => "mail: String",
            (true, false) => "mail: String?",
            (false, _) => "",
        };
        let being = when(is(Change::Being, self.says("has Person Being")), "implements Being");
        let pet = is(Change::Pet, self.type_slot("Pet").is_some());
        let pet = when(pet, "node Pet { slug: String @key }");
        let card = match (change, self.card()) {
            (Change::One, Some((0, 1))) | (Change::Some, Some((1, 2))) => None,
            (Change::One, _) => Some((0, 1)),
            (Change::Some, _) => Some((1, 2)),
            (_, card) => card,
        };
        let card = card.map(|(min, max)| format!("@card({min}..{max})")).unwrap_or_default();
        format!(
            "interface Being {{}}\n\
             node Person {being} {{ slug: String @key  {name}  age: I64? {range}  \
             code: {code} {codes}  {nick}  {mail}  {check} }}\n\
             node Stone implements Being {{ slug: String @key }}\n{pet}\n\
             edge Knows: Person -> Person {card} {{ since: String? }}\n\
             edge Calls: Person -> Person {{ no: I32 @key  note: String? }}\n\
             edge Likes: Person -> Being"
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

    fn says(&self, what: &str) -> bool {
        self.0.contains_key(what)
    }

    /// Whether no two people are alike in this property.
    fn unlike(&self, name: &str) -> bool {
        let slot = self.slot("Person", name);
        slot.is_some_and(|slot| self.says(&format!("unique Person.{slot}")))
    }

    /// Whether codes may be large.
    pub fn is_wide(&self) -> bool {
        self.0.get("kind Person.code").is_some_and(|kind| kind == "I64")
    }

    /// Whether people must have this property.
    pub fn must(&self, name: &str) -> bool {
        let slot = self.slot("Person", name);
        slot.is_some_and(|slot| self.says(&format!("must Person.{slot}")))
    }

    /// Whether likes may end at people.
    pub fn are_beings(&self) -> bool {
        self.says("has Person Being")
    }

    /// How many everybody must and may know.
    fn card(&self) -> Option<(u32, u32)> {
        let said = self.0.get("card Knows")?;
        let is =
            |(min, max): &(u32, u32)| *said == format!("{:?}", Card { min: *min, max: Some(*max) });
        [(0, 1), (1, 2)].into_iter().find(is)
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
        let people: Vec<&Body> =
            rows.iter().filter(|(row, _)| row.0 == "Person").map(|(_, body)| body).collect();
        let all = |slot: &str, is: &dyn Fn(i64) -> bool| {
            people.iter().filter_map(|body| body.get(slot)?.as_i64()).all(is)
        };
        let under = |what: &str| {
            let start = format!("{what} Person.");
            let slots = self.0.keys().filter_map(move |what| what.strip_prefix(&start));
            slots.map(str::to_owned).collect::<Vec<_>>()
        };
        (!self.says("range Person.age") || all("age", &|age| (0..=1).contains(&age)))
            && (!self.says("check Person.code") || all("code", &|code| code < 2))
            && (self.is_wide() || all("code", &|code| i32::try_from(code).is_ok()))
            && under("must").iter().all(|slot| people.iter().all(|body| body.contains_key(slot)))
            && under("unique").iter().all(|slot| unlike(&people, slot))
            && self.card().is_none_or(|(min, max)| {
                let known = |no: u8| {
                    let of = |(row, _): &(&Row, &Body)| {
                        row.0 == "Knows" && row.1.ends().is_some_and(|[from, _]| from == no)
                    };
                    rows.iter().filter(of).count()
                };
                let mut numbers = (1..=super::PEOPLE)
                    .filter(|no| rows.contains_key(&("Person".to_owned(), Key::Node(*no))));
                numbers.all(|no| (min as usize..=max as usize).contains(&known(no)))
            })
            && (self.are_beings() || rows.keys().all(|row| row.0 != "Likes"))
            && ended(rows)
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

    /// What it says something else about than another does: types and properties, by what they are
    /// stored under.
    pub fn subjects_since(&self, base: &Self) -> BTreeSet<String> {
        let all: BTreeSet<&String> = self.0.keys().chain(base.0.keys()).collect();
        let unlike = all.into_iter().filter(|what| self.0.get(*what) != base.0.get(*what));
        let subject = |what: &String| what.split(' ').nth(1).unwrap_or_default().to_owned();
        unlike.map(subject).collect()
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
            ("card", of) => Some(format!("type {of}")),
            ("has", of) => Some(format!("type {}", of.split_once(' ')?.0)),
            (_, of) => Some(format!("property {of}")),
        };
        let owned = self.0.keys().all(|what| owner(what).is_none_or(|of| self.0.contains_key(&of)));
        let is_name = |what: &str| what.starts_with("type ") || what.starts_with("property ");
        let named = self.0.iter().filter(|(what, _)| is_name(what));
        let mut names: Vec<_> = named.map(|(what, is)| (owner(what), is)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        owned && names.len() == all
    }
}

/// No two have the same.
fn unlike(people: &[&Body], slot: &str) -> bool {
    let mut values: Vec<String> =
        people.iter().filter_map(|body| body.get(slot)).map(ToString::to_string).collect();
    let all = values.len();
    values.sort_unstable();
    values.dedup();
    values.len() == all
}

/// Every edge has its ends.
fn ended(rows: &Rows) -> bool {
    rows.keys().filter_map(|(_, key)| key.ends()).all(|ends| {
        ends.iter().all(|end| rows.contains_key(&("Person".to_owned(), Key::Node(*end))))
    })
}
