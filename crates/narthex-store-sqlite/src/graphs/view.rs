//! A view: a read transaction, and where it stands.

use std::collections::HashMap;
use std::sync::Arc;

use narthex_store::{Placed, RowKey};
use sqlx::{AssertSqlSafe, Sqlite, Transaction};

use super::layers::{Layers, Segment};
use super::place::Found;
use crate::fault::Fault;

/// One moment of a graph.
pub(super) struct SqliteView {
    pub(super) tx: Transaction<'static, Sqlite>,
    pub(super) key: RowKey,
    pub(super) placed: Arc<Placed>,
    /// The graph's short key.
    pub(super) graph: i64,
    pub(super) segments: Vec<Segment>,
    /// The indexes that came into being on the view's lines, once they were asked for.
    pub(super) built: Option<HashMap<(i64, i64), (i64, bool)>>,
    /// The heads of lines of this graph that were asked for; none if it is not of this graph.
    pub(super) heads: HashMap<i64, Option<i64>>,
}

impl std::fmt::Debug for SqliteView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteView").field("placed", &self.placed).finish_non_exhaustive()
    }
}

/// What goes into a statement besides the layers.
pub(super) enum Given {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl SqliteView {
    pub(super) fn new(tx: Transaction<'static, Sqlite>, key: RowKey, found: Found) -> Self {
        let Found { placed, graph, segments } = found;
        Self {
            tx,
            key,
            placed: Arc::new(placed),
            graph,
            segments,
            built: None,
            heads: HashMap::new(),
        }
    }

    pub(super) fn lines(&self) -> Vec<i64> {
        self.segments.iter().map(|segment| segment.line).collect()
    }

    /// Runs a statement over all layers that answers with one text. The segments' parameters come
    /// after those given.
    pub(super) async fn packed(
        &mut self,
        given: Vec<Given>,
        sql: impl FnOnce(Layers<'_>) -> String,
    ) -> Result<String, Fault> {
        if self.segments.is_empty() {
            return Ok(String::new());
        }
        let layers = Layers { segments: &self.segments, before: given.len() };
        let mut query = sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(sql(layers)));
        for value in given {
            query = match value {
                Given::Number(number) => query.bind(number),
                Given::Text(text) => query.bind(text),
                Given::Bytes(bytes) => query.bind(bytes),
            };
        }
        for segment in &self.segments {
            query = query.bind(segment.line).bind(segment.upto);
        }
        Ok(query.fetch_one(&mut *self.tx).await?.unwrap_or_default())
    }
}
