//! What an executor must be handed. Only the gate makes these.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use narthex_core::{
    CallId, Consent, Holder, Principal, Question, RequestId, Scope, SessionId, SpaceId, Taint,
    Tier, Timestamp, Transport,
};
use narthex_policy::{Asker, PolicyEngine};
use narthex_store::Receipt;
use tokio::sync::mpsc;

use crate::ToolError;
use crate::input::{Ask, ClientCan, ClientOfCall, GoesOn, Kept};
use crate::pipeline::{Begun, ClientAsker, PutAside, Telling, Trace};
use crate::upstream::UpstreamProgress;

/// Who is asking and where, as far as a surface may know.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The agent.
    pub principal: Principal,
    /// The spaces it may touch.
    pub scope: Scope,
    /// Of those, the ones that are stopped: a call across all spaces does not see them.
    pub past: BTreeSet<SpaceId>,
    /// What it had taken in before this call.
    pub taint: Taint,
    /// The highest tier it may reach now.
    pub ceiling: Tier,
    /// The policy it was decided by.
    pub(crate) policy: Arc<PolicyEngine>,
    /// How the call arrived.
    pub transport: Transport,
    /// When it was decided.
    pub now: Timestamp,
}

impl CallContext {
    /// Whether policy would permit the caller something: for lists that show what is permitted.
    pub fn permits(&self, question: &Question) -> bool {
        let asker = Asker { agent: &self.principal.agent, scope: self.scope };
        self.policy.decide(&asker, question).is_permitted()
    }
}

/// The intent of looking something up.
#[derive(Debug)]
pub struct Observe;

/// The intent of changing our own store.
#[derive(Debug)]
pub struct Local;

/// A decided call, in the hands of an executor.
///
// INVARIANT: made only by the gate's `record` stage, after every check passed. For `Observe` the
// answer stays sealed until its record is durable; for `Local` intent, effect and outcome are
// committed together by the gate.
#[derive(Debug)]
pub struct Intent<Site> {
    call: CallId,
    tool: String,
    context: CallContext,
    site: PhantomData<Site>,
}

impl<Site> Intent<Site> {
    pub(crate) const fn new(call: CallId, tool: String, context: CallContext) -> Self {
        Self { call, tool, context, site: PhantomData }
    }

    /// The call.
    pub const fn call(&self) -> CallId {
        self.call
    }

    /// The tool, as the surface declared it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Who is asking and where.
    pub const fn context(&self) -> &CallContext {
        &self.context
    }
}

/// What a client said around a call: it holds for the calls that come of it too.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientWord {
    pub(crate) consent: Consent,
    pub(crate) request: Option<RequestId>,
    pub(crate) session: Option<SessionId>,
}

/// An intent that is durable: what it takes to act outside the house.
#[derive(Debug)]
pub struct RecordedIntent {
    call: CallId,
    tool: String,
    context: CallContext,
    receipt: Receipt,
    progress: Option<mpsc::Sender<UpstreamProgress>>,
    telling: Option<Telling>,
    client: Option<(ClientCan, Option<ClientAsker>)>,
    begun: Option<Arc<Begun>>,
    pub(crate) word: ClientWord,
    aside: Mutex<Option<PutAside>>,
}

impl RecordedIntent {
    // INVARIANT: needs the receipt of the intent's own record.
    pub(crate) fn new(call: CallId, tool: String, context: CallContext, receipt: Receipt) -> Self {
        let aside = Mutex::new(None);
        Self {
            call,
            tool,
            context,
            receipt,
            progress: None,
            telling: None,
            client: None,
            begun: None,
            word: ClientWord::default(),
            aside,
        }
    }

    pub(crate) fn saying(mut self, progress: Option<mpsc::Sender<UpstreamProgress>>) -> Self {
        self.progress = progress;
        self
    }

    pub(crate) fn telling(mut self, telling: Option<Telling>) -> Self {
        self.telling = telling;
        self
    }

    /// For a client that can be asked: in place, or by putting the call aside.
    pub(crate) fn asking(mut self, client: Option<(ClientCan, Option<ClientAsker>)>) -> Self {
        self.client = client;
        self
    }

    pub(crate) fn going_on(mut self, begun: Option<Arc<Begun>>) -> Self {
        self.begun = begun;
        self
    }

    /// With what the client said around the call.
    pub(crate) fn by(mut self, consent: Consent, trace: &Trace) -> Self {
        let (request, session) = (trace.request.clone(), trace.session.clone());
        self.word = ClientWord { consent, request, session };
        self
    }

    pub(crate) fn was_put_aside(&self) -> Option<PutAside> {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What the client can be asked, if it can be asked anything.
    pub fn client_can(&self) -> ClientCan {
        self.client.as_ref().map(|(can, _)| *can).unwrap_or_default()
    }

    /// How the client is asked.
    pub fn client(&self) -> Option<ClientOfCall<'_>> {
        self.client.as_ref().map(|(_, asker)| match asker {
            Some(asker) => ClientOfCall::Ask(asker),
            None => ClientOfCall::PutAside,
        })
    }

    /// Where it goes on, if it was put aside before.
    pub fn goes_on(&self) -> Option<&GoesOn> {
        self.begun.as_ref().map(|begun| &begun.goes_on)
    }

    /// Puts the call aside: what comes back is what to answer the gate, which makes what is asked
    /// durable, tells the client, and hands out what is kept when the client comes back.
    pub fn put_aside(&self, asks: Vec<(String, Ask)>, kept: Kept) -> ToolError {
        let bytes = asks.iter().map(|(_, ask)| ask.params.to_string().len() as u64).sum();
        *self.aside.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(PutAside::new(asks, kept));
        ToolError::InputNeeded { bytes }
    }

    /// Who hears what the upstream says to the log, if anybody wants to.
    pub const fn log(&self) -> Option<&Telling> {
        self.telling.as_ref()
    }

    /// Where to say how far it is, if anybody wants to know.
    pub const fn progress(&self) -> Option<&mpsc::Sender<UpstreamProgress>> {
        self.progress.as_ref()
    }

    /// The call.
    pub const fn call(&self) -> CallId {
        self.call
    }

    /// The tool, as the surface declared it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Who is asking and where.
    pub const fn context(&self) -> &CallContext {
        &self.context
    }

    /// Whose state the call is charged to.
    pub fn holder(&self) -> Holder {
        Holder { agent: self.context.principal.agent.id, space: self.context.scope.space() }
    }

    /// The intent's place in the ledger.
    pub const fn receipt(&self) -> Receipt {
        self.receipt
    }
}
