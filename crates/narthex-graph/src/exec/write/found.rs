//! Which rows a statement means.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use narthex_store::{RowNo, Side, StoredRow};

use super::Writer;
use crate::exec::eval::{NoRow, OneRow, Scope};
use crate::exec::overlay::Position;
use crate::exec::read::{Access, SCAN_PAGE, access, conjuncts, keyed, loaded_vars, range};
use crate::exec::{Bound, ExecError};
use crate::query::{EdgeNo, Expr, NodeNo, PropertyNo, PropertyRef, VarNo};
use crate::rows::{Decoder, EdgeBody};
use crate::schema::EdgeType;
use crate::value::Value;

/// A node and what is in it.
pub(super) struct Node {
    pub(super) row: StoredRow,
    pub(super) values: Vec<Value>,
}

/// An edge, what is in it, and what is in the nodes it begins and ends at, where that is needed.
pub(super) struct Edge {
    pub(super) row: StoredRow,
    pub(super) body: EdgeBody,
    from: Option<(usize, Vec<Value>)>,
    to: Option<(usize, Vec<Value>)>,
}

impl Writer<'_> {
    /// The nodes of a type that a condition holds for.
    pub(super) async fn nodes_where(
        &mut self,
        no: NodeNo,
        filter: &Expr,
    ) -> Result<Vec<Node>, ExecError> {
        let node = self.node(no)?;
        let decoder = Decoder::new(&node.properties);
        let mut parts = Vec::new();
        conjuncts(filter, &mut parts);
        let way = access(self.context.schema, VarNo(0), &[no], parts.into_iter(), &BTreeSet::new());
        let rows = match &way {
            Access::Key(key) => {
                let key = self.eval.value(key, &NoRow)?.into_owned();
                keyed(node, self.context.salt, &Value::List(vec![key]))
            }
            Access::Keys(list) => keyed(node, self.context.salt, &*self.eval.value(list, &NoRow)?),
            Access::Index(property, lookups) => {
                let property = property.0.first().and_then(|of| node.properties.get(of.0));
                let property = property.ok_or(ExecError::Plan("no such property"))?;
                match (property.index_tag(&node.slot), range(&self.eval, property, lookups)?) {
                    (Some(index), Some(range)) => {
                        let most = self.may_scan();
                        self.overlay().index(node.tag(), index, &range, most).await?
                    }
                    _ => None,
                }
            }
            Access::Search(..) | Access::Scan => None,
        };
        let mut found = Vec::new();
        let mut position = match rows {
            Some(rows) => {
                let page = self.overlay().rows(node.tag(), &rows).await?;
                self.keep_nodes(&decoder, filter, page, &mut found)?;
                Position::End
            }
            None => Position::After(None),
        };
        while !matches!(position, Position::End) {
            let page = self.overlay().scan(node.tag(), &mut position, SCAN_PAGE).await?;
            self.keep_nodes(&decoder, filter, page, &mut found)?;
        }
        Ok(found)
    }

    fn keep_nodes(
        &mut self,
        decoder: &Decoder<'_>,
        filter: &Expr,
        page: Vec<StoredRow>,
        found: &mut Vec<Node>,
    ) -> Result<(), ExecError> {
        self.scanned(page.len())?;
        for row in page {
            let values = decoder.decode(row.body.as_deref().unwrap_or("{}"))?;
            if self.eval.holds(filter, &OneRow(&values))? {
                found.push(Node { row, values });
                self.context.limits.within(Bound::Changes, found.len() as u64)?;
            }
        }
        Ok(())
    }

    /// The edges of a type that a condition holds for.
    pub(super) async fn edges_where(
        &mut self,
        no: EdgeNo,
        filter: &Expr,
        set: &[(PropertyNo, Expr)],
    ) -> Result<Vec<Edge>, ExecError> {
        let edge = self.edge(no)?;
        let mut loads = loaded_vars(filter);
        for (_, expr) in set {
            loads.extend(loaded_vars(expr));
        }
        let mut found = Vec::new();
        for (end, var, name) in [(Side::From, 1, &edge.from), (Side::To, 2, &edge.to)] {
            if let Some(at) = self.end_rows(VarNo(var), name, filter)? {
                let page = self.overlay().edges(edge.tag(), end, &at, true).await?;
                self.keep_edges(edge, filter, &loads, page, &mut found).await?;
                return Ok(found);
            }
        }
        let mut position = Position::After(None);
        while !matches!(position, Position::End) {
            let page = self.overlay().scan(edge.tag(), &mut position, SCAN_PAGE).await?;
            self.keep_edges(edge, filter, &loads, page, &mut found).await?;
        }
        Ok(found)
    }

    /// The nodes that an end of an edge must be one of, where the condition says it by their key.
    fn end_rows(
        &self,
        var: VarNo,
        name: &str,
        filter: &Expr,
    ) -> Result<Option<BTreeSet<RowNo>>, ExecError> {
        let mut parts = Vec::new();
        conjuncts(filter, &mut parts);
        let types = self.types(name);
        let schema = self.context.schema;
        let Access::Key(key) = access(schema, var, &types, parts.into_iter(), &BTreeSet::new())
        else {
            return Ok(None);
        };
        let key = self.eval.value(&key, &NoRow)?.into_owned();
        let mut rows = BTreeSet::new();
        for no in types {
            let key = Value::List(vec![key.clone()]);
            rows.extend(keyed(self.node(no)?, self.context.salt, &key).into_iter().flatten());
        }
        Ok(Some(rows))
    }

    async fn keep_edges(
        &mut self,
        edge: &EdgeType,
        filter: &Expr,
        loads: &BTreeSet<VarNo>,
        page: Vec<StoredRow>,
        found: &mut Vec<Edge>,
    ) -> Result<(), ExecError> {
        self.scanned(page.len())?;
        let decoder = Decoder::new(&edge.properties);
        let mut edges = Vec::with_capacity(page.len());
        for row in page {
            let body = decoder.decode_edge(row.body.as_deref().unwrap_or("{}"))?;
            edges.push(Edge { row, body, from: None, to: None });
        }
        if loads.contains(&VarNo(1)) {
            let ends = edges.iter().filter_map(|of| Some((&of.body.from.0, of.row.ends?.0)));
            let nodes = self.ends_of(&edge.from, ends.collect()).await?;
            for of in &mut edges {
                of.from = of.row.ends.and_then(|(from, _)| nodes.get(&from).cloned());
            }
        }
        if loads.contains(&VarNo(2)) {
            let ends = edges.iter().filter_map(|of| Some((&of.body.to.0, of.row.ends?.1)));
            let nodes = self.ends_of(&edge.to, ends.collect()).await?;
            for of in &mut edges {
                of.to = of.row.ends.and_then(|(_, to)| nodes.get(&to).cloned());
            }
        }
        for of in edges {
            if self.eval.holds(filter, &of)? {
                found.push(of);
                self.context.limits.within(Bound::Changes, found.len() as u64)?;
            }
        }
        Ok(())
    }

    /// What is in these nodes, by slot of their type and number, each with which of the types that
    /// the name stands for it has.
    async fn ends_of(
        &mut self,
        name: &str,
        ends: Vec<(&String, RowNo)>,
    ) -> Result<BTreeMap<RowNo, (usize, Vec<Value>)>, ExecError> {
        let mut nodes = BTreeMap::new();
        for (place, no) in self.types(name).into_iter().enumerate() {
            let node = self.node(no)?;
            let of_type = ends.iter().filter(|(slot, _)| **slot == node.slot);
            let rows: BTreeSet<RowNo> = of_type.map(|(_, row)| *row).collect();
            let decoder = Decoder::new(&node.properties);
            for row in self.overlay().rows(node.tag(), &rows).await? {
                let values = decoder.decode(row.body.as_deref().unwrap_or("{}"))?;
                nodes.insert(row.row, (place, values));
            }
        }
        Ok(nodes)
    }
}

/// The edge is variable 0, the node it begins at 1, the one it ends at 2.
impl Scope for Edge {
    fn property(&self, var: VarNo, property: &PropertyRef) -> Result<Cow<'_, Value>, ExecError> {
        let (place, values) = match (var.0, &self.from, &self.to) {
            (0, _, _) => (0, Some(&self.body.values)),
            (1, Some((place, values)), _) | (2, _, Some((place, values))) => (*place, Some(values)),
            _ => (0, None),
        };
        let number = property.0.get(place);
        if number == Some(&PropertyNo::NONE) {
            return Ok(Cow::Owned(Value::Null));
        }
        let value = values.zip(number).and_then(|(values, number)| values.get(number.0));
        value.map(Cow::Borrowed).ok_or(ExecError::Plan("no such property"))
    }
}
