//! The desk: one request in, one reply out, and a record of everything that changed.

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use narthex_core::{
    Actor, Agent, CallId, Outcome, Phase, Reason, RecordDraft, Ruled, Slug, Space, SpaceId,
    Subject, Timestamp, Transport,
};
use narthex_gate::{Gate, ReadySurface, SecretKey};
use narthex_graph_surface::GraphHall;
use narthex_servers::hall::ServerHall;
use narthex_store::{Committed, Effect, Refused, Store, StoreError, UnitOfWork, fresh_uuid};

use super::graphs::Loads;
use super::{OwnerError, Reply, Request, Trouble};
use crate::code_rooms::CodeRooms;
use crate::{StopFile, Watched};

/// Where an owner's requests are carried out.
#[derive(Debug, Clone)]
pub struct Desk {
    pub(super) gate: Gate,
    pub(super) workspace: Arc<ReadySurface>,
    pub(super) companion: Arc<ReadySurface>,
    pub(super) graphs: Arc<GraphHall>,
    pub(super) servers: ServerHall,
    pub(super) code: Option<Arc<CodeRooms>>,
    pub(super) loads: Loads,
    pub(super) token_key: SecretKey,
    pub(super) holder: Arc<str>,
    pub(super) mcp_url: Arc<OnceLock<String>>,
    pub(super) stop_file: StopFile,
    pub(super) followers: Arc<OnceLock<Watched>>,
}

impl Desk {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the house")]
    pub(crate) fn new(
        gate: Gate,
        [workspace, companion]: [Arc<ReadySurface>; 2],
        graphs: Arc<GraphHall>,
        servers: ServerHall,
        code: Option<Arc<CodeRooms>>,
        token_key: SecretKey,
        holder: String,
        stop_file: StopFile,
    ) -> Self {
        let (mcp_url, followers) = (Arc::default(), Arc::default());
        let (holder, loads) = (holder.into(), Loads::default());
        Self {
            gate,
            workspace,
            companion,
            graphs,
            servers,
            code,
            loads,
            token_key,
            holder,
            mcp_url,
            stop_file,
            followers,
        }
    }

    /// The desk as one connection sees it: what it leaves half done goes with it.
    #[must_use]
    pub fn visit(&self) -> Self {
        Self { loads: self.loads.another(), ..self.clone() }
    }

    /// Forgets what a connection left half done.
    pub async fn tidy_up(&self) {
        self.loads.abandon().await;
    }

    /// Says where agents connect, once the door is open.
    pub fn announce(&self, mcp_url: &str) {
        // The door opens once; a second announcement would be the same.
        let _ = self.mcp_url.set(mcp_url.to_owned());
    }

    /// Says who follows the ledger, for `status`.
    pub fn watch(&self, followers: Watched) {
        // They are started once.
        let _ = self.followers.set(followers);
    }

    /// The owner's token, for the ready line of a demo.
    pub fn owner_token_in_clear(&self) -> String {
        narthex_gate::owner_token_in_clear(&self.token_key)
    }

