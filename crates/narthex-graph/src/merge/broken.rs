//! Rules that a merge would break, as conflicts that can be resolved as they say.

use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, Side as End, StoreError, StoredRow, Tag};

use super::names::{Names, Type};
use super::plan::{PAGE, RowId, rows_by_id};
use super::{Asked, Body, Conflict, ConflictKind, Conflicts, RowName, Take, read_body};
use crate::exec::{Changes, Violation, ViolationKind};
use crate::schema::Schema;

/// Rules that are broken once ours has changed like this, as conflicts. Among the changes is every
/// row that a rule was asked of, also where nothing becomes of it.
pub async fn conflicts_of(
    violations: &[Violation],
    changes: &Changes,
    ours: &mut dyn GraphView,
    theirs: &mut dyn GraphView,
    schema: &Schema,
) -> Result<Vec<Conflict>, StoreError> {
    let mut sides = Sides { changes, names: Names::of(schema), rows: BTreeMap::new() };
    let edges = edges_at(violations, changes, ours, theirs, schema).await?;
    let mut asked: BTreeSet<RowId> = edges.values().flatten().copied().collect();
    for violation in violations {
        asked.insert((violation.tag, violation.row));
        if let ViolationKind::Unique { other, .. } = violation.what {
            asked.insert((violation.tag, other));
        }
    }
    let asked: Vec<RowId> = asked.into_iter().collect();
    for page in asked.chunks(PAGE) {
        let text = |row: StoredRow| row.body;
        let mut ours = rows_by_id(ours, page).await?;
        let mut theirs = rows_by_id(theirs, page).await?;
        sides.rows.extend(page.iter().map(|row| {
            (*row, (ours.remove(row).and_then(text), theirs.remove(row).and_then(text)))
        }));
    }
    violations.iter().map(|violation| sides.conflict(violation, schema, &edges)).collect()
}

/// By edge type and node, the edges that either side has begin there.
type EdgesAt = BTreeMap<(Tag, RowNo), BTreeSet<RowId>>;

async fn edges_at(
    violations: &[Violation],
    changes: &Changes,
    ours: &mut dyn GraphView,
    theirs: &mut dyn GraphView,
    schema: &Schema,
) -> Result<EdgesAt, StoreError> {
    let mut nodes: BTreeMap<Tag, BTreeSet<RowNo>> = BTreeMap::new();
    for violation in violations {
        if let ViolationKind::Card { edge, .. } = &violation.what
            && let Some(edge) = schema.edge(edge)
        {
            nodes.entry(edge.tag()).or_default().insert(violation.row);
        }
    }
    let mut found = EdgesAt::new();
    for (tag, nodes) in nodes {
        let listed: Vec<RowNo> = nodes.iter().copied().collect();
        for page in listed.chunks(PAGE) {
            let mut rows = ours.edges(tag, End::From, page, false).await?;
            rows.extend(theirs.edges(tag, End::From, page, false).await?);
            let ends = rows.into_iter().filter_map(|row| Some((row.ends?.0, row.row)));
            for (from, row) in ends {
                found.entry((tag, from)).or_default().insert((tag, row));
            }
        }
        let of_type = (tag, RowNo(i64::MIN))..=(tag, RowNo(i64::MAX));
        for (id, change) in changes.rows.range(of_type) {
            if let Some((from, _)) = change.ends.filter(|(from, _)| nodes.contains(from)) {
                found.entry((tag, from)).or_default().insert(*id);
            }
        }
    }
    Ok(found)
}

/// What rows are on both sides, and what they would become.
struct Sides<'a> {
    changes: &'a Changes,
    names: Names<'a>,
    rows: BTreeMap<RowId, (Option<String>, Option<String>)>,
}

