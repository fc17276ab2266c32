//! What comes back from a call.

use narthex_core::{Approval, ApprovalId, Cost, Reason, Subject, Taint, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::input::InputNeeded;

/// A tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The structured answer: an object that fits the tool's output schema.
    pub structured: Value,
    /// What its text brings with it (a page by someone else is untrusted).
    pub taint: Taint,
    /// What it was about, for the ledger: ids and digests only.
    pub subject: Subject,
    /// What it cost, where an upstream says so.
    pub cost: Option<Cost>,
    /// The whole result as an upstream gave it, where it did: then this is sent, and nothing else.
    pub raw: Option<RawResult>,
    /// What it waits for, where it says that something waits: clients that can be sent to the owner's
    /// console are, instead of being told.
    pub waiting: Option<Box<Waiting>>,
    /// The text mirror, once it was made.
    text: Option<String>,
}

impl ToolOutput {
    /// An answer.
    pub fn new(structured: Value) -> Self {
        Self {
            structured,
            taint: Taint::CLEAN,
            subject: Subject::default(),
            cost: None,
            raw: None,
            waiting: None,
            text: None,
        }
    }

    /// An answer that is somebody else's, to be handed on as it is, with what is noted about it.
    pub fn raw(json: Box<RawValue>, notes: Map<String, Value>) -> Self {
        Self { raw: Some(RawResult { json, notes }), ..Self::new(Value::Null) }
    }

    /// With what its text brings and what it was about.
    pub fn about(self, taint: Taint, subject: Subject) -> Self {
        Self { taint, subject, ..self }
    }

    /// With what it waits for.
    pub fn waiting_for(self, waiting: Option<Waiting>) -> Self {
        Self { waiting: waiting.map(Box::new), ..self }
    }

    /// The text mirror of the structured answer.
    pub fn text(&mut self) -> &str {
        self.text.get_or_insert_with(|| self.structured.to_string())
    }

    /// Bytes of what is sent: the structured answer and its text mirror, or the mirror of nothing.
    /// The two are as long as each other; that one is quoted and in an envelope is not counted.
    pub fn sent_bytes(&mut self) -> u64 {
        if let Some(raw) = &self.raw {
            return raw.json.get().len() as u64;
        }
        let forms = if self.structured.is_null() { 1 } else { FORMS };
        forms * self.text().len() as u64
    }

    /// Takes the text mirror out.
    pub fn take_text(&mut self) -> String {
        self.text.take().unwrap_or_else(|| self.structured.to_string())
    }
}

/// A result as it came.
#[derive(Debug, Clone)]
pub struct RawResult {
    /// The result.
    pub json: Box<RawValue>,
    /// What is said of it beside it: it goes into its `_meta`.
    pub notes: Map<String, Value>,
}

impl PartialEq for RawResult {
    fn eq(&self, other: &Self) -> bool {
        self.json.get() == other.json.get() && self.notes == other.notes
    }
}

/// A tool could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// Something the model can act on: it becomes a result with `isError`.
    #[error("{reason}: {message}")]
    Caller {
        /// The stable code.
        reason: Reason,
        /// What to tell the model. Holds nothing outside the caller's scope.
        message: String,
        /// What its text brings with it, where it repeats what somebody else wrote.
        taint: Taint,
        /// It may have been made, and nobody can say what that cost.
        unpriced: bool,
    },
    /// An upstream answered with an error of its own, which is handed on.
    #[error("an upstream answered with error {code}")]
    Upstream {
        /// Its code.
        code: i64,
        /// Its words, made harmless.
        message: String,
        /// What it added, as JSON, made harmless.
        data: Option<String>,
        /// What the words bring with them.
        taint: Taint,
    },
    /// An upstream asks something first; the call was put aside.
    #[error("input is needed")]
    InputNeeded {
        /// Bytes of what is asked.
        bytes: u64,
    },
    /// The store cannot be read or written now.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Our own fault; the text is for the log alone.
    #[error("internal: {0}")]
    Internal(String),
}

impl ToolError {
    /// Something the model can act on.
    pub fn caller(reason: Reason, message: impl Into<String>) -> Self {
        let (taint, unpriced) = (Taint::CLEAN, false);
        Self::Caller { reason, message: message.into(), taint, unpriced }
    }

    /// Something that may have been made all the same: it is charged the most that it can cost.
    #[must_use]
    pub fn unpriced(self) -> Self {
        match self {
            Self::Caller { reason, message, taint, .. } => {
                Self::Caller { reason, message, taint, unpriced: true }
            }
            other => other,
        }
    }

    /// With what its text brings.
    #[must_use]
    pub fn bringing(self, brings: Taint) -> Self {
        match self {
            Self::Caller { reason, message, taint, unpriced } => {
                Self::Caller { reason, message, taint: taint.and(brings), unpriced }
            }
            Self::Upstream { code, message, data, taint } => {
                Self::Upstream { code, message, data, taint: taint.and(brings) }
            }
            ours @ (Self::InputNeeded { .. } | Self::Unavailable(_) | Self::Internal(_)) => ours,
        }
    }

