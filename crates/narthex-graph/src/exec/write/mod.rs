//! Carrying out a query that changes something.
//!
//! The statements are carried out in order over an overlay, so that later ones see what earlier ones
//! did and the graph itself is not touched. What comes out is checked as a whole: a rule that is
//! broken in between and kept in the end is kept.

mod found;

use std::collections::BTreeSet;

use narthex_store::{GraphView, RowNo, Side, StoredRow, Tag};

use super::eval::{Eval, NoRow, OneRow, Scope};
use super::overlay::Overlay;
use super::read::walk;
use super::{Bound, Changed, Changes, Context, ExecError, RowKind, constraints};
use crate::query::{EdgeNo, Expr, NodeNo, PropertyNo, Statement};
use crate::rows::{EdgeBody, edge_number, encode, key_text, node_number};
use crate::schema::{EdgeType, NodeType, Property};
use crate::value::Value;

/// Carries out statements. The changes hold to the schema, or there is an error.
pub async fn run_write(
    view: &mut dyn GraphView,
    context: &Context<'_>,
    statements: &[Statement],
) -> Result<Changes, ExecError> {
    all_given(context, statements)?;
    let eval = Eval { params: context.params, now: context.now };
    let mut writer = Writer {
        view: &mut *view,
        context: *context,
        eval,
        changes: Changes::default(),
        scanned: 0,
    };
    for statement in statements {
        context.limits.go_on()?;
        writer.statement(statement).await?;
    }
    let mut changes = writer.changes;
    changes.settle();
    let violations = constraints::check(view, context, &changes).await?;
    if violations.is_empty() { Ok(changes) } else { Err(ExecError::Violations(violations)) }
}

struct Writer<'a> {
    view: &'a mut dyn GraphView,
    context: Context<'a>,
    eval: Eval<'a>,
    changes: Changes,
    scanned: u64,
}

impl<'a> Writer<'a> {
    async fn statement(&mut self, statement: &Statement) -> Result<(), ExecError> {
        match statement {
            Statement::InsertNode { node, set } => self.insert_node(*node, set).await,
            Statement::InsertEdge { edge, from, to, set } => {
                self.insert_edge(*edge, from, to, set).await
            }
            Statement::UpdateNode { node, set, filter } => {
                let of = self.node(*node)?;
                if set.iter().any(|(number, _)| number.0 == of.key) {
                    return Err(ExecError::Plan("a key never changes"));
                }
                for found in self.nodes_where(*node, filter).await? {
                    let scope = OneRow(&found.values);
                    let values = self.set(&of.name, &of.properties, &found.values, set, &scope)?;
                    let after = Some(encode(&of.properties, &values)?);
                    self.put(RowKind::Node(*node), of.tag(), found.row, after)?;
                }
                Ok(())
            }
            Statement::UpdateEdge { edge, set, filter } => {
                let of = self.edge(*edge)?;
                if set.iter().any(|(number, _)| of.key.contains(&number.0)) {
                    return Err(ExecError::Plan("a key never changes"));
                }
                for found in self.edges_where(*edge, filter, set).await? {
                    let values =
                        self.set(&of.name, &of.properties, &found.body.values, set, &found)?;
                    let after = EdgeBody { values, ..found.body.clone() }.encode(&of.properties)?;
                    self.put(RowKind::Edge(*edge), of.tag(), found.row, Some(after))?;
                }
                Ok(())
            }
            Statement::DeleteNode { node, filter } => self.delete_nodes(*node, filter).await,
            Statement::DeleteEdge { edge, filter } => {
                let tag = self.edge(*edge)?.tag();
                for found in self.edges_where(*edge, filter, &[]).await? {
                    self.put(RowKind::Edge(*edge), tag, found.row, None)?;
                }
                Ok(())
            }
        }
    }

