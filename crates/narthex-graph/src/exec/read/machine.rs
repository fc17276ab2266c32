//! What carries out the steps of a pattern: a table of bindings, and what is known of their rows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{GraphView, RowNo, StoreError};

use super::loaded::{Loaded, Needs};
use super::score::Scores;
use crate::exec::eval::{Eval, Scope};
use crate::exec::{Bound, Context, ExecError};
use crate::query::{EdgeNo, Expr, NodeNo, PropertyRef, Var, VarKind, VarNo};
use crate::schema::{EdgeType, NodeType};
use crate::value::Value;

/// What a variable stands for in one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slot {
    /// Nothing yet.
    Open,
    /// Nothing, for good.
    Null,
    Node(NodeNo, RowNo),
    Edge(RowNo),
}

impl Slot {
    pub(super) const fn row(self) -> Option<RowNo> {
        match self {
            Self::Node(_, row) | Self::Edge(row) => Some(row),
            Self::Open | Self::Null => None,
        }
    }
}

/// One way in which what was looked at so far is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Binding {
    /// Of a pattern within another: which binding of that it belongs to.
    pub(super) origin: usize,
    pub(super) slots: Box<[Slot]>,
}

impl Binding {
    pub(super) fn slot(&self, var: VarNo) -> Slot {
        self.slots.get(var.0).copied().unwrap_or(Slot::Null)
    }

    pub(super) fn set(&mut self, var: VarNo, slot: Slot) {
        if let Some(place) = self.slots.get_mut(var.0) {
            *place = slot;
        }
    }
}

/// Bindings, in an order that is the same for the same data.
pub(super) type Table = Vec<Binding>;

/// The state of one query.
pub(super) struct Machine<'a> {
    pub(super) view: &'a mut dyn GraphView,
    pub(super) context: Context<'a>,
    pub(super) vars: &'a [Var],
    pub(super) needs: Needs,
    pub(super) loaded: Loaded,
    pub(super) scores: Scores,
    scanned: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        view: &'a mut dyn GraphView,
        context: Context<'a>,
        vars: &'a [Var],
        needs: Needs,
    ) -> Self {
        let (loaded, scores) = (Loaded::default(), Scores::default());
        Self { view, context, vars, needs, loaded, scores, scanned: 0 }
    }

    /// The one binding of nothing.
    pub(super) fn start(&self) -> Binding {
        Binding { origin: 0, slots: vec![Slot::Open; self.vars.len()].into() }
    }

    pub(super) const fn eval(&self) -> Eval<'a> {
        Eval { params: self.context.params, now: self.context.now }
    }

    pub(super) fn scope<'s>(&'s self, binding: &'s Binding) -> BindingScope<'s> {
        BindingScope { vars: self.vars, loaded: &self.loaded, scores: &self.scores, binding }
    }

    pub(super) fn node(&self, no: NodeNo) -> Result<&'a NodeType, ExecError> {
        self.context.schema.nodes.get(no.0).ok_or(ExecError::Plan("no such node type"))
    }

    pub(super) fn edge(&self, no: EdgeNo) -> Result<&'a EdgeType, ExecError> {
        self.context.schema.edges.get(no.0).ok_or(ExecError::Plan("no such edge type"))
    }

    /// The node types a variable can have.
    pub(super) fn types(&self, var: VarNo) -> Result<&'a [NodeNo], ExecError> {
        match self.vars.get(var.0).map(|var| &var.kind) {
            Some(VarKind::Node(types)) => Ok(types),
            _ => Err(ExecError::Plan("a variable that is no node")),
        }
    }

    /// So many rows more were looked at.
    pub(super) fn scanned(&mut self, rows: usize) -> Result<(), ExecError> {
        self.scanned = self.scanned.saturating_add(rows as u64);
        self.context.limits.within(Bound::Scanned, self.scanned)?;
        self.context.limits.go_on()
    }

    /// How many rows may still be asked for at once: one more than may come.
    pub(super) fn may_scan(&self) -> u32 {
        let left = self.context.limits.scanned.saturating_sub(self.scanned).saturating_add(1);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// One binding more.
    pub(super) fn push(&self, table: &mut Table, binding: Binding) -> Result<(), ExecError> {
        table.push(binding);
        self.context.limits.within(Bound::Bindings, table.len() as u64)?;
        if table.len().is_multiple_of(CHECK_EVERY) { self.context.limits.go_on() } else { Ok(()) }
    }

    /// Reads the rows of these variables, as far as they were not yet.
    pub(super) async fn load(
        &mut self,
        table: &[Binding],
        vars: &BTreeSet<VarNo>,
    ) -> Result<(), ExecError> {
        let mut nodes: BTreeMap<NodeNo, BTreeSet<RowNo>> = BTreeMap::new();
        let mut edges: BTreeMap<EdgeNo, BTreeSet<RowNo>> = BTreeMap::new();
        for var in vars {
            let edge = match self.vars.get(var.0).map(|var| &var.kind) {
                Some(VarKind::Edge(no)) => Some(*no),
                _ => None,
            };
            for binding in table {
                match (binding.slot(*var), edge) {
                    (Slot::Node(no, row), _) if !self.loaded.nodes.contains_key(&(no, row)) => {
                        nodes.entry(no).or_default().insert(row);
                    }
                    (Slot::Edge(row), Some(no)) if !self.loaded.edges.contains_key(&(no, row)) => {
                        edges.entry(no).or_default().insert(row);
                    }
                    _ => {}
                }
            }
        }
        for (no, rows) in nodes {
            self.load_nodes(no, &rows).await?;
        }
        for (no, rows) in edges {
            let rows: Vec<RowNo> = rows.into_iter().collect();
            let found = self.view.rows(self.edge(no)?.tag(), &rows).await?;
            self.scanned(found.len())?;
            self.loaded.put_edges(self.context.schema, &self.needs, no, &found)?;
        }
        Ok(())
    }

    /// Reads these nodes; those that are there.
    pub(super) async fn load_nodes(
        &mut self,
        no: NodeNo,
        rows: &BTreeSet<RowNo>,
    ) -> Result<BTreeSet<RowNo>, ExecError> {
        let rows: Vec<RowNo> = rows.iter().copied().collect();
        if rows.is_empty() {
            return Ok(BTreeSet::new());
        }
        let found = self.view.rows(self.node(no)?.tag(), &rows).await?;
        self.scanned(found.len())?;
        self.loaded.put_nodes(self.context.schema, &self.needs, no, &found)?;
        Ok(found.into_iter().map(|row| row.row).collect())
    }
}

