//! A set of changes: what each row was, and what it is to be.

use std::collections::BTreeMap;

use narthex_store::{RowNo, StoredRow, Tag};

use crate::query::{EdgeNo, NodeNo};

/// Changes to a graph, each row once. What made them, a query, a file or a merge, nobody can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// By type and number.
    pub rows: BTreeMap<(Tag, RowNo), Changed>,
}

/// A row that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What it is.
    pub kind: RowKind,
    /// As it was seen before all of the changes; none if it was not there.
    pub before: Option<StoredRow>,
    /// Its body afterwards; none if it is gone.
    pub after: Option<String>,
    /// Of an edge, where it begins and ends.
    pub ends: Option<(RowNo, RowNo)>,
}

/// What a row is, by the schema that the changes are made under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKind {
    /// A node of this type.
    Node(NodeNo),
    /// An edge of this type.
    Edge(EdgeNo),
}

/// How many rows changed how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is called")]
pub struct Counts {
    pub nodes_inserted: u64,
    pub nodes_updated: u64,
    pub nodes_deleted: u64,
    pub edges_inserted: u64,
    pub edges_updated: u64,
    pub edges_deleted: u64,
}

impl Changes {
    /// A row becomes this. What it was before stays what the first change of it said.
    pub fn put(&mut self, key: (Tag, RowNo), change: Changed) {
        match self.rows.entry(key) {
            std::collections::btree_map::Entry::Vacant(place) => _ = place.insert(change),
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let known = place.get_mut();
                known.after = change.after;
                known.ends = change.ends.or(known.ends);
            }
        }
    }

    /// Leaves out what is no change: a row that is as it was, one that came and went.
    pub fn settle(&mut self) {
        self.rows.retain(|_, of| {
            let before = of.before.as_ref().and_then(|row| row.body.as_deref());
            before != of.after.as_deref()
        });
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows change how.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.rows.values().for_each(|change| counts.add(change));
        counts
    }
}

impl Counts {
    /// One more row.
    pub fn add(&mut self, change: &Changed) {
        let place = match (change.kind, change.before.is_some(), change.after.is_some()) {
            (RowKind::Node(_), false, true) => &mut self.nodes_inserted,
            (RowKind::Node(_), true, true) => &mut self.nodes_updated,
            (RowKind::Node(_), true, false) => &mut self.nodes_deleted,
            (RowKind::Edge(_), false, true) => &mut self.edges_inserted,
            (RowKind::Edge(_), true, true) => &mut self.edges_updated,
            (RowKind::Edge(_), true, false) => &mut self.edges_deleted,
            (_, false, false) => return,
        };
        *place += 1;
    }
}
