//! Why a call went ahead or did not: one closed list, with the words a machine and a model read.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $message:literal;)+) => {
        /// Why a decision came out as it did. The code is stable; the message is for the caller.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $($(#[$doc])* #[serde(rename = $code)] $name,)+
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable code.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// What to tell the caller: it holds no names, paths or internals.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)+ }
            }
        }
    };
}

reasons! {
    /// Policy permits it and the table allows it.
    Permitted = "permitted", "permitted";
    /// An owner did it.
    OwnerAction = "owner_action", "done by the owner";
    /// A Host that is not served here.
    ForbiddenHost = "forbidden_host", "this host name is not served here";
    /// An Origin that is not listed.
    ForbiddenOrigin = "forbidden_origin", "requests from this origin are not served";
    /// No bearer, or one that does not verify.
    Unauthorized = "unauthorized", "a valid token is required";
    /// The owner's credential on an agent's endpoint.
    AgentRequired = "agent_required", "this endpoint takes an agent's token, not the owner's credential";
    /// The agent is bound to no space.
    NoSpaceScope = "no_space_scope", "this agent is bound to no space, so it may do nothing; the owner registers one with a space: narthex agent add <slug> --space <space>";
    /// Too many requests, or too many failed attempts.
    RateLimited = "rate_limited", "too many requests; wait and try again";
    /// The agent was disabled.
    AgentDisabled = "agent_disabled", "this agent has been disabled by the owner";
    /// The tool does not exist for this caller.
    UnknownTool = "unknown_tool", "unknown tool";
    /// The method does not exist, or its capability was not advertised.
    UnknownMethod = "unknown_method", "method not found";
    /// A message that is none, or that contradicts itself or its headers.
    InvalidRequest = "invalid_request", "the message is not a valid request";
    /// Policy denies it.
    PolicyDenied = "policy_denied", "the owner's policy does not let this agent do that";
    /// The policy could not be evaluated.
    PolicyError = "policy_error", "the policy could not be evaluated, so the call is denied";
    /// The arguments do not fit the schema.
    InvalidArguments = "invalid_arguments", "the arguments do not fit the tool's input schema";
    /// The server's mode does not admit this tier.
    OverMode = "over_mode", "the server's mode does not allow calls of this tier";
    /// The ceiling does not admit this tier.
    OverCeiling = "over_ceiling", "this call is above the ceiling in force for this agent; use a call of a lower tier, or ask the owner";
    /// The table asks for the owner's approval.
    ApprovalNeeded = "approval_needed", "this call needs the owner's approval";
    /// An uncontained call by an agent that has taken in foreign text.
    Tainted = "tainted", "this agent has taken in text the owner did not write, so this call needs the owner's approval; a proposal does not";
    /// Sending outside while private and untrusted are both set.
    EgressWhileTainted = "egress_while_tainted", "this call would send data outside after private and untrusted text was read; it needs the owner's approval";
    /// The approval for exactly this call was used up by the call itself.
    ApprovalUsed = "approval_used", "the approval for exactly this call was already used: it ran once";
    /// The owner said no to exactly this call.
    ApprovalDenied = "approval_denied", "the owner said no to exactly this call";
    /// A call that cannot be undone must name exactly one target.
    OneTarget = "one_target", "a call of this tier must name exactly one target";
    /// A budget is used up.
    OverBudget = "over_budget", "the budget for this agent is used up";
    /// The kill switch is engaged.
    Stopped = "stopped", "the owner has stopped this";
    /// Not in the caller's scope, or not there.
    NotFound = "not_found", "not found";
    /// It changed in the meantime.
    Conflict = "conflict", "it changed in the meantime";
    /// A cap is reached.
    LimitReached = "limit_reached", "a limit is reached";
    /// The ledger or the store cannot be written.
    Unavailable = "unavailable", "the call cannot be recorded right now, so it was not made; try again later";
    /// An upstream server did not do what was asked.
    UpstreamFailed = "upstream_failed", "the server behind this did not answer as it should";
    /// It acted outside, and what came of it could not be recorded.
    OutcomeUnknown = "outcome_unknown", "unknown: the call may have been made, and what came of it could not be recorded; do not repeat it before the owner has looked";
    /// An upstream asks something in the middle of a call.
    InputNeeded = "input_needed", "the server behind this asks something before it goes on";
    /// The deadline passed.
    DeadlineExceeded = "deadline_exceeded", "the call took too long and was ended";
    /// A session id that this agent has not opened, or that has ended.
    UnknownSession = "unknown_session", "no such session; start a new one with initialize";
    /// A session in which nothing was heard for too long.
    SessionIdle = "session_idle", "nothing was heard in the session for too long, so it ended";
    /// A session that was open for too long, or whose clock jumped.
    SessionExpired = "session_expired", "the session was open for as long as one may be, so it ended";
    /// Our own fault.
    Internal = "internal", "something went wrong inside; the owner can find it in the log";
    /// The process ended between intent and outcome.
    Interrupted = "interrupted", "the process ended before the outcome was recorded";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
