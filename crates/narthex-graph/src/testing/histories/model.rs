//! Commits, each with all its rows.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::{CommitId, Timestamp};

use super::Facts;
use super::naive::{Undecided, Was, merged};
use crate::merge::Body;

/// A row: what its type is stored under, and which it is.
pub type Row = (String, Key);

/// Which row of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A node.
    Node(u8),
    /// An edge between two people.
    Edge(u8, u8),
    /// One of several, by its number.
    Call(u8, u8, u8),
}

impl Key {
    /// Of an edge, the people it is between.
    pub fn ends(self) -> Option<[u8; 2]> {
        match self {
            Self::Node(_) => None,
            Self::Edge(from, to) | Self::Call(from, to, _) => Some([from, to]),
        }
    }
}

/// Rows with what is in them.
pub type Rows = BTreeMap<Row, Body>;

/// What was written; none is gone.
pub(super) type Wrote = BTreeMap<Row, Option<Body>>;

/// A commit as the model has it.
#[derive(Debug, Clone, Default)]
pub struct Whole {
    /// All its rows.
    pub rows: Rows,
    /// What its schema says.
    pub facts: Facts,
    /// All commits before it, and itself.
    pub before: BTreeSet<usize>,
    /// What it wrote.
    pub wrote: BTreeMap<Row, Option<Body>>,
    /// The commit it came after.
    pub parent: Option<usize>,
    /// Whether it changed the schema, or founded the graph.
    pub bare: bool,
    /// What a store calls it.
    pub id: Option<CommitId>,
    /// When it was made.
    pub at: Option<Timestamp>,
}

/// What every branch must hold.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// Every commit there ever was.
    pub commits: Vec<Whole>,
    /// Where branches stand; none if there is none of that number.
    pub heads: Vec<Option<usize>>,
}

/// What the model says of a merge.
#[derive(Debug, PartialEq)]
pub enum Said {
    /// There is nothing to merge.
    Nothing,
    /// These rows have to be decided on.
    Conflicts(BTreeSet<Row>),
    /// These rows come of it, and these are written.
    Rows(Rows, BTreeMap<Row, Option<Body>>),
}

impl Model {
    /// A graph that begins under this schema.
    pub fn new(facts: Facts) -> Self {
        let before = BTreeSet::from([0]);
        let first = Whole { before, facts, bare: true, ..Whole::default() };
        Self { commits: vec![first], heads: vec![Some(0)] }
    }

    /// The commit that a branch stands at.
    pub fn head(&self, branch: usize) -> &Whole {
        &self.commits[self.heads[branch].expect("a branch")]
    }

    /// A commit on a branch: what it wrote, and what it brought in.
    pub fn commit(&mut self, branch: usize, also: Option<usize>, wrote: Wrote) -> &mut Whole {
        let parent = self.heads[branch];
        let mut whole = self.head(branch).clone();
        if let Some(other) = also {
            whole.before.extend(self.head(other).before.clone());
        }
        put(&mut whole.rows, &wrote);
        whole.wrote = wrote;
        (whole.parent, whole.bare, whole.id, whole.at) = (parent, false, None, None);
        whole.before.insert(self.commits.len());
        self.heads[branch] = Some(self.commits.len());
        self.commits.push(whole);
        self.commits.last_mut().expect("just put")
    }

    /// The commit that a branch stood at: the last of its own and of those before that was not
    /// made after this moment.
    pub fn at_time(&self, branch: usize, time: Timestamp) -> Option<usize> {
        let mut at = self.heads[branch];
        while let Some(commit) = at {
            if self.commits[commit].at.is_some_and(|made| made <= time) {
                return Some(commit);
            }
            at = self.commits[commit].parent;
        }
        None
    }

    /// Rows that are not the same in two commits, as each has them.
    pub fn diff(&self, one: usize, other: usize) -> BTreeMap<Row, (Option<Body>, Option<Body>)> {
        let (one, other) = (&self.commits[one].rows, &self.commits[other].rows);
        let all: BTreeSet<&Row> = one.keys().chain(other.keys()).collect();
        let unlike = all.into_iter().filter(|row| one.get(*row) != other.get(*row));
        unlike.map(|row| (row.clone(), (one.get(row).cloned(), other.get(row).cloned()))).collect()
    }

    /// What both commits have seen.
    pub fn shared(&self, one: usize, other: usize) -> BTreeSet<usize> {
        let (one, other) = (self.head(one), self.head(other));
        one.before.intersection(&other.before).copied().collect()
    }

    /// Whether the schemas of two branches go together whatever else they say: no commit that only
    /// one of them has seen changed anything about a type or property that such a commit of the
    /// other did, not even for a while.
    pub fn are_apart(&self, one: usize, other: usize) -> bool {
        let shared = self.shared(one, other);
        let [one, other] = [one, other].map(|side| -> BTreeSet<String> {
            let alone = self.head(side).before.difference(&shared).map(|at| &self.commits[*at]);
            let changed = |of: &Whole| {
                let parent = of.parent.map(|parent| &self.commits[parent].facts);
                parent.map(|parent| of.facts.subjects_since(parent)).unwrap_or_default()
            };
            alone.flat_map(changed).collect()
        });
        one.is_disjoint(&other)
    }

