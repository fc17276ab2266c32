//! The legacy session a message belongs to, where sessions are kept.

use narthex_core::Reason;
use narthex_gate::{Admitted, Method, NewSession, OpenSession, SessionTerms};

use super::Dispatch;
use crate::era::Era;
use crate::fault::Fault;
use crate::message::Message;

impl Dispatch {
    /// Whether a message over HTTP needs a session: every legacy one but the handshake itself.
    pub(crate) fn needs_session(&self, era: Era, message: &Message) -> bool {
        era == Era::Legacy && self.gate.keeps_sessions() && !opens_session(message)
    }

    /// The session of this id, or a refusal that is in the ledger. One that never was, one that
    /// ended and one of another agent are the same to the byte.
    pub(crate) async fn session(
        &self,
        admitted: &Admitted,
        id: Option<&str>,
        method: &Method,
    ) -> Result<OpenSession, Fault> {
        let fault = match id {
            None => Fault::session_required(),
            Some(id) => match self.gate.resume_session(admitted, id).await {
                Ok(session) => return Ok(session),
                Err(_) => Fault::unknown_session(),
            },
        };
        self.refuse(admitted, method, Reason::UnknownSession, fault).await
    }

    /// A session for a client that shakes hands.
    pub(super) async fn open_session(
        &self,
        admitted: &Admitted,
        terms: SessionTerms,
        method: &Method,
    ) -> Result<NewSession, Fault> {
        let refusal = match self.gate.open_session(admitted, terms).await {
            Ok(opened) => return Ok(opened),
            Err(refusal) => refusal,
        };
        let fault = match refusal.reason {
            Reason::LimitReached => Fault::too_many_sessions(),
            _ => Fault::of_refusal(&refusal),
        };
        self.refuse(admitted, method, refusal.reason, fault).await
    }
}

/// Without an id nothing runs, so a notification of this name opens nothing.
pub(crate) fn opens_session(message: &Message) -> bool {
    message.id.is_some() && message.method == "initialize"
}
