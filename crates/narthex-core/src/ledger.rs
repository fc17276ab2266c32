//! What a ledger record says. How it is framed, chained and kept is the store's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Agent, AgentId, ApprovalMark, CallId, Cost, Digest, Reason, RequestId, Reserve, RunId,
    SessionId, Slug, SpaceId, Taint, Tier, TokenId, Transport,
};

/// Which step of a call a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// An observation: decision and outcome in one.
    Observed,
    /// The decision to act, before the effect.
    Intent,
    /// What came of an intent.
    Outcome,
    /// A refusal.
    Refused,
    /// Something an owner did.
    Owner,
    /// Something the house did by itself (start, recovery, a count of refusals before identity).
    House,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Not known yet: an intent.
    Open,
    /// As asked.
    Ok,
    /// Made, and it answered with an error.
    Error,
    /// Not made.
    Refused,
    /// Made or not, nobody can say: the process ended in between.
    Unknown,
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Actor {
    /// An agent.
    Agent {
        /// Its id.
        id: AgentId,
        /// Its slug at the time.
        slug: Slug,
    },
    /// The owner.
    Owner,
    /// The house itself.
    House,
    /// Someone who was not identified.
    Nobody,
}

impl From<&Agent> for Actor {
    fn from(agent: &Agent) -> Self {
        Self::Agent { id: agent.id, slug: agent.slug.clone() }
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruled {
    /// It goes ahead.
    Allow,
    /// It does not.
    Refuse,
    /// It waits for the owner.
    Approval,
}

/// What it was about: only ids and digests, never a body.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Subject {
    /// The kind of thing, in one word (`page`, `proposal`, `agent`, `token`, …).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// A digest of what it said, where that matters later.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<Digest>,
    /// How many, where one record stands for several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// What it was before, in one word, where an owner changed a setting.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// What it is now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
}

impl Subject {
    /// One thing.
    pub fn one(kind: &str, id: impl std::fmt::Display) -> Self {
        Self { kind: Some(kind.to_owned()), id: Some(id.to_string()), ..Self::default() }
    }

    /// With what was changed, in a word each.
    pub fn changed(self, from: impl std::fmt::Display, to: impl std::fmt::Display) -> Self {
        Self { from: Some(from.to_string()), to: Some(to.to_string()), ..self }
    }
}

/// A record before the store gives it its number, its time and its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordDraft {
    /// Which step.
    pub phase: Phase,
    /// The call it belongs to.
    pub call: CallId,
    /// Who.
    pub actor: Actor,
    /// By which token.
    pub token: Option<TokenId>,
    /// How it arrived.
    pub transport: Transport,
    /// In which space.
    pub space: Option<SpaceId>,
    /// On which surface.
    pub surface: Option<String>,
    /// The tool, the method, or the owner's action.
    pub tool: String,
    /// The keyed digest of the arguments.
    pub arguments: Option<Digest>,
    /// The keyed digest of each argument by its name, where the owner wants equal values to be
    /// found again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, Digest>,
    /// What was decided.
    pub decision: Ruled,
    /// Why.
    pub reason: Reason,
    /// The tier it was decided at.
    pub tier: Option<Tier>,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took, in microseconds.
    pub micros: Option<u64>,
    /// Bytes of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// What it cost, as an upstream said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<Cost>,
    /// What the call may use up before its outcome is recorded: of an intent alone.
    #[serde(skip_serializing_if = "Reserve::is_nothing", default)]
    pub reserve: Reserve,
    /// What the agent had taken in when this was decided.
    #[serde(skip_serializing_if = "Taint::is_clean", default)]
    pub taint: Taint,
    /// What this answer set in the latch.
    #[serde(skip_serializing_if = "Taint::is_clean", default)]
    pub armed: Taint,
    /// The approval it went ahead with, or asks for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub approval: Option<ApprovalMark>,
    /// The client's request id.
    pub request: Option<RequestId>,
    /// The legacy session, where there is one.
    pub session: Option<SessionId>,
    /// The run of a program it belongs to, where a program made the call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<RunId>,
    /// What it was about.
    #[serde(default)]
    pub subject: Subject,
}

impl RecordDraft {
    /// A record that says who, how and what, and nothing more: allowed, and it went well.
    pub fn new(
        phase: Phase,
        call: CallId,
        actor: Actor,
        transport: Transport,
        tool: impl Into<String>,
    ) -> Self {
        Self {
            phase,
            call,
            actor,
            token: None,
            transport,
            space: None,
            surface: None,
            tool: tool.into(),
            arguments: None,
            values: BTreeMap::new(),
            decision: Ruled::Allow,
            reason: Reason::Permitted,
            tier: None,
            outcome: Outcome::Ok,
            micros: None,
            bytes: None,
            cost: None,
            reserve: Reserve::default(),
            taint: Taint::CLEAN,
            armed: Taint::CLEAN,
            approval: None,
            request: None,
            session: None,
            run: None,
            subject: Subject::default(),
        }
    }
}
