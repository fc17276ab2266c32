//! Lines of a file, read in bundles: a few at once, on threads of their own, and given back in the
//! order they came in.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use narthex_store::{GraphInfo, StoreError};
use tokio::task::{JoinHandle, spawn_blocking};

use super::types::Types;
use crate::engine::GraphError;
use crate::load::sorted::{FileRow, Packed};
use crate::load::{LoadLine, parse};
use crate::schema::Schema;

/// What lines are read with.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) schema: Arc<Schema>,
    pub(super) types: Types,
    pub(super) graph: GraphInfo,
}

impl Reader {
    fn row(&self, line: u64, text: &str) -> Result<FileRow, GraphError> {
        match parse(&self.schema, line, text)? {
            LoadLine::Node(node) => self.types.node(&self.schema, &self.graph, line, &node),
            LoadLine::Edge(edge) => self.types.edge(&self.schema, &self.graph, line, edge),
        }
    }

    fn rows(&self, bundle: &Bundle) -> Result<Packed, GraphError> {
        let mut rows = Packed::default();
        for (line, at) in &bundle.lines {
            rows.push(&self.row(*line, bundle.text.get(at.clone()).unwrap_or_default())?);
        }
        Ok(rows)
    }
}

/// Some lines, with their numbers.
#[derive(Debug, Default)]
struct Bundle {
    text: String,
    lines: Vec<(u64, Range<usize>)>,
}

/// Lines that are being read.
#[derive(Debug)]
pub(super) struct Reading {
    reader: Arc<Reader>,
    bundle: Bundle,
    /// The first that came first.
    at_work: VecDeque<JoinHandle<Result<Packed, GraphError>>>,
    lines: u64,
}

impl Reading {
    pub(super) fn new(reader: Reader) -> Self {
        let (reader, at_work) = (Arc::new(reader), VecDeque::new());
        Self { reader, bundle: Bundle::default(), at_work, lines: 0 }
    }

    /// How many lines were taken.
    pub(super) const fn lines(&self) -> u64 {
        self.lines
    }

    /// Takes a line; gives back the rows of lines before it once enough are being read.
    pub(super) async fn take(
        &mut self,
        number: u64,
        line: &str,
    ) -> Result<Option<Packed>, GraphError> {
        self.lines += 1;
        let start = self.bundle.text.len();
        self.bundle.text.push_str(line);
        self.bundle.lines.push((number, start..self.bundle.text.len()));
        if self.bundle.text.len() < BUNDLE_BYTES {
            return Ok(None);
        }
        let (reader, bundle) = (Arc::clone(&self.reader), std::mem::take(&mut self.bundle));
        self.at_work.push_back(spawn_blocking(move || reader.rows(&bundle)));
        if self.at_work.len() < AT_WORK {
            return Ok(None);
        }
        self.first().await
    }

    /// The rows of what is still being read, some at a time; none when there are no more.
    pub(super) async fn last(&mut self) -> Result<Option<Packed>, GraphError> {
        if let Some(rows) = self.first().await? {
            return Ok(Some(rows));
        }
        if self.bundle.lines.is_empty() {
            return Ok(None);
        }
        let bundle = std::mem::take(&mut self.bundle);
        self.reader.rows(&bundle).map(Some)
    }

    pub(super) fn into_reader(self) -> Arc<Reader> {
        self.reader
    }

    async fn first(&mut self) -> Result<Option<Packed>, GraphError> {
        let Some(first) = self.at_work.pop_front() else { return Ok(None) };
        let ended = |_| GraphError::Store(StoreError::Unavailable("a load was ended".to_owned()));
        first.await.map_err(ended)?.map(Some)
    }
}

/// Bytes of lines that are read together.
const BUNDLE_BYTES: usize = 128 * 1024;
/// Bundles that are being read at once.
const AT_WORK: usize = 4;
