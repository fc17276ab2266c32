//! Carrying out the steps of a pattern.

use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::pin::Pin;

use super::find::SCAN_PAGE;
use super::machine::{Binding, Machine, Slot, Table, let_others};
use super::order::Op;
use super::vars::loaded_vars;
use crate::exec::ExecError;
use crate::query::{Expr, VarNo};

impl Machine<'_> {
    /// Takes a table through all the steps.
    pub(super) fn run<'s>(
        &'s mut self,
        ops: &'s [Op],
        mut table: Table,
    ) -> Pin<Box<dyn Future<Output = Result<Table, ExecError>> + Send + 's>> {
        Box::pin(async move {
            for op in ops {
                self.context.limits.go_on()?;
                table = self.step(op, table).await?;
                tokio::task::yield_now().await;
            }
            Ok(table)
        })
    }

    async fn step(&mut self, op: &Op, table: Table) -> Result<Table, ExecError> {
        if table.is_empty() {
            return Ok(table);
        }
        match op {
            Op::Bind { var, access, join } => self.bind(table, *var, access, join.as_ref()).await,
            Op::Follow(step) => self.follow(table, step).await,
            Op::Path(step, hops) => self.path(table, step, *hops).await,
            Op::Edges(step) => {
                let (mut next, mut after) = (Table::new(), None);
                let bodies = step.var.is_some() && self.needs.edge(step.edge);
                loop {
                    let page = self.edge_page(step.edge, bodies, after, SCAN_PAGE).await?;
                    let Some(last) = page.last() else { return Ok(next) };
                    after = Some(last.row);
                    for binding in self.with_ends(&table, step, &page).await? {
                        self.push(&mut next, binding)?;
                    }
                }
            }
            Op::Filter(expr) => self.filter(table, expr).await,
            Op::Not(ops) => self.not(table, ops).await,
            Op::Optional(ops, new) => self.optional(table, ops, new).await,
            Op::Or(ways, new, hidden) => self.or(table, ways, new, hidden).await,
        }
    }

    async fn filter(&mut self, table: Table, expr: &Expr) -> Result<Table, ExecError> {
        self.load(&table, &loaded_vars(expr)).await?;
        let mut next = Table::with_capacity(table.len());
        let eval = self.eval();
        for (number, binding) in table.into_iter().enumerate() {
            let_others(number).await;
            if eval.holds(expr, &self.scope(&binding))? {
                self.push(&mut next, binding)?;
            }
        }
        Ok(next)
    }

    async fn not(&mut self, table: Table, ops: &[Op]) -> Result<Table, ExecError> {
        let found = self.run(ops, numbered(&table)).await?;
        let found: HashSet<usize> = found.into_iter().map(|binding| binding.origin).collect();
        let kept = table.into_iter().enumerate().filter(|(number, _)| !found.contains(number));
        Ok(kept.map(|(_, binding)| binding).collect())
    }

    async fn optional(
        &mut self,
        table: Table,
        ops: &[Op],
        new: &[VarNo],
    ) -> Result<Table, ExecError> {
        let mut found = by_origin(self.run(ops, numbered(&table)).await?);
        let mut next = Table::new();
        for (number, mut binding) in table.into_iter().enumerate() {
            if let Some(found) = found.remove(&number) {
                for of in found {
                    self.push(&mut next, Binding { origin: binding.origin, ..of })?;
                }
            } else {
                for var in new {
                    binding.set(*var, Slot::Null);
                }
                self.push(&mut next, binding)?;
            }
        }
        Ok(next)
    }

    async fn or(
        &mut self,
        table: Table,
        ways: &[Vec<Op>],
        new: &[VarNo],
        hidden: &[VarNo],
    ) -> Result<Table, ExecError> {
        let mut found: BTreeMap<usize, Vec<Binding>> = BTreeMap::new();
        for ops in ways {
            for (number, bindings) in by_origin(self.run(ops, numbered(&table)).await?) {
                found.entry(number).or_default().extend(bindings);
            }
        }
        let mut next = Table::new();
        for (number, binding) in table.into_iter().enumerate() {
            let mut seen = HashSet::new();
            for mut of in found.remove(&number).unwrap_or_default() {
                of.origin = binding.origin;
                for var in hidden {
                    of.set(*var, Slot::Open);
                }
                for var in new {
                    if of.slot(*var) == Slot::Open {
                        of.set(*var, Slot::Null);
                    }
                }
                if seen.insert(of.clone()) {
                    self.push(&mut next, of)?;
                }
            }
        }
        Ok(next)
    }
}

/// The same bindings, each the origin of what is found for it.
fn numbered(table: &[Binding]) -> Table {
    let each = table.iter().enumerate();
    each.map(|(origin, binding)| Binding { origin, slots: binding.slots.clone() }).collect()
}

fn by_origin(table: Table) -> BTreeMap<usize, Vec<Binding>> {
    let mut by: BTreeMap<usize, Vec<Binding>> = BTreeMap::new();
    for binding in table {
        by.entry(binding.origin).or_default().push(binding);
    }
    by
}
