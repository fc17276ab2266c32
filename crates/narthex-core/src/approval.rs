//! The owner's go-ahead for one exact call.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Age, ApprovalId, CallId, Digest, Holder, Mode, Moment, Reason, RunId, Taint, Tier, Timestamp,
};

/// Everything an approval is bound to. Change any of it and it is another call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Whose call, where.
    pub holder: Holder,
    /// On which surface.
    pub surface: String,
    /// Which tool.
    pub tool: String,
    /// The tool's whole definition.
    pub definition: Digest,
    /// The arguments, as they were decided on.
    pub arguments: Value,
    /// The tier it was decided at.
    pub tier: Tier,
    /// The server's posture.
    pub mode: Mode,
    /// The policy in force.
    pub policy: Digest,
    /// The run of a program that makes it: what the owner is shown with the call is what goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

impl Binding {
    /// The 256 bits the approval is good for.
    pub fn digest(&self) -> Digest {
        let mut bound = json!({
            "v": "narthex approval v1",
            "agent": self.holder.agent,
            "space": self.holder.space,
            "surface": self.surface,
            "tool": self.tool,
            "definition": self.definition,
            "arguments": self.arguments,
            "tier": self.tier,
            "mode": self.mode,
            "policy": self.policy,
        });
        if let (Some(run), Some(bound)) = (self.run, bound.as_object_mut()) {
            bound.insert("run".to_owned(), json!(run));
        }
        Digest::of_json(&bound)
    }
}

/// What became of a request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStatus {
    /// Waits for the owner.
    Waiting,
    /// The owner said yes; it has not been used.
    Approved,
    /// The owner said no.
    Denied,
    /// A call used it up.
    Used,
    /// Nobody decided in time, or too many wrong nonces were typed.
    Void,
}

impl ApprovalStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Approved, Self::Denied, Self::Used, Self::Void];

    /// The word in storage and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Used => "used",
            Self::Void => "void",
        }
    }
}

crate::words::words!(ApprovalStatus);

/// A request for the owner's approval, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// What it is bound to.
    pub binding: Binding,
    /// The digest of that.
    pub digest: Digest,
    /// Why an approval is needed.
    pub because: Reason,
    /// What the agent had taken in when it asked.
    pub taint: Taint,
    /// The one target, where the call cannot be undone.
    pub target: Option<String>,
    /// Whether the owner must also type the nonce.
    pub nonce: bool,
    /// What became of it.
    pub status: ApprovalStatus,
    /// When it was asked for.
    pub requested: Moment,
    /// Until when the request waits.
    pub until: Timestamp,
    /// When the owner decided.
    pub decided: Option<Moment>,
    /// The owner's words, for the agent to read.
    pub note: Option<String>,
    /// Which call used it up.
    pub used_by: Option<CallId>,
    /// How many wrong nonces were typed.
    pub wrong_nonces: u32,
}

/// What an approval, as it lies there, means for the call it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForCall {
    /// It may be used up.
    Use,
    /// It was used up by this very call, lately.
    WasUsed,
    /// The owner said no, lately.
    WasDenied,
    /// It says nothing any more: the owner must be asked.
    Ask,
}

impl Approval {
    /// A request as it is made: it waits, and names no target.
    pub fn waiting(
        id: ApprovalId,
        binding: Binding,
        because: Reason,
        taint: Taint,
        requested: Moment,
        until: Timestamp,
    ) -> Self {
        Self {
            id,
            digest: binding.digest(),
            binding,
            because,
            taint,
            target: None,
            nonce: false,
            status: ApprovalStatus::Waiting,
            requested,
            until,
            decided: None,
            note: None,
            used_by: None,
            wrong_nonces: 0,
        }
    }

    /// What it means for its call now. The answer is a hint: only [`Approval::use_up`], inside
    /// the transaction of the intent, decides.
    pub fn for_call(&self, now: Moment, valid: Duration, wait: Duration) -> ForCall {
        let since = self.decided.unwrap_or(self.requested);
        let lately = |limit| now.age(since, limit) == Age::Within;
        match self.status {
            ApprovalStatus::Approved if lately(valid) => ForCall::Use,
            // Otherwise a client that sends a call twice would put a second one before the owner
            // each time the first was approved.
            ApprovalStatus::Used if lately(valid) => ForCall::WasUsed,
            ApprovalStatus::Denied if lately(wait) => ForCall::WasDenied,
            _ => ForCall::Ask,
        }
    }

