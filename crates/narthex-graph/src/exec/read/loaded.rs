//! Rows whose values are needed, read once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use narthex_store::{RowNo, StoredRow};

use super::vars::{expressions, walk};
use crate::exec::ExecError;
use crate::query::{EdgeNo, Expr, NodeNo, PropertyRef, Read, Var, VarKind, VarNo};
use crate::rows::{Decoder, EdgeBody};
use crate::schema::Schema;
use crate::value::Value;

/// Which properties of which types a query uses; the others are never read.
#[derive(Debug, Default)]
pub(super) struct Needs {
    nodes: HashMap<NodeNo, BTreeSet<usize>>,
    edges: HashMap<EdgeNo, BTreeSet<usize>>,
}

impl Needs {
    pub(super) fn of(schema: &Schema, read: &Read, vars: &[Var], ops: &[&Expr]) -> Self {
        let mut needs = Self::default();
        for expr in expressions(read).into_iter().chain(ops.iter().copied()) {
            walk(expr, &mut |of| {
                if let Expr::Property(var, property) = of {
                    needs.property(vars, *var, property);
                }
            });
        }
        for column in &read.columns {
            if let Expr::Var(var) = column.value {
                needs.whole(schema, vars, var);
            }
        }
        needs
    }

    fn property(&mut self, vars: &[Var], var: VarNo, property: &PropertyRef) {
        match vars.get(var.0).map(|var| &var.kind) {
            Some(VarKind::Node(types)) => {
                for (no, number) in types.iter().zip(&property.0) {
                    self.nodes.entry(*no).or_default().insert(number.0);
                }
            }
            Some(VarKind::Edge(no)) => {
                let numbers = property.0.iter().map(|number| number.0);
                self.edges.entry(*no).or_default().extend(numbers);
            }
            None => {}
        }
    }

    fn whole(&mut self, schema: &Schema, vars: &[Var], var: VarNo) {
        match vars.get(var.0).map(|var| &var.kind) {
            Some(VarKind::Node(types)) => {
                for no in types {
                    let count = schema.nodes.get(no.0).map_or(0, |node| node.properties.len());
                    self.nodes.entry(*no).or_default().extend(0..count);
                }
            }
            Some(VarKind::Edge(no)) => {
                let count = schema.edges.get(no.0).map_or(0, |edge| edge.properties.len());
                self.edges.entry(*no).or_default().extend(0..count);
            }
            None => {}
        }
    }

    /// Whether anything of an edge type is needed beside where its edges begin and end.
    pub(super) fn edge(&self, no: EdgeNo) -> bool {
        self.edges.contains_key(&no)
    }
}

/// Rows that were read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) nodes: HashMap<(NodeNo, RowNo), Arc<Vec<Value>>>,
    pub(super) edges: HashMap<(EdgeNo, RowNo), Arc<EdgeBody>>,
}

impl Loaded {
    pub(super) fn put_nodes(
        &mut self,
        schema: &Schema,
        needs: &Needs,
        no: NodeNo,
        rows: &[StoredRow],
    ) -> Result<(), ExecError> {
        let (Some(node), Some(wanted)) = (schema.nodes.get(no.0), needs.nodes.get(&no)) else {
            return Ok(());
        };
        let decoder = Decoder::only(&node.properties, |number| wanted.contains(&number));
        for row in rows {
            let values = decoder.decode(row.body.as_deref().unwrap_or("{}"))?;
            self.nodes.insert((no, row.row), Arc::new(values));
        }
        Ok(())
    }

    pub(super) fn put_edges(
        &mut self,
        schema: &Schema,
        needs: &Needs,
        no: EdgeNo,
        rows: &[StoredRow],
    ) -> Result<(), ExecError> {
        let (Some(edge), Some(wanted)) = (schema.edges.get(no.0), needs.edges.get(&no)) else {
            return Ok(());
        };
        let decoder = Decoder::only(&edge.properties, |number| wanted.contains(&number));
        for row in rows {
            let body = decoder.decode_edge(row.body.as_deref().unwrap_or("{}"))?;
            self.edges.insert((no, row.row), Arc::new(body));
        }
        Ok(())
    }

    /// Forgets all, if it is much.
    pub(super) fn trim(&mut self) {
        if self.nodes.len() + self.edges.len() > KEPT_ROWS {
            *self = Self::default();
        }
    }
}

/// How many rows are kept from one page of a scan to the next.
const KEPT_ROWS: usize = 16_384;
