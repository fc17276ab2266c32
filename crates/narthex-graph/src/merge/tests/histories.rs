//! Random histories of several lines, against a model that keeps every commit whole.
//!
//! The model knows commits with all their rows and the set of all commits before them, and nothing
//! of lines, numbers or layers. It finds what two commits share by taking sets apart.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::world::{Rows, World, body, k, p, resolve, tie};
use crate::history::Meeting;
use crate::merge::{Base, Body, ConflictKind, How, MergePlan, Resolution, RowId, Side};
use crate::testing::histories::{Undecided, Was, merged};

/// Something that is done to a graph. Branches and rows are taken modulo what there is.
#[derive(Debug, Clone)]
enum Act {
    Put(usize, i64, u8, u8),
    Drop(usize, i64),
    Tie(usize, i64, i64, u8),
    Untie(usize, i64, i64),
    Fork(usize),
    /// Into, from, and who is right where they disagree.
    Merge(usize, usize, bool),
}

fn act() -> impl Strategy<Value = Act> {
    let branch = 0..BRANCHES;
    let person = 1..=PEOPLE;
    prop_oneof![
        4 => (branch.clone(), person.clone(), 0..3_u8, 0..3_u8)
            .prop_map(|(b, n, name, age)| Act::Put(b, n, name, age)),
        1 => (branch.clone(), person.clone()).prop_map(|(b, n)| Act::Drop(b, n)),
        2 => (branch.clone(), person.clone(), person.clone(), 0..2_u8)
            .prop_map(|(b, n, m, since)| Act::Tie(b, n, m, since)),
        1 => (branch.clone(), person.clone(), person).prop_map(|(b, n, m)| Act::Untie(b, n, m)),
        2 => branch.clone().prop_map(Act::Fork),
        5 => (branch.clone(), branch, any::<bool>()).prop_map(|(a, b, ours)| Act::Merge(a, b, ours)),
    ]
}

/// A commit as the model has it.
#[derive(Debug, Clone, Default)]
struct Whole {
    rows: Rows,
    /// All commits before it, and itself.
    before: BTreeSet<usize>,
    /// What it wrote.
    wrote: BTreeMap<RowId, Option<Body>>,
}

/// What every branch must hold.
#[derive(Debug, Clone, Default)]
struct Model {
    commits: Vec<Whole>,
    heads: Vec<usize>,
}

/// What the model says of a merge.
#[derive(Debug, PartialEq)]
enum Said {
    Nothing,
    Conflicts(BTreeSet<RowId>),
    Rows(Rows, BTreeMap<RowId, Option<Body>>),
}

impl Model {
    fn new() -> Self {
        let first = Whole { before: BTreeSet::from([0]), ..Whole::default() };
        Self { commits: vec![first], heads: vec![0] }
    }

    fn head(&self, branch: usize) -> &Whole {
        &self.commits[self.heads[branch]]
    }

    fn commit(&mut self, branch: usize, also: Option<usize>, wrote: BTreeMap<RowId, Option<Body>>) {
        let mut whole = self.head(branch).clone();
        if let Some(other) = also {
            whole.before.extend(self.head(other).before.clone());
        }
        for (row, body) in &wrote {
            match body {
                Some(body) => whole.rows.insert(*row, body.clone()),
                None => whole.rows.remove(row),
            };
        }
        whole.wrote = wrote;
        whole.before.insert(self.commits.len());
        self.heads[branch] = self.commits.len();
        self.commits.push(whole);
    }

