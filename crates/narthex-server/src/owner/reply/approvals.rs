//! Requests for approval.

use std::fmt;

use narthex_core::{
    AgentId, ApprovalId, ApprovalStatus, CallId, Digest, Mode, Reason, Slug, SpaceId, Taint, Tier,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use super::LatchInfo;
use crate::owner::code::RunShown;

/// What the owner types to approve a call that cannot be undone. It is never `Debug`-printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(String);

impl Nonce {
    /// As it was typed: how it is written does not matter.
    pub fn typed(text: &str) -> Self {
        Self(text.trim().to_ascii_lowercase())
    }

    /// The characters, for the owner's eyes.
    pub fn in_clear(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(…)")
    }
}

/// A request for approval in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalInfo {
    /// Its id.
    pub id: ApprovalId,
    /// Who asks.
    pub agent: Slug,
    /// Its id.
    pub agent_id: AgentId,
    /// In which space.
    pub space: Option<Slug>,
    /// That space's id.
    pub space_id: Option<SpaceId>,
    /// On which surface.
    pub surface: String,
    /// Which tool.
    pub tool: String,
    /// How far the call reaches.
    pub tier: Tier,
    /// The one target, where the call cannot be undone.
    pub target: Option<String>,
    /// Why it needs an approval.
    pub because: Reason,
    /// What the agent had taken in when it asked.
    pub taint: Taint,
    /// Whether the owner must also type a nonce.
    pub needs_nonce: bool,
    /// What became of it; one that waited too long is void.
    pub status: ApprovalStatus,
    /// When it was asked for.
    pub requested: Timestamp,
    /// Until when it waits or, once approved, is good for.
    pub until: Timestamp,
    /// When the owner decided.
    pub decided: Option<Timestamp>,
    /// The owner's words, for the agent to read.
    pub note: Option<String>,
    /// Which call used it up.
    pub used_by: Option<CallId>,
    /// How many wrong nonces were typed.
    pub wrong_nonces: u32,
    /// The 256 bits it is bound to: agent, space, surface, tool with its definition, arguments,
    /// tier, mode and policy.
    pub digest: Digest,
}

/// A request for approval with everything an owner needs to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDetail {
    /// The request.
    #[serde(flatten)]
    pub info: ApprovalInfo,
    /// The exact arguments.
    pub arguments: serde_json::Value,
    /// The posture it was decided in.
    pub mode: Mode,
    /// The tool's whole definition.
    pub definition: Digest,
    /// The policy it was decided by.
    pub policy: Digest,
    /// What the agent has taken in by now, with what set it.
    pub latch: Option<LatchInfo>,
    /// What the owner must type, while it can still be approved.
    pub nonce: Option<Nonce>,
    /// The program that waits with the call, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunShown>,
}

/// A request for approval was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAnswered {
    /// Which.
    pub id: ApprovalId,
    /// What became of it.
    pub status: ApprovalStatus,
    /// Until when the same call may be made, once, if it was approved.
    pub good_until: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::Nonce;

    #[test]
    fn a_nonce_is_read_as_people_type_and_never_printed_by_accident() {
        assert_eq!(Nonce::typed(" AB12cd\n"), Nonce::typed("ab12CD"));
        assert_eq!(format!("{:?}", Some(Nonce::typed("ab12cd34"))), "Some(Nonce(…))");
    }
}
