//! The seam: what a surface is, said without any wire format.

mod foreign;
mod intent;
mod spec;
mod typed;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{AgentId, Question, Reason, Slug, SpaceId};
use serde_json::Value;
use tokio::sync::broadcast;

pub use foreign::{Foreign, ForeignItem};
pub(crate) use intent::ClientWord;
pub use intent::{CallContext, Intent, Local, Observe, RecordedIntent};
pub use spec::{Annotations, ResourceSpec, SurfaceInfo, ToolSpec, Weight};

pub use typed::{input_schema, output_schema, read_arguments, write_answer};

use crate::{ToolError, ToolOutput};

/// One endpoint with its tools.
///
/// Tools come out as data; who is asking comes in as a typed [`CallContext`], never as a
/// request or a token. A tool's [`narthex_core::EffectSite`] says which executor carries it out:
/// `Observe` → [`Surface::observe`], `Local` → [`Surface::stage`], `External` →
/// [`Surface::perform`]. The gate calls no other, and each only with an intent of its own making.
#[async_trait]
pub trait Surface: Debug + Send + Sync {
    /// Its name in the ledger (`workspace`, `graph/…`).
    fn name(&self) -> &str;

    /// The upstream server it speaks for, if it does: what a kill switch may be about.
    fn upstream(&self) -> Option<&Slug> {
        None
    }

    /// What a client is told when it connects.
    fn info(&self, context: &CallContext) -> SurfaceInfo;

    /// Every tool there is. Whole: no cursors.
    fn tools(&self) -> &[ToolSpec];

    /// What can be asked through other methods than the one that calls tools, each under the
    /// method's name: decided on, recorded and masked like a call. See [`Foreign`].
    fn passages(&self) -> &[ToolSpec] {
        &[]
    }

    /// What somebody else defined, as they wrote it, if this surface speaks for them.
    fn foreign(&self) -> Option<&Foreign> {
        None
    }

    /// Addresses of resources that change, as far as this agent wants to know of them.
    fn changes(&self, _agent: AgentId) -> Option<broadcast::Receiver<Arc<str>>> {
        None
    }

    /// What can be read by an address. Whole: no cursors.
    fn resources(&self) -> &[ResourceSpec] {
        &[]
    }

    /// What policy is asked about a tool.
    ///
    /// With arguments (already checked against the schema): the exact questions, all of which
    /// must be permitted. Without: every question some arguments could lead to, any of which
    /// being permitted shows the tool in a list.
    fn asks(&self, tool: &ToolSpec, arguments: Option<&Value>, context: &CallContext) -> Asks;

    /// What policy is asked about this very call, where that depends on what is there as well.
    async fn asks_now(
        &self,
        tool: &ToolSpec,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Asks, ToolError> {
        Ok(self.asks(tool, Some(arguments), context))
    }

    /// How much this very call can change. A tool's spec says the least that any call of it can,
    /// which is what a list goes by; the gate takes no less for a call.
    ///
    /// What it goes by may move before the call is made: [`Staged::weight`] says what it was then.
    async fn weigh(
        &self,
        tool: &ToolSpec,
        _arguments: &Value,
        _context: &CallContext,
    ) -> Result<Weight, ToolError> {
        Ok(tool.weight())
    }

    /// The one space this very call is in, where its scope leaves that open: what holds for the space
    /// then holds for the call. None if it looks across several.
    ///
    /// Like its weight this may move: [`Staged::space`] says what it was then.
    async fn space_of(
        &self,
        _tool: &ToolSpec,
        _arguments: &Value,
        context: &CallContext,
    ) -> Result<Option<SpaceId>, ToolError> {
        Ok(context.scope.space())
    }

    /// What a caller could do instead, where a call of this tool goes further than it may.
    fn way_out(&self, _tool: &ToolSpec, _reason: Reason) -> Option<&'static str> {
        None
    }

    /// Looks something up.
    async fn observe(
        &self,
        intent: &Intent<Observe>,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError>;

    /// Prepares a change to our own store; the gate commits it together with its records.
    async fn stage(&self, intent: &Intent<Local>, arguments: Value) -> Result<Staged, ToolError>;

    /// Acts outside the house, after the intent is durable.
    async fn perform(
        &self,
        intent: &RecordedIntent,
        arguments: Value,
    ) -> Result<ToolOutput, ToolError>;
}

/// What policy is asked about a call.
#[derive(Debug, Clone)]
pub struct Asks {
    questions: Vec<Question>,
    open: bool,
}

impl Asks {
    /// These questions. An empty list permits nothing.
    pub fn new(questions: impl IntoIterator<Item = Question>) -> Self {
        Self { questions: questions.into_iter().collect(), open: false }
    }

    /// Nothing is asked: whoever was let in as far as here may call it, since it tells nothing that
    /// being let in did not.
    pub const fn nothing() -> Self {
        Self { questions: Vec::new(), open: true }
    }

    /// The questions.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Whether nothing has to be asked.
    pub const fn is_open(&self) -> bool {
        self.open
    }
}

/// A change to our own store, ready to be committed with its records.
#[derive(Debug)]
pub struct Staged {
    /// What is to change; nothing if it is as asked for already.
    pub effect: Option<narthex_store::Effect>,
    /// What it is about, for the ledger.
    pub subject: narthex_core::Subject,
    /// What to answer once it is durable.
    pub answer: ToolOutput,
    /// What the call weighs as it was staged, where that depends on what was found. If it is more
    /// than was decided on, it is decided on anew.
    pub weight: Option<Weight>,
    /// The space it is in as it was staged, where that depends on what was found. If it is another
    /// than was decided on, it is decided on anew.
    pub space: Option<SpaceId>,
    /// Held until the change is durable or was refused.
    pub hold: Option<Box<dyn Hold>>,
}

/// Something that must stay in someone's hands until a change is made.
pub trait Hold: Debug + Send {}

impl Staged {
    /// A change whose weight is its tool's, and that needs nothing held.
    pub const fn new(
        effect: narthex_store::Effect,
        subject: narthex_core::Subject,
        answer: ToolOutput,
    ) -> Self {
        Self { effect: Some(effect), subject, answer, weight: None, space: None, hold: None }
    }
}
