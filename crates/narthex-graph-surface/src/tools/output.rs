//! What tools answer. Numbers that can outgrow 53 bits are text, whatever they are now.

use narthex_core::CommitId;
use narthex_graph::engine::{Done, ShownDiff, TypeCount};
use narthex_graph::exec::{Answer, Counts};
use narthex_store::{Branch, Commit};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`, or the call would have failed.
    pub(crate) status: &'static str,
    /// The version of the server.
    pub(crate) version: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Snapshot {
    /// The commit that was looked at.
    pub(crate) commit: String,
    /// The digest of its schema.
    pub(crate) schema: String,
    /// How many rows of each type there are.
    pub(crate) types: Vec<Type>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Type {
    /// The type.
    name: String,
    /// `node` or `edge`.
    kind: &'static str,
    /// How many rows, as decimal text.
    rows: String,
}

impl From<TypeCount> for Type {
    fn from(of: TypeCount) -> Self {
        Self { name: of.name, kind: of.kind, rows: of.rows.to_string() }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SchemaText {
    /// The schema, in the graph's language (`.pg`).
    pub(crate) source: String,
    /// The commit that was looked at.
    pub(crate) commit: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Branches {
    /// The branches, by name.
    pub(crate) branches: Vec<OneBranch>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneBranch {
    /// Its name.
    name: String,
    /// The commit it stands at.
    commit: String,
    /// Whether it is protected.
    protected: bool,
    /// Whether it is your own.
    own: bool,
    /// When it was made.
    created: String,
}

impl OneBranch {
    pub(crate) fn of(branch: &Branch, own: bool) -> Self {
        Self {
            name: branch.name.to_string(),
            commit: branch.commit.to_string(),
            protected: branch.protected,
            own,
            created: branch.created.to_string(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Commits {
    /// The commits, newest first.
    pub(crate) commits: Vec<OneCommit>,
    /// Whether there are older ones: ask again with `before`.
    pub(crate) more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneCommit {
    /// Its id.
    id: String,
    /// The commits it was made on; of a merge two, the branch merged into first.
    parents: Vec<String>,
    /// `init`, `mutate`, `load`, `merge`, `schema` or `revert`.
    kind: String,
    /// Who made it: `owner`, or an agent's slug.
    actor: String,
    /// What is said about it.
    message: String,
    /// When.
    at: String,
    /// How many rows it changed, as decimal text.
    rows: String,
    /// The digest of its schema.
    schema: String,
}

impl From<&Commit> for OneCommit {
    fn from(commit: &Commit) -> Self {
        let actor = match &commit.actor {
            narthex_core::Actor::Agent { slug, .. } => slug.to_string(),
            narthex_core::Actor::Owner => "owner".to_owned(),
            narthex_core::Actor::House | narthex_core::Actor::Nobody => "house".to_owned(),
        };
        let kind = serde_json::to_value(commit.kind).ok();
        Self {
            id: commit.id.to_string(),
            parents: commit.parents.iter().map(ToString::to_string).collect(),
            kind: kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(),
            actor,
            message: commit.message.clone(),
            at: commit.at.to_string(),
            rows: commit.rows.to_string(),
            schema: commit.schema.to_string(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownCommit {
    /// The commit.
    pub(crate) commit: OneCommit,
    /// The rows it changed against its first parent, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub(crate) changes: Option<Vec<ShownDiff>>,
    /// Whether there are more changes than are shown.
    pub(crate) more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// What is in a row, column by column.
    columns: Vec<Column>,
    /// The rows, by column.
    rows: Vec<serde_json::Map<String, Value>>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    next_cursor: Option<String>,
    /// The commit that was looked at.
    commit: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Column {
    /// Its name.
    name: String,
    /// What its values are; `node or edge` for a whole one.
    kind: String,
    /// Whether it may be null.
    nullable: bool,
}

impl Found {
    pub(crate) fn of(answer: &Answer, commit: CommitId) -> Self {
        let columns = answer.columns.iter().map(|of| Column {
            name: of.name.clone(),
            kind: of.kind.as_ref().map_or_else(|| "node or edge".to_owned(), ToString::to_string),
            nullable: of.nullable,
        });
        let rows = match answer.to_json() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        };
        let object = |row| if let Value::Object(row) = row { Some(row) } else { None };
        Self {
            columns: columns.collect(),
            rows: rows.into_iter().filter_map(object).collect(),
            next_cursor: answer.next.clone(),
            commit: commit.to_string(),
        }
    }
}

/// The schema of the answer of a stored query that looks: as [`Found`], with its own row.
pub(crate) fn rows_schema(row: &Value) -> Value {
    let mut schema = narthex_gate::output_schema::<Found>();
    if let Some(items) = schema.pointer_mut("/properties/rows/items") {
        *items = row.clone();
    }
    schema
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Made {
    /// The branch.
    pub(crate) branch: String,
    /// The commit it stands at now.
    pub(crate) commit: String,
    /// Whether that is a new one: false if there was nothing to change.
    pub(crate) committed: bool,
    /// How many rows changed how, as decimal text.
    pub(crate) counts: Changed,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changed {
    nodes_inserted: String,
    nodes_updated: String,
    nodes_deleted: String,
    edges_inserted: String,
    edges_updated: String,
    edges_deleted: String,
}

impl From<Counts> for Changed {
    fn from(counts: Counts) -> Self {
        Self {
            nodes_inserted: counts.nodes_inserted.to_string(),
            nodes_updated: counts.nodes_updated.to_string(),
            nodes_deleted: counts.nodes_deleted.to_string(),
            edges_inserted: counts.edges_inserted.to_string(),
            edges_updated: counts.edges_updated.to_string(),
            edges_deleted: counts.edges_deleted.to_string(),
        }
    }
}

impl From<&Done> for Made {
    fn from(done: &Done) -> Self {
        Self {
            branch: done.branch.to_string(),
            commit: done.commit.map(|commit| commit.to_string()).unwrap_or_default(),
            committed: done.committed,
            counts: done.counts.into(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MergeMade {
    /// `merged`, `nothing_to_do`, or `proposed`: then it waits for the owner.
    pub(crate) status: &'static str,
    /// The branch that was, or would be, merged into.
    pub(crate) into: String,
    /// The commit it stands at now.
    pub(crate) commit: String,
    /// How many rows changed how, as decimal text.
    pub(crate) counts: Changed,
    /// The proposal in the owner's inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) pending_change_id: Option<String>,
    /// What somebody will have to decide on, as far as can be seen now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) conflicts: Option<Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoredQueries {
    /// The stored queries, by name.
    pub(crate) queries: Vec<StoredQuery>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoredQuery {
    /// Its name, for `stored_query_run`.
    pub(crate) name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) description: Option<String>,
    /// Whether it changes something.
    pub(crate) changes: bool,
    /// The schema of its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) params: Option<Value>,
    /// The schema of a row of its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) row: Option<Value>,
}

/// What `stored_query_run` answers: rows, or what was changed.
pub(crate) fn run_schema() -> Value {
    let mut rows = narthex_gate::output_schema::<Found>();
    let made = narthex_gate::output_schema::<Made>();
    // Clients want an object at the top, so both are one with nothing of the other required.
    let more = made.get("properties").cloned().unwrap_or_default();
    if let (Some(properties), Value::Object(more)) =
        (rows.get_mut("properties").and_then(Value::as_object_mut), more)
    {
        for (name, schema) in more {
            properties.entry(name).or_insert(schema);
        }
    }
    if let Some(map) = rows.as_object_mut() {
        map.insert("required".to_owned(), json!(["commit"]));
    }
    rows
}
