//! From a merge to a commit: its rows as the changes that any commit is made of.

use super::RowChange;
use crate::exec::{Changed, Changes, RowKind};
use crate::query::{EdgeNo, NodeNo};
use crate::schema::Schema;

/// The rows of a merge by whether the schema still has their type.
#[derive(Debug, Clone, Default)]
pub struct TypedChanges {
    /// What is checked, indexed and written like any change. It must not be settled
    /// ([`Changes::settle`]): rows that stay as they are say that theirs was seen.
    pub changes: Changes,
    /// Rows of types that are gone. They are written, and are in no index.
    pub untyped: Vec<RowChange>,
}

/// The rows of a merge as changes under the merged schema.
pub fn typed(rows: Vec<RowChange>, schema: &Schema) -> TypedChanges {
    let nodes = schema.nodes.iter().zip(0..);
    let nodes = nodes.map(|(node, no)| (node.tag(), RowKind::Node(NodeNo(no))));
    let edges = schema.edges.iter().zip(0..);
    let edges = edges.map(|(edge, no)| (edge.tag(), RowKind::Edge(EdgeNo(no))));
    let kinds: std::collections::BTreeMap<_, _> = nodes.chain(edges).collect();
    let mut typed = TypedChanges::default();
    for row in rows {
        match kinds.get(&row.tag) {
            Some(kind) => {
                let RowChange { tag, row, ends, before, after, .. } = row;
                typed.changes.put((tag, row), Changed { kind: *kind, before, after, ends });
            }
            None => typed.untyped.push(row),
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use narthex_store::{RowNo, StoredRow, Tag};

    use super::typed;
    use crate::exec::RowKind;
    use crate::merge::RowChange;
    use crate::query::NodeNo;
    use crate::schema::Schema;

    fn row(tag: Tag, number: i64, before: Option<&str>, after: Option<&str>) -> RowChange {
        let before = before.map(|body| StoredRow {
            tag,
            row: RowNo(number),
            line: narthex_store::LineNo(1),
            seq: 1,
            ends: None,
            body: Some(body.to_owned()),
        });
        let after = after.map(str::to_owned);
        RowChange { tag, row: RowNo(number), ends: None, before, theirs: after.clone(), after }
    }

    #[test]
    fn changes_are_typed() {
        let schema = Schema::read("node P { slug: String @key  age: I64? }", None).unwrap();
        let tag = schema.nodes[0].tag();
        let ada = row(tag, 1, Some(r#"{"slug":"ada"}"#), Some(r#"{"age":5,"slug":"ada"}"#));
        let bob = row(tag, 2, None, Some(r#"{"slug":"bob"}"#));
        let kept = row(tag, 3, Some(r#"{"slug":"c"}"#), Some(r#"{"slug":"c"}"#));
        let gone = row(Tag(1), 9, None, Some("{}"));
        let rows = vec![ada, bob, kept, gone.clone()];
        let all = typed(rows, &schema);
        assert_eq!(all.untyped, [gone]);
        assert_eq!(all.changes.rows.len(), 3);
        assert!(all.changes.rows.values().all(|of| of.kind == RowKind::Node(NodeNo(0))));
    }
}
