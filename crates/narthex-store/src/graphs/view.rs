//! A look at a graph: one moment of one line, and what lies under it.

use std::fmt::Debug;

use async_trait::async_trait;
use narthex_core::Digest;

use super::{Commit, LineNo, RowNo, Seen, StoredRow, Tag};
use crate::StoreError;

/// One line's part of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// The line.
    pub line: LineNo,
    /// Up to which of its commits.
    pub upto: u64,
}

/// Where a view stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The commit that is looked at.
    pub commit: Commit,
    /// The line that a change would be made on, and its last commit there (0: none of its own).
    pub line: LineNo,
    /// See [`Placed::line`].
    pub head: u64,
    /// Its own line first, then what it was forked from, and so on.
    pub layers: Vec<Layer>,
}

/// Which end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where it begins.
    From,
    /// Where it ends.
    To,
}

/// What is looked up in an index.
///
/// In any one index the values are all texts, compared by their bytes, or all whole numbers of 64
/// bits, or all doubles; nothing else comes. Whoever fills an index brings what it holds into such a
/// form that this order is the one that is meant (whole numbers that need 64 bits without a sign are
/// texts of twenty digits). No text has a NUL in it. A row may be in an index more than once, under
/// different values, and is found once.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexRange {
    /// Any of these.
    Any(Vec<serde_json::Value>),
    /// From here to there, where given, each with whether the end itself is in it.
    Between {
        /// The lower end.
        low: Option<(serde_json::Value, bool)>,
        /// The upper end.
        high: Option<(serde_json::Value, bool)>,
    },
    /// Texts that begin like this.
    Prefix(String),
}

/// One moment of a graph. Whatever is committed while it is held, it shows the same.
///
/// Rows come as they are visible: the version of the nearest line that has one, not shadowed, not
/// gone. In no order, unless said. `limit` is a bound on what is returned, for callers that page.
#[async_trait]
pub trait GraphView: Debug + Send {
    /// Where it stands.
    fn placed(&self) -> &Placed;

    /// These rows, as far as they are there.
    async fn rows(&mut self, tag: Tag, rows: &[RowNo]) -> Result<Vec<StoredRow>, StoreError>;

    /// Rows of a type in the order of their numbers, after this one.
    async fn scan(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError>;

    /// Edges of a type that begin (or end) at these nodes. Without `bodies` the bodies are empty
    /// texts, which is far quicker where only the ends matter.
    async fn edges(
        &mut self,
        tag: Tag,
        side: Side,
        of: &[RowNo],
        bodies: bool,
    ) -> Result<Vec<StoredRow>, StoreError>;

    /// All edges of a type, without their bodies, a page at a time in the order of their numbers.
    async fn scan_edges(
        &mut self,
        tag: Tag,
        after: Option<RowNo>,
        limit: u32,
    ) -> Result<Vec<StoredRow>, StoreError>;

    /// Rows that an index has in a range. None if some line under this view has no such index:
    /// then the rows must be scanned.
    async fn index(
        &mut self,
        index: Tag,
        range: &IndexRange,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError>;

    /// Rows whose text has all of these words (or, with `prefix`, words that begin so), in the
    /// order of their numbers. How well they match is not a store's to say: what it counts spans
    /// more than one place in a graph's history shows. None as for [`GraphView::index`].
    async fn search(
        &mut self,
        index: Tag,
        words: &[String],
        prefix: bool,
        limit: u32,
    ) -> Result<Option<Vec<RowNo>>, StoreError>;

    /// Every row that was written on a line after one commit and up to another, for each of these.
    async fn touched(
        &mut self,
        spans: &[(LineNo, u64, u64)],
    ) -> Result<Vec<(Tag, RowNo)>, StoreError>;

    /// What each of these lines itself held of these rows at a commit of its own: the version last
    /// written on it, gone or not; nothing where it never wrote any.
    async fn writes(
        &mut self,
        lines: &[Layer],
        rows: &[(Tag, RowNo)],
    ) -> Result<Vec<StoredRow>, StoreError>;

    /// What commits had seen, by line and number, in the order they are asked for.
    async fn seen(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Seen>, StoreError>;

    /// The digests of the schemas that commits hold to, by line and number, in the order they are
    /// asked for.
    async fn schemas(&mut self, commits: &[(LineNo, u64)]) -> Result<Vec<Digest>, StoreError>;
}
