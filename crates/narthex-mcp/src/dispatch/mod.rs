//! One message in, one reply out, whatever the transport. Every method passes the gate.

mod handshake;
mod tools;
mod wire;

pub(crate) use handshake::CONSENT_PARAM;

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{Consent, Reason};
use narthex_gate::{Admitted, Gate, Method, ReadySurface};

use crate::era::Era;
use crate::fault::Fault;
use crate::message::{Message, Unreadable};
use crate::reply::Reply;

/// A surface behind its gate, ready to answer messages.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) gate: Gate,
    pub(crate) surface: Arc<ReadySurface>,
    pub(crate) list_ttl: Duration,
}

/// What the transport knows about a message beside the message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carrier {
    /// Each request stands alone.
    Http,
    /// One process, one client: what it consented to when it connected still holds.
    Stdio(Consent),
}

/// A message with everything that is needed to answer it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) message: Message,
    pub(crate) era: Era,
    pub(crate) carrier: Carrier,
}

impl Asked {
    /// The lower of what this request and this process consent to.
    fn consent(&self) -> Consent {
        let request = self.message.consent();
        match self.carrier {
            Carrier::Http => request,
            Carrier::Stdio(process) => process.and(request),
        }
    }

    fn method(&self) -> Method {
        Method {
            name: self.message.method.clone(),
            consent: self.consent(),
            request: self.message.request_id(),
            session: None,
        }
    }
}

impl Dispatch {
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
        done.unwrap_or_else(|fault| Reply::fault(Some(&id), &fault))
    }

    /// Answers bytes that are no message, or a message that contradicts its headers.
    pub(crate) async fn refuse_message(
        &self,
        admitted: &Admitted,
        unreadable: Unreadable,
    ) -> Reply {
        let method = Method { name: UNREADABLE.to_owned(), ..Method::default() };
        let Unreadable { id, fault } = unreadable;
        let refused = self.refuse(admitted, &method, Reason::InvalidRequest, fault).await;
        refused.unwrap_or_else(|fault| Reply::fault(id.as_ref(), &fault))
    }

    /// Answers a message whose revision or headers are wrong.
    pub(crate) async fn refuse_asked(
        &self,
        admitted: &Admitted,
        message: &Message,
        fault: Fault,
    ) -> Reply {
        let method = Method {
            name: message.method.clone(),
            request: message.request_id(),
            ..Method::default()
        };
        let refused = self.refuse(admitted, &method, Reason::InvalidRequest, fault).await;
        refused.unwrap_or_else(|fault| Reply::fault(message.id.as_ref(), &fault))
    }

    /// Records a refusal before it is told; if it cannot be recorded, that is what is told.
    async fn refuse(
        &self,
        admitted: &Admitted,
        method: &Method,
        reason: Reason,
        fault: Fault,
    ) -> Result<Reply, Fault> {
        let kept = self.gate.refuse_method(admitted, &self.surface, method, reason).await;
        kept.map_err(Fault::of_call)?;
        Err(fault)
    }
}

/// What the ledger calls a message whose method could not be read.
const UNREADABLE: &str = "(unreadable)";
