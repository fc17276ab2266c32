//! Two schemas become one.
//!
//! Types and properties are followed by their slots, interfaces and what they ask for by name. What
//! one side alone added, changed or removed is taken; what both did alike is done; what both did
//! unlike is a [`SchemaConflict`]. Sets (what is unique, what must hold, which interfaces) are
//! merged member by member and never conflict. Where both sides changed something, the text is
//! written anew from the structure, and comments are lost.
//!
//! What comes out may ask more of rows than either side did of its own. Whoever commits the merge
//! plans the way there from ours ([`super::migrate::plan`]) and looks at what that must verify; the
//! rows that come from theirs are checked with all other changes.

mod shape;
mod three;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use self::shape::Shape;
use super::Schema;
use crate::merge::Side;

/// Merges two schemas. `bases` are those of the last commits that both sides have seen: one, or
/// several where lines were merged both ways; then it must come to the same from each.
pub fn merge(
    bases: &[Schema],
    ours: &Schema,
    theirs: &Schema,
) -> Result<Schema, Vec<SchemaConflict>> {
    let slots: BTreeSet<String> = ours.slots.union(&theirs.slots).cloned().collect();
    if Shape::of(ours) == Shape::of(theirs) {
        return Ok(ours.clone().with_slots(slots));
    }
    let mut merged: Option<Schema> = None;
    for base in bases {
        let next = over(base, ours, theirs)?;
        match &merged {
            Some(other) if Shape::of(other) != Shape::of(&next) => {
                return Err(vec![SchemaConflict::Unclear]);
            }
            _ => merged = Some(next),
        }
    }
    let merged = merged.ok_or_else(|| vec![SchemaConflict::Unclear])?;
    let slots = merged.slots.union(&slots).cloned().collect();
    Ok(merged.with_slots(slots))
}

/// Merges two schemas over one base.
fn over(base: &Schema, ours: &Schema, theirs: &Schema) -> Result<Schema, Vec<SchemaConflict>> {
    let (was, our, their) = (Shape::of(base), Shape::of(ours), Shape::of(theirs));
    let shape = three::merged(&was, &our, &their)?;
    // Where it is what one side says, it is said in that side's words.
    for (side, of) in [(ours, &our), (theirs, &their)] {
        if shape == *of {
            return Ok(side.clone().with_slots(shape.slots));
        }
    }
    let built = shape.build();
    // Read back, so that whatever the two together break is found by what finds it anywhere.
    Schema::from_stored(&built.stored())
        .map_err(|error| vec![SchemaConflict::Invalid { message: error.to_string() }])
}

/// Why two schemas cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum SchemaConflict {
    /// Both sides added the same thing, and not alike.
    DivergentAdd {
        /// What: a type, or a property of one.
        at: String,
        /// What about it is unlike.
        aspect: &'static str,
        /// What it is in ours.
        ours: String,
        /// What it is in theirs.
        theirs: String,
    },
    /// Both sides changed the same thing, and not alike.
    DivergentChange {
        /// What.
        at: String,
        /// What about it is unlike.
        aspect: &'static str,
        /// What it is in ours.
        ours: String,
        /// What it is in theirs.
        theirs: String,
    },
    /// One side removed what the other changed.
    RemovedAgainstChanged {
        /// What.
        at: String,
        /// Who removed it.
        removed_by: Side,
    },
    /// One thing was given two names.
    TwoNames {
        /// Its name in ours.
        ours: String,
        /// Its name in theirs.
        theirs: String,
    },
    /// Two things were given one name.
    OneName {
        /// The name.
        name: String,
    },
    /// One side uses what the other removed.
    Dangling {
        /// What uses it.
        at: String,
        /// What is used.
        needs: String,
        /// Who removed it.
        removed_by: Side,
    },
    /// Each side is right, and both together are not.
    Invalid {
        /// Why.
        message: String,
    },
    /// Lines were merged both ways, and it is not clear what either side changed.
    Unclear,
}

impl fmt::Display for SchemaConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivergentAdd { at, aspect, ours, theirs } => write!(
                f,
                "`{at}` was added on both sides, and its {aspect} is {ours} in ours, {theirs} in theirs"
            ),
            Self::DivergentChange { at, aspect, ours, theirs } => write!(
                f,
                "the {aspect} of `{at}` was changed on both sides, to {ours} in ours, {theirs} in theirs"
            ),
            Self::RemovedAgainstChanged { at, removed_by } => {
                write!(f, "`{at}` was removed by {removed_by}, changed by {}", removed_by.other())
            }
            Self::TwoNames { ours, theirs } => {
                write!(f, "what ours calls `{ours}` theirs calls `{theirs}`")
            }
            Self::OneName { name } => {
                write!(f, "`{name}` is one thing in ours and another in theirs")
            }
            Self::Dangling { at, needs, removed_by } => {
                write!(f, "`{at}` needs `{needs}`, which {removed_by} removed")
            }
            Self::Invalid { message } => write!(f, "both together are wrong: {message}"),
            Self::Unclear => f.write_str(
                "the branches were merged both ways: make their schemas alike on one of them first",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
