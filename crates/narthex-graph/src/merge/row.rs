//! The merge of one row, as a pure function of three versions of it.
//!
//! What each side did to the row is told by what it holds against the base: nothing else. A side
//! that wrote a row and came back to what it was did nothing to it.
//!
//! | in the base | ours | theirs | bodies | outcome |
//! |---|---|---|---|---|
//! | no | absent | absent | – | nothing to do |
//! | no | absent | inserted | – | theirs |
//! | no | inserted | absent | – | ours |
//! | no | inserted | inserted | equal | nothing to do |
//! | no | inserted | inserted | unlike | conflict: divergent insert |
//! | yes | kept | kept | – | nothing to do |
//! | yes | kept | updated | – | theirs |
//! | yes | kept | deleted | – | theirs |
//! | yes | updated | kept | – | ours |
//! | yes | updated | updated | equal | nothing to do |
//! | yes | updated | updated | other properties | both |
//! | yes | updated | updated | unlike | conflict: divergent update |
//! | yes | updated | deleted | – | conflict: delete against update |
//! | yes | deleted | kept | – | ours |
//! | yes | deleted | updated | – | conflict: delete against update |
//! | yes | deleted | deleted | – | nothing to do |
//!
//! To add a state: a variant of [`Fresh`] or [`Known`], and every place the compiler then points
//! to; the table above is held to [`truth_table`] by a test.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is in a row: values by the slot of their property. No slot, no value.
pub type Body = BTreeMap<String, Value>;

/// One of the two that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The one that is merged into.
    Ours,
    /// The one that is merged.
    Theirs,
}

/// What comes of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Merged {
    /// Both sides hold the same. Nothing is to be done.
    Unchanged,
    /// One side alone did something to it.
    Take(Side),
    /// Both changed it, in different properties. This is all of it.
    Both(Body),
    /// A person has to say.
    Conflict(Clash),
}

/// Why a row cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clash {
    /// Both made it, and not alike: in these slots.
    DivergentInsert(Vec<String>),
    /// Both changed these slots, and not alike.
    DivergentUpdate(Vec<String>),
    /// This side took it away, the other one changed it.
    DeleteAgainstUpdate(Side),
}

/// What is known of a row before the two sides parted.
#[derive(Debug, Clone, PartialEq)]
pub enum Base {
    /// It was this, or not there.
    Known(Option<Body>),
    /// It had been written differently by several that knew nothing of each other, and each side
    /// has settled that in its own way.
    Unclear,
}

/// Merges one row.
pub fn merge_row(base: &Base, ours: Option<&Body>, theirs: Option<&Body>) -> Merged {
    if ours == theirs {
        return Merged::Unchanged;
    }
    let base = match base {
        Base::Known(base) => base.as_ref(),
        Base::Unclear => return Merged::Conflict(unclear(ours, theirs)),
    };
    let states = States::of(base, ours, theirs);
    let bodies = Bodies::of(base, ours, theirs);
    match outcome(states, bodies) {
        Outcome::Nothing => Merged::Unchanged,
        Outcome::Ours => Merged::Take(Side::Ours),
        Outcome::Theirs => Merged::Take(Side::Theirs),
        Outcome::Both => Merged::Both(both(base, ours, theirs)),
        Outcome::DivergentInsert => {
            Merged::Conflict(Clash::DivergentInsert(unlike(ours, theirs).collect()))
        }
        Outcome::DivergentUpdate => {
            Merged::Conflict(Clash::DivergentUpdate(clashing(base, ours, theirs)))
        }
        Outcome::DeleteAgainstUpdate(side) => Merged::Conflict(Clash::DeleteAgainstUpdate(side)),
    }
}

/// What a side did to a row that the base does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fresh {
    /// Nothing: it is not there.
    Absent,
    /// It made it.
    Inserted,
}

/// What a side did to a row that the base has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Known {
    /// Nothing: it is as it was.
    Kept,
    /// It changed a property or more.
    Updated,
    /// It took it away.
    Deleted,
}

/// What both sides did, ours first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum States {
    /// To a row that the base does not have.
    Fresh(Fresh, Fresh),
    /// To one that it has.
    Known(Known, Known),
}

/// How the bodies of two sides that both made or changed a row compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bodies {
    /// They are the same.
    Equal,
    /// No property was changed to two different values.
    Apart,
    /// Some property was.
    Unlike,
}