    /// The last of these commits: those that no other of them had seen.
    pub fn last(&self, within: &BTreeSet<usize>) -> Vec<usize> {
        let seen =
            |at: &usize| within.iter().any(|by| by != at && self.commits[*by].before.contains(at));
        within.iter().copied().filter(|at| !seen(at)).collect()
    }

    /// What a row was within these commits.
    pub fn base(&self, within: &BTreeSet<usize>, row: &Row) -> Was {
        let wrote = |at: &usize| self.commits[*at].wrote.contains_key(row);
        let writes: BTreeSet<usize> = within.iter().copied().filter(wrote).collect();
        let mut last = self.last(&writes).into_iter();
        let Some(first) = last.next() else { return Was::Known(None) };
        let mut so_far = self.commits[first].wrote[row].clone();
        let mut known = self.commits[first].before.clone();
        for next in last {
            let before = &self.commits[next].before;
            let theirs = self.commits[next].wrote[row].clone();
            if theirs != so_far {
                let shared = known.intersection(before).copied().collect();
                let base = self.base(&shared, row);
                so_far = match merged(&base, so_far.as_ref(), theirs.as_ref()) {
                    Ok(body) => body,
                    Err(Undecided) => return Was::Unclear,
                };
            }
            known.extend(before);
        }
        Was::Known(so_far)
    }

    /// What comes of a merge under a schema, with what was said about some rows.
    pub fn merge(&self, into: usize, from: usize, facts: &Facts, said: &Wrote) -> Said {
        let (ours, theirs) = (self.head(into), self.head(from));
        if theirs.before.is_subset(&ours.before) {
            return Said::Nothing;
        }
        let shared = self.shared(into, from);
        let fresh = theirs.before.difference(&ours.before);
        let touched = fresh.flat_map(|at| self.commits[*at].wrote.keys().cloned()).collect();
        let base = |row: &Row| self.base(&shared, row);
        three(&base, &ours.rows, &theirs.rows, touched, facts, said)
    }

    /// Whether theirs wrote something that a merge would leave where nobody sees it.
    pub fn hides(&self, into: usize, from: usize, facts: &Facts, wrote: &Wrote) -> bool {
        let (ours, theirs) = (self.head(into), self.head(from));
        let shared = self.shared(into, from);
        wrote.iter().filter(|(row, _)| theirs.facts.shows(row)).any(|(row, to)| {
            let (our, their) = (ours.rows.get(row), theirs.rows.get(row));
            if !facts.shows(row) {
                let clash = merged(&self.base(&shared, row), our, their).is_err();
                return (clash && their.is_some()) || (to.is_some() && to.as_ref() != our);
            }
            let shown =
                |facts: &Facts, slot: &str| slot.starts_with('@') || facts.has(&row.0, slot);
            to.iter().flatten().any(|(slot, value)| {
                our.and_then(|our| our.get(slot)) != Some(value)
                    && shown(&theirs.facts, slot)
                    && !shown(facts, slot)
            })
        })
    }

    /// What comes of taking a commit back on a branch.
    pub fn revert(&self, branch: usize, commit: usize, facts: &Facts, said: &Wrote) -> Said {
        let taken = &self.commits[commit];
        let before = &self.commits[taken.parent.expect("a parent")].rows;
        let touched = taken.wrote.keys().cloned().collect();
        let base = |row: &Row| Was::Known(taken.rows.get(row).cloned());
        three(&base, &self.head(branch).rows, before, touched, facts, said)
    }
}

/// Writes rows over others.
pub(super) fn put(rows: &mut Rows, wrote: &Wrote) {
    for (row, body) in wrote {
        match body {
            Some(body) => rows.insert(row.clone(), body.clone()),
            None => rows.remove(row),
        };
    }
}

/// Ours and theirs over what each row was.
fn three(
    base: &dyn Fn(&Row) -> Was,
    ours: &Rows,
    theirs: &Rows,
    mut touched: BTreeSet<Row>,
    facts: &Facts,
    said: &Wrote,
) -> Said {
    touched.extend(said.keys().cloned());
    let (mut wrote, mut conflicts) = (Wrote::new(), BTreeSet::new());
    for row in touched {
        let (our, their) = (ours.get(&row), theirs.get(&row));
        if our == their && !said.contains_key(&row) {
            continue;
        }
        let to = match merged(&base(&row), our, their) {
            _ if said.contains_key(&row) => said[&row].clone(),
            Ok(body) => body,
            // Nobody can look at these to say how.
            Err(Undecided) if !facts.shows(&row) => our.cloned(),
            Err(Undecided) => {
                conflicts.insert(row.clone());
                our.or(their).cloned()
            }
        };
        wrote.insert(row, to);
    }
    let mut rows = ours.clone();
    put(&mut rows, &wrote);
    for row in rows.keys() {
        let Some(ends) = row.1.ends() else { continue };
        if ends.iter().any(|end| !rows.contains_key(&("Person".to_owned(), Key::Node(*end)))) {
            conflicts.insert(row.clone());
        }
    }
    if conflicts.is_empty() { Said::Rows(rows, wrote) } else { Said::Conflicts(conflicts) }
}
