//! What one side wrote and the merged schema does not show.

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{StoreError, Tag};

use super::names::Names;
use super::plan::{Held, RowId, Settled};
use super::{Body, read_body};

/// Something that would no longer be seen: all rows of a type, or a property of theirs by its slot.
pub type Lost = (Tag, Option<String>);

/// What theirs wrote of types and properties that ours has taken away since. What is only kept as
/// it was is not among it: that was given up when the schema was.
pub(super) fn lost(
    held: &BTreeMap<RowId, Held>,
    names: &Names<'_>,
) -> Result<BTreeSet<Lost>, StoreError> {
    let mut lost = BTreeSet::new();
    for ((tag, _), row) in held {
        let becomes = match &row.settled {
            Settled::To(body) => body.as_deref(),
            // Nobody is asked about a row that cannot be seen, and ours stands.
            Settled::Not(_) if names.get(*tag).is_none() => row.theirs.as_deref(),
            Settled::Not(_) => None,
        };
        let Some(body) = becomes.filter(|body| Some(*body) != row.our_text()) else { continue };
        let Some(properties) = names.of_type(*tag) else {
            lost.insert((*tag, None));
            continue;
        };
        let had = row.our_text().map(read_body).transpose()?.unwrap_or_default();
        let hidden =
            |slot: &String| !slot.starts_with('@') && properties.iter().all(|of| of.slot != *slot);
        let body: Body = read_body(body)?;
        let new = body.into_iter().filter(|(slot, value)| had.get(slot) != Some(value));
        lost.extend(new.filter(|(slot, _)| hidden(slot)).map(|(slot, _)| (*tag, Some(slot))));
    }
    Ok(lost)
}