    async fn insert_node(
        &mut self,
        no: NodeNo,
        set: &[(PropertyNo, Expr)],
    ) -> Result<(), ExecError> {
        let node = self.node(no)?;
        let empty = vec![Value::Null; node.properties.len()];
        let values = self.set(&node.name, &node.properties, &empty, set, &NoRow)?;
        let key = values.get(node.key).unwrap_or(&Value::Null);
        let (key, row) = self.named(no, key)?;
        if !self.there(node.tag(), row).await?.is_empty() {
            return Err(ExecError::AlreadyThere { kind: node.name.clone(), key });
        }
        let after = Some(encode(&node.properties, &values)?);
        self.insert(RowKind::Node(no), (node.tag(), row), after, None)
    }

    async fn insert_edge(
        &mut self,
        no: EdgeNo,
        from: &(NodeNo, Expr),
        to: &(NodeNo, Expr),
        set: &[(PropertyNo, Expr)],
    ) -> Result<(), ExecError> {
        let edge = self.edge(no)?;
        let (from_name, from_row) = self.end(edge, Side::From, from).await?;
        let (to_name, to_row) = self.end(edge, Side::To, to).await?;
        let empty = vec![Value::Null; edge.properties.len()];
        let values = self.set(&edge.name, &edge.properties, &empty, set, &NoRow)?;
        let keys: Vec<Value> =
            edge.key.iter().filter_map(|number| values.get(*number).cloned()).collect();
        let row = edge_number(
            self.context.salt,
            &edge.slot,
            (&from_name.0, &from_name.1),
            (&to_name.0, &to_name.1),
            &keys,
        );
        if !self.there(edge.tag(), row).await?.is_empty() {
            let key = format!("{} -> {}", from_name.1, to_name.1);
            return Err(ExecError::AlreadyThere { kind: edge.name.clone(), key });
        }
        let after = EdgeBody { from: from_name, to: to_name, values }.encode(&edge.properties)?;
        let ends = Some((from_row, to_row));
        self.insert(RowKind::Edge(no), (edge.tag(), row), Some(after), ends)
    }

    /// The end of an edge: type slot and key, and its number. It must be there.
    async fn end(
        &mut self,
        edge: &EdgeType,
        end: Side,
        (no, key): &(NodeNo, Expr),
    ) -> Result<((String, String), RowNo), ExecError> {
        let node = self.node(*no)?;
        let key = self.eval.value(key, &NoRow)?.into_owned();
        let (key, row) = self.named(*no, &key)?;
        if self.there(node.tag(), row).await?.is_empty() {
            let (edge, kind) = (edge.name.clone(), node.name.clone());
            return Err(ExecError::NoSuchEnd { edge, end, kind, key });
        }
        Ok(((node.slot.clone(), key), row))
    }

    async fn delete_nodes(&mut self, no: NodeNo, filter: &Expr) -> Result<(), ExecError> {
        let found = self.nodes_where(no, filter).await?;
        let rows: BTreeSet<RowNo> = found.iter().map(|node| node.row.row).collect();
        let node = self.node(no)?;
        for (edge_no, edge) in self.context.schema.edges.iter().enumerate() {
            for (side, name) in [(Side::From, &edge.from), (Side::To, &edge.to)] {
                if !node.is_a(name) {
                    continue;
                }
                let edges = self.overlay().edges(edge.tag(), side, &rows, true).await?;
                self.scanned(edges.len())?;
                for row in edges {
                    self.put(RowKind::Edge(EdgeNo(edge_no)), edge.tag(), row, None)?;
                }
            }
        }
        for node_found in found {
            self.put(RowKind::Node(no), node.tag(), node_found.row, None)?;
        }
        Ok(())
    }

    /// The values with what is set.
    fn set(
        &self,
        kind: &str,
        properties: &[Property],
        values: &[Value],
        set: &[(PropertyNo, Expr)],
        scope: &dyn Scope,
    ) -> Result<Vec<Value>, ExecError> {
        let mut next = values.to_vec();
        for (number, expr) in set {
            let property = properties.get(number.0).ok_or(ExecError::Plan("no such property"))?;
            let value = self.eval.value(expr, scope)?.into_owned();
            let fitted = property.kind.fit(value).map_err(|mismatch| {
                let what = format!("{kind}.{}", property.name);
                ExecError::Unfit { what, message: mismatch.to_string() }
            })?;
            if let Some(place) = next.get_mut(number.0) {
                *place = fitted;
            }
        }
        Ok(next)
    }