/// What the truth table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Both sides hold the same already.
    Nothing,
    /// Ours stands.
    Ours,
    /// Theirs is taken.
    Theirs,
    /// The changes of both are taken.
    Both,
    /// See [`Clash::DivergentInsert`].
    DivergentInsert,
    /// See [`Clash::DivergentUpdate`].
    DivergentUpdate,
    /// See [`Clash::DeleteAgainstUpdate`].
    DeleteAgainstUpdate(Side),
}

/// The truth table. How the bodies compare matters only where both sides made or changed the row.
#[expect(clippy::match_same_arms, reason = "a line of the table each")]
pub const fn outcome(states: States, bodies: Bodies) -> Outcome {
    match states {
        States::Fresh(Fresh::Absent, Fresh::Absent) => Outcome::Nothing,
        States::Fresh(Fresh::Absent, Fresh::Inserted) => Outcome::Theirs,
        States::Fresh(Fresh::Inserted, Fresh::Absent) => Outcome::Ours,
        States::Fresh(Fresh::Inserted, Fresh::Inserted) => match bodies {
            Bodies::Equal => Outcome::Nothing,
            // Two rows that were made apart are two things under one name until somebody says
            // that they are one, even if they would fit together.
            Bodies::Apart | Bodies::Unlike => Outcome::DivergentInsert,
        },
        States::Known(Known::Kept, Known::Kept) => Outcome::Nothing,
        States::Known(Known::Kept, Known::Updated) => Outcome::Theirs,
        States::Known(Known::Kept, Known::Deleted) => Outcome::Theirs,
        States::Known(Known::Updated, Known::Kept) => Outcome::Ours,
        States::Known(Known::Updated, Known::Updated) => match bodies {
            Bodies::Equal => Outcome::Nothing,
            Bodies::Apart => Outcome::Both,
            Bodies::Unlike => Outcome::DivergentUpdate,
        },
        States::Known(Known::Updated, Known::Deleted) => Outcome::DeleteAgainstUpdate(Side::Theirs),
        States::Known(Known::Deleted, Known::Kept) => Outcome::Ours,
        States::Known(Known::Deleted, Known::Updated) => Outcome::DeleteAgainstUpdate(Side::Ours),
        States::Known(Known::Deleted, Known::Deleted) => Outcome::Nothing,
    }
}

/// A line of the truth table, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRow {
    /// What both sides did.
    pub states: States,
    /// How their bodies compare, where that matters.
    pub bodies: Option<Bodies>,
    /// What comes of it.
    pub outcome: Outcome,
}

/// The whole truth table, in order.
pub fn truth_table() -> Vec<TableRow> {
    let fresh = pairs(&Fresh::ALL).map(|(ours, theirs)| States::Fresh(ours, theirs));
    let known = pairs(&Known::ALL).map(|(ours, theirs)| States::Known(ours, theirs));
    fresh.chain(known).flat_map(lines_of).collect()
}

/// The truth table as Markdown.
pub fn truth_table_markdown() -> String {
    let mut text = "| in the base | ours | theirs | bodies | outcome |\n".to_owned();
    text.push_str("|---|---|---|---|---|\n");
    for row in truth_table() {
        text.push_str(&row.to_string());
        text.push('\n');
    }
    text
}

impl States {
    /// What the sides did, seen from the base.
    pub fn of(base: Option<&Body>, ours: Option<&Body>, theirs: Option<&Body>) -> Self {
        let fresh = |side: Option<&Body>| match side {
            None => Fresh::Absent,
            Some(_) => Fresh::Inserted,
        };
        let known = |base: &Body, side: Option<&Body>| match side {
            None => Known::Deleted,
            Some(body) if body == base => Known::Kept,
            Some(_) => Known::Updated,
        };
        match base {
            None => Self::Fresh(fresh(ours), fresh(theirs)),
            Some(base) => Self::Known(known(base, ours), known(base, theirs)),
        }
    }

    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Fresh(ours, theirs) => ("no", ours.word(), theirs.word()),
            Self::Known(ours, theirs) => ("yes", ours.word(), theirs.word()),
        }
    }
}

impl Bodies {
    /// How the bodies compare, seen from the base.
    pub fn of(base: Option<&Body>, ours: Option<&Body>, theirs: Option<&Body>) -> Self {
        if ours == theirs {
            Self::Equal
        } else if clashing(base, ours, theirs).is_empty() {
            Self::Apart
        } else {
            Self::Unlike
        }
    }