    /// What a row was within these commits.
    fn base(&self, within: &BTreeSet<usize>, row: RowId) -> Was {
        let writes: Vec<usize> = within
            .iter()
            .copied()
            .filter(|at| self.commits[*at].wrote.contains_key(&row))
            .collect();
        let last = |at: &&usize| {
            !writes.iter().any(|other| other != *at && self.commits[*other].before.contains(*at))
        };
        let mut last = writes.iter().filter(last);
        let Some(first) = last.next() else { return Was::Known(None) };
        let mut so_far = self.commits[*first].wrote[&row].clone();
        let mut known = self.commits[*first].before.clone();
        for next in last {
            let before = &self.commits[*next].before;
            let theirs = self.commits[*next].wrote[&row].clone();
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

    /// What comes of a merge, with what was said about some rows.
    fn merge(&self, into: usize, from: usize, said: &BTreeMap<RowId, Option<Body>>) -> Said {
        let (ours, theirs) = (self.head(into), self.head(from));
        if theirs.before.is_subset(&ours.before) {
            return Said::Nothing;
        }
        let shared: BTreeSet<usize> = ours.before.intersection(&theirs.before).copied().collect();
        let fresh = theirs.before.difference(&ours.before);
        let mut touched: BTreeSet<RowId> =
            fresh.flat_map(|at| self.commits[*at].wrote.keys().copied()).collect();
        touched.extend(said.keys());
        let (mut wrote, mut conflicts) = (BTreeMap::new(), BTreeSet::new());
        for row in touched {
            let (our, their) = (ours.rows.get(&row), theirs.rows.get(&row));
            if our == their {
                continue;
            }
            let to = match merged(&self.base(&shared, row), our, their) {
                _ if said.contains_key(&row) => said[&row].clone(),
                Ok(body) => body,
                Err(Undecided) => {
                    conflicts.insert(row);
                    our.or(their).cloned()
                }
            };
            wrote.insert(row, to);
        }
        let mut rows = ours.rows.clone();
        for (row, body) in &wrote {
            match body {
                Some(body) => rows.insert(*row, body.clone()),
                None => rows.remove(row),
            };
        }
        for row in rows.keys().filter(|row| row.0 == k(1, 1).0) {
            let (from, to) = ends(*row);
            if !rows.contains_key(&p(from)) || !rows.contains_key(&p(to)) {
                conflicts.insert(*row);
            }
        }
        if conflicts.is_empty() { Said::Rows(rows, wrote) } else { Said::Conflicts(conflicts) }
    }
}

/// Both, side by side.
#[derive(Debug)]
struct Pair {
    world: World,
    model: Model,
}

impl Pair {
    fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let branches = self.model.heads.len();
        match *act {
            Act::Put(branch, n, name, age) => {
                let age = (age > 0).then_some(i64::from(age));
                let person = (p(n), body(n, &name.to_string(), age));
                self.write(branch % branches, vec![person]);
            }
            Act::Drop(branch, n) => {
                let branch = branch % branches;
                let rows = self.model.head(branch).rows.keys().copied();
                let gone = rows.filter(|row| match *row {
                    row if row.0 == p(1).0 => row == p(n),
                    row => ends(row).0 == n || ends(row).1 == n,
                });
                self.write(branch, gone.map(|row| (row, None)).collect());
            }
            Act::Tie(branch, n, m, since) => {
                let branch = branch % branches;
                let rows = &self.model.head(branch).rows;
                if rows.contains_key(&p(n)) && rows.contains_key(&p(m)) {
                    self.write(branch, vec![(k(n, m), tie(n, m, &since.to_string()))]);
                }
            }
            Act::Untie(branch, n, m) => {
                let branch = branch % branches;
                if self.model.head(branch).rows.contains_key(&k(n, m)) {
                    self.write(branch, vec![(k(n, m), None)]);
                }
            }
            Act::Fork(from) if branches < BRANCHES => {
                self.world.fork(&name(from % branches), &name(branches));
                self.model.heads.push(self.model.heads[from % branches]);
            }
            Act::Fork(_) => {}
            Act::Merge(into, from, ours) => self.merge(into % branches, from % branches, ours)?,
        }
        Ok(())
    }

    fn write(&mut self, branch: usize, rows: Vec<(RowId, Option<Body>)>) {
        if !rows.is_empty() {
            self.model.commit(branch, None, rows.iter().cloned().collect());
            self.world.commit(&name(branch), rows);
        }
    }

    fn merge(&mut self, into: usize, from: usize, ours: bool) -> Result<(), TestCaseError> {
        self.bases(into, from)?;
        let mut said = BTreeMap::new();
        for _ in 0..ROUNDS {
            let resolutions: Vec<Resolution> = said
                .iter()
                .map(|(row, body): (_, &Option<Body>)| {
                    let our = self.model.head(into).rows.get(row);
                    let how = if our == body.as_ref() { How::Ours } else { How::Theirs };
                    resolve(*row, how)
                })
                .collect();
            let planned = self.world.plan(&name(into), &name(from), &resolutions).unwrap();
            match (planned, self.model.merge(into, from, &said)) {
                (MergePlan::AlreadyMerged, Said::Nothing) => return Ok(()),
                (MergePlan::Merged(merged), Said::Rows(rows, wrote)) => {
                    self.laws(into, from, &rows, &said)?;
                    let written: BTreeSet<RowId> =
                        merged.changes.iter().map(|change| (change.tag, change.row)).collect();
                    prop_assert_eq!(&written, &wrote.keys().copied().collect());
                    self.world.put_merge(&name(into), merged);
                    self.model.commit(into, Some(from), wrote);
                    prop_assert_eq!(&self.model.head(into).rows, &rows);
                    let again = self.world.plan(&name(into), &name(from), &[]).unwrap();
                    prop_assert_eq!(again, MergePlan::AlreadyMerged);
                    return Ok(());
                }
                (MergePlan::Conflicts(conflicts), Said::Conflicts(rows)) => {
                    let named: BTreeSet<RowId> = conflicts
                        .listed
                        .iter()
                        .map(|conflict| row_of(conflict.row.as_ref()))
                        .collect();
                    prop_assert_eq!(&named, &rows);
                    for conflict in &conflicts.listed {
                        let row = row_of(conflict.row.as_ref());
                        let side = match conflict.kind {
                            ConflictKind::OrphanedEdge { deleted_by, .. } => deleted_by,
                            _ if ours => Side::Ours,
                            _ => Side::Theirs,
                        };
                        let of = if side == Side::Ours { into } else { from };
                        let body = self.model.head(of).rows.get(&row).cloned();
                        // What was said before and left an edge without its node is taken back.
                        let body = if said.contains_key(&row) { None } else { body };
                        said.insert(row, body);
                    }
                }
                (planned, said) => {
                    return Err(TestCaseError::fail(format!("{planned:?}\nbut {said:?}")));
                }
            }
        }
        Err(TestCaseError::fail("the questions never end"))
    }

    /// The base of every row, by lines and by sets.
    fn bases(&self, into: usize, from: usize) -> Result<(), TestCaseError> {
        let (mut ours, mut theirs) = (self.world.view(&name(into)), self.world.view(&name(from)));
        let meeting = super::world::now(Meeting::of(&mut ours, &mut theirs)).unwrap();
        let people = (1..=PEOPLE).map(p);
        let ties = (1..=PEOPLE).flat_map(|n| (1..=PEOPLE).map(move |m| k(n, m)));
        let rows: Vec<RowId> = people.chain(ties).collect();
        let (one, other) = (self.model.head(into), self.model.head(from));
        let shared = one.before.intersection(&other.before).copied().collect();
        for meeting in [meeting.clone(), meeting.the_long_way()] {
            let bases = super::world::now(meeting.bases(&mut ours, &rows)).unwrap();
            for row in &rows {
                let base = match bases.get(row).cloned() {
                    None => Was::Known(None),
                    Some(Base::Known(body)) => Was::Known(body),
                    Some(Base::Unclear) => Was::Unclear,
                };
                prop_assert_eq!(base, self.model.base(&shared, *row), "{:?}", row);
            }
        }
        Ok(())
    }

    /// What must hold of any merge, however the base is found: nothing that one side alone wrote
    /// is lost, and the other way round comes to the same.
    fn laws(
        &self,
        into: usize,
        from: usize,
        rows: &Rows,
        said: &BTreeMap<RowId, Option<Body>>,
    ) -> Result<(), TestCaseError> {
        let (ours, theirs) = (self.model.head(into), self.model.head(from));
        let wrote = |of: &Whole, not: &Whole| -> BTreeSet<RowId> {
            let alone = of.before.difference(&not.before);
            alone.flat_map(|at| self.model.commits[*at].wrote.keys().copied()).collect()
        };
        let (our_rows, their_rows) = (wrote(ours, theirs), wrote(theirs, ours));
        for row in our_rows.difference(&their_rows).filter(|row| !said.contains_key(*row)) {
            prop_assert_eq!(rows.get(row), ours.rows.get(row), "ours was lost: {:?}", row);
        }
        for row in their_rows.difference(&our_rows).filter(|row| !said.contains_key(*row)) {
            prop_assert_eq!(rows.get(row), theirs.rows.get(row), "theirs was lost: {:?}", row);
        }
        if said.is_empty() && !ours.before.is_subset(&theirs.before) {
            let mut world = self.world.clone();
            prop_assert!(world.merge(&name(from), &name(into)).is_ok());
            prop_assert_eq!(&world.rows(&name(from)), rows);
            // And each takes the other's merge in without a question.
            let merged = world.merge(&name(into), &name(from));
            prop_assert!(merged.is_ok(), "{:?}", merged);
            prop_assert_eq!(&world.rows(&name(into)), rows);
        }
        Ok(())
    }
}

#[test]
fn histories_come_out_as_the_model_says() {
    let config = Config { cases: CASES, ..Config::default() };
    let acts = proptest::collection::vec(act(), 1..LENGTH);
    let ran = TestRunner::new(config).run(&acts, |acts| {
        let mut pair = Pair { world: World::new(), model: Model::new() };
        for act in &acts {
            pair.act(act)?;
        }
        for branch in 0..pair.model.heads.len() {
            prop_assert_eq!(&pair.world.rows(&name(branch)), &pair.model.head(branch).rows);
        }
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

fn name(branch: usize) -> String {
    if branch == 0 { "main".to_owned() } else { format!("b{branch}") }
}

/// The people at both ends of an edge.
fn ends(row: RowId) -> (i64, i64) {
    let at = row.1.0 - 1000;
    (at / 10, at % 10)
}

/// The row that a conflict names.
fn row_of(name: Option<&crate::merge::RowName>) -> RowId {
    let number = |key: &str| key.trim_start_matches('p').parse().unwrap();
    match name.unwrap() {
        crate::merge::RowName::Node { key, .. } => p(number(key)),
        crate::merge::RowName::Edge { from, to, .. } => k(number(&from.1), number(&to.1)),
    }
}

const BRANCHES: usize = 4;
const PEOPLE: i64 = 2;
const ROUNDS: usize = 6;
const LENGTH: usize = 20;
const CASES: u32 = 1500;
