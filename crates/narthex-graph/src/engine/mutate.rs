//! Changing a graph by a query.

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, CommitKind, GraphInfo};
use serde_json::{Map, Value as Json};

use super::commit::{Content, Draft};
use super::{Engine, GraphError, Maker, Prepared, expect_head, moment};
use crate::exec::{Context, Limits, run_write};
use crate::params::bind;

/// A query that changes something.
#[derive(Debug, Clone)]
pub struct Mutation<'a> {
    /// Its text.
    pub source: &'a str,
    /// Which of several in the text.
    pub name: Option<&'a str>,
    /// What it is told.
    pub params: &'a Map<String, Json>,
    /// On which branch.
    pub branch: &'a BranchName,
    /// The commit the branch must stand at.
    pub expected: Option<CommitId>,
    /// What is said about it.
    pub message: &'a str,
    /// How much it may take.
    pub limits: &'a Limits,
}

impl Engine {
    /// Prepares what a query changes: one commit, or nothing if nothing changes.
    pub async fn mutate(
        &self,
        graph: &GraphInfo,
        ask: &Mutation<'_>,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let hold = self.holds.hold(graph.id, ask.branch).await;
        let mut looked = self.look(graph, &At::Branch(ask.branch.clone())).await?;
        expect_head(looked.view.as_ref(), ask.branch, ask.expected)?;
        let (digest, schema) = (looked.view.placed().commit.schema, looked.schema);
        let plan = self.plans.writing(ask.source, ask.name, (digest, &schema))?;
        let params = bind(&plan.params, ask.params)?;
        let context = Context {
            schema: &schema,
            salt: &graph.salt,
            params: &params,
            now: moment(self.now()),
            limits: ask.limits,
        };
        let changes = run_write(looked.view.as_mut(), &context, &plan.statements).await?;
        let message = if ask.message.is_empty() { &plan.name } else { ask.message };
        let draft = Draft {
            graph,
            branch: ask.branch,
            placed: looked.view.placed(),
            new_line: None,
            kind: CommitKind::Mutate,
            maker,
            message,
            old: &schema,
            schema: &schema,
            content: Content::Changes { changes: &changes, untyped: &[] },
            theirs: None,
            builds: Vec::new(),
        };
        self.prepare(draft, hold)
    }
}