    /// Checks and burns: used up by this call, or left as it is with what stands in the way.
    pub fn use_up(
        &mut self,
        digest: Digest,
        call: CallId,
        now: Moment,
        valid: Duration,
    ) -> Result<(), ApprovalStatus> {
        if self.status != ApprovalStatus::Approved {
            return Err(self.status);
        }
        let in_time = self.decided.is_some_and(|decided| now.age(decided, valid) == Age::Within);
        // The digest is over the binding itself: what was shown to the owner is what runs.
        if !in_time || self.digest != digest || self.binding.digest() != digest {
            return Err(ApprovalStatus::Void);
        }
        self.status = ApprovalStatus::Used;
        self.used_by = Some(call);
        Ok(())
    }
}

/// What the ledger says about the approval a call went ahead with, or asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalMark {
    /// The approval.
    pub id: ApprovalId,
    /// What it is bound to.
    pub digest: Digest,
    /// Who approved; nobody has yet, where the call only asks.
    pub approver: Option<Approver>,
    /// Whether the call was only weighed and nothing of it done.
    pub dry_run: bool,
}

/// Who may approve: never an agent, whoever's it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approver {
    /// The owner.
    Owner,
}

#[cfg(test)]
mod tests {
    use super::Binding;
    use crate::{AgentId, Digest, Holder, Mode, RunId, SpaceId, Tier};
    use serde_json::json;
    use std::collections::HashSet;
    use uuid::Uuid;

    #[test]
    fn every_part_of_a_call_changes_its_digest() {
        let id = Uuid::from_u128;
        let base = Binding {
            holder: Holder {
                agent: AgentId::from_uuid(id(1)),
                space: Some(SpaceId::from_uuid(id(2))),
            },
            surface: "servers/web".to_owned(),
            tool: "post".to_owned(),
            definition: Digest::of(b"definition"),
            arguments: json!({"to": "a", "n": 9_007_199_254_740_992_u64}),
            tier: Tier::T2,
            mode: Mode::Guarded,
            policy: Digest::of(b"policy"),
            run: None,
        };
        let holder = |agent, space| Holder { agent, space };
        let own = base.holder;
        let others = [
            Binding { holder: holder(AgentId::from_uuid(id(3)), own.space), ..base.clone() },
            Binding { holder: holder(own.agent, Some(SpaceId::from_uuid(id(3)))), ..base.clone() },
            Binding { holder: holder(own.agent, None), ..base.clone() },
            Binding { surface: "servers/web2".to_owned(), ..base.clone() },
            Binding { tool: "post2".to_owned(), ..base.clone() },
            Binding { surface: "servers/webpost".to_owned(), tool: String::new(), ..base.clone() },
            Binding { definition: Digest::of(b"other"), ..base.clone() },
            Binding {
                arguments: json!({"to": "b", "n": 9_007_199_254_740_992_u64}),
                ..base.clone()
            },
            Binding {
                arguments: json!({"to": "a", "n": 9_007_199_254_740_993_u64}),
                ..base.clone()
            },
            Binding { arguments: json!({"to": "a", "n": "9007199254740992"}), ..base.clone() },
            Binding { arguments: json!({"to": "a"}), ..base.clone() },
            Binding { tier: Tier::T3, ..base.clone() },
            Binding { mode: Mode::Open, ..base.clone() },
            Binding { run: Some(RunId::from_uuid(id(1))), ..base.clone() },
            Binding { run: Some(RunId::from_uuid(id(2))), ..base.clone() },
            Binding { policy: Digest::of(b"other"), ..base.clone() },
        ];
        let digests: HashSet<_> = others.iter().chain([&base]).map(Binding::digest).collect();
        assert_eq!(digests.len(), others.len() + 1);
        let reordered = Binding {
            arguments: json!({"n": 9_007_199_254_740_992_u64, "to": "a"}),
            ..base.clone()
        };
        assert_eq!(reordered.digest(), base.digest(), "the order of keys is no part of a call");
    }
}
