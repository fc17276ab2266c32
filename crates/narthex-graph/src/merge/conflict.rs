//! What cannot be merged without somebody saying how, for people and for agents.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Asked, Side};
use crate::schema::SchemaConflict;

/// What is in a row as it is shown: values by the name of their property.
pub type Shown = Map<String, Value>;

/// A row's name, as people write it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum RowName {
    /// An edge.
    Edge {
        /// Its type.
        #[serde(rename = "type")]
        type_name: String,
        /// The type and key of where it begins.
        from: (String, String),
        /// The type and key of where it ends.
        to: (String, String),
        /// What tells it from others between the same two, as texts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        key: Vec<String>,
    },
    /// A node.
    Node {
        /// Its type.
        #[serde(rename = "type")]
        type_name: String,
        /// Its key.
        key: String,
    },
}

/// Something that cannot be merged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflict {
    /// What is wrong.
    #[serde(flatten)]
    pub kind: ConflictKind,
    /// With which row. A conflict of schemas has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<RowName>,
    /// What ours has.
    pub ours: Option<Shown>,
    /// What theirs has.
    pub theirs: Option<Shown>,
    /// One way to resolve it. Others may do as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolve: Vec<Asked>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "conflict", rename_all = "snake_case")]
pub enum ConflictKind {
    /// Both sides made the row, and not alike.
    DivergentInsert {
        /// In which properties.
        properties: Vec<String>,
    },
    /// Both sides changed the same properties, and not alike.
    DivergentUpdate {
        /// Which.
        properties: Vec<String>,
    },
    /// One side took the row away, the other changed it.
    DeleteAgainstUpdate {
        /// Who took it away.
        deleted_by: Side,
    },
    /// One side has an edge whose node the other took away.
    OrphanedEdge {
        /// The node.
        node: RowName,
        /// Who took it away.
        deleted_by: Side,
    },
    /// Two rows would be alike in what must be unlike.
    Uniqueness {
        /// In which properties.
        properties: Vec<String>,
        /// The other row.
        other: RowName,
    },
    /// Too many or too few edges would begin at a node.
    Cardinality {
        /// The type of the edges.
        edge: String,
        /// How many there would be. Of 32 bits like its bounds, and so a number in JSON.
        found: u32,
        /// At least.
        min: u32,
        /// At most.
        max: Option<u32>,
        /// Those that the two sides do not agree on: there, of too many; not there, of too few.
        edges: Vec<RowName>,
    },
    /// A value would not be as it must.
    ValueConstraint {
        /// What does not hold.
        constraint: String,
    },
    /// The schemas do not go together.
    Schema {
        /// Why.
        schema: SchemaConflict,
    },
}

/// Conflicts, a bounded number of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflicts {
    /// How many there are. A merge is of fewer rows than 32 bits count, so this is a number in
    /// JSON, where one of 64 bits would be a text.
    pub total: u32,
    /// The first of them, by name.
    pub listed: Vec<Conflict>,
}

impl Conflicts {
    /// Of these, keeping the first [`Conflicts::LISTED`].
    pub fn of(mut all: Vec<Conflict>) -> Self {
        all.sort_by(|a, b| a.row.cmp(&b.row));
        let total = u32::try_from(all.len()).unwrap_or(u32::MAX);
        all.truncate(Self::LISTED);
        Self { total, listed: all }
    }

    /// How many are listed at most.
    pub const LISTED: usize = 100;
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} that somebody has to decide on", self.total)?;
        for (n, conflict) in self.listed.iter().take(SHOWN).enumerate() {
            write!(f, "{} {conflict}", if n == 0 { ":" } else { ";" })?;
        }
        if self.listed.len() > SHOWN { f.write_str("; and more") } else { Ok(()) }
    }
}

impl From<SchemaConflict> for Conflict {
    fn from(schema: SchemaConflict) -> Self {
        let (kind, resolve) = (ConflictKind::Schema { schema }, Vec::new());
        Self { kind, row: None, ours: None, theirs: None, resolve }
    }
}

