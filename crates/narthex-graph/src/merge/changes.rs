//! From a merge to a commit: its rows as the changes that any commit is made of, and what rules
//! those break as conflicts.

use narthex_store::StoreError;

use super::names::{Names, Type};
use super::{Body, Conflict, ConflictKind, RowChange, RowName, read_body};
use crate::exec::{Changed, Changes, RowKind, Violation, ViolationKind};
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

/// Rules that the rows of a merge break, as conflicts.
pub fn conflicts_of(
    violations: &[Violation],
    rows: &[RowChange],
    schema: &Schema,
) -> Result<Vec<Conflict>, StoreError> {
    let names = Names::of(schema);
    violations.iter().map(|violation| conflict(violation, rows, &names)).collect()
}

fn conflict(
    violation: &Violation,
    rows: &[RowChange],
    names: &Names<'_>,
) -> Result<Conflict, StoreError> {
    let node = |type_name: &str, key: &str| RowName::Node {
        type_name: type_name.to_owned(),
        key: key.to_owned(),
    };
    let kind = match &violation.what {
        ViolationKind::Unique { properties, other, other_key } => {
            let known = rows.iter().find(|row| (row.tag, row.row) == (violation.tag, *other));
            let body = known.and_then(|row| row.after.as_deref()).map(read_body).transpose()?;
            let named = body.and_then(|body| names.name(violation.tag, &body));
            ConflictKind::Uniqueness {
                properties: properties.clone(),
                other: named.unwrap_or_else(|| node(&violation.kind, other_key)),
            }
        }
        ViolationKind::Card { edge, count, min, max } => {
            ConflictKind::Cardinality { edge: edge.clone(), found: *count, min: *min, max: *max }
        }
        ViolationKind::Value { .. }
        | ViolationKind::Check { .. }
        | ViolationKind::Orphan { .. }
        | ViolationKind::EndType { .. } => {
            ConflictKind::ValueConstraint { constraint: violation.to_string() }
        }
    };
    let row = rows.iter().find(|row| (row.tag, row.row) == (violation.tag, violation.row));
    let read = |text: Option<&str>| text.map(read_body).transpose();
    let ours = read(row.and_then(|row| row.before.as_ref()).and_then(|row| row.body.as_deref()))?;
    let theirs = read(row.and_then(|row| row.theirs.as_deref()))?;
    let after = read(row.and_then(|row| row.after.as_deref()))?;
    let named = after.or(ours.clone()).and_then(|body| names.name(violation.tag, &body));
    let is_edge = matches!(names.get(violation.tag), Some(Type::Edge(_)));
    let show = |body: Option<Body>| body.map(|body| names.show(violation.tag, &body));
    Ok(Conflict {
        kind,
        row: named.or_else(|| (!is_edge).then(|| node(&violation.kind, &violation.key))),
        ours: show(ours),
        theirs: show(theirs),
    })
}

#[cfg(test)]
mod tests {
    use narthex_store::{RowNo, StoredRow, Tag};

    use super::{conflicts_of, typed};
    use crate::exec::{RowKind, Violation, ViolationKind};
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
    fn changes_are_typed_and_violations_are_conflicts() {
        let schema = Schema::read("node P { slug: String @key  age: I64? }", None).unwrap();
        let tag = schema.nodes[0].tag();
        let ada = row(tag, 1, Some(r#"{"slug":"ada"}"#), Some(r#"{"age":5,"slug":"ada"}"#));
        let bob = row(tag, 2, None, Some(r#"{"slug":"bob"}"#));
        let kept = row(tag, 3, Some(r#"{"slug":"c"}"#), Some(r#"{"slug":"c"}"#));
        let gone = row(Tag(1), 9, None, Some("{}"));
        let rows = vec![ada, bob, kept, gone.clone()];
        let all = typed(rows.clone(), &schema);
        assert_eq!(all.untyped, [gone]);
        assert_eq!(all.changes.rows.len(), 3);
        assert!(all.changes.rows.values().all(|of| of.kind == RowKind::Node(NodeNo(0))));
        let broken = |row: i64, what: ViolationKind| Violation {
            tag,
            row: RowNo(row),
            kind: "P".to_owned(),
            key: "ada".to_owned(),
            what,
        };
        let violations = [
            broken(
                1,
                ViolationKind::Unique {
                    properties: vec!["age".to_owned()],
                    other: RowNo(2),
                    other_key: "bob".to_owned(),
                },
            ),
            broken(7, ViolationKind::Card { edge: "K".to_owned(), count: 2, min: 0, max: Some(1) }),
            broken(
                1,
                ViolationKind::Value { property: "age".to_owned(), message: "is bad".to_owned() },
            ),
        ];
        let conflicts = conflicts_of(&violations, &rows, &schema).unwrap();
        let texts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
        assert_eq!(texts[0], "P `ada`: would be equal to P `bob` in `age`");
        assert_eq!(texts[1], "P `ada`: 2 K would begin there, where 0 to 1 may");
        assert!(texts[2].starts_with("P `ada`: would break "), "{}", texts[2]);
        let theirs = conflicts[0].theirs.as_ref().unwrap();
        assert_eq!(theirs.get("age"), Some(&serde_json::json!("5")), "wide numbers are texts");
        assert_eq!(conflicts[0].ours.as_ref().unwrap().get("age"), None);
    }
}
