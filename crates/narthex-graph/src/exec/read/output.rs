//! From bindings to the rows of an answer: columns, groups, order, and the page that is wanted.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use super::cell::{Cell, Made};
use super::fold::Folding;
use super::group::{Groups, group_keys};
use super::machine::{Binding, BindingScope, Machine, Slot, gone, let_others};
use super::score::fused;
use super::shape::{Shape, has_fold};
use super::vars::loaded_vars;
use crate::exec::eval::{Scope, as_float};
use crate::exec::{Bound, ExecError};
use crate::query::{Aggregate, Expr, Function, PropertyRef, Read, VarKind, VarNo};
use crate::value::{GroupKey, Value};

/// Rows as they come out.
pub(super) struct Output<'a> {
    read: &'a Read,
    shape: Shape,
    rows: Vec<Row>,
    /// Rows that came out, where each comes out once.
    seen: HashSet<Vec<GroupKey>>,
    groups: Groups,
    /// How many rows from the first on are of interest, one more included.
    keep: usize,
}

#[derive(Debug)]
struct Row {
    cells: Vec<Made>,
    /// What it is sorted by.
    keys: Vec<Value>,
    /// For each `rrf`, what each of its rankings ranks by.
    ranks: Vec<Vec<Option<f64>>>,
}

impl<'a> Output<'a> {
    /// For the rows up to this one.
    pub(super) fn new(read: &'a Read, end: usize) -> Result<Self, ExecError> {
        let shape = Shape::of(read)?;
        Ok(Self {
            read,
            groups: Groups::of(&shape),
            shape,
            rows: Vec::new(),
            seen: HashSet::new(),
            keep: end.saturating_add(1),
        })
    }

    /// How many bindings would be enough, where it is known.
    pub(super) fn enough(&self) -> Option<usize> {
        (self.read.order.is_empty() && !self.shape.is_grouped() && self.shape.fusions.is_empty())
            .then_some(self.keep)
    }

    /// Whether no more bindings are of interest.
    pub(super) fn is_full(&self) -> bool {
        self.enough().is_some_and(|enough| self.rows.len() >= enough)
    }

    /// Takes bindings in.
    pub(super) async fn take(
        &mut self,
        machine: &mut Machine<'_>,
        table: &[Binding],
    ) -> Result<(), ExecError> {
        if self.shape.is_grouped() {
            return self.take_in_groups(machine, table).await;
        }
        machine.load(table, &self.vars()).await?;
        for (number, binding) in table.iter().enumerate() {
            let_others(number).await;
            if self.is_full() {
                break;
            }
            self.take_row(machine, binding)?;
        }
        Ok(())
    }

    /// The variables whose rows must be read.
    fn vars(&self) -> BTreeSet<VarNo> {
        let columns = self.read.columns.iter().map(|column| &column.value);
        let order = self.read.order.iter().map(|sort| &sort.by);
        let mut vars = BTreeSet::new();
        for expr in columns.chain(&self.read.having).chain(order) {
            vars.extend(loaded_vars(expr));
        }
        for column in &self.read.columns {
            if let Expr::Var(var) = column.value {
                vars.insert(var);
            }
        }
        vars
    }

    fn take_row(&mut self, machine: &Machine<'_>, binding: &Binding) -> Result<(), ExecError> {
        let (eval, inner) = (machine.eval(), machine.scope(binding));
        let mut cells = Vec::with_capacity(self.shape.columns.len());
        for (number, column) in self.shape.columns.iter().enumerate() {
            cells.push(if self.shape.fusion(column).is_some() {
                Made::Value(Value::Null)
            } else {
                self.cell(machine, binding, number, column)?
            });
        }
        let scope = RowScope { inner: Some(&inner), cells: &cells, folds: &[] };
        if let Some(having) = &self.shape.having
            && !eval.holds(having, &scope)?
        {
            return Ok(());
        }
        let mut keys = Vec::with_capacity(self.shape.order.len());
        for (by, _) in &self.shape.order {
            keys.push(match self.shape.fusion(by) {
                Some(_) => Value::Null,
                None => eval.value(by, &scope)?.into_owned(),
            });
        }
        let mut ranks = Vec::with_capacity(self.shape.fusions.len());
        for args in &self.shape.fusions {
            let rank = |arg| Ok(as_float(&*eval.value(arg, &inner)?));
            ranks.push(args.iter().map(rank).collect::<Result<Vec<_>, ExecError>>()?);
        }
        if self.read.distinct && !self.seen.insert(group_keys(&cells)) {
            return Ok(());
        }
        self.rows.push(Row { cells, keys, ranks });
        let held = self.rows.len().max(self.seen.len());
        machine.context.limits.within(Bound::Bindings, held as u64)?;
        self.prune();
        Ok(())
    }

