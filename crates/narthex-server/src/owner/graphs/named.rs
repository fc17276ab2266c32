//! What people call graphs, branches, commits and places.

use narthex_core::{BranchName, CommitId, Slug, Timestamp};
use narthex_store::{At, GraphInfo};

use super::super::desk::{invalid, not_found};
use super::super::{Desk, OwnerError};
use super::trouble::Stop;

impl Desk {
    /// A graph by its slug.
    pub(super) async fn graph_named(&self, name: &str) -> Result<GraphInfo, OwnerError> {
        let found = match name.parse::<Slug>() {
            Ok(slug) => self.graphs.engine().graphs().graph(&slug).await?,
            Err(_) => None,
        };
        found.ok_or_else(|| not_found("graph", name, "narthex graph list"))
    }

    /// A place in a graph's history: a branch, a branch at a time, or a commit. A branch goes
    /// before a commit that is called like it.
    pub(super) async fn place(&self, graph: &GraphInfo, text: Option<&str>) -> Result<At, Stop> {
        let Some(text) = text else { return Ok(At::Branch(BranchName::main())) };
        if let Some((name, time)) = text.split_once('@') {
            let name = branch(Some(name).filter(|name| !name.is_empty()))?;
            return Ok(At::Time(name, moment(time)?));
        }
        if is_hex(text) {
            let name: Option<BranchName> = text.parse().ok();
            let there = match &name {
                Some(name) => self.graphs.engine().graphs().branch(graph.id, name).await?,
                None => None,
            };
            if there.is_none() {
                return Ok(At::Commit(self.commit_named(graph, text).await?));
            }
        }
        Ok(At::Branch(branch(Some(text))?))
    }

    /// A commit by its id, or by the first characters of it.
    pub(super) async fn commit_named(
        &self,
        graph: &GraphInfo,
        text: &str,
    ) -> Result<CommitId, Stop> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let list = format!("narthex graph log {}", graph.slug);
        if !is_hex(text) {
            return Err(not_found("commit", text, &list).into());
        }
        let mut found: Option<CommitId> = None;
        let graphs = self.graphs.engine().graphs();
        for branch in graphs.branches(graph.id).await? {
            let (mut before, mut looked_at) = (None, 0);
            while looked_at < LOOKED_AT {
                let page = graphs.graph_commits(graph.id, &branch.name, before, PAGE).await?;
                let Some(last) = page.last() else { break };
                before = Some(last.id);
                looked_at += page.len();
                for commit in page.iter().filter(|one| one.id.to_string().starts_with(text)) {
                    match found {
                        Some(other) if other != commit.id => {
                            let message = format!("several commits begin with {text}: write more");
                            return Err(invalid(message).into());
                        }
                        _ => found = Some(commit.id),
                    }
                }
            }
        }
        found.ok_or_else(|| not_found("commit", text, &list).into())
    }
}

/// A branch by its name; `main` if none is given.
pub(super) fn branch(name: Option<&str>) -> Result<BranchName, OwnerError> {
    name.map_or_else(|| Ok(BranchName::main()), |name| name.parse().map_err(invalid))
}

fn moment(text: &str) -> Result<Timestamp, OwnerError> {
    // A day is its first moment.
    let whole = if text.len() == DAY { format!("{text}T00:00:00Z") } else { text.to_owned() };
    Timestamp::try_from(whole).map_err(|_| {
        invalid(format!(
            "{text:?} is no time; write it like 2026-01-31T12:00:00Z, or a day like 2026-01-31"
        ))
    })
}

fn is_hex(text: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Characters of a commit's id that name it.
const SHORTEST: usize = 8;
const LONGEST: usize = 64;
const DAY: usize = 10;
/// Commits of one branch that are looked at for the first characters of one.
const LOOKED_AT: usize = 20_000;
const PAGE: u32 = 500;