    /// The key text and the number of a node.
    fn named(&self, no: NodeNo, key: &Value) -> Result<(String, RowNo), ExecError> {
        let node = self.node(no)?;
        let property = node.key_property().ok_or(ExecError::Plan("a type without a key"))?;
        let text = key_text(&property.kind, key).ok_or_else(|| ExecError::Unfit {
            what: format!("{}.{}", node.name, property.name),
            message: if key.is_null() {
                "a key cannot be null".to_owned()
            } else {
                format!("the value is no {}", property.kind)
            },
        })?;
        let row = node_number(self.context.salt, &node.slot, &text);
        Ok((text, row))
    }

    async fn there(&mut self, tag: Tag, row: RowNo) -> Result<Vec<StoredRow>, ExecError> {
        self.scanned(1)?;
        Ok(self.overlay().rows(tag, &BTreeSet::from([row])).await?)
    }

    fn insert(
        &mut self,
        kind: RowKind,
        key: (Tag, RowNo),
        after: Option<String>,
        ends: Option<(RowNo, RowNo)>,
    ) -> Result<(), ExecError> {
        self.changes.put(key, Changed { kind, before: None, after, ends });
        self.context.limits.within(Bound::Changes, self.changes.rows.len() as u64)
    }

    /// A row that was found becomes this.
    fn put(
        &mut self,
        kind: RowKind,
        tag: Tag,
        row: StoredRow,
        after: Option<String>,
    ) -> Result<(), ExecError> {
        let (key, ends) = ((tag, row.row), row.ends);
        self.changes.put(key, Changed { kind, before: Some(row), after, ends });
        self.context.limits.within(Bound::Changes, self.changes.rows.len() as u64)
    }

    fn overlay(&mut self) -> Overlay<'_> {
        Overlay { view: &mut *self.view, changes: &self.changes }
    }

    fn scanned(&mut self, rows: usize) -> Result<(), ExecError> {
        self.scanned = self.scanned.saturating_add(rows as u64);
        self.context.limits.within(Bound::Scanned, self.scanned)?;
        self.context.limits.go_on()
    }

    fn may_scan(&self) -> u32 {
        let left = self.context.limits.scanned.saturating_sub(self.scanned).saturating_add(1);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn types(&self, name: &str) -> Vec<NodeNo> {
        let all = self.context.schema.nodes.iter().enumerate();
        all.filter(|(_, node)| node.is_a(name)).map(|(no, _)| NodeNo(no)).collect()
    }

    fn node(&self, no: NodeNo) -> Result<&'a NodeType, ExecError> {
        self.context.schema.nodes.get(no.0).ok_or(ExecError::Plan("no such node type"))
    }

    fn edge(&self, no: EdgeNo) -> Result<&'a EdgeType, ExecError> {
        self.context.schema.edges.get(no.0).ok_or(ExecError::Plan("no such edge type"))
    }
}

/// Every parameter that is spoken of must have a value, even if no row ever asks for it.
fn all_given(context: &Context<'_>, statements: &[Statement]) -> Result<(), ExecError> {
    let mut missing = None;
    let mut see = |expr: &Expr| {
        walk(expr, &mut |of| match of {
            Expr::Param(number) if *number >= context.params.len() => missing = Some(*number),
            _ => {}
        });
    };
    for statement in statements {
        match statement {
            Statement::InsertEdge { from, to, .. } => {
                see(&from.1);
                see(&to.1);
            }
            Statement::UpdateNode { filter, .. }
            | Statement::UpdateEdge { filter, .. }
            | Statement::DeleteNode { filter, .. }
            | Statement::DeleteEdge { filter, .. } => see(filter),
            Statement::InsertNode { .. } => {}
        }
        if let Statement::InsertNode { set, .. }
        | Statement::InsertEdge { set, .. }
        | Statement::UpdateNode { set, .. }
        | Statement::UpdateEdge { set, .. } = statement
        {
            for (_, expr) in set {
                see(expr);
            }
        }
    }
    missing.map_or(Ok(()), |number| Err(ExecError::MissingParam(number)))
}
