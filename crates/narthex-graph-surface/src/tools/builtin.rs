//! The tools every graph has.

use narthex_core::Tier;
use narthex_gate::{Annotations, ToolSpec, input_schema, output_schema};
use schemars::JsonSchema;

use super::{input, output};
use crate::place::{LOOKING, changing};

/// A tool of every graph. A new one does not build without its place in each match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Builtin {
    GraphHealth,
    GraphSnapshot,
    SchemaGet,
    BranchList,
    CommitList,
    CommitGet,
    GraphQuery,
    GraphMutate,
    GraphLoad,
    BranchCreate,
    BranchDelete,
    BranchMerge,
    SchemaApply,
    StoredQueryList,
    StoredQueryRun,
}

impl Builtin {
    /// Those every graph is served with.
    pub(crate) const ALWAYS: [Self; 13] = [
        Self::GraphHealth,
        Self::GraphSnapshot,
        Self::SchemaGet,
        Self::BranchList,
        Self::CommitList,
        Self::CommitGet,
        Self::GraphQuery,
        Self::GraphMutate,
        Self::GraphLoad,
        Self::BranchCreate,
        Self::BranchDelete,
        Self::BranchMerge,
        Self::SchemaApply,
    ];

    /// Those that stand for many stored queries.
    pub(crate) const META: [Self; 2] = [Self::StoredQueryList, Self::StoredQueryRun];

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::GraphHealth => "graph_health",
            Self::GraphSnapshot => "graph_snapshot",
            Self::SchemaGet => "schema_get",
            Self::BranchList => "branch_list",
            Self::CommitList => "commit_list",
            Self::CommitGet => "commit_get",
            Self::GraphQuery => "graph_query",
            Self::GraphMutate => "graph_mutate",
            Self::GraphLoad => LOAD,
            Self::BranchCreate => "branch_create",
            Self::BranchDelete => "branch_delete",
            Self::BranchMerge => "branch_merge",
            Self::SchemaApply => "schema_apply",
            Self::StoredQueryList => "stored_query_list",
            Self::StoredQueryRun => "stored_query_run",
        }
    }

    /// What people call it, and what the model is told.
    const fn said(self) -> (&'static str, &'static str) {
        match self {
            Self::GraphHealth => ("Health", "Whether this graph answers."),
            Self::GraphSnapshot => (
                "Snapshot",
                "What is in the graph: how many rows of each type, and at which commit.",
            ),
            Self::SchemaGet => (
                "Schema",
                "The schema of the graph (`.pg`): its node and edge types. Read it before writing a query.",
            ),
            Self::BranchList => {
                ("Branches", "The branches, where they stand, and which are protected or your own.")
            }
            Self::CommitList => ("Commits", "The history of a branch, newest first."),
            Self::CommitGet => ("Commit", "One commit, with the rows it changed if asked for."),
            Self::GraphQuery => (
                "Query",
                "Asks the graph a query (`.gq`) that only looks, at a branch, a commit or a moment. For example: query friends($slug: String) { match { $p: Person { slug: $slug }  $p knows $f } return { $f.slug } }",
            ),
            Self::GraphMutate => (
                "Change",
                "Changes rows by a query (`.gq`) with insert, update or delete; all of it is one commit. On a branch of your own it takes effect at once; on others the owner is asked.",
            ),
            Self::GraphLoad => (
                "Load",
                "Loads rows, one JSON object a line, as one commit: all of them or none. Loading the same rows twice changes nothing.",
            ),
            Self::BranchCreate => (
                "New branch",
                "Makes a branch of your own to work on. Nothing of it reaches other branches until it is merged.",
            ),
            Self::BranchDelete => (
                "Delete branch",
                "Takes a branch away. What was not merged from it is lost; a protected one stays.",
            ),
            Self::BranchMerge => (
                "Merge",
                "Brings one branch into another. Where you may not merge yourself, it becomes a proposal in the owner's inbox, with exactly what the branch holds now.",
            ),
            Self::SchemaApply => (
                "Apply schema",
                "Gives a branch another schema. Rows must fit it; what would be lost is lost only with allow_data_loss.",
            ),
            Self::StoredQueryList => {
                ("Stored queries", "The queries the owner has stored for this graph.")
            }
            Self::StoredQueryRun => {
                ("Run a stored query", "Runs one of the stored queries by name.")
            }
        }
    }

    const fn annotations(self) -> Annotations {
        let (read_only, destructive, idempotent) = match self {
            Self::GraphHealth
            | Self::GraphSnapshot
            | Self::SchemaGet
            | Self::BranchList
            | Self::CommitList
            | Self::CommitGet
            | Self::GraphQuery
            | Self::StoredQueryList => (true, false, true),
            Self::BranchCreate => (false, false, false),
            Self::GraphLoad | Self::SchemaApply => (false, true, true),
            Self::GraphMutate | Self::BranchDelete | Self::BranchMerge | Self::StoredQueryRun => {
                (false, true, false)
            }
        };
        Annotations { read_only, destructive, idempotent, open_world: false }
    }

    /// The tool as data.
    pub(crate) fn spec(self) -> ToolSpec {
        use output as out;
        match self {
            Self::GraphHealth => self.looks::<input::Nothing, out::Health>(),
            Self::GraphSnapshot => self.looks::<input::Where, out::Snapshot>(),
            Self::SchemaGet => self.looks::<input::Where, out::SchemaText>(),
            Self::BranchList => self.looks::<input::Nothing, out::Branches>(),
            Self::CommitList => self.looks::<input::Commits, out::Commits>(),
            Self::CommitGet => self.looks::<input::OneCommit, out::ShownCommit>(),
            Self::GraphQuery => self.looks::<input::Look, out::Found>(),
            Self::GraphMutate => self.changes::<input::Mutate, out::Made>("/branch"),
            Self::GraphLoad => self.changes::<input::LoadRows, out::Made>("/branch"),
            Self::BranchCreate => self.changes::<input::NewBranch, out::Made>("/name"),
            Self::BranchDelete => self.changes::<input::OneBranch, out::Made>("/branch"),
            Self::BranchMerge => self.changes::<input::Merge, out::MergeMade>("/into"),
            Self::SchemaApply => self.changes::<input::ApplySchema, out::Made>("/branch"),
            Self::StoredQueryList => self.looks::<input::StoredList, out::StoredQueries>(),
            Self::StoredQueryRun => {
                let mut spec = self.looks::<input::StoredRun, out::Found>();
                spec.effects.site = narthex_core::EffectSite::ByCall;
                spec.output_schema = Some(out::run_schema());
                spec.target = Some("/branch".to_owned());
                spec
            }
        }
    }

    fn looks<Input: JsonSchema, Output: JsonSchema>(self) -> ToolSpec {
        let (title, description) = self.said();
        ToolSpec {
            name: self.name().to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            input_schema: input_schema::<Input>(),
            output_schema: Some(output_schema::<Output>()),
            annotations: self.annotations(),
            tier: LOOKING.tier,
            effects: LOOKING.effects,
            ignored_arguments: &[],
            cost: None,
            target: None,
        }
    }

    fn changes<Input: JsonSchema, Output: JsonSchema>(self, target: &str) -> ToolSpec {
        // The least any call of it weighs; what it is done to says the rest.
        let least = changing(Tier::T1);
        ToolSpec {
            tier: least.tier,
            effects: least.effects,
            target: Some(target.to_owned()),
            ..self.looks::<Input, Output>()
        }
    }
}

/// The one tool whose calls may be large.
pub const LOAD: &str = "graph_load";

#[cfg(test)]
mod tests {
    use super::Builtin;

    #[test]
    fn every_tool_says_what_it_takes_and_gives() {
        for tool in Builtin::ALWAYS.into_iter().chain(Builtin::META) {
            let spec = tool.spec();
            let text = spec.input_schema.to_string();
            assert!(!text.contains("$ref") && !text.contains("null"), "{}: {text}", spec.name);
            assert_eq!(spec.input_schema["type"], "object", "{}", spec.name);
            assert_eq!(spec.input_schema["additionalProperties"], false, "{}", spec.name);
            let output = spec.output_schema.expect("every tool has one");
            assert_eq!(output["type"], "object", "{}: {output}", spec.name);
            if let Some(properties) = spec.input_schema["properties"].as_object() {
                for (name, property) in properties {
                    assert!(property["description"].is_string(), "{} {name}", spec.name);
                }
            }
            assert_eq!(
                spec.annotations.read_only,
                spec.name != "stored_query_run" && spec.tier == narthex_core::Tier::T0,
                "{}",
                spec.name
            );
        }
    }
}
