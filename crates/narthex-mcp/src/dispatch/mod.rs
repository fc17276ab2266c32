//! One message in, one reply out, whatever the transport. Every method passes the gate.

mod foreign;
mod handshake;
mod inputs;
mod request_state;
mod resources;
mod session;
mod tools;
mod waiting;
mod wire;

pub(crate) use handshake::terms;
pub(crate) use session::opens_session;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use narthex_core::{Consent, Reason, SessionId};
use narthex_gate::{
    Admitted, AsksClient, ClientLog, Foreign, Gate, Method, OpenSession, ReadySurface, SessionTerms,
};
use serde_json::value::RawValue;

use crate::EdgeConfig;
use crate::console::ConsoleUrl;
use crate::era::Era;
use crate::fault::Fault;
use crate::message::{Id, Message, Unreadable};
use crate::progress::Says;
use crate::reply::Reply;

/// A surface behind its gate, ready to answer messages.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) gate: Gate,
    pub(crate) surface: Arc<ReadySurface>,
    /// Each tool as it is listed, written once.
    listed: HashMap<String, Box<RawValue>>,
    list_ttl: Duration,
    console: Option<ConsoleUrl>,
}

/// What the transport knows about a message beside the message.
#[derive(Debug)]
pub(crate) enum Carrier {
    /// Each request stands alone, unless it belongs to a session.
    Http(Option<OpenSession>),
    /// One process, one client: what it said when it connected still holds.
    Stdio(SessionTerms),
}

impl Carrier {
    /// What the client said when it connected, if anything remembers it.
    fn terms(&self) -> SessionTerms {
        match self {
            Self::Http(session) => {
                session.as_ref().map_or_else(SessionTerms::default, |session| session.terms)
            }
            Self::Stdio(terms) => *terms,
        }
    }
}

/// A message with everything that is needed to answer it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) message: Message,
    pub(crate) era: Era,
    pub(crate) carrier: Carrier,
    /// Where it is said how far the call is, if the client wants to hear.
    pub(crate) says: Option<Says>,
    /// Where what an upstream says to the log goes, if the client wants to hear.
    pub(crate) logs: Option<ClientLog>,
    /// How the client is asked something while its call is under way, if it can be.
    pub(crate) voice: Option<Arc<dyn AsksClient>>,
}

impl Asked {
    /// The lower of what this request and its session or process consent to.
    fn consent(&self) -> Consent {
        self.carrier.terms().consent.and(self.message.consent())
    }

    /// What the ledger calls the session it belongs to.
    fn session(&self) -> Option<SessionId> {
        match &self.carrier {
            Carrier::Http(session) => session.as_ref().map(|session| session.id.clone()),
            Carrier::Stdio(_) => None,
        }
    }

    fn method(&self) -> Method {
        Method {
            name: self.message.method.clone(),
            consent: self.consent(),
            request: self.message.request_id(),
            session: self.session(),
        }
    }
}

impl Dispatch {
    pub(crate) fn new(gate: Gate, surface: Arc<ReadySurface>, config: &EdgeConfig) -> Self {
        let foreign = surface.surface().foreign();
        let listed = surface.surface().tools().iter().filter_map(|spec| match foreign {
            Some(foreign) => {
                foreign::listed_tool(foreign, spec).map(|listed| (spec.name.clone(), listed))
            }
            None => wire::listed(spec),
        });
        let listed = listed.collect();
        let (list_ttl, console) = (config.list_ttl, config.console.clone());
        Self { gate, surface, listed, list_ttl, console }
    }

    /// Answers a message.
    pub(crate) async fn answer(&self, admitted: &Admitted, asked: Asked) -> Reply {
        // INVARIANT: without an id nothing runs, whatever the method.
        let Some(id) = asked.message.id.clone() else { return Reply::accepted() };
        let era = asked.era;
        let done = match (era, asked.message.method.as_str()) {
            (Era::Modern, "server/discover") => self.discover(admitted, &id, &asked).await,
            (Era::Legacy, "initialize") => self.initialize(admitted, &id, &asked).await,
            // Asks only whether someone is there: no record, and an answer that is quite empty.
            (Era::Legacy, "ping") => Ok(Reply::result(&id, &rmcp::model::EmptyObject {})),
            (_, "tools/list") => self.list_tools(admitted, &id, &asked).await,
            (_, "tools/call") => self.call_tool(admitted, &id, asked).await,
            (_, "resources/list" | "resources/templates/list")
                if self.has_passage(Foreign::READ) =>
            {
                self.list_foreign(admitted, &id, &asked, Foreign::READ).await
            }
            (_, "prompts/list") if self.has_passage(Foreign::PROMPT) => {
                self.list_foreign(admitted, &id, &asked, Foreign::PROMPT).await
            }
            (era, passage) if self.has_passage_in(era, passage) => {
                self.pass(admitted, &id, asked).await
            }
            (_, "resources/list") if self.has_resources() => {
                self.list_resources(admitted, &id, &asked).await
            }
            (_, "resources/templates/list") if self.has_resources() => {
                self.list_templates(admitted, &id, &asked).await
            }
            (_, "resources/read") if self.has_resources() => {
                self.read_resource(admitted, &id, asked).await
            }
            _ => {
                self.refuse(
                    admitted,
                    &asked.method(),
                    Reason::UnknownMethod,
                    Fault::method_not_found(era),
                )
                .await
            }
        };
        done.unwrap_or_else(|fault| Reply::fault(Some(&id), &fault.in_era(era)))
    }

    /// Answers bytes that are no message, or a message that contradicts its headers.
    pub(crate) async fn refuse_message(
        &self,
        admitted: &Admitted,
        unreadable: Unreadable,
    ) -> Reply {
        let method = Method { name: UNREADABLE.to_owned(), ..Method::default() };
        let Unreadable { id, fault } = unreadable;
        self.refusal(admitted, &method, id.as_ref(), fault).await
    }

    /// Answers a message whose revision or headers are wrong.
    pub(crate) async fn refuse_asked(
        &self,
        admitted: &Admitted,
        message: &Message,
        fault: Fault,
    ) -> Reply {
        self.refusal(admitted, &method_of(message), message.id.as_ref(), fault).await
    }

    async fn refusal(
        &self,
        admitted: &Admitted,
        method: &Method,
        id: Option<&Id>,
        fault: Fault,
    ) -> Reply {
        let refused = self.refuse(admitted, method, Reason::InvalidRequest, fault).await;
        refused.unwrap_or_else(|fault| Reply::fault(id, &fault))
    }

    /// Records that something was done that calls no tool.
    pub(crate) async fn note(&self, admitted: &Admitted, method: &Method) -> Result<(), Fault> {
        self.gate.note(admitted, &self.surface, method).await.map_err(Fault::of_call)
    }

    /// Records a refusal before it is told; if it cannot be recorded, that is what is told.
    pub(crate) async fn refuse<T>(
        &self,
        admitted: &Admitted,
        method: &Method,
        reason: Reason,
        fault: Fault,
    ) -> Result<T, Fault> {
        let kept = self.gate.refuse_method(admitted, &self.surface, method, reason).await;
        kept.map_err(Fault::of_call)?;
        Err(fault)
    }
}

/// A message's method, before anything else is known of it.
pub(crate) fn method_of(message: &Message) -> Method {
    Method { name: message.method.clone(), request: message.request_id(), ..Method::default() }
}

/// What the ledger calls a message whose method could not be read.
const UNREADABLE: &str = "(unreadable)";
