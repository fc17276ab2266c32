//! From one schema to the next: what changes, what that asks of the rows there are, and what would
//! be lost.
//!
//! Types and properties are followed by their slots, so that a rename is a rename. A change is
//! additive (it can be made at once), needs a check (every row must already be as it asks),
//! is destructive (something can no longer be seen; made only if that is allowed), or is refused
//! (it cannot be made; the advice says what can).
//!
//! To add an annotation: its step in [`Change`], and its line in the table of the tests.

mod kinds;
mod types;

use narthex_store::Tag;
use serde::Serialize;

use super::{Kind, Schema};

pub use kinds::{KindChange, kind_change};

/// What a change asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing.
    Additive,
    /// That every row there is already be as it asks.
    NeedsCheck,
    /// That what is lost may be lost.
    Destructive,
    /// It cannot be made.
    Refused,
}

/// A step from one schema to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What it asks for.
    pub class: Class,
    /// What changes: a type, or a property of one, by its new name (an old one, if it goes).
    pub at: String,
    /// How.
    pub change: Change,
    /// In a sentence.
    pub sentence: String,
    /// What to do instead, or besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What must hold for the rows there are.
    #[serde(skip)]
    pub verify: Option<Verify>,
}

/// How a schema changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Change {
    AddNode,
    AddEdge,
    AddInterface,
    DropNode,
    DropEdge,
    DropInterface,
    RenameType,
    RenameProperty,
    AddProperty,
    DropProperty,
    ChangeKind,
    AllowNull,
    ForbidNull,
    ChangeKey,
    AddIndex,
    DropIndex,
    AddUnique,
    DropUnique,
    AddRange,
    WidenRange,
    NarrowRange,
    DropRange,
    AddCheck,
    DropCheck,
    AddCard,
    LoosenCard,
    TightenCard,
    DropCard,
    ChangeEnds,
    ChangeInterfaces,
    ChangeEmbed,
    ChangeDescription,
}

/// What must hold for every row of a type, under the new schema. Whoever applies a migration looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verify {
    /// There are none.
    NoRows {
        /// The slot of the type.
        type_slot: String,
    },
    /// A property is nowhere null.
    NotNull {
        /// The slot of the type.
        type_slot: String,
        /// The slot of the property.
        slot: String,
    },
    /// The values of a property are of this kind.
    Fits {
        /// The slot of the type.
        type_slot: String,
        /// The slot of the property.
        slot: String,
        /// The new kind.
        kind: Kind,
    },
    /// The values of a property are in its new range.
    InRange {
        /// The slot of the type.
        type_slot: String,
        /// The slot of the property.
        slot: String,
    },
    /// No two are alike in these.
    Unique {
        /// The slot of the type.
        type_slot: String,
        /// The slots of the properties.
        slots: Vec<String>,
    },
    /// A condition holds.
    Holds {
        /// The slot of the type.
        type_slot: String,
        /// The condition as it is written in the new schema.
        check: String,
    },
    /// As many begin at each node as may.
    Cardinality {
        /// The slot of the edge type.
        edge_slot: String,
    },
    /// All begin and end at nodes of types that the new schema allows.
    Ends {
        /// The slot of the edge type.
        edge_slot: String,
    },
}

/// An index that must be built over the rows that lie on the line itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The slot of the type.
    pub type_slot: String,
    /// The slots of the properties.
    pub slots: Vec<String>,
    /// The index.
    pub index: Tag,
    /// Whether it is one behind `@unique`.
    pub unique: bool,
}

/// The way from one schema to the next.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Migration {
    /// Its steps, in the order of the new schema; what goes comes last.
    pub steps: Vec<Step>,
    /// The indexes that must be built.
    pub builds: Vec<Build>,
}

/// Plans the way from one schema to the next.
pub fn plan(before: &Schema, after: &Schema) -> Migration {
    let mut migration = Migration::default();
    types::interfaces(before, after, &mut migration);
    types::nodes(before, after, &mut migration);
    types::edges(before, after, &mut migration);
    migration
}

impl Migration {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.builds.is_empty()
    }

    /// Whether something would be lost.
    pub fn is_destructive(&self) -> bool {
        self.steps.iter().any(|step| step.class == Class::Destructive)
    }

    /// The steps that cannot be made.
    pub fn refused(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.class == Class::Refused)
    }

    /// What must hold for the rows there are, with the step that asks for it.
    pub fn verify(&self) -> impl Iterator<Item = (&Step, &Verify)> {
        self.steps.iter().filter_map(|step| Some((step, step.verify.as_ref()?)))
    }

    fn push(&mut self, step: Step) {
        self.steps.push(step);
    }
}

impl Step {
    fn new(change: Change, class: Class, at: &str, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { class, at: at.to_owned(), change, sentence, advice: None, verify: None }
    }

    fn additive(change: Change, at: &str, sentence: impl Into<String>) -> Self {
        Self::new(change, Class::Additive, at, sentence)
    }

    fn checked(change: Change, at: &str, sentence: impl Into<String>, verify: Verify) -> Self {
        Self { verify: Some(verify), ..Self::new(change, Class::NeedsCheck, at, sentence) }
    }

    fn destructive(change: Change, at: &str, sentence: impl Into<String>) -> Self {
        Self::new(change, Class::Destructive, at, sentence)
    }

    fn refused(change: Change, at: &str, sentence: impl Into<String>, advice: &str) -> Self {
        Self::new(change, Class::Refused, at, sentence).advice(advice)
    }

    fn advice(self, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..self }
    }
}

#[cfg(test)]
mod tests;
