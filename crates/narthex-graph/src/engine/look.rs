//! Looking at a graph.

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, Commit, GraphInfo};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{Engine, GraphError, moment};
use crate::exec::{Answer, Context, Cursor, Limits, Page, RowKind, run_read};
use crate::history::{DiffKind, diff};
use crate::merge::{Names, RowId, RowName, Shown};
use crate::params::bind;

/// A query that looks.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// Its text.
    pub source: &'a str,
    /// Which of several in the text.
    pub name: Option<&'a str>,
    /// What it is told.
    pub params: &'a Map<String, Json>,
    /// Where to look.
    pub at: At,
    /// Which part of the answer.
    pub page: Page,
    /// How much it may take.
    pub limits: &'a Limits,
}

/// What differs between two places in a graph's history.
#[derive(Debug, Clone, Serialize)]
pub struct DiffAnswer {
    /// The first commit.
    pub from: CommitId,
    /// The second.
    pub to: CommitId,
    /// Rows that differ, in a fixed order.
    pub rows: Vec<ShownDiff>,
    /// Whether there are more.
    pub more: bool,
}

/// A row that differs.
#[derive(Debug, Clone, Serialize)]
pub struct ShownDiff {
    /// What became of it.
    pub change: DiffKind,
    /// Its name; none if neither schema has its type any more.
    pub row: Option<RowName>,
    /// Where it is, for whoever goes on from here.
    #[serde(skip)]
    pub id: RowId,
    /// As it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Shown>,
    /// As it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Shown>,
    /// The properties that differ.
    pub properties: Vec<String>,
}

/// What is somewhere in a graph's history.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Where.
    pub commit: Commit,
    /// What is there, by type.
    pub types: Vec<TypeCount>,
}

/// How many rows of a type there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeCount {
    /// The type.
    pub name: String,
    /// `node` or `edge`.
    pub kind: &'static str,
    /// How many.
    pub rows: u64,
}

impl Engine {
    /// Answers a query, and says at which commit. A page after the first is of the commit of the
    /// first, wherever its branch has gone since.
    pub async fn query(
        &self,
        graph: &GraphInfo,
        ask: &Ask<'_>,
    ) -> Result<(Answer, Commit), GraphError> {
        let at = match &ask.page.cursor {
            Some(token) => At::Commit(Cursor::parse(token)?.commit()),
            None => ask.at.clone(),
        };
        let mut looked = self.look(graph, &at).await?;
        let (digest, schema) = (looked.view.placed().commit.schema, &looked.schema);
        let plan = self.plans.reading(ask.source, ask.name, (digest, schema))?;
        let params = bind(&plan.params, ask.params)?;
        let context = Context {
            schema,
            salt: &graph.salt,
            params: &params,
            now: moment(self.now()),
            limits: ask.limits,
        };
        let answer = run_read(looked.view.as_mut(), &context, &plan.read, &ask.page).await?;
        Ok((answer, looked.view.placed().commit.clone()))
    }

    /// Where a place in a graph's history is.
    pub async fn commit_at(&self, graph: &GraphInfo, at: &At) -> Result<Commit, GraphError> {
        Ok(self.look(graph, at).await?.view.placed().commit.clone())
    }

    /// What is there: how many rows of each type.
    pub async fn snapshot(
        &self,
        graph: &GraphInfo,
        at: &At,
        limits: &Limits,
    ) -> Result<Snapshot, GraphError> {
        let mut looked = self.look(graph, at).await?;
        let schema = std::sync::Arc::clone(&looked.schema);
        let mut scanned = 0;
        let mut types = Vec::new();
        for (tag, kind) in super::schema::types(&schema) {
            let (mut rows, mut after) = (0, None);
            loop {
                limits.go_on()?;
                let page = looked.view.scan(tag, after, COUNTED).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.row);
                rows += page.len() as u64;
                scanned += page.len() as u64;
                limits.within(crate::exec::Bound::Scanned, scanned)?;
                tokio::task::yield_now().await;
            }
            let (name, kind) = match kind {
                RowKind::Node(no) => (schema.nodes.get(no.0).map(|of| of.name.clone()), "node"),
                RowKind::Edge(no) => (schema.edges.get(no.0).map(|of| of.name.clone()), "edge"),
            };
            types.push(TypeCount { name: name.unwrap_or_default(), kind, rows });
        }
        Ok(Snapshot { commit: looked.view.placed().commit.clone(), types })
    }

    /// Commits as a branch sees them, newest first.
    pub async fn log(
        &self,
        graph: &GraphInfo,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, GraphError> {
        self.branch(graph, branch).await?;
        Ok(self.graphs.graph_commits(graph.id, branch, before, limit).await?)
    }

    /// What differs between two places, at most so many rows.
    pub async fn diff(
        &self,
        graph: &GraphInfo,
        from: &At,
        to: &At,
        after: Option<RowId>,
        limit: usize,
    ) -> Result<DiffAnswer, GraphError> {
        let mut first = self.look(graph, from).await?;
        let mut second = self.look(graph, to).await?;
        let page = diff(first.view.as_mut(), second.view.as_mut(), after, limit).await?;
        let (was, is) = (Names::of(&first.schema), Names::of(&second.schema));
        let shown = |row: &crate::history::RowDiff| {
            let slots: Vec<String> = row.properties().into_iter().map(|of| of.slot).collect();
            let after_name = row.after.as_ref().and_then(|body| is.name(row.tag, body));
            let before_name = || row.before.as_ref().and_then(|body| was.name(row.tag, body));
            ShownDiff {
                change: row.kind(),
                row: after_name.or_else(before_name),
                id: (row.tag, row.row),
                before: row.before.as_ref().map(|body| was.show(row.tag, body)),
                after: row.after.as_ref().map(|body| is.show(row.tag, body)),
                properties: is.properties(row.tag, &slots),
            }
        };
        Ok(DiffAnswer {
            from: first.view.placed().commit.id,
            to: second.view.placed().commit.id,
            rows: page.rows.iter().map(shown).collect(),
            more: page.next.is_some(),
        })
    }
}

/// Rows that are counted at once.
const COUNTED: u32 = 4_096;