    /// What its text brings.
    pub const fn taint(&self) -> Taint {
        match self {
            Self::Caller { taint, .. } | Self::Upstream { taint, .. } => *taint,
            Self::InputNeeded { .. } | Self::Unavailable(_) | Self::Internal(_) => Taint::CLEAN,
        }
    }

    /// Not there, or not for this caller: the same to the byte.
    pub fn not_found() -> Self {
        Self::caller(Reason::NotFound, Reason::NotFound.message())
    }

    /// Bytes of the message, for a program and for a model; none where there is no result.
    pub const fn sent_bytes(&self) -> Option<u64> {
        match self {
            Self::Caller { message, .. } => Some(FORMS * message.len() as u64),
            Self::Upstream { message, .. } => Some(message.len() as u64),
            Self::InputNeeded { bytes } => Some(*bytes),
            Self::Unavailable(_) | Self::Internal(_) => None,
        }
    }
}

impl From<narthex_store::StoreError> for ToolError {
    fn from(error: narthex_store::StoreError) -> Self {
        use narthex_store::StoreError;
        match error {
            StoreError::Refused(refused) => refusal_of(&refused),
            StoreError::Unavailable(why) => Self::Unavailable(why),
            StoreError::Damaged(why) => Self::Internal(why),
        }
    }
}

fn refusal_of(refused: &narthex_store::Refused) -> ToolError {
    use narthex_store::Refused;
    let reason = match refused {
        Refused::NotFound(_) | Refused::PageLeft | Refused::NoSuchBranch => {
            return ToolError::not_found();
        }
        Refused::Taken(_)
        | Refused::Stale { .. }
        | Refused::AlreadyDecided(_)
        | Refused::NotEngaged(_)
        | Refused::TaintMoved
        | Refused::TierMoved
        | Refused::NotApproved(_)
        | Refused::HeadMoved { .. }
        | Refused::BranchMoved { .. }
        | Refused::MergeAsked(_)
        | Refused::ServerAsked(_)
        | Refused::ServerNotApproved(_)
        | Refused::BranchExists
        | Refused::RootBranch
        | Refused::GraphExists
        | Refused::UnfitCommit(_)
        | Refused::NotPrunable(_) => Reason::Conflict,
        Refused::TooManyOpen { .. }
        | Refused::TooManyTiers { .. }
        | Refused::TooManyWaiting { .. }
        | Refused::TooManyParked { .. }
        | Refused::TooDeep { .. } => Reason::LimitReached,
        Refused::Stopped(_) => {
            return ToolError::caller(Reason::Stopped, Reason::Stopped.message());
        }
        Refused::UnfitProposal(_) => Reason::InvalidArguments,
        Refused::OverCeiling => Reason::OverCeiling,
        Refused::OverMode => Reason::OverMode,
        Refused::OverBudget(over) => {
            return ToolError::caller(Reason::OverBudget, over_budget(*over));
        }
        Refused::AgentInactive => Reason::AgentDisabled,
        Refused::TokenDead => Reason::Unauthorized,
    };
    ToolError::caller(reason, refused.to_string())
}

/// What a caller is told whose budget is used up.
pub(crate) fn over_budget(over: narthex_core::Overspent) -> String {
    format!("{}: {over}", Reason::OverBudget.message())
}

/// Every result is sent in a form for programs and in one for those that only read text.
const FORMS: u64 = 2;

/// How a call can end other than with an answer. The edge maps these in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// Unknown, or not for this caller: the two are the same to the byte.
    UnknownTool {
        /// The name the client used.
        name: String,
    },
    /// The model can act on it: a result with `isError`.
    Refused {
        /// The stable code.
        reason: Reason,
        /// What to tell the model.
        message: String,
    },
    /// An upstream's own error, handed on.
    Upstream {
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
        /// What it added, as JSON.
        data: Option<String>,
    },
    /// It waits for the owner: told in the way the client speaks.
    Waiting(Box<Waiting>),
    /// It waits for its client, who is asked something by an upstream.
    Input(Box<InputNeeded>),
    /// It could not be recorded, so it was not made (or its answer is withheld).
    Unavailable,
    /// More calls are under way than may be; nothing was decided.
    Overloaded,
    /// The credential stopped being good between identify and act.
    Unauthorized,
    /// Our own fault.
    Internal,
}

/// What a client may know of a call that waits for the owner. The approval's secret is no part
/// of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The request.
    pub approval: ApprovalId,
    /// Why the owner is asked.
    pub because: Reason,
    /// Until when it waits.
    pub until: Timestamp,
}

impl Waiting {
    pub(crate) const fn of(approval: &Approval) -> Self {
        Self { approval: approval.id, because: approval.because, until: approval.until }
    }

    /// What to tell a model whose client has no other way of being told.
    pub fn message(&self) -> String {
        format!(
            "{}. Nothing was done yet: request {} waits for the owner until {}. Once the owner has approved it, repeat exactly the same call and it will run, once.",
            self.because.message(),
            self.approval,
            self.until,
        )
    }
}