impl Sides<'_> {
    fn conflict(
        &self,
        violation: &Violation,
        schema: &Schema,
        edges: &EdgesAt,
    ) -> Result<Conflict, StoreError> {
        let mut id = (violation.tag, violation.row);
        let (mut kind, mut resolve) = (None, Vec::new());
        match &violation.what {
            ViolationKind::Unique { properties, other, other_key } => {
                let mut other = (violation.tag, *other);
                // Of the two, one that the sides do not have alike is to be decided on.
                if !self.unlike(id) && self.unlike(other) {
                    (id, other) = (other, id);
                }
                let key = if other.1 == violation.row { &violation.key } else { other_key };
                let other = self.name(other)?.unwrap_or_else(|| node(&violation.kind, key));
                kind = Some(ConflictKind::Uniqueness { properties: properties.clone(), other });
            }
            ViolationKind::Card { edge, count, min, max } => {
                let tag = schema.edge(edge).map(crate::schema::EdgeType::tag);
                let at = tag.and_then(|tag| edges.get(&(tag, violation.row)));
                let many = max.is_some_and(|max| *count > max.into());
                let open = self.open(at.into_iter().flatten().copied(), many);
                let over = if many { *count - u64::from(max.unwrap_or(0)) } else { (*min).into() };
                let wanted = if many { over } else { over.saturating_sub(*count) };
                for edge in open.iter().take(usize::try_from(wanted).unwrap_or(usize::MAX)) {
                    resolve.extend(self.otherwise(*edge)?);
                }
                let named = open.into_iter().take(Conflicts::LISTED);
                let named: Result<Vec<_>, _> = named.map(|edge| self.name(edge)).collect();
                kind = Some(ConflictKind::Cardinality {
                    edge: edge.clone(),
                    found: u32::try_from(*count).unwrap_or(u32::MAX),
                    min: *min,
                    max: *max,
                    edges: named?.into_iter().flatten().collect(),
                });
            }
            ViolationKind::Value { .. }
            | ViolationKind::Check { .. }
            | ViolationKind::Orphan { .. }
            | ViolationKind::EndType { .. } => {}
        }
        let constraint = || ConflictKind::ValueConstraint { constraint: violation.to_string() };
        let is_edge = matches!(self.names.get(violation.tag), Some(Type::Edge(_)));
        let by_key = || (!is_edge).then(|| node(&violation.kind, &violation.key));
        if resolve.is_empty() {
            resolve.extend(self.otherwise(id)?);
        }
        let (ours, theirs) = self.rows.get(&id).cloned().unwrap_or_default();
        let show = |text: Option<String>| -> Result<_, StoreError> {
            let body = text.as_deref().map(read_body).transpose()?;
            Ok(body.map(|body| self.names.show(id.0, &body)))
        };
        Ok(Conflict {
            kind: kind.unwrap_or_else(constraint),
            row: self.name(id)?.or_else(by_key),
            ours: show(ours)?,
            theirs: show(theirs)?,
            resolve,
        })
    }

    /// Of the edges at a node, those by which there are too many, or too few: what theirs did first.
    fn open(&self, edges: impl Iterator<Item = RowId>, many: bool) -> Vec<RowId> {
        let there = |id: &RowId| self.becomes(*id).is_some() == many;
        let there: Vec<RowId> = edges.filter(there).collect();
        let is_ours = |id: &RowId| self.becomes(*id) == self.ours(*id);
        let mut open: Vec<RowId> = there.iter().copied().filter(|id| self.unlike(*id)).collect();
        // Where they agree on all of them, the rule is what is new.
        if open.is_empty() && many {
            open = there;
        }
        open.sort_by_key(is_ours);
        open
    }

    /// The row as it would not be: what the side has that did not come through.
    fn otherwise(&self, id: RowId) -> Result<Option<Asked>, StoreError> {
        let take = match (self.unlike(id), self.becomes(id) == self.ours(id)) {
            (true, true) => Take::Theirs,
            (true, false) => Take::Ours,
            (false, _) => Take::Gone,
        };
        Ok(self.name(id)?.map(|row| Asked::Take { row, take }))
    }

    fn ours(&self, id: RowId) -> Option<&str> {
        self.rows.get(&id).and_then(|(ours, _)| ours.as_deref())
    }

    /// What the row would be.
    fn becomes(&self, id: RowId) -> Option<&str> {
        match self.changes.rows.get(&id) {
            Some(change) => change.after.as_deref(),
            None => self.ours(id),
        }
    }

    /// Whether the two sides do not have the row alike.
    fn unlike(&self, id: RowId) -> bool {
        self.rows.get(&id).is_some_and(|(ours, theirs)| ours != theirs)
    }

    fn name(&self, id: RowId) -> Result<Option<RowName>, StoreError> {
        let theirs = || self.rows.get(&id).and_then(|(_, theirs)| theirs.as_deref());
        let text = self.becomes(id).or_else(|| self.ours(id)).or_else(theirs);
        let body: Option<Body> = text.map(read_body).transpose()?;
        Ok(body.and_then(|body| self.names.name(id.0, &body)))
    }
}

fn node(type_name: &str, key: &str) -> RowName {
    RowName::Node { type_name: type_name.to_owned(), key: key.to_owned() }
}
