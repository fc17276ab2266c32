//! Graphs, for reading: which there are, their branches and commits, and views of them.
//!
//! A view is a read transaction of its own, so that it shows one moment. What it sees is made of
//! segments: a line up to one of its commits, the nearest first. Where the line stands at that
//! commit still, its current rows are all there is to look at, and most reads do only that;
//! where it has moved on since, what was superseded after that commit counts as well. What a nearer
//! segment has written hides what lies under it, gone or not.
//!
//! `docs` of the tables are in the migration. Lines and graphs carry a MAC over their columns: who
//! owns a branch, whether it is protected and where it stands decides something.

mod commits;
mod edges;
mod index;
mod kept;
mod layers;
mod lines;
mod own;
mod pack;
mod place;
#[cfg(test)]
mod plans;
mod rows;
mod search;
mod value;
mod view;

use async_trait::async_trait;
use narthex_core::{BranchName, CommitId, Digest, GraphId, Slug, SpaceId};
use narthex_store::{At, Branch, Commit, GraphInfo, GraphView, Graphs, LineNo, StoreError};
use sqlx::SqliteConnection;

pub(crate) use commits::{Wire, kind_word, named as commit_named};
pub(crate) use kept::KeptViews;
pub(crate) use lines::{GraphRow, Line, branch, damaged, graph_mac};
pub(crate) use pack::list;
pub(crate) use place::lineage;
pub(crate) use value::key;

use self::kept::{Lent, Place};
use crate::SqliteStore;
use crate::fault::Fault;
use crate::rows::Fields;

/// How many lines a view may be made of.
pub(crate) const MOST_LAYERS: usize = 16;

#[async_trait]
impl Graphs for SqliteStore {
    async fn graphs(&self, space: Option<SpaceId>) -> Result<Vec<GraphInfo>, StoreError> {
        lines::all_graphs(&self.readers, &self.row_key, space).await
    }

    async fn graph(&self, slug: &Slug) -> Result<Option<GraphInfo>, StoreError> {
        lines::graph_named(&self.readers, &self.row_key, slug).await
    }

    async fn branches(&self, graph: GraphId) -> Result<Vec<Branch>, StoreError> {
        lines::branches(&self.readers, &self.row_key, graph).await
    }

    async fn branch(
        &self,
        graph: GraphId,
        name: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        Ok(branch(&self.readers, &self.row_key, graph, name).await?)
    }

    async fn branch_of(&self, graph: GraphId, line: LineNo) -> Result<Option<Branch>, StoreError> {
        Ok(lines::branch_of(&self.readers, &self.row_key, graph, line).await?)
    }

    async fn graph_commit(
        &self,
        graph: GraphId,
        id: CommitId,
    ) -> Result<Option<Commit>, StoreError> {
        let mut conn = self.readers.acquire().await.map_err(Fault::Sql)?;
        Ok(commits::named(&mut conn, graph, id).await?)
    }

    async fn graph_commits(
        &self,
        graph: GraphId,
        branch: &BranchName,
        before: Option<CommitId>,
        limit: u32,
    ) -> Result<Vec<Commit>, StoreError> {
        let mut tx = self.views.begin().await.map_err(Fault::Sql)?;
        let at = At::Branch(branch.clone());
        let Some(found) = place::place(&mut tx, &self.row_key, graph, &at).await? else {
            return Ok(Vec::new());
        };
        Ok(commits::of(&mut tx, graph, &found.placed.layers, before, limit).await?)
    }

    async fn graph_schema(
        &self,
        graph: GraphId,
        schema: Digest,
    ) -> Result<Option<String>, StoreError> {
        let text = sqlx::query_scalar(
            "SELECT s.text FROM graphs g JOIN graph_schemas s ON s.graph = g.n
              WHERE g.id = ?1 AND s.digest = ?2",
        )
        .bind(graph.as_bytes().as_slice())
        .bind(schema.as_bytes().as_slice())
        .fetch_optional(&self.readers)
        .await;
        Ok(text.map_err(Fault::Sql)?)
    }

    async fn view(
        &self,
        graph: GraphId,
        at: &At,
    ) -> Result<Option<Box<dyn GraphView>>, StoreError> {
        // Taken before anything is looked at: what is committed later may be seen or not, what was
        // answered before is.
        let epoch = self.standing.graph_epoch();
        if let Some(view) = self.kept.take(graph, at, epoch) {
            return Ok(Some(Box::new(view)));
        }
        // What is begun here ends when the view is dropped.
        let mut tx = self.views.begin().await.map_err(Fault::Sql)?;
        let Some(found) = place::place(&mut tx, &self.row_key, graph, at).await? else {
            return Ok(None);
        };
        let view = Box::new(view::SqliteView::new(tx, self.row_key.clone(), found));
        Ok(Some(Box::new(Lent::new(&self.kept, Place::of(graph, at), epoch, view))))
    }
}

/// A graph that must be there, with its short key.
pub(crate) async fn known_graph(
    conn: &mut SqliteConnection,
    key: &narthex_store::RowKey,
    graph: GraphId,
) -> Result<Option<GraphRow>, Fault> {
    let row = sqlx::query(lines::GRAPH_BY_ID)
        .bind(graph.as_bytes().as_slice())
        .fetch_optional(conn)
        .await?;
    row.map(|row| GraphRow::read(Fields(&row), key)).transpose()
}