    /// Forgets rows that will not come out, once they are many.
    fn prune(&mut self) {
        let sorted = !self.shape.order.is_empty() && self.shape.fusions.is_empty();
        if sorted && self.rows.len() / 2 > self.keep.saturating_add(PRUNE_AFTER) {
            self.sort();
            self.rows.truncate(self.keep);
        }
    }

    /// Only what belongs to no group yet has its values read.
    async fn take_in_groups(
        &mut self,
        machine: &mut Machine<'_>,
        table: &[Binding],
    ) -> Result<(), ExecError> {
        machine.load(table, &self.groups.folded).await?;
        let strange = self.groups.strange(table);
        machine.load(&strange, &self.groups.read).await?;
        for (number, binding) in strange.iter().enumerate() {
            let_others(number).await;
            let mut cells = Vec::with_capacity(self.shape.columns.len());
            for (number, column) in self.shape.columns.iter().enumerate() {
                cells.push(if has_fold(column) {
                    Made::Value(Value::Null)
                } else {
                    self.cell(machine, binding, number, column)?
                });
            }
            self.groups.admit(&self.shape, binding, cells);
            machine.context.limits.within(Bound::Bindings, self.groups.len())?;
        }
        let mut rows = Vec::new();
        for (number, binding) in table.iter().enumerate() {
            let_others(number).await;
            self.groups.take(&self.shape, machine, binding, &mut rows)?;
        }
        Ok(())
    }

    fn cell(
        &self,
        machine: &Machine<'_>,
        binding: &Binding,
        number: usize,
        column: &Expr,
    ) -> Result<Made, ExecError> {
        if let Expr::Var(var) = column {
            return whole(machine, binding, *var);
        }
        let scope = machine.scope(binding);
        let value = machine.eval().value(column, &scope)?.into_owned();
        self.fitted(number, value)
    }

    /// A value as its column has it.
    fn fitted(&self, number: usize, value: Value) -> Result<Made, ExecError> {
        let column = self.read.columns.get(number);
        let kind = column.and_then(|column| column.kind.as_ref());
        match (kind, value) {
            (None, value) | (_, value @ Value::Null) => Ok(Made::Value(value)),
            (Some(kind), value) => kind.fit(value).map(Made::Value).map_err(|mismatch| {
                let name = column.map(|column| column.name.as_str()).unwrap_or_default();
                ExecError::Overflow(format!("`{name}`: {mismatch}"))
            }),
        }
    }

    /// The rows from one on up to another, and whether there are more.
    pub(super) fn finish(
        mut self,
        machine: &Machine<'_>,
        offset: usize,
        end: usize,
    ) -> Result<(Vec<Vec<Cell>>, bool), ExecError> {
        self.close_groups(machine)?;
        self.fuse();
        if !self.shape.order.is_empty() {
            self.sort();
        }
        let more = self.rows.len() > end;
        let (mut rows, mut size) = (Vec::new(), 0);
        for row in self.rows.into_iter().take(end).skip(offset) {
            let cells = row.cells.into_iter().map(|cell| cell.finish(machine.context.schema));
            let cells: Vec<Cell> = cells.collect();
            size += cells.iter().map(Cell::size).sum::<u64>();
            machine.context.limits.within(Bound::AnswerBytes, size)?;
            rows.push(cells);
        }
        Ok((rows, more))
    }

    fn close_groups(&mut self, machine: &Machine<'_>) -> Result<(), ExecError> {
        if !self.shape.is_grouped() {
            return Ok(());
        }
        let eval = machine.eval();
        for group in self.groups.close(&self.shape) {
            let results = group.folds.into_iter().map(Folding::result);
            let results = results.collect::<Result<Vec<_>, _>>()?;
            let folds: Vec<_> = self.shape.folds.iter().zip(results).collect();
            let mut cells = group.cells.clone();
            let scope = RowScope { inner: None, cells: &group.cells, folds: &folds };
            for (number, column) in self.shape.columns.iter().enumerate() {
                if has_fold(column)
                    && let Some(cell) = cells.get_mut(number)
                {
                    *cell = self.fitted(number, eval.value(column, &scope)?.into_owned())?;
                }
            }
            let scope = RowScope { inner: None, cells: &cells, folds: &folds };
            if let Some(having) = &self.shape.having
                && !eval.holds(having, &scope)?
            {
                continue;
            }
            let keys = self.shape.order.iter();
            let keys = keys.map(|(by, _)| Ok(eval.value(by, &scope)?.into_owned()));
            let keys = keys.collect::<Result<Vec<_>, ExecError>>()?;
            if !self.read.distinct || self.seen.insert(group_keys(&cells)) {
                self.rows.push(Row { cells, keys, ranks: Vec::new() });
                self.prune();
            }
        }
        Ok(())
    }