    /// All there are.
    pub const ALL: [Self; 3] = [Self::Equal, Self::Apart, Self::Unlike];
}

impl Fresh {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Absent, Self::Inserted];

    const fn word(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Inserted => "inserted",
        }
    }
}

impl Known {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Updated, Self::Deleted];

    const fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
        }
    }
}

impl Side {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::Ours => Self::Theirs,
            Self::Theirs => Self::Ours,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing to do",
            Self::Ours => "ours",
            Self::Theirs => "theirs",
            Self::Both => "both",
            Self::DivergentInsert => "conflict: divergent insert",
            Self::DivergentUpdate => "conflict: divergent update",
            Self::DeleteAgainstUpdate(_) => "conflict: delete against update",
        })
    }
}

impl fmt::Display for TableRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, ours, theirs) = self.states.words();
        let bodies = match self.bodies {
            None => "–",
            Some(Bodies::Equal) => "equal",
            Some(Bodies::Apart) => "other properties",
            Some(Bodies::Unlike) => "unlike",
        };
        write!(f, "| {base} | {ours} | {theirs} | {bodies} | {} |", self.outcome)
    }
}

/// The lines that a pair of states has: one, or one for each way the bodies may compare.
fn lines_of(states: States) -> Vec<TableRow> {
    let line = |bodies| TableRow { states, bodies: Some(bodies), outcome: outcome(states, bodies) };
    match states {
        States::Known(Known::Updated, Known::Updated) => Bodies::ALL.map(line).to_vec(),
        States::Fresh(Fresh::Inserted, Fresh::Inserted) => {
            vec![line(Bodies::Equal), line(Bodies::Unlike)]
        }
        States::Fresh(Fresh::Absent, _)
        | States::Fresh(Fresh::Inserted, Fresh::Absent)
        | States::Known(Known::Kept | Known::Deleted, _)
        | States::Known(Known::Updated, Known::Kept | Known::Deleted) => {
            vec![TableRow { bodies: None, ..line(Bodies::Unlike) }]
        }
    }
}

/// Each with each.
fn pairs<T: Copy>(all: &[T]) -> impl Iterator<Item = (T, T)> {
    all.iter().flat_map(move |ours| all.iter().map(move |theirs| (*ours, *theirs)))
}

/// Where nothing is known of before, whatever is unlike is in question.
fn unclear(ours: Option<&Body>, theirs: Option<&Body>) -> Clash {
    match (ours, theirs) {
        (None, _) => Clash::DeleteAgainstUpdate(Side::Ours),
        (_, None) => Clash::DeleteAgainstUpdate(Side::Theirs),
        (Some(_), Some(_)) => Clash::DivergentUpdate(unlike(ours, theirs).collect()),
    }
}

/// The slots in which two bodies are unlike, in order.
pub fn unlike(one: Option<&Body>, other: Option<&Body>) -> impl Iterator<Item = String> {
    let slots: std::collections::BTreeSet<&String> =
        one.into_iter().chain(other).flat_map(Body::keys).collect();
    let differs = |slot: &&&String| value(one, slot) != value(other, slot);
    slots.iter().filter(differs).map(|slot| (*slot).clone()).collect::<Vec<_>>().into_iter()
}

/// The slots that both sides changed, and not alike.
fn clashing(base: Option<&Body>, ours: Option<&Body>, theirs: Option<&Body>) -> Vec<String> {
    let ours_changed = |slot: &String| value(base, slot) != value(ours, slot);
    let theirs_changed = |slot: &String| value(base, slot) != value(theirs, slot);
    unlike(ours, theirs).filter(|slot| ours_changed(slot) && theirs_changed(slot)).collect()
}

/// Ours, with what theirs changed.
fn both(base: Option<&Body>, ours: Option<&Body>, theirs: Option<&Body>) -> Body {
    let mut body = ours.cloned().unwrap_or_default();
    for slot in unlike(base, theirs) {
        match value(theirs, &slot) {
            Some(value) => body.insert(slot, value.clone()),
            None => body.remove(&slot),
        };
    }
    body
}

fn value<'a>(body: Option<&'a Body>, slot: &str) -> Option<&'a Value> {
    body.and_then(|body| body.get(slot))
}
#[cfg(test)]
mod tests;
