//! The tools that look.

use std::time::{Duration, Instant};

use narthex_core::{BranchName, Reason, Subject, Taint};
use narthex_gate::{CallContext, ToolError, ToolOutput, write_answer};
use narthex_graph::engine::Ask;
use narthex_graph::exec::{Limits, Page};
use narthex_store::{At, Commit};
use serde_json::{Map, Value};

use super::{input, output};
use crate::fault::told;
use crate::place::{Place, at, branch_named, commit_named, invalid, shape_of, taint_of};

impl Place<'_> {
    /// What a call may take: what any may, and no longer than a call lasts.
    pub(crate) fn limits(self) -> Limits {
        Limits { deadline: Some(Instant::now() + QUERY_TIME), ..self.hall.limits().clone() }
    }

    /// What the ledger says it was about.
    pub(crate) fn subject(self, commit: Option<&Commit>) -> Subject {
        let digest = commit.map(|commit| commit.id.digest());
        Subject { digest, ..Subject::one("graph", self.graph.id) }
    }

    fn answer<T: serde::Serialize>(
        self,
        output: &T,
        commit: &Commit,
    ) -> Result<ToolOutput, ToolError> {
        let answer = ToolOutput::new(write_answer(output)?);
        Ok(answer.about(taint_of(commit), self.subject(Some(commit))))
    }

    pub(crate) async fn health(self) -> Result<ToolOutput, ToolError> {
        self.hall.engine().branch(self.graph, &BranchName::main()).await.map_err(told)?;
        let health = output::Health { status: "ok", version: env!("CARGO_PKG_VERSION") };
        Ok(ToolOutput::new(write_answer(&health)?).about(Taint::CLEAN, self.subject(None)))
    }

    pub(crate) async fn snapshot(self, input: input::Where) -> Result<ToolOutput, ToolError> {
        let at = at(input.branch.as_deref(), input.snapshot.as_deref())?;
        let engine = self.hall.engine();
        let found = engine.snapshot(self.graph, &at, &self.limits()).await.map_err(told)?;
        let shown = output::Snapshot {
            commit: found.commit.id.to_string(),
            schema: found.commit.schema.to_string(),
            types: found.types.into_iter().map(Into::into).collect(),
        };
        self.answer(&shown, &found.commit)
    }

    pub(crate) async fn schema(self, input: input::Where) -> Result<ToolOutput, ToolError> {
        let at = at(input.branch.as_deref(), input.snapshot.as_deref())?;
        let engine = self.hall.engine();
        let found = engine.schema(self.graph, &at).await.map_err(told)?;
        let at = At::Commit(found.commit);
        let commit = engine.commit_at(self.graph, &at).await.map_err(told)?;
        let shown = output::SchemaText { source: found.source, commit: found.commit.to_string() };
        self.answer(&shown, &commit)
    }

    pub(crate) async fn branch_list(self, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let branches = self.hall.engine().graphs().branches(self.graph.id).await?;
        // Names that agents chose are their words.
        let untrusted = branches.iter().any(|branch| branch.owner.is_some());
        let shown = |branch| output::OneBranch::of(branch, shape_of(branch, context).own);
        let shown = output::Branches { branches: branches.iter().map(shown).collect() };
        let taint = Taint { private: true, untrusted };
        Ok(ToolOutput::new(write_answer(&shown)?).about(taint, self.subject(None)))
    }

    pub(crate) async fn commit_list(self, input: input::Commits) -> Result<ToolOutput, ToolError> {
        let branch = branch_named(input.branch.as_deref())?;
        let before = commit_named(input.before.as_deref())?;
        let limit = input.limit.unwrap_or(COMMITS);
        let engine = self.hall.engine();
        let mut found = engine.log(self.graph, &branch, before, limit + 1).await.map_err(told)?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let untrusted = found.iter().any(|commit| commit.taint.untrusted);
        let commits = found.iter().map(output::OneCommit::from).collect();
        let taint = Taint { private: true, untrusted };
        let answer = write_answer(&output::Commits { commits, more })?;
        Ok(ToolOutput::new(answer).about(taint, self.subject(found.first())))
    }

    pub(crate) async fn commit_get(self, input: input::OneCommit) -> Result<ToolOutput, ToolError> {
        let id = commit_named(Some(&input.commit))?.ok_or_else(|| invalid("no commit"))?;
        let engine = self.hall.engine();
        let found = engine.graphs().graph_commit(self.graph.id, id).await?;
        let commit = found.ok_or_else(|| told(narthex_graph::GraphError::NoCommit(id)))?;
        let (mut changes, mut more) = (None, false);
        if input.changes {
            let rows = match commit.parents.first() {
                Some(parent) => {
                    let (from, to) = (At::Commit(*parent), At::Commit(id));
                    let diff = engine.diff(self.graph, &from, &to, None, DIFF_ROWS);
                    let diff = diff.await.map_err(told)?;
                    more = diff.more;
                    diff.rows
                }
                None => Vec::new(),
            };
            changes = Some(rows);
        }
        let shown = output::ShownCommit { commit: (&commit).into(), changes, more };
        self.answer(&shown, &commit)
    }

    pub(crate) async fn query(self, input: input::Look) -> Result<ToolOutput, ToolError> {
        let at = at(input.branch.as_deref(), input.snapshot.as_deref())?;
        let page = page(input.page_size, input.cursor);
        let asked = Asked { source: &input.query, name: input.name.as_deref(), at, page };
        self.ask(asked, &input.params).await
    }

    /// Answers a query that looks, an agent's own or a stored one.
    pub(crate) async fn ask(
        self,
        asked: Asked<'_>,
        params: &Map<String, Value>,
    ) -> Result<ToolOutput, ToolError> {
        let Asked { source, name, at, page } = asked;
        let limits = self.limits();
        let ask = Ask { source, name, params, at, page, limits: &limits };
        let (answer, commit) = self.hall.engine().query(self.graph, &ask).await.map_err(told)?;
        self.answer(&output::Found::of(&answer, commit.id), &commit)
    }
}

/// A query, and where it is asked.
pub(crate) struct Asked<'a> {
    pub(crate) source: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) at: At,
    pub(crate) page: Page,
}

/// A page of an answer.
pub(crate) fn page(size: Option<u32>, cursor: Option<String>) -> Page {
    Page { size: size.unwrap_or(PAGE_ROWS), cursor }
}

/// Whose arguments are of another kind than was declared: never reached past the schema.
pub(crate) fn not_here() -> ToolError {
    ToolError::caller(Reason::InvalidArguments, "this tool takes no such call")
}

/// How long a query may take; the call that waits for it takes a little longer.
const QUERY_TIME: Duration = Duration::from_secs(20);
const COMMITS: u32 = 20;
const DIFF_ROWS: usize = 200;
/// Rows of a page, where nobody says how many: more than a model wants to read.
const PAGE_ROWS: u32 = 1_000;
