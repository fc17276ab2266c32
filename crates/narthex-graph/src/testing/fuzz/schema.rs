//! `.pg`: what is read can be printed, and is read again as the same.

use super::told;
use crate::Bounds;
use crate::schema::merge::merge;
use crate::schema::{Schema, migrate};

/// Reads schemas, parted by lines of `===`: the first alone, the two after it as what comes next,
/// and those two merged over it.
pub fn schema(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split("\n===\n");
    let Some(first) = parts.next().and_then(|source| read(source, None)) else { return };
    let after: Vec<Schema> = parts.take(2).filter_map(|one| read(one, Some(&first))).collect();
    for next in &after {
        let (there, back) = (migrate::plan(&first, next), migrate::plan(next, &first));
        assert!(there.steps.iter().chain(&back.steps).all(|step| !step.sentence.is_empty()));
    }
    if let [ours, theirs] = after.as_slice() {
        merges(&first, ours, theirs);
    }
}

fn read(source: &str, before: Option<&Schema>) -> Option<Schema> {
    let schema = match Schema::read(source, before) {
        Ok(schema) => schema,
        Err(found) => {
            told(source, &found);
            return None;
        }
    };
    stored(&schema);
    printed(&schema, before);
    assert!(migrate::plan(&schema, &schema).is_empty());
    Some(schema)
}

/// What is stored is read back.
fn stored(schema: &Schema) {
    let again = Schema::from_stored(&schema.stored()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, *schema);
    assert_eq!(again.digest(), schema.digest());
}

/// What is printed from the structure alone is read as the same structure.
fn printed(schema: &Schema, before: Option<&Schema>) {
    let printed = schema.to_source();
    // What nodes have of their interfaces is said again, which can be more than a text may be.
    if printed.len() > Bounds::SCHEMA_BYTES {
        return;
    }
    let as_stored = Schema { source: printed.clone(), ..schema.clone() };
    let again = Schema::from_stored(&as_stored.stored());
    let again = again.unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(bare(&again), bare(schema), "{printed}");
    assert_eq!(again.to_source(), printed);
    if before.is_none() {
        let again = Schema::read(&printed, None);
        let again = again.unwrap_or_else(|found| panic!("{found:#?}\n{printed}"));
        assert_eq!(bare(&again), bare(schema), "{printed}");
    }
}

/// Without the words it was written in.
fn bare(schema: &Schema) -> Schema {
    let mut schema = Schema { source: String::new(), ..schema.clone() };
    let nodes = schema.nodes.iter_mut().map(|one| &mut one.checks);
    for check in nodes.chain(schema.edges.iter_mut().map(|one| &mut one.checks)).flatten() {
        check.source = String::new();
    }
    schema
}

/// A merge comes to one schema whichever way round, and that is a schema like any other.
fn merges(base: &Schema, ours: &Schema, theirs: &Schema) {
    let bases = std::slice::from_ref(base);
    let (there, back) = (merge(bases, ours, theirs), merge(bases, theirs, ours));
    assert_eq!(there.is_ok(), back.is_ok(), "{there:?}\n{back:?}");
    if let Ok(merged) = &there {
        stored(merged);
        assert!(merged.slots.is_superset(&ours.slots) && merged.slots.is_superset(&theirs.slots));
    }
    for (side, other) in [(ours, base), (base, ours)] {
        let merged = merge(bases, side, other).unwrap_or_else(|found| panic!("{found:?}"));
        assert!(migrate::plan(ours, &merged).is_empty(), "what one side alone did is taken");
    }
}