    /// Fills in what can only be told of all rows together.
    fn fuse(&mut self) {
        for (number, args) in self.shape.fusions.iter().enumerate() {
            let lower: Vec<bool> =
                args.iter().map(|arg| matches!(arg, Expr::Call(Function::Nearest, _))).collect();
            let ranks = self.rows.iter_mut();
            let ranks = ranks.map(|row| row.ranks.get(number).cloned().unwrap_or_default());
            let scores = fused(&ranks.collect::<Vec<_>>(), &lower);
            for (row, score) in self.rows.iter_mut().zip(scores) {
                for (cell, column) in row.cells.iter_mut().zip(&self.shape.columns) {
                    if self.shape.fusion(column) == Some(number) {
                        *cell = Made::Value(Value::Float(score));
                    }
                }
                for (key, (by, _)) in row.keys.iter_mut().zip(&self.shape.order) {
                    if self.shape.fusion(by) == Some(number) {
                        *key = Value::Float(score);
                    }
                }
            }
        }
    }

    fn sort(&mut self) {
        let order = &self.shape.order;
        // What is still alike keeps the order it was found in, which is always the same.
        self.rows.sort_by(|a, b| {
            let keys = a.keys.iter().zip(&b.keys).zip(order);
            let by_keys = keys.map(|((a, b), (_, descending))| by_key(a, b, *descending));
            let cells = a.cells.iter().zip(&b.cells).map(|(a, b)| a.total(b));
            by_keys.chain(cells).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
    }
}

/// Nulls last, whichever way.
fn by_key(a: &Value, b: &Value, descending: bool) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (false, false) if descending => b.total(a),
        (false, false) => a.total(b),
        (a, b) => a.cmp(&b),
    }
}

fn whole(machine: &Machine<'_>, binding: &Binding, var: VarNo) -> Result<Made, ExecError> {
    let kind = machine.vars.get(var.0).map(|var| &var.kind);
    match (binding.slot(var), kind) {
        (Slot::Node(no, row), _) => {
            let values = machine.loaded.nodes.get(&(no, row));
            values.map(|values| Made::Node(no, row, values.clone()))
        }
        (Slot::Edge(row), Some(VarKind::Edge(no))) => {
            let body = machine.loaded.edges.get(&(*no, row));
            body.map(|body| Made::Edge(*no, row, body.clone()))
        }
        _ => Some(Made::Value(Value::Null)),
    }
    .ok_or_else(|| gone("a node that an edge leads to is not there"))
}

/// The names in an expression over a row of the answer.
struct RowScope<'s> {
    inner: Option<&'s BindingScope<'s>>,
    cells: &'s [Made],
    folds: &'s [(&'s Aggregate, Value)],
}

impl RowScope<'_> {
    fn inner(&self) -> Result<&BindingScope<'_>, ExecError> {
        self.inner.ok_or(ExecError::Plan("a group has no single row"))
    }
}

impl Scope for RowScope<'_> {
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        self.inner()?.property(var, property)
    }

    fn identity(&self, var: VarNo) -> Result<Value, ExecError> {
        self.inner()?.identity(var)
    }

    fn column(&self, number: usize) -> Result<Cow<'_, Value>, ExecError> {
        match self.cells.get(number) {
            Some(Made::Value(value)) => Ok(Cow::Borrowed(value)),
            Some(whole) => Ok(Cow::Owned(whole.value())),
            None => Err(ExecError::Plan("no such column")),
        }
    }

    fn fold(&self, aggregate: &Aggregate) -> Result<Cow<'_, Value>, ExecError> {
        let found = self.folds.iter().find(|(of, _)| *of == aggregate);
        found.map(|(_, value)| Cow::Borrowed(value)).ok_or(ExecError::Plan("no such aggregate"))
    }

    fn score(&self, args: &[Expr]) -> Result<Value, ExecError> {
        self.inner()?.score(args)
    }
}

/// How many rows too many are kept before they are sorted out.
const PRUNE_AFTER: usize = 1024;
