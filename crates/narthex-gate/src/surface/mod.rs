//! The seam: what a surface is, said without any wire format.

mod intent;
mod spec;

use std::fmt::Debug;

use async_trait::async_trait;
use narthex_core::{Question, Slug};
use serde_json::Value;

pub use intent::{CallContext, Intent, Local, Observe, RecordedIntent};
pub use spec::{Annotations, SurfaceInfo, ToolSpec};

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

    /// What policy is asked about a tool.
    ///
    /// With arguments (already checked against the schema): the exact questions, all of which
    /// must be permitted. Without: every question some arguments could lead to, any of which
    /// being permitted shows the tool in a list.
    fn asks(&self, tool: &ToolSpec, arguments: Option<&Value>, context: &CallContext) -> Asks;

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
pub struct Asks(Vec<Question>);

impl Asks {
    /// These questions. An empty list permits nothing.
    pub fn new(questions: impl IntoIterator<Item = Question>) -> Self {
        Self(questions.into_iter().collect())
    }

    /// The questions.
    pub fn questions(&self) -> &[Question] {
        &self.0
    }
}

/// A change to our own store, ready to be committed with its records.
#[derive(Debug)]
pub struct Staged {
    /// What is to change.
    pub effect: narthex_store::Effect,
    /// What it is about, for the ledger.
    pub subject: narthex_core::Subject,
    /// What to answer once it is durable.
    pub answer: ToolOutput,
}
