//! The words of Narthex as types.
//!
//! This crate holds what the rest of the house talks about: spaces, pages, agents, grants,
//! tiers, modes, ceilings, taint, proposals, decisions and what a ledger record says. It is
//! pure: no I/O, no async, no clock and no randomness. Time and ids come in as parameters.
//!
//! It must never know: a wire format of MCP or HTTP, a database, a policy language.
//!
//! To add a word: one file, the type first, its parser (`FromStr` or `parse`) beneath it, and
//! its bound as a named constant. A value that exists is valid; checking happens once, here.

mod agent;
mod approval;
mod bounds;
mod budget;
mod call;
mod canonical;
mod conversation;
mod digest;
mod effects;
mod grant;
mod graph;
mod identifier;
mod ids;
mod latch;
mod ledger;
mod links;
mod moment;
mod page;
mod proposal;
mod question;
mod reason;
mod rule;
mod run;
mod scope;
mod server;
mod slug;
mod space;
pub mod strict;
mod switch;
mod taint;
mod text;
mod tier;
mod time;
mod token;
mod tool_tiers;
mod unseen;
mod words;

pub use agent::{Agent, AgentKind, Principal};
pub use approval::{Approval, ApprovalMark, ApprovalStatus, Approver, Binding, ForCall};
pub use bounds::Bound;
pub use budget::{Budget, Cost, CostError, OutOfBounds, Overspent, Reserve, Spent, Usage};
pub use call::{RequestId, SessionId, Transport};
pub use canonical::{NotCanonical, canonical};
pub use conversation::{Conversation, ConversationSummary};
pub use digest::{Digest, ParseDigestError, canonical_json, hex};
pub use effects::{Containment, EffectSite, Effects, Reads, Sends, TakesIn};
pub use grant::{Capability, Grant, Grants};
pub use graph::{BranchName, BranchNameError, CommitId};
pub use identifier::Identifiers;
pub use ids::{
    AgentId, ApprovalId, CallId, ConversationId, GraphId, IdError, PageId, ProposalId, RevisionId,
    RunId, SpaceId, TokenId,
};
pub use latch::{Arming, Cause, Holder, Latch};
pub use ledger::{Actor, Outcome, Phase, RecordDraft, Ruled, Subject};
pub use links::wiki_links;
pub use moment::{Age, BootId, Moment};
pub use page::{
    Author, Page, PageDraft, PageKey, PageRef, PageRevision, PageSummary, PageView, Provenance,
};
pub use proposal::{ChangeAction, EntityType, MergeRequest, Proposal, ProposalStatus};
pub use question::{
    BranchAsk, BranchShape, GraphTarget, PolicyAction, Question, ServerTarget, Target,
};
pub use reason::Reason;
pub use rule::{Ruling, Standing, rule};
pub use run::{Binary, Journal, ParkedRun, RunAnswer, RunCall, RunEvent, Thrown};
pub use scope::{NoSpaceScope, Scope};
pub use server::{DefinitionKind, DefinitionName, DefinitionNameError, ServerBook, ServerStanding};
pub use slug::{PageSlug, Slug, SlugError};
pub use space::Space;
pub use switch::{Engaged, EngagedBy, ParseScopeError, Place, Reaches, SwitchScope, Switches};
pub use taint::Taint;
pub use text::{TextError, Title, clean_line};
pub use tier::{Ceiling, Consent, Mode, ParseModeError, ParseTierError, Tier};
pub use time::Timestamp;
pub use token::{TokenLabel, TokenSummary};
pub use tool_tiers::{ToolName, ToolNameError, ToolTiers};
pub use unseen::{Unseen, unseen, unseen_in, writing_needs};
