//! Lines of a file as rows, by type.

use narthex_store::{GraphInfo, Tag};

use crate::engine::GraphError;
use crate::engine::schema::types;
use crate::exec::{ExecError, RowKind};
use crate::load::sorted::FileRow;
use crate::load::{LoadEdge, LoadNode};
use crate::query::NodeNo;
use crate::rows::{EdgeBody, edge_number, encode, node_number};
use crate::schema::{NodeType, Schema};

/// The types of a schema in the order that a commit's name has its rows in: by slot.
#[derive(Debug)]
pub(super) struct Types(Vec<Type>);

#[derive(Debug)]
pub(super) struct Type {
    pub(super) slot: String,
    pub(super) tag: Tag,
    pub(super) kind: RowKind,
}

impl Types {
    pub(super) fn of(schema: &Schema) -> Self {
        let slot = |kind| match kind {
            RowKind::Node(no) => schema.nodes.get(no.0).map(|node| node.slot.clone()),
            RowKind::Edge(no) => schema.edges.get(no.0).map(|edge| edge.slot.clone()),
        };
        let named = |(tag, kind)| Some(Type { slot: slot(kind)?, tag, kind });
        let mut all: Vec<Type> = types(schema).filter_map(named).collect();
        all.sort_by(|one, other| one.slot.cmp(&other.slot));
        Self(all)
    }

    /// Each with its rank.
    pub(super) fn ranked(&self) -> impl Iterator<Item = (u16, &Type)> {
        (0..).zip(&self.0)
    }

    pub(super) fn rank_of(&self, tag: Tag) -> Option<u16> {
        self.ranked().find(|(_, of)| of.tag == tag).map(|(rank, _)| rank)
    }

    fn rank(&self, kind: RowKind) -> Result<u16, ExecError> {
        let found = self.ranked().find(|(_, of)| of.kind == kind);
        found.map(|(rank, _)| rank).ok_or(ExecError::Plan("no such type"))
    }

    pub(super) fn node(
        &self,
        schema: &Schema,
        graph: &GraphInfo,
        line: u64,
        node: &LoadNode,
    ) -> Result<FileRow, GraphError> {
        let of = node_type(schema, node.node)?;
        Ok(FileRow {
            rank: self.rank(RowKind::Node(node.node))?,
            row: node_number(&graph.salt, &of.slot, &node.key),
            line,
            ends: None,
            body: encode(&of.properties, &node.values).map_err(ExecError::from)?,
        })
    }

    pub(super) fn edge(
        &self,
        schema: &Schema,
        graph: &GraphInfo,
        line: u64,
        edge: LoadEdge,
    ) -> Result<FileRow, GraphError> {
        let no = edge.edge;
        let of = schema.edges.get(no.0).ok_or(ExecError::Plan("no such edge type"))?;
        let (from, to) = (node_type(schema, edge.from.0)?, node_type(schema, edge.to.0)?);
        let ends = (
            node_number(&graph.salt, &from.slot, &edge.from.1),
            node_number(&graph.salt, &to.slot, &edge.to.1),
        );
        let key: Vec<_> = of.key.iter().filter_map(|at| edge.values.get(*at).cloned()).collect();
        let body = EdgeBody {
            from: (from.slot.clone(), edge.from.1),
            to: (to.slot.clone(), edge.to.1),
            values: edge.values,
        };
        let (from, to) = (
            (body.from.0.as_str(), body.from.1.as_str()),
            (body.to.0.as_str(), body.to.1.as_str()),
        );
        Ok(FileRow {
            rank: self.rank(RowKind::Edge(no))?,
            row: edge_number(&graph.salt, &of.slot, from, to, &key),
            line,
            ends: Some(ends),
            body: body.encode(&of.properties).map_err(ExecError::from)?,
        })
    }
}

fn node_type(schema: &Schema, no: NodeNo) -> Result<&NodeType, ExecError> {
    schema.nodes.get(no.0).ok_or(ExecError::Plan("no such node type"))
}