    /// Carries out a request.
    pub async fn handle(&self, request: Request) -> Result<Reply, OwnerError> {
        match request {
            Request::SpaceAdd { slug, name } => self.space_add(&slug, name.as_deref()).await,
            Request::SpaceList => self.space_list().await,
            Request::SpaceShow { space } => self.space_show(&space).await,
            Request::PageAdd { space, slug, title, body, tags } => {
                self.page_add(&space, slug.as_deref(), &title, body, tags).await
            }
            Request::PageEdit { space, page, base, slug, title, body, tags } => {
                let edit = super::pages::Edit { base, slug, title, body, tags };
                self.page_edit(&space, &page, edit).await
            }
            Request::PageShow { space, page } => self.page_show(&space, &page).await,
            Request::PageHistory { space, page } => self.page_history(&space, &page).await,
            Request::PageList { space, after, limit } => {
                self.page_list(&space, after.as_deref(), limit).await
            }
            Request::PageDelete { space, page } => self.page_delete(&space, &page).await,
            Request::PageMove { space, page, to } => self.page_move(&space, &page, &to).await,
            Request::PageImport { space, pages } => self.page_import(&space, pages).await,
            Request::AgentAdd { slug, name, space, model, grants, ceiling } => {
                let new = super::agents::NewAgent { slug, name, space, model, grants, ceiling };
                self.agent_add(new).await
            }
            Request::AgentList => self.agent_list().await,
            Request::AgentShow { agent } => self.agent_show(&agent).await,
            Request::AgentDisable { agent, disabled } => self.agent_disable(&agent, disabled).await,
            Request::TokenCreate { agent, label, expires_in } => {
                self.token_create(&agent, label.as_deref(), expires_in).await
            }
            Request::TokenList { agent } => self.token_list(agent.as_deref()).await,
            Request::TokenRevoke { token } => self.token_revoke(&token).await,
            Request::InboxList { space, statuses, limit } => {
                self.inbox_list(space.as_deref(), statuses, limit).await
            }
            Request::InboxShow { proposal } => self.inbox_show(&proposal).await,
            Request::InboxApprove { proposal } => self.inbox_approve(&proposal, &[]).await,
            Request::InboxResolve { proposal, resolutions } => {
                self.inbox_approve(&proposal, &resolutions).await
            }
            Request::InboxReject { proposal, reason } => {
                self.inbox_reject(&proposal, &reason).await
            }
            Request::ConversationAdd { title, body } => self.conversation_add(&title, body).await,
            Request::ConversationList { limit } => self.conversation_list(limit).await,
            Request::ConversationShow { conversation } => {
                self.conversation_show(&conversation).await
            }
            Request::PolicyExplain { agent, tool, action, entity_type, space } => {
                let about = super::policy::About { tool, action, entity_type, space };
                self.policy_explain(&agent, about).await
            }
            Request::LedgerTail { count } => self.ledger_tail(count).await,
            Request::LedgerRead { from, limit } => self.ledger_read(from, limit).await,
            Request::Approval(request) => self.approval(request).await,
            Request::Switch(request) => self.switch(request).await,
            Request::Setting(request) => self.setting(request).await,
            Request::Taint(request) => self.taint(request).await,
            Request::Ledger(request) => self.ledger(request).await,
            Request::Graph(request) => self.graph(request).await,
            Request::Server(request) => self.server(request).await,
            Request::Code(request) => self.code(request).await,
            Request::Status => self.status().await,
            Request::Check => self.checkup().await,
            Request::Companion { space } => self.companion(space.as_deref()).await,
            Request::StdioAgent { agent } => self.stdio_agent(&agent).await,
        }
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.gate.store()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.gate.clock().now()
    }

    /// Changes something and records that the owner did, in one transaction.
    pub(super) async fn change(
        &self,
        action: &str,
        space: Option<SpaceId>,
        subject: Subject,
        effect: Effect,
    ) -> Result<Committed, StoreError> {
        let record = owner_record(action, space, subject, Outcome::Ok, Reason::OwnerAction);
        self.store().commit(UnitOfWork::effect(effect, record)).await
    }

    /// A space by slug or id.
    pub(super) async fn space_named(&self, name: &str) -> Result<Space, OwnerError> {
        let found = match (name.parse::<SpaceId>(), name.parse::<Slug>()) {
            (Ok(id), _) => self.store().space(id).await?,
            (_, Ok(slug)) => self.store().space_by_slug(&slug).await?,
            _ => None,
        };
        found.ok_or_else(|| not_found("space", name, "narthex space list"))
    }

    /// An agent by slug or id.
    pub(super) async fn agent_named(&self, name: &str) -> Result<Agent, OwnerError> {
        let found = match (name.parse(), name.parse::<Slug>()) {
            (Ok(id), _) => self.store().agent(id).await?,
            (_, Ok(slug)) => self.store().agent_by_slug(&slug).await?,
            _ => None,
        };
        found.ok_or_else(|| not_found("agent", name, "narthex agent list"))
    }
}

/// The record of something an owner did (or tried).
pub(super) fn owner_record(
    action: &str,
    space: Option<SpaceId>,
    subject: Subject,
    outcome: Outcome,
    reason: Reason,
) -> RecordDraft {
    let decision = if outcome == Outcome::Refused { Ruled::Refuse } else { Ruled::Allow };
    RecordDraft {
        space,
        decision,
        reason,
        outcome,
        subject,
        ..RecordDraft::new(
            Phase::Owner,
            CallId::from_uuid(fresh_uuid()),
            Actor::Owner,
            Transport::Local,
            action,
        )
    }
}

pub(super) fn not_found(what: &str, name: &str, list: &str) -> OwnerError {
    let name: String = name.chars().take(80).collect();
    OwnerError {
        kind: Trouble::NotFound,
        message: format!("no {what} {name:?}; see them with: {list}"),
    }
}

pub(super) fn invalid(error: impl Display) -> OwnerError {
    OwnerError { kind: Trouble::Invalid, message: error.to_string() }
}

pub(super) fn conflict(message: impl Display) -> OwnerError {
    OwnerError { kind: Trouble::Conflict, message: message.to_string() }
}

impl From<StoreError> for OwnerError {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Refused(Refused::NotFound(_)) => Trouble::NotFound,
            StoreError::Refused(Refused::AgentInactive | Refused::TokenDead) => Trouble::Invalid,
            StoreError::Refused(_) => Trouble::Conflict,
            StoreError::Unavailable(_) => Trouble::Unavailable,
            StoreError::Damaged(_) => Trouble::Internal,
        };
        Self { kind, message: error.to_string() }
    }
}
