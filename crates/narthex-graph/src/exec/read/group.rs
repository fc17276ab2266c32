//! Rows that are put together.
//!
//! What a group is made by depends on a few variables only, and mostly on fewer rows than there are
//! bindings. So it is remembered which group the rows of these variables belong to, and what was
//! seen once has none of its values read again. What a group is made by is kept once, in its cells:
//! there may be as many groups as there are nodes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::cell::Made;
use super::fold::Folding;
use super::machine::{Binding, Machine, Slot};
use super::shape::{Shape, has_fold};
use super::vars::{loaded_vars, vars_of};
use crate::exec::{Bound, ExecError};
use crate::query::{Expr, VarNo};
use crate::value::{GroupKey, Value};

/// A group.
#[derive(Debug)]
pub(super) struct Group {
    /// Those columns that make groups; the others are null yet.
    pub(super) cells: Vec<Made>,
    pub(super) folds: Box<[Folding]>,
    /// Another whose values have the same hash.
    next: Option<usize>,
}

impl Group {
    fn new(shape: &Shape, cells: Vec<Made>, next: Option<usize>) -> Self {
        Self { cells, folds: shape.folds.iter().map(Folding::new).collect(), next }
    }
}

/// All groups so far.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The variables that groups are made by.
    by: Vec<VarNo>,
    /// Those among them whose values are read.
    pub(super) read: BTreeSet<VarNo>,
    /// Those whose values are read by aggregates.
    pub(super) folded: BTreeSet<VarNo>,
    all: Vec<Group>,
    /// By the hash of what they are made of, the last of those that have it.
    of_values: HashMap<u64, usize>,
    hasher: RandomState,
    /// By the rows that made it.
    of_rows: HashMap<Box<[Slot]>, usize>,
}

impl Groups {
    pub(super) fn of(shape: &Shape) -> Self {
        let (mut by, mut read) = (BTreeSet::new(), BTreeSet::new());
        for column in shape.columns.iter().filter(|column| !has_fold(column)) {
            by.extend(vars_of(column));
            read.extend(loaded_vars(column));
            if let Expr::Var(var) = column {
                read.insert(*var);
            }
        }
        let overs = shape.folds.iter().filter_map(|fold| fold.over.as_ref());
        let folded = overs.flat_map(loaded_vars).collect();
        Self { by: by.into_iter().collect(), read, folded, ..Self::default() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.all.len() as u64
    }

    /// Bindings of rows that were not seen, one for each.
    pub(super) fn strange(&self, table: &[Binding]) -> Vec<Binding> {
        let (mut met, mut rows) = (HashSet::new(), Vec::new());
        let mut strange = Vec::new();
        for binding in table {
            self.rows(binding, &mut rows);
            if !self.of_rows.contains_key(rows.as_slice()) && met.insert(rows.clone()) {
                strange.push(binding.clone());
            }
        }
        strange
    }

    /// Notes which group the rows of a binding belong to, a new one if there is none like it.
    pub(super) fn admit(&mut self, shape: &Shape, binding: &Binding, cells: Vec<Made>) {
        let mut rows = Vec::new();
        self.rows(binding, &mut rows);
        let at = self.group_of(shape, cells);
        self.of_rows.insert(rows.into(), at);
    }

    /// The group that is made by these.
    fn group_of(&mut self, shape: &Shape, cells: Vec<Made>) -> usize {
        let values = group_keys(&cells);
        let hash = self.hasher.hash_one(&values);
        let last = self.of_values.get(&hash).copied();
        let mut at = last;
        while let Some((like, group)) = at.and_then(|at| Some((at, self.all.get(at)?))) {
            if group_keys(&group.cells) == values {
                return like;
            }
            at = group.next;
        }
        self.all.push(Group::new(shape, cells, last));
        let new = self.all.len() - 1;
        self.of_values.insert(hash, new);
        new
    }

    /// Takes one binding into its group. `rows` is only there to be used again.
    pub(super) fn take(
        &mut self,
        shape: &Shape,
        machine: &Machine<'_>,
        binding: &Binding,
        rows: &mut Vec<Slot>,
    ) -> Result<(), ExecError> {
        self.rows(binding, rows);
        let at = self.of_rows.get(rows.as_slice()).copied();
        let group = at.and_then(|at| self.all.get_mut(at));
        let group = group.ok_or(ExecError::Plan("a binding without a group"))?;
        let (eval, scope) = (machine.eval(), machine.scope(binding));
        for (fold, aggregate) in group.folds.iter_mut().zip(&shape.folds) {
            match &aggregate.over {
                Some(over) => fold.take(&*eval.value(over, &scope)?)?,
                None => fold.take(&Value::Bool(true))?,
            }
            machine.context.limits.within(Bound::Bindings, fold.held())?;
        }
        Ok(())
    }

    /// All of them, in the order they were met. What was only there to find them goes first.
    pub(super) fn close(&mut self, shape: &Shape) -> Vec<Group> {
        let Self { mut all, .. } = std::mem::take(self);
        let all_fold = shape.columns.iter().all(has_fold);
        if all.is_empty() && all_fold {
            // Of nothing there is still a count.
            let cells = shape.columns.iter().map(|_| Made::Value(Value::Null)).collect();
            all.push(Group::new(shape, cells, None));
        }
        all
    }

    /// The rows of a binding that groups are made by.
    fn rows(&self, binding: &Binding, rows: &mut Vec<Slot>) {
        rows.clear();
        rows.extend(self.by.iter().map(|var| binding.slot(*var)));
    }
}

/// What cells are alike by.
pub(super) fn group_keys(cells: &[Made]) -> Vec<GroupKey> {
    cells.iter().map(|cell| cell.value().group_key()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups whose values have the same hash are told apart by the values.
    #[test]
    fn alike_in_hash_is_not_alike() {
        let mut groups = Groups::default();
        let shape = Shape::default();
        let cell = |n: i128| vec![Made::Value(Value::Int(n))];
        let one = groups.group_of(&shape, cell(1));
        // As if the next one had the same hash.
        let hash = groups.hasher.hash_one(group_keys(&cell(2)));
        groups.of_values.insert(hash, one);
        let two = groups.group_of(&shape, cell(2));
        assert_ne!(one, two);
        assert_eq!(
            (groups.group_of(&shape, cell(1)), groups.group_of(&shape, cell(2))),
            (one, two)
        );
        let three = groups.group_of(&shape, cell(3));
        let hash = groups.hasher.hash_one(group_keys(&cell(1)));
        groups.of_values.insert(hash, two);
        assert_eq!(groups.group_of(&shape, cell(1)), one, "behind another");
        assert_eq!(groups.len(), 3, "{three}");
    }
}
