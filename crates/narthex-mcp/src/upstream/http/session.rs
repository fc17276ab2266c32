//! The greeting over HTTP, and the session that an older server may open with it.

use std::sync::{Arc, MutexGuard, PoisonError};

use http::Method;
use http::header::{HeaderMap, HeaderValue};
use narthex_egress::LineRequest;
use narthex_gate::upstream::{Greeting, UpstreamEra, UpstreamFault};
use serde_json::Map;
use tokio::time::timeout;

use super::exchange::Exchange;
use crate::era::{SESSION_HEADER, VERSION_HEADER};
use crate::upstream::greet::{self, Discovered};
use crate::upstream::incoming::garbled;
use crate::upstream::outgoing;

/// What the handshake left behind.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    version: Option<HeaderValue>,
    id: Option<HeaderValue>,
    /// Counts the handshakes.
    pub(super) generation: u64,
}

impl Session {
    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    pub(super) fn headers(&self) -> HeaderMap {
        let pairs = [(VERSION_HEADER, &self.version), (SESSION_HEADER, &self.id)];
        let said = pairs.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        said.collect()
    }
}

impl Exchange {
    pub(super) async fn greet(self: &Arc<Self>) -> Result<Greeting, UpstreamFault> {
        let era = self.talk.terms.era;
        if era == UpstreamEra::Legacy {
            return self.initialize().await;
        }
        let found = match self.discover().await {
            Ok(raw) => greet::discovered(&raw)?,
            Err(trouble) if era == UpstreamEra::Either && trouble.means_legacy() => {
                Discovered::OlderOnly
            }
            Err(trouble) => return Err(trouble.into()),
        };
        match found {
            Discovered::Modern(greeting) => Ok(greeting),
            Discovered::OlderOnly if era == UpstreamEra::Either => self.initialize().await,
            Discovered::OlderOnly => Err(garbled("it speaks no revision without a handshake")),
        }
    }

    async fn initialize(self: &Arc<Self>) -> Result<Greeting, UpstreamFault> {
        let id = self.talk.next_id();
        let body = outgoing::request(id, "initialize", &greet::initialize(&self.talk.declared));
        let deadline = self.talk.terms.connect_deadline;
        let answer = self.post(HeaderMap::new(), body, deadline).await?;
        let session = answer.headers.get(SESSION_HEADER).map(read_session).transpose()?;
        let greeting = greet::initialized(&self.received(id, answer, None).await?)?;
        let version = HeaderValue::from_str(&greeting.revision);
        {
            let mut held = self.held();
            let generation = held.as_ref().map_or(0, |session| session.generation) + 1;
            *held = Some(Session { version: version.ok(), id: session, generation });
        }
        self.tell(outgoing::notification("notifications/initialized", &Map::new())).await;
        Ok(greeting)
    }

    /// Opens a session in place of one that the server has forgotten, unless somebody did. Who comes
    /// back as another server is not the one that was approved.
    pub(super) async fn renew(
        self: &Arc<Self>,
        lost: u64,
        before: &Greeting,
    ) -> Result<(), UpstreamFault> {
        let _turn = self.renewing.lock().await;
        if self.session().generation != lost {
            return Ok(());
        }
        let now = self.initialize().await?;
        if now == *before {
            return Ok(());
        }
        let why = UpstreamFault::Ended("it came back as another server".to_owned());
        self.talk.end(why.clone());
        Err(why)
    }

    /// Ends the session there is: otherwise it would take up room at the server.
    pub(super) async fn end_session(&self) {
        let session = self.held().take();
        let Some(session) = session.filter(Session::has_id) else { return };
        let request = LineRequest {
            method: Method::DELETE,
            headers: session.headers(),
            body: bytes::Bytes::new(),
            deadline: self.config.courtesy,
            body_bytes: 4096,
        };
        match timeout(self.config.courtesy, self.knock(request)).await {
            Ok(Ok(_)) => {}
            other => tracing::debug!(?other, "a session at a server was not ended"),
        }
    }

    pub(super) fn has_session(&self) -> bool {
        self.held().as_ref().is_some_and(Session::has_id)
    }

    pub(super) fn session(&self) -> Session {
        self.held().clone().unwrap_or_default()
    }

    fn held(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session's id is sent back with every message: plain characters, and not many.
fn read_session(value: &HeaderValue) -> Result<HeaderValue, UpstreamFault> {
    let bytes = value.as_bytes();
    let plain = bytes.iter().all(u8::is_ascii_graphic);
    if !plain || bytes.is_empty() || bytes.len() > MAX_SESSION {
        return Err(garbled("its session has an id that cannot be sent"));
    }
    let mut value = value.clone();
    value.set_sensitive(true);
    Ok(value)
}

const MAX_SESSION: usize = 512;
