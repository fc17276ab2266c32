//! What happened to a graph: its commits, and what differs between two places.

use narthex_core::Actor;
use narthex_graph::engine::ShownDiff;
use narthex_graph::merge::RowId;
use narthex_store::{Commit, RowNo, Tag};
use serde_json::{Value as Json, json};

use super::super::desk::invalid;
use super::super::{CommitShown, Desk, DiffPage, DiffRow, GraphReply};
use super::named;
use super::schema::word;
use super::trouble::Stop;

impl Desk {
    pub(super) async fn graph_log(
        &self,
        graph: &str,
        branch: Option<&str>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let branch = named::branch(branch)?;
        let before = match before {
            Some(text) => Some(self.commit_named(&graph, text).await?),
            None => None,
        };
        let limit = limit.clamp(1, MAX_COMMITS);
        let commits = self.graphs.engine().log(&graph, &branch, before, limit).await?;
        Ok(GraphReply::Commits(commits.into_iter().map(CommitShown::from).collect()))
    }

    pub(super) async fn graph_diff(
        &self,
        graph: &str,
        from: &str,
        to: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let from = self.place(&graph, Some(from)).await?;
        let to = self.place(&graph, Some(to)).await?;
        let after = after.map(row_id).transpose()?;
        let limit = usize::try_from(limit.clamp(1, MAX_DIFFS)).unwrap_or(1);
        let answer = self.graphs.engine().diff(&graph, &from, &to, after, limit).await?;
        let mut page = DiffPage { from: answer.from, to: answer.to, rows: Vec::new(), next: None };
        let (mut bytes, mut left) = (0, answer.rows.len());
        for row in answer.rows {
            left -= 1;
            let (id, shown) = (row.id, DiffRow::from(row));
            bytes += size(shown.before.as_ref()) + size(shown.after.as_ref());
            page.rows.push(shown);
            // What is left out for its size is on the next page.
            if (left > 0 && bytes >= PAGE_BYTES) || (left == 0 && answer.more) {
                page.next = Some(format!("{}.{}", id.0.0, id.1.0));
                break;
            }
        }
        Ok(GraphReply::Diff(page))
    }
}

impl From<Commit> for CommitShown {
    fn from(commit: Commit) -> Self {
        Self {
            id: commit.id,
            parents: commit.parents,
            kind: word(commit.kind),
            by: match commit.actor {
                Actor::Agent { slug, .. } => format!("agent {slug}"),
                Actor::Owner => "owner".to_owned(),
                Actor::House => "house".to_owned(),
                Actor::Nobody => "nobody".to_owned(),
            },
            message: commit.message,
            at: commit.at,
            rows: commit.rows,
        }
    }
}

impl From<ShownDiff> for DiffRow {
    fn from(diff: ShownDiff) -> Self {
        Self {
            change: word(diff.change),
            name: diff
                .row
                .as_ref()
                .map_or_else(|| "a row of a type that is gone".to_owned(), ToString::to_string),
            row: json!(diff.row),
            before: diff.before.map(Json::Object),
            after: diff.after.map(Json::Object),
            properties: diff.properties,
        }
    }
}

fn size(json: Option<&Json>) -> usize {
    json.map_or(0, |json| json.to_string().len())
}

fn row_id(text: &str) -> Result<RowId, Stop> {
    let read = || {
        let (tag, row) = text.split_once('.')?;
        Some((Tag(tag.parse().ok()?), RowNo(row.parse().ok()?)))
    };
    let wrong = || invalid("this is no place in a diff; use the `next` of a page as it is");
    Ok(read().ok_or_else(wrong)?)
}

/// Commits of one page.
const MAX_COMMITS: u32 = 500;
/// Rows of one page, and about its size.
const MAX_DIFFS: u32 = 200;
const PAGE_BYTES: usize = 4 * 1024 * 1024;
