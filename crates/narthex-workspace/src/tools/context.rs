//! `context`: the space at a glance, and what became of the agent's own proposals.

use std::collections::BTreeMap;

use narthex_core::{
    GraphId, PageSummary, PolicyAction, Proposal, ProposalStatus, Slug, Space, Subject, Taint,
};
use narthex_gate::{CallContext, ToolError, ToolOutput};
use narthex_store::ProposalFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does, answer};
use crate::WorkspaceConfig;
use crate::reach::Reach;

pub(crate) const DECLARED: Declared = Declared {
    name: "context",
    title: "Look around",
    description: "Where you are: your space, its pages as a tree, what changed lately, your \
                  proposals that wait for the owner, and what became of your earlier ones (a \
                  rejected one says why). Call it first.",
    actions: &[PolicyAction::Context],
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The space.
    space: SpaceOut,
    /// Its pages as a tree, by the folders of their slugs.
    pages: Vec<Node>,
    /// How many pages it has; more than the tree shows if the tree was cut.
    page_count: u64,
    /// What was written last, newest first.
    recent: Vec<Recent>,
    /// Your proposals that wait for the owner.
    open_proposals: Vec<ProposalOut>,
    /// What became of your earlier ones, newest first.
    earlier_proposals: Vec<ProposalOut>,
    /// Other spaces the companion may name, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_spaces: Vec<SpaceOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SpaceOut {
    /// Its id.
    id: String,
    /// Its slug.
    slug: String,
    /// Its name.
    name: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Node {
    /// The last part of the slug.
    name: String,
    /// The page's whole slug; absent for a folder that is no page itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    slug: Option<String>,
    /// The page's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    title: Option<String>,
    /// What is in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Node>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Recent {
    /// The page's id.
    id: String,
    /// Its slug.
    slug: String,
    /// Its title.
    title: String,
    /// Its revision.
    revision: u32,
    /// When it was written.
    updated: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProposalOut {
    /// The id `propose_change` returned.
    pending_change_id: String,
    /// What kind of thing.
    entity_type: String,
    /// What it would do.
    action: String,
    /// The slug it is about, where it has one: a page's, a graph's, or a server's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    slug: Option<String>,
    /// For a merge, its branches: the one that is brought in, and the one it is brought into.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    merge: Option<String>,
    /// pending, applied, rejected or conflict.
    status: String,
    /// What the owner said, or what it conflicted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    note: Option<String>,
    /// When it was made.
    created: String,
}

pub(crate) async fn run(
    reach: &Reach<'_>,
    config: &WorkspaceConfig,
    caller: &CallContext,
    named: Option<&str>,
) -> Result<ToolOutput, ToolError> {
    let mut spaces = reach.spaces(named).await?.into_iter();
    let space = spaces.next().ok_or_else(ToolError::not_found)?;
    let store = reach.store;
    let pages = store.pages(space.id, None, config.tree_pages).await?;
    let recent = store.recent_pages(space.id, config.recent_pages).await?;
    let untrusted = pages.iter().chain(&recent).any(|page| page.foreign_history);
    let own = |statuses: Vec<ProposalStatus>, limit| ProposalFilter {
        space: Some(space.id),
        agent: Some(caller.principal.agent.id),
        statuses,
        limit,
    };
    let open = store.proposals(&own(vec![ProposalStatus::Pending], config.open_proposals)).await?;
    let decided = vec![ProposalStatus::Applied, ProposalStatus::Rejected, ProposalStatus::Conflict];
    let earlier = store.proposals(&own(decided, config.earlier_proposals)).await?;
    let named = graphs_of(reach, &space, open.iter().chain(&earlier)).await?;
    // What a merge conflicted with is named after rows that anybody may have written.
    let untrusted = untrusted || earlier.iter().any(names_rows);
    let output = Output {
        page_count: store.page_count(space.id).await?,
        pages: tree(&pages),
        recent: recent.iter().map(Recent::of).collect(),
        open_proposals: open.iter().map(|one| ProposalOut::of(one, &named)).collect(),
        earlier_proposals: earlier.iter().map(|one| ProposalOut::of(one, &named)).collect(),
        other_spaces: spaces.map(|other| SpaceOut::of(&other)).collect(),
        space: SpaceOut::of(&space),
    };
    let taint = Taint { private: true, untrusted };
    Ok(ToolOutput::new(answer(&output)?).about(taint, Subject::one("space", space.id)))
}

/// The names of the graphs that proposals are about.
async fn graphs_of(
    reach: &Reach<'_>,
    space: &Space,
    mut proposals: impl Iterator<Item = &Proposal>,
) -> Result<BTreeMap<GraphId, Slug>, ToolError> {
    if !proposals.any(|proposal| proposal.merge.is_some()) {
        return Ok(BTreeMap::new());
    }
    let graphs = reach.store.graphs(Some(space.id)).await?;
    Ok(graphs.into_iter().map(|graph| (graph.id, graph.slug)).collect())
}

fn names_rows(proposal: &Proposal) -> bool {
    proposal.merge.is_some() && proposal.status == ProposalStatus::Conflict
}

/// Folders within folders, by the parts of the slugs.
fn tree(pages: &[PageSummary]) -> Vec<Node> {
    #[derive(Default)]
    struct Folder<'a> {
        page: Option<&'a PageSummary>,
        inside: BTreeMap<&'a str, Folder<'a>>,
    }

    fn nodes(folder: Folder<'_>) -> Vec<Node> {
        let node = |(name, inner): (&str, Folder<'_>)| Node {
            name: name.to_owned(),
            slug: inner.page.map(|page| page.slug.to_string()),
            title: inner.page.map(|page| page.title.to_string()),
            children: nodes(inner),
        };
        folder.inside.into_iter().map(node).collect()
    }

    let mut root = Folder::default();
    for page in pages {
        let parts = page.slug.as_str().split('/');
        let place = parts.fold(&mut root, |folder, part| folder.inside.entry(part).or_default());
        place.page = Some(page);
    }
    nodes(root)
}

impl SpaceOut {
    fn of(space: &Space) -> Self {
        Self {
            id: space.id.to_string(),
            slug: space.slug.to_string(),
            name: space.name.to_string(),
        }
    }
}

impl Recent {
    fn of(page: &PageSummary) -> Self {
        Self {
            id: page.id.to_string(),
            slug: page.slug.to_string(),
            title: page.title.to_string(),
            revision: page.revision,
            updated: page.updated.to_string(),
        }
    }
}

impl ProposalOut {
    fn of(proposal: &Proposal, graphs: &BTreeMap<GraphId, Slug>) -> Self {
        let page = proposal.draft.as_ref().map(|draft| draft.slug.to_string());
        let merge = proposal.merge.as_ref();
        let graph = merge.and_then(|merge| graphs.get(&merge.graph)).map(ToString::to_string);
        Self {
            pending_change_id: proposal.id.to_string(),
            entity_type: proposal.entity_type.to_string(),
            action: proposal.action.to_string(),
            slug: page.or(graph).or_else(|| proposal.server.as_ref().map(ToString::to_string)),
            merge: merge.map(|merge| format!("{} → {}", merge.from, merge.into)),
            status: proposal.status.to_string(),
            note: proposal.note.clone(),
            created: proposal.created.to_string(),
        }
    }
}