/// The names in an expression, for one binding.
pub(super) struct BindingScope<'s> {
    vars: &'s [Var],
    loaded: &'s Loaded,
    scores: &'s Scores,
    binding: &'s Binding,
}

impl Scope for BindingScope<'_> {
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        let kind = self.vars.get(var.0).map(|var| &var.kind);
        let (values, number) = match (self.binding.slot(var), kind) {
            (Slot::Node(no, row), Some(VarKind::Node(types))) => {
                let at = types.iter().position(|of| *of == no);
                let number = at.and_then(|at| property.0.get(at));
                (self.loaded.nodes.get(&(no, row)).map(|values| values.as_slice()), number)
            }
            (Slot::Edge(row), Some(VarKind::Edge(no))) => {
                let body = self.loaded.edges.get(&(*no, row));
                (body.map(|body| body.values.as_slice()), property.0.first())
            }
            _ => return Ok(Cow::Owned(Value::Null)),
        };
        let values = values.ok_or_else(|| gone("a node that an edge leads to is not there"))?;
        let value = number.and_then(|number| values.get(number.0));
        value.map(Cow::Borrowed).ok_or(ExecError::Plan("no such property"))
    }

    fn identity(&self, var: VarNo) -> Result<Value, ExecError> {
        let row = self.binding.slot(var).row();
        Ok(row.map_or(Value::Null, |row| Value::Int(row.0.into())))
    }

    fn score(&self, args: &[Expr]) -> Result<Value, ExecError> {
        self.scores.score(args, |var| self.binding.slot(var))
    }
}

pub(super) fn gone(what: &str) -> ExecError {
    ExecError::Store(StoreError::Damaged(what.to_owned()))
}

/// Now and then, while bindings are gone through, whoever shares the thread gets a turn.
pub(super) async fn let_others(number: usize) {
    if number.is_multiple_of(CHECK_EVERY) {
        tokio::task::yield_now().await;
    }
}

/// After how many bindings it is asked again whether anybody waits.
const CHECK_EVERY: usize = 8192;
