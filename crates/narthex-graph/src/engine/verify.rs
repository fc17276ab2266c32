//! From one schema to another: what that asks of the rows there are, and the indexes it needs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use narthex_store::{IndexBuild, StoredRow, Tag};

use super::{GraphError, Looked};
use crate::exec::indexing::{entries, kind_of};
use crate::exec::{Bound, Changed, Changes, Context, ExecError, Violation, constraints};
use crate::schema::Schema;
use crate::schema::migrate::{self, Class, Migration, Step, Verify};

/// The way from one schema to another, if it may be gone.
pub(super) fn way(
    from: &Schema,
    to: &Schema,
    allow_data_loss: bool,
) -> Result<Migration, GraphError> {
    if from.digest() == to.digest() {
        return Ok(Migration::default());
    }
    let migration = migrate::plan(from, to);
    let stops = |step: &&Step| match step.class {
        Class::Refused => true,
        Class::Destructive => !allow_data_loss,
        Class::Additive | Class::NeedsCheck => false,
    };
    let stopped: Vec<Step> = migration.steps.iter().filter(stops).cloned().collect();
    if stopped.is_empty() { Ok(migration) } else { Err(GraphError::Migration(stopped)) }
}

/// Where a property comes that must be there, no row may be. It is said before any is looked at:
/// each of them would be wrong.
pub(super) async fn none_there(
    looked: &mut Looked,
    schema: &Schema,
    migration: &Migration,
) -> Result<(), GraphError> {
    for (step, verify) in migration.verify() {
        if let Verify::NoRows { type_slot } = verify
            && let Some(tag) = tag_of(schema, type_slot)
            && !looked.view.scan(tag, None, 1).await?.is_empty()
        {
            return Err(GraphError::Migration(vec![step.clone()]));
        }
    }
    Ok(())
}

/// The rules that are broken under the context's schema with these changes, and all rows that were
/// asked: those that change, and those that a rule is new to.
pub(super) async fn broken<'c>(
    looked: &mut Looked,
    context: &Context<'_>,
    changes: &'c Changes,
    migration: &Migration,
) -> Result<(Cow<'c, Changes>, Vec<Violation>), GraphError> {
    let mut all = Cow::Borrowed(changes);
    for slot in asked_of(context.schema, migration) {
        let Some(tag) = tag_of(context.schema, slot) else { continue };
        let Some(kind) = kind_of(context.schema, tag) else { continue };
        for row in all_rows(looked, tag, context.limits.changes).await? {
            let key = (row.tag, row.row);
            if !all.rows.contains_key(&key) {
                let (after, ends) = (row.body.clone(), row.ends);
                all.to_mut().put(key, Changed { kind, before: Some(row), after, ends });
            }
        }
    }
    // What has yet to be built has nothing of what is there.
    let unbuilt = migration.builds.iter().map(|build| build.index).collect();
    let violations = constraints::check_without(looked.view.as_mut(), context, &all, unbuilt);
    let violations = violations.await?;
    Ok((all, violations))
}

/// The types whose rows must all be looked at, by slot.
fn asked_of<'a>(schema: &'a Schema, migration: &'a Migration) -> BTreeSet<&'a str> {
    let mut slots = BTreeSet::new();
    for (_, verify) in migration.verify() {
        let slot = type_slot(verify);
        slots.insert(slot);
        if let Verify::Cardinality { .. } = verify {
            // Nodes that must have edges are looked at even if they have none.
            slots.extend(must_have(schema, slot));
        }
    }
    slots
}

/// What indexes that come into being hold: the rows that lie on the line itself.
pub(super) async fn builds(
    looked: &mut Looked,
    schema: &Schema,
    changes: &Changes,
    migration: &Migration,
) -> Result<Vec<IndexBuild>, GraphError> {
    let line = looked.view.placed().line;
    let mut builds = Vec::new();
    for build in &migration.builds {
        let Some(of) = tag_of(schema, &build.type_slot) else { continue };
        let Some(kind) = kind_of(schema, of) else { continue };
        let mut built =
            IndexBuild { index: build.index, of, entries: Vec::new(), texts: Vec::new() };
        for row in all_rows(looked, of, u64::MAX).await? {
            let changes_now = changes.rows.contains_key(&(row.tag, row.row));
            let Some(body) = row.body.as_ref().filter(|_| row.line == line && !changes_now) else {
                continue;
            };
            let entries = entries(schema, kind, body)?;
            let index = entries.index.into_iter().filter(|(tag, _)| *tag == build.index);
            built.entries.extend(index.map(|(_, value)| (row.row, value)));
            let texts = entries.texts.into_iter().filter(|text| text.index == build.index);
            built.texts.extend(texts.map(|text| (row.row, text.words)));
        }
        builds.push(built);
    }
    Ok(builds)
}

async fn all_rows(looked: &mut Looked, tag: Tag, most: u64) -> Result<Vec<StoredRow>, GraphError> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = looked.view.scan(tag, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(rows) };
        after = Some(last.row);
        rows.extend(page);
        if rows.len() as u64 > most {
            let bound = Bound::Changes;
            return Err(ExecError::Limit { bound, most }.into());
        }
    }
}

fn tag_of(schema: &Schema, slot: &str) -> Option<Tag> {
    let node = schema.nodes.iter().find(|node| node.slot == slot).map(crate::schema::NodeType::tag);
    let edge = || schema.edges.iter().find(|edge| edge.slot == slot);
    node.or_else(|| edge().map(crate::schema::EdgeType::tag))
}

/// The node types that must have edges of this one.
fn must_have<'a>(schema: &'a Schema, edge: &str) -> impl Iterator<Item = &'a str> {
    let edge = schema.edges.iter().find(|of| of.slot == edge);
    let edge = edge.filter(|edge| edge.card.is_some_and(|card| card.min > 0));
    let nodes = schema.nodes.iter().filter(move |node| edge.is_some_and(|of| node.is_a(&of.from)));
    nodes.map(|node| node.slot.as_str())
}

fn type_slot(verify: &Verify) -> &str {
    match verify {
        Verify::NoRows { type_slot }
        | Verify::NotNull { type_slot, .. }
        | Verify::Fits { type_slot, .. }
        | Verify::InRange { type_slot, .. }
        | Verify::Unique { type_slot, .. }
        | Verify::Holds { type_slot, .. } => type_slot,
        Verify::Cardinality { edge_slot } | Verify::Ends { edge_slot } => edge_slot,
    }
}

const PAGE: u32 = 4_096;
