//! Following edges.

use std::collections::{BTreeSet, HashMap};

use narthex_store::{RowNo, Side, StoredRow};

use super::level::EdgeStep;
use super::machine::{Binding, Machine, Slot, Table, let_others};
use crate::exec::ExecError;
use crate::query::{Direction, EdgeNo, NodeNo, VarNo};

/// What is next to a node: the edge, and the node at its other end. By the edge's number.
pub(super) type Neighbours = HashMap<RowNo, Vec<(RowNo, RowNo)>>;

/// Which type a row at the end of an edge has.
pub(super) enum Types {
    /// All of them this one.
    One(NodeNo),
    /// Looked up.
    Each(HashMap<RowNo, NodeNo>),
}

impl Types {
    pub(super) fn of(&self, row: RowNo) -> Option<NodeNo> {
        match self {
            Self::One(no) => Some(*no),
            Self::Each(known) => known.get(&row).copied(),
        }
    }
}

impl Machine<'_> {
    /// Follows an edge from a bound variable, for all bindings at once.
    pub(super) async fn follow(
        &mut self,
        table: Table,
        step: &EdgeStep,
    ) -> Result<Table, ExecError> {
        let near = rows_of(&table, step.from);
        let bodies = step.var.is_some() && self.needs.edge(step.edge);
        let next_to = self.neighbours(step.edge, step.direction, &near, bodies).await?;
        let is_open = table.iter().any(|binding| binding.slot(step.to) == Slot::Open);
        let types = if is_open {
            let far = next_to.values().flatten().map(|(_, far)| *far).collect();
            self.types_at(step.to, step.edge, step.direction, far).await?
        } else {
            None
        };
        let mut next = Table::new();
        for (number, binding) in table.into_iter().enumerate() {
            let_others(number).await;
            let near = binding.slot(step.from).row();
            let edges = near.and_then(|near| next_to.get(&near));
            for (edge, far) in edges.into_iter().flatten() {
                let found = reached(&binding, step.to, *far, types.as_ref());
                if let Some(found) = found.and_then(|found| by(found, step.var, *edge)) {
                    self.push(&mut next, found)?;
                }
            }
        }
        Ok(next)
    }

    /// What is next to these nodes. One call a direction.
    pub(super) async fn neighbours(
        &mut self,
        no: EdgeNo,
        direction: Direction,
        near: &BTreeSet<RowNo>,
        bodies: bool,
    ) -> Result<Neighbours, ExecError> {
        let mut next_to = Neighbours::new();
        if near.is_empty() {
            return Ok(next_to);
        }
        let tag = self.edge(no)?.tag();
        let of: Vec<RowNo> = near.iter().copied().collect();
        let sides: &[Side] = match direction {
            Direction::Out => &[Side::From],
            Direction::In => &[Side::To],
            Direction::Both => &[Side::From, Side::To],
        };
        for side in sides {
            let found = self.view.edges(tag, *side, &of, bodies).await?;
            self.scanned(found.len())?;
            if bodies {
                self.loaded.put_edges(self.context.schema, &self.needs, no, &found)?;
            }
            for row in found {
                let Some((from, to)) = row.ends else { continue };
                let (near, far) = if *side == Side::From { (from, to) } else { (to, from) };
                next_to.entry(near).or_default().push((row.row, far));
            }
        }
        for edges in next_to.values_mut() {
            // One that begins where it ends was found from both sides.
            edges.sort_unstable();
            edges.dedup();
        }
        Ok(next_to)
    }

    /// Which types rows at the far end of an edge have, as far as the variable can have them. None
    /// if it can have none of them.
    pub(super) async fn types_at(
        &mut self,
        var: VarNo,
        edge: EdgeNo,
        direction: Direction,
        mut rows: BTreeSet<RowNo>,
    ) -> Result<Option<Types>, ExecError> {
        let (schema, edge) = (self.context.schema, self.edge(edge)?);
        let named = |name: &str| -> BTreeSet<NodeNo> {
            let all = schema.nodes.iter().enumerate().filter(|(_, node)| node.is_a(name));
            all.map(|(no, _)| NodeNo(no)).collect()
        };
        let possible = match direction {
            Direction::Out => named(&edge.to),
            Direction::In => named(&edge.from),
            Direction::Both => &named(&edge.from) | &named(&edge.to),
        };
        let wanted = self.types(var)?.iter().copied().filter(|no| possible.contains(no));
        let wanted: Vec<NodeNo> = wanted.collect();
        if possible.len() == 1 {
            return Ok(wanted.first().map(|no| Types::One(*no)));
        }
        let mut known = HashMap::new();
        for no in wanted {
            for row in self.load_nodes(no, &rows).await? {
                rows.remove(&row);
                known.insert(row, no);
            }
        }
        Ok(Some(Types::Each(known)))
    }

    /// A page of all edges of a type; their values are kept where they are needed.
    pub(super) async fn edge_page(
        &mut self,
        no: EdgeNo,
        bodies: bool,
        after: Option<RowNo>,
        size: u32,
    ) -> Result<Vec<StoredRow>, ExecError> {
        let (tag, size) = (self.edge(no)?.tag(), size.min(self.may_scan()));
        let page = if bodies {
            self.view.scan(tag, after, size).await?
        } else {
            self.view.scan_edges(tag, after, size).await?
        };
        self.scanned(page.len())?;
        if bodies {
            self.loaded.put_edges(self.context.schema, &self.needs, no, &page)?;
        }
        Ok(page)
    }

    /// Bindings of an edge and both its ends, for each of these edges.
    pub(super) async fn with_ends(
        &mut self,
        table: &[Binding],
        step: &EdgeStep,
        edges: &[StoredRow],
    ) -> Result<Table, ExecError> {
        let mut ends: Vec<(RowNo, RowNo, RowNo)> = Vec::with_capacity(edges.len());
        for row in edges {
            let Some((from, to)) = row.ends else { continue };
            if step.direction != Direction::In {
                ends.push((row.row, from, to));
            }
            if step.direction == Direction::In || (step.direction == Direction::Both && from != to)
            {
                ends.push((row.row, to, from));
            }
        }
        let first = ends.iter().map(|(_, first, _)| *first).collect();
        let back = step.clone().turned().direction;
        let first_types = self.types_at(step.from, step.edge, back, first).await?;
        let second = ends.iter().map(|(_, _, second)| *second).collect();
        let second_types = self.types_at(step.to, step.edge, step.direction, second).await?;
        let mut next = Table::new();
        for (number, binding) in table.iter().enumerate() {
            let_others(number).await;
            for (edge, first, second) in &ends {
                let found = reached(binding, step.from, *first, first_types.as_ref());
                let found =
                    found.and_then(|of| reached(&of, step.to, *second, second_types.as_ref()));
                if let Some(found) = found.and_then(|found| by(found, step.var, *edge)) {
                    self.push(&mut next, found)?;
                }
            }
        }
        Ok(next)
    }
}

/// The binding with this row at the end of an edge: put there if nothing was, or the same.
pub(super) fn reached(
    binding: &Binding,
    var: VarNo,
    row: RowNo,
    types: Option<&Types>,
) -> Option<Binding> {
    match binding.slot(var) {
        Slot::Open => {
            let no = types?.of(row)?;
            let mut found = binding.clone();
            found.set(var, Slot::Node(no, row));
            Some(found)
        }
        Slot::Node(_, is) if is == row => Some(binding.clone()),
        _ => None,
    }
}

/// The binding with this edge: put there if nothing was, or the same.
fn by(mut binding: Binding, var: Option<VarNo>, edge: RowNo) -> Option<Binding> {
    let Some(var) = var else { return Some(binding) };
    match binding.slot(var) {
        Slot::Open => binding.set(var, Slot::Edge(edge)),
        Slot::Edge(is) if is == edge => {}
        _ => return None,
    }
    Some(binding)
}

/// The rows that a variable stands for.
pub(super) fn rows_of(table: &[Binding], var: VarNo) -> BTreeSet<RowNo> {
    table.iter().filter_map(|binding| binding.slot(var).row()).collect()
}
