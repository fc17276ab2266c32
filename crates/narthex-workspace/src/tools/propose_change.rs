//! `propose_change`: the only way to change anything, and nothing changes until the owner says so.

use narthex_core::{
    Bound, ChangeAction, Digest, EntityType, Page, PageDraft, PageSlug, PolicyAction, Proposal,
    ProposalId, ProposalStatus, Reason, Space, Subject, Taint, Title, clean_line,
};
use narthex_gate::{Intent, Local, Staged, ToolError, ToolOutput};
use narthex_store::{Effect, fresh_uuid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does, answer};
use crate::WorkspaceConfig;
use crate::reach::Reach;

pub(crate) const DECLARED: Declared = Declared {
    name: "propose_change",
    title: "Propose a change",
    description: "Ask the owner to create, update or delete a page. Nothing changes now: the \
                  proposal waits in the owner's inbox, and `context` tells what became of it. For \
                  an update, give only the fields that change and the revision you read as \
                  base_revision. `reason` is what the owner reads first.",
    actions: &[PolicyAction::Create, PolicyAction::Update, PolicyAction::Delete],
    does: Does::Propose,
};

/// Fields the server stamps. What a client says about them is taken out, never trusted. The space
/// comes first: the companion's registry leaves it in.
pub(crate) const STAMPED: &[&str] = &[
    "space",
    "space_id",
    "agent_id",
    "applied",
    "status",
    "payload/space",
    "payload/space_id",
    "payload/agent_id",
    "payload/applied",
    "payload/status",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Entity {
    Page,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Create,
    Update,
    Delete,
}

impl From<Entity> for EntityType {
    fn from(entity: Entity) -> Self {
        match entity {
            Entity::Page => Self::Page,
        }
    }
}

impl From<Action> for ChangeAction {
    fn from(action: Action) -> Self {
        match action {
            Action::Create => Self::Create,
            Action::Update => Self::Update,
            Action::Delete => Self::Delete,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What kind of thing.
    pub(crate) entity_type: Entity,
    /// What to do with it.
    pub(crate) action: Action,
    /// The page's id or slug; for update and delete.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 240))]
    pub(crate) id: Option<String>,
    /// The page's fields; for create (at least a title) and update (those that change).
    #[serde(default)]
    #[schemars(with = "Payload")]
    pub(crate) payload: Option<Payload>,
    /// The revision you read; the current one if absent.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    pub(crate) base_revision: Option<u32>,
    /// Why, for the owner to read.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) reason: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Payload {
    /// The name in links; made from the title if absent.
    #[serde(default)]
    #[schemars(with = "String")]
    slug: Option<String>,
    /// The title.
    #[serde(default)]
    #[schemars(with = "String")]
    title: Option<String>,
    /// The whole markdown.
    #[serde(default)]
    #[schemars(with = "String")]
    body: Option<String>,
    /// Another name for body.
    #[serde(default)]
    #[schemars(with = "String")]
    body_md: Option<String>,
    /// The tags, all of them.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tags: Option<Vec<String>>,
}

impl Payload {
    fn body(&self) -> Result<Option<String>, ToolError> {
        match (&self.body, &self.body_md) {
            (Some(_), Some(_)) => Err(invalid("give body or body_md, not both")),
            (body, other) => Ok(body.clone().or_else(|| other.clone())),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The proposal's id.
    pending_change_id: String,
    /// Always false: only the owner applies.
    applied: bool,
    /// Always pending.
    status: &'static str,
    /// What kind of thing.
    entity_type: String,
    /// What it would do.
    action: String,
    /// The space it is in, as the server stamped it.
    space_id: String,
    /// The page's slug, as it would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    slug: Option<String>,
    /// The revision it was made against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    base_revision: Option<u32>,
    /// Said when the page has moved on already: applying this will be a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    warning: Option<String>,
}

/// What the change is about, found in scope.
struct Change {
    page: Option<Page>,
    base: Option<u32>,
    draft: Option<PageDraft>,
}

pub(crate) async fn stage(
    reach: &Reach<'_>,
    config: &WorkspaceConfig,
    intent: &Intent<Local>,
    input: Input,
    named: Option<&str>,
) -> Result<Staged, ToolError> {
    let reason = clean_reason(&input.reason)?;
    let asked = input.id.clone().unwrap_or_default();
    let (space, change) = match input.action {
        Action::Create => create(reach, &input, named).await?,
        Action::Update | Action::Delete => existing(reach, &input, named).await?,
    };
    let proposal = Proposal {
        id: ProposalId::from_uuid(fresh_uuid()),
        // Who and where are the gate's word, whatever the client said.
        agent: intent.context().principal.agent.id,
        space: space.id,
        entity_type: input.entity_type.into(),
        action: input.action.into(),
        page: change.page.as_ref().map(|page| page.id),
        base_revision: change.base,
        draft: change.draft,
        merge: None,
        server: None,
        reason,
        taint: intent.context().taint,
        status: ProposalStatus::Pending,
        note: None,
        created: intent.context().now,
        decided: None,
    };
    let output = Output::of(&proposal, change.page.as_ref());
    let subject = Subject {
        digest: proposal
            .draft
            .as_ref()
            .and_then(|draft| serde_json::to_value(draft).ok())
            .map(|value| Digest::of_json(&value)),
        ..Subject::one("proposal", proposal.id)
    };
    let taint = Taint { private: false, untrusted: output.tells_of(change.page.as_ref(), &asked) };
    let answer = ToolOutput::new(answer(&output)?).about(taint, subject.clone());
    let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: config.open_proposals };
    Ok(Staged { space: Some(space.id), ..Staged::new(effect, subject, answer) })
}

async fn create(
    reach: &Reach<'_>,
    input: &Input,
    named: Option<&str>,
) -> Result<(Space, Change), ToolError> {
    if input.id.is_some() || input.base_revision.is_some() {
        return Err(invalid(
            "create takes neither id nor base_revision; to change a page use update",
        ));
    }
    let Some(payload) = &input.payload else {
        return Err(invalid("create needs a payload with at least a title"));
    };
    let title = payload.title.as_deref().or(payload.slug.as_deref());
    let title = title.ok_or_else(|| invalid("create needs a title in the payload"))?;
    let slug = slug_of(payload.slug.as_deref().unwrap_or(title), payload.slug.is_some())?;
    let space = reach.one_space(named).await?;
    free(reach, &space, &slug).await?;
    let draft = draft(
        slug,
        title,
        payload.body()?.unwrap_or_default(),
        payload.tags.clone().unwrap_or_default(),
    )?;
    Ok((space, Change { page: None, base: None, draft: Some(draft) }))
}

async fn existing(
    reach: &Reach<'_>,
    input: &Input,
    named: Option<&str>,
) -> Result<(Space, Change), ToolError> {
    let id = input
        .id
        .as_deref()
        .ok_or_else(|| invalid("update and delete need the page's id or slug as id"))?;
    let (space, view) = reach.page(id, named).await?.ok_or_else(ToolError::not_found)?;
    let page = view.page;
    let base = input.base_revision.unwrap_or(page.revision);
    if base > page.revision {
        return Err(invalid(&format!(
            "base_revision {base} does not exist; the page is at {}",
            page.revision
        )));
    }
    let draft = match (input.action, &input.payload) {
        (Action::Delete, _) => None,
        (_, None) => return Err(invalid("update needs a payload with the fields that change")),
        (_, Some(payload)) => Some(updated(&page, payload)?),
    };
    if let Some(draft) = draft.as_ref().filter(|draft| draft.slug != page.draft.slug) {
        free(reach, &space, &draft.slug).await?;
    }
    Ok((space, Change { page: Some(page), base: Some(base), draft }))
}

/// A slug that no page of the space has now.
async fn free(reach: &Reach<'_>, space: &Space, slug: &PageSlug) -> Result<(), ToolError> {
    let key = narthex_core::PageKey::Slug(slug.clone());
    if reach.store.page(space.id, &key).await?.is_none() {
        return Ok(());
    }
    let message = format!(
        "a page called {slug} exists already; propose an update to it, or choose another slug"
    );
    Err(ToolError::caller(Reason::Conflict, message))
}

/// The page with the fields of the payload put in.
fn updated(page: &Page, payload: &Payload) -> Result<PageDraft, ToolError> {
    let old = &page.draft;
    let slug = match &payload.slug {
        Some(slug) => slug_of(slug, true)?,
        None => old.slug.clone(),
    };
    let title = payload.title.as_deref().unwrap_or(old.title.as_str());
    let body = payload.body()?.unwrap_or_else(|| old.body.clone());
    let tags = payload.tags.clone().unwrap_or_else(|| old.tags.clone());
    let new = draft(slug, title, body, tags)?;
    if new == *old {
        return Err(invalid("the payload changes nothing"));
    }
    Ok(new)
}

fn draft(
    slug: PageSlug,
    title: &str,
    body: String,
    tags: Vec<String>,
) -> Result<PageDraft, ToolError> {
    let title = Title::parse(title).map_err(|error| invalid(&error.to_string()))?;
    PageDraft::new(slug, title, body, tags).map_err(|error| invalid(&error.to_string()))
}

fn slug_of(text: &str, exact: bool) -> Result<PageSlug, ToolError> {
    let slug = if exact { text.parse() } else { PageSlug::from_title(text) };
    slug.map_err(|error| invalid(&error.to_string()))
}

/// Several lines are fine in a reason; characters that could play tricks on a terminal are not.
fn clean_reason(text: &str) -> Result<String, ToolError> {
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| clean_line("reason", line, Bound::REASON_CHARS))
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(&error.to_string()))?;
    if lines.is_empty() {
        return Err(invalid("reason is empty"));
    }
    Ok(lines.join("\n"))
}

fn invalid(message: &str) -> ToolError {
    ToolError::caller(Reason::InvalidArguments, message)
}

impl Output {
    /// Whether it names the page by a slug that somebody else gave it, and that the caller did not
    /// say itself.
    fn tells_of(&self, page: Option<&Page>, asked: &str) -> bool {
        let foreign = |page: &&Page| page.foreign_history || page.provenance.is_foreign();
        page.filter(foreign).is_some_and(|page| {
            let slug = page.draft.slug.as_str();
            slug != asked && self.slug.as_deref() == Some(slug)
        })
    }

    fn of(proposal: &Proposal, page: Option<&Page>) -> Self {
        let moved =
            page.filter(|page| proposal.base_revision.is_some_and(|base| base < page.revision));
        Self {
            pending_change_id: proposal.id.to_string(),
            applied: false,
            status: "pending",
            entity_type: proposal.entity_type.to_string(),
            action: proposal.action.to_string(),
            space_id: proposal.space.to_string(),
            slug: match (&proposal.draft, page) {
                (Some(draft), _) => Some(draft.slug.to_string()),
                (None, page) => page.map(|page| page.draft.slug.to_string()),
            },
            base_revision: proposal.base_revision,
            warning: moved.map(|page| {
                format!("the page is at revision {} already; read it again and propose anew, or this will be a conflict", page.revision)
            }),
        }
    }
}
