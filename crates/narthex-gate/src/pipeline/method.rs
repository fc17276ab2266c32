//! A method of the protocol that calls no tool.

use narthex_core::{Consent, RequestId, SessionId};

/// A method as a client asked for it.
#[derive(Debug, Clone, Default)]
pub struct Method {
    /// Its name on the wire, as the ledger shows it.
    pub name: String,
    /// What the client consents to.
    pub consent: Consent,
    /// The client's request id.
    pub request: Option<RequestId>,
    /// The legacy session, where there is one.
    pub session: Option<SessionId>,
}
