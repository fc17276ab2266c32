//! What tools are told.

use narthex_graph::engine::LoadMode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    /// The branch; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// A commit's id, or a moment (RFC 3339) at which to look at the branch.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) snapshot: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commits {
    /// The branch; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// Only commits from before this one: the last of the page before.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) before: Option<String>,
    /// How many; 20 if left out.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 200))]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneCommit {
    /// The commit's id.
    #[schemars(length(max = 128))]
    pub(crate) commit: String,
    /// Whether to show the rows it changed, a bounded number of them.
    #[serde(default)]
    pub(crate) changes: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Look {
    /// The query, in the graph's language (`.gq`). It only looks; `graph_mutate` changes.
    #[schemars(length(min = 1, max = 131_072))]
    pub(crate) query: String,
    /// Which one, where the text has several.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) name: Option<String>,
    /// The query's parameters by name. 64-bit integers are decimal text.
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
    /// The branch; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// A commit's id, or a moment (RFC 3339) at which to look at the branch.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) snapshot: Option<String>,
    /// Rows of one page.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 10_000))]
    pub(crate) page_size: Option<u32>,
    /// From where: `next_cursor` of the page before, with the same query and parameters.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4096))]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutate {
    /// The query, in the graph's language (`.gq`): `insert`, `update`, `delete`; several statements
    /// are one commit.
    #[schemars(length(min = 1, max = 131_072))]
    pub(crate) query: String,
    /// Which one, where the text has several.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) name: Option<String>,
    /// The query's parameters by name. 64-bit integers are decimal text.
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
    /// The branch; `main` if left out, which is protected. Make one of your own with
    /// `branch_create`.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// The commit the branch must still stand at.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) expected_head: Option<String>,
    /// What to say about it in the history.
    #[serde(default)]
    #[schemars(with = "String", length(max = 500))]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadRows {
    /// One JSON object a line: `{"type":"Person","data":{…}}`, or
    /// `{"edge":"Knows","from":"ada","to":"bob","data":{…}}`. All of it or nothing.
    pub(crate) data: String,
    /// The branch; `main` if left out, which is protected.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// The branch is new and begins at this one. Without it, it must exist.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) from: Option<String>,
    /// What to do with rows that are there: `merge` replaces those of the same key, `append` takes
    /// none that is there already, `overwrite` leaves nothing but the given rows.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// The commit the branch must still stand at.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) expected_head: Option<String>,
    /// What to say about it in the history.
    #[serde(default)]
    #[schemars(with = "String", length(max = 500))]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Merge,
    Append,
    Overwrite,
}

impl From<Mode> for LoadMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Merge => Self::Merge,
            Mode::Append => Self::Append,
            Mode::Overwrite => Self::Overwrite,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBranch {
    /// Its name: words of a-z, 0-9, '-', '_' and '.', parted by '/'.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) name: String,
    /// The branch it begins at; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) from: Option<String>,
    /// Or the commit, or the moment (RFC 3339) of that branch.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) snapshot: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneBranch {
    /// Its name.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) branch: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Merge {
    /// The branch that is brought in.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) from: String,
    /// The branch it is brought into; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) into: Option<String>,
    /// How rows in conflict are to be, each as `{"row":{…},"take":"ours"|"theirs"|"gone"}` or
    /// `{"row":{…},"given":{…}}`, with the row as a conflict names it.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub(crate) resolutions: Vec<Value>,
    /// The commit that `into` must still stand at.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) expected_head: Option<String>,
    /// Whether what the merged schema no longer shows may be lost.
    #[serde(default)]
    pub(crate) allow_data_loss: bool,
    /// What to say about it: in the history, and to the owner if it becomes a proposal.
    #[serde(default)]
    #[schemars(with = "String", length(max = 500))]
    pub(crate) message: Option<String>,
    /// Whether to ask the owner to merge, even if you may do it yourself with an approval.
    #[serde(default)]
    pub(crate) propose: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplySchema {
    /// The whole schema, in the graph's language (`.pg`), as `schema_get` shows it.
    #[schemars(length(max = 1_048_576))]
    pub(crate) schema: String,
    /// The branch; `main` if left out, which is protected.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// Whether rows and values that no longer fit may be lost.
    #[serde(default)]
    pub(crate) allow_data_loss: bool,
    /// The commit the branch must still stand at.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) expected_head: Option<String>,
    /// What to say about it in the history.
    #[serde(default)]
    #[schemars(with = "String", length(max = 500))]
    pub(crate) message: Option<String>,
}

/// How a stored query is called: what it is told is apart from where it looks, so that no parameter
/// can be taken for the other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stored {
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
    pub(crate) branch: Option<String>,
    pub(crate) snapshot: Option<String>,
    pub(crate) page_size: Option<u32>,
    pub(crate) cursor: Option<String>,
    pub(crate) expected_head: Option<String>,
    pub(crate) message: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredList {
    /// Only those with these letters in their name or description.
    #[serde(default)]
    #[schemars(with = "String", length(max = 200))]
    pub(crate) filter: Option<String>,
    /// `names`, `descriptions` (if left out), or `full` with the schemas of parameters and rows.
    #[serde(default)]
    pub(crate) detail_level: Detail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Detail {
    Names,
    #[default]
    Descriptions,
    Full,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredRun {
    /// The stored query, as `stored_query_list` names it.
    #[schemars(length(min = 1, max = 128))]
    pub(crate) name: String,
    /// Its parameters by name. 64-bit integers are decimal text.
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
    /// The branch; `main` if left out.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) branch: Option<String>,
    /// A commit's id, or a moment (RFC 3339) at which to look at the branch. Not for queries that
    /// change something.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) snapshot: Option<String>,
    /// Rows of one page.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 10_000))]
    pub(crate) page_size: Option<u32>,
    /// From where: `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4096))]
    pub(crate) cursor: Option<String>,
    /// Of a query that changes something: the commit the branch must still stand at.
    #[serde(default)]
    #[schemars(with = "String", length(max = 128))]
    pub(crate) expected_head: Option<String>,
    /// Of a query that changes something: what to say about it in the history.
    #[serde(default)]
    #[schemars(with = "String", length(max = 500))]
    pub(crate) message: Option<String>,
}

impl StoredRun {
    /// As any stored query is called.
    pub(crate) fn envelope(self) -> (String, Stored) {
        let Self { name, params, branch, snapshot, page_size, cursor, expected_head, message } =
            self;
        let envelope =
            Stored { params, branch, snapshot, page_size, cursor, expected_head, message };
        (name, envelope)
    }
}