impl RowName {
    /// The name of its type.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Edge { type_name, .. } | Self::Node { type_name, .. } => type_name,
        }
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { type_name, key } => write!(f, "{type_name} `{key}`"),
            Self::Edge { type_name, from, to, key } => {
                write!(f, "{type_name} from {} `{}` to {} `{}`", from.0, from.1, to.0, to.1)?;
                if !key.is_empty() {
                    write!(f, " ({})", key.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(row) = &self.row {
            write!(f, "{row}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivergentInsert { properties } => {
                write!(f, "added on both sides, unlike in {}", listed(properties))
            }
            Self::DivergentUpdate { properties } => {
                write!(f, "changed on both sides, unlike in {}", listed(properties))
            }
            Self::DeleteAgainstUpdate { deleted_by } => {
                write!(f, "deleted by {deleted_by}, changed by {}", deleted_by.other())
            }
            Self::OrphanedEdge { node, deleted_by } => {
                write!(f, "kept by {}, but {deleted_by} deleted {node}", deleted_by.other())
            }
            Self::Uniqueness { properties, other } => {
                write!(f, "would be equal to {other} in {}", listed(properties))
            }
            Self::Cardinality { edge, found, min, max, .. } => {
                write!(f, "{found} {edge} would begin there, where {min} to ")?;
                match max {
                    Some(max) => write!(f, "{max} may"),
                    None => f.write_str("any number may"),
                }
            }
            Self::ValueConstraint { constraint } => write!(f, "would break {constraint}"),
            Self::Schema { schema } => schema.fmt(f),
        }
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// How many conflicts a message names.
const SHOWN: usize = 5;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Conflict, ConflictKind, Conflicts, RowName};
    use crate::merge::Side;

    fn node(key: &str) -> RowName {
        RowName::Node { type_name: "Person".to_owned(), key: key.to_owned() }
    }

    fn conflict(row: RowName, kind: ConflictKind) -> Conflict {
        Conflict { kind, row: Some(row), ours: None, theirs: None, resolve: Vec::new() }
    }

    #[test]
    fn a_conflict_reads_and_serialises() {
        let properties = || vec!["age".to_owned(), "name".to_owned()];
        let end = |key: &str| ("Person".to_owned(), key.to_owned());
        let edge = RowName::Edge {
            type_name: "Knows".to_owned(),
            from: end("ada"),
            to: end("bob"),
            key: vec!["1".to_owned()],
        };
        for (row, kind, text, json) in [
            (
                node("ada"),
                ConflictKind::DivergentInsert { properties: properties() },
                "Person `ada`: added on both sides, unlike in `age`, `name`",
                json!({"conflict": "divergent_insert", "properties": ["age", "name"],
                    "row": {"type": "Person", "key": "ada"}, "ours": null, "theirs": null}),
            ),
            (
                node("ada"),
                ConflictKind::DeleteAgainstUpdate { deleted_by: Side::Theirs },
                "Person `ada`: deleted by theirs, changed by ours",
                json!({"conflict": "delete_against_update", "deleted_by": "theirs",
                    "row": {"type": "Person", "key": "ada"}, "ours": null, "theirs": null}),
            ),
            (
                edge.clone(),
                ConflictKind::OrphanedEdge { node: node("bob"), deleted_by: Side::Ours },
                "Knows from Person `ada` to Person `bob` (1): kept by theirs, but ours deleted \
                 Person `bob`",
                json!({"conflict": "orphaned_edge", "deleted_by": "ours",
                    "node": {"type": "Person", "key": "bob"},
                    "row": {"type": "Knows", "from": ["Person", "ada"], "to": ["Person", "bob"],
                        "key": ["1"]}, "ours": null, "theirs": null}),
            ),
            (
                node("ada"),
                ConflictKind::Cardinality {
                    edge: "WorksAt".to_owned(),
                    found: 2,
                    min: 0,
                    max: Some(1),
                    edges: vec![edge.clone()],
                },
                "Person `ada`: 2 WorksAt would begin there, where 0 to 1 may",
                json!({"conflict": "cardinality", "edge": "WorksAt", "found": 2, "min": 0,
                    "max": 1, "edges": [{"type": "Knows", "from": ["Person", "ada"],
                        "to": ["Person", "bob"], "key": ["1"]}],
                    "row": {"type": "Person", "key": "ada"}, "ours": null, "theirs": null}),
            ),
        ] {
            let conflict = conflict(row, kind);
            assert_eq!(conflict.to_string(), text);
            assert_eq!(serde_json::to_value(&conflict).unwrap(), json);
        }
        for name in [node("ada"), edge] {
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<RowName>(&json).unwrap(), name);
        }
    }

    #[test]
    fn a_bounded_number_is_listed_and_all_are_counted() {
        let many = (0..250).rev().map(|n| {
            let kind = ConflictKind::ValueConstraint { constraint: "@range".to_owned() };
            conflict(node(&format!("{n:03}")), kind)
        });
        let conflicts = Conflicts::of(many.collect());
        assert_eq!((conflicts.total, conflicts.listed.len()), (250, Conflicts::LISTED));
        assert_eq!(conflicts.listed[0].row, Some(node("000")));
    }
}
