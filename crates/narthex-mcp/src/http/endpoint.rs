//! One MCP endpoint: what a request meets, in this order, before its message is answered.

use std::convert::Infallible;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use narthex_core::{AgentId, Reason};
use narthex_gate::{
    Admitted, AsksClient, CallError, Gate, OpenSession, Presented, ReadySurface, Source,
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::bearer::bearer;
use super::body::{Bodies, BodyFault, Held};
use super::early;
use super::form::{Form, Refused, session_id};
use super::negotiate::Takes;
use super::refuse::{closing, overloaded, turned_away};
use crate::EdgeConfig;
use crate::asking::{OpenAsks, QUESTIONS, Response as ClientResponse, Voice};
use crate::dispatch::{Asked, Carrier, Dispatch, method_of, opens_session};
use crate::era::Era;
use crate::message::{Message, Unreadable};
use crate::progress::{self, Said, Says, WAITING, log_wanted};
use crate::reply::Reply;

/// A tower service that answers MCP messages on whatever path it is mounted: one surface's, or
/// those of the surface its path names.
///
/// It expects the peer's address as [`ConnectInfo`] in the request, as [`super::serve`] puts it
/// there; Host and Origin were checked by then.
#[derive(Debug, Clone)]
pub struct McpEndpoint(Arc<Endpoint>);

#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) gate: Gate,
    pub(super) config: EdgeConfig,
    pub(super) rooms: Arc<dyn Rooms>,
    large: Option<LargeCall>,
    bodies: Bodies,
    /// What clients were asked.
    asks: Arc<OpenAsks>,
}

/// A surface behind its gate, with what does not change from request to request made once.
#[derive(Debug, Clone)]
pub struct Served(pub(super) Arc<Dispatch>);

impl Served {
    /// Of this surface.
    pub fn new(gate: Gate, surface: Arc<ReadySurface>, config: &EdgeConfig) -> Self {
        Self(Arc::new(Dispatch::new(gate, surface, config)))
    }
}

/// Where a path leads.
#[async_trait]
pub trait Rooms: Debug + Send + Sync {
    /// The surface on this path, for someone who was let in. None if there is none, or none for
    /// them: the two are the same to the byte.
    async fn room(&self, path: &str, admitted: &Admitted) -> Result<Option<Served>, CallError>;
}

#[async_trait]
impl Rooms for Served {
    async fn room(&self, _: &str, _: &Admitted) -> Result<Option<Served>, CallError> {
        Ok(Some(self.clone()))
    }
}

/// A tool whose calls may be larger than any other message.
#[derive(Debug, Clone, Copy)]
pub struct LargeCall {
    /// Which.
    pub tool: &'static str,
    /// Bytes of the whole message; over it 413.
    pub bytes: usize,
}

impl LargeCall {
    fn is(self, message: &Message) -> bool {
        message.method == "tools/call"
            && message.params.get("name").and_then(serde_json::Value::as_str) == Some(self.tool)
    }
}

/// Puts a surface behind its gate on HTTP.
pub fn mcp_service(gate: Gate, surface: Arc<ReadySurface>, config: EdgeConfig) -> McpEndpoint {
    let served = Served::new(gate.clone(), surface, &config);
    mcp_rooms(gate, Arc::new(served), config, None)
}

/// Puts the surfaces that paths lead to behind their gate on HTTP.
pub fn mcp_rooms(
    gate: Gate,
    rooms: Arc<dyn Rooms>,
    config: EdgeConfig,
    large: Option<LargeCall>,
) -> McpEndpoint {
    let (mut most, mut memory) = (config.body_bytes, config.body_memory);
    if let Some(large) = large {
        most = most.max(large.bytes);
        memory = memory.max(large.bytes);
    }
    let bodies = Bodies::new(most, config.body_deadline, memory);
    McpEndpoint(Arc::new(Endpoint { gate, config, rooms, large, bodies, asks: Arc::default() }))
}

impl tower::Service<Request<Body>> for McpEndpoint {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let endpoint = Arc::clone(&self.0);
        Box::pin(
            async move { Ok(endpoint.handle(request).await.unwrap_or_else(|refused| *refused)) },
        )
    }
}

impl Endpoint {
    async fn handle(self: Arc<Self>, request: Request<Body>) -> Result<Response<Body>, Refused> {
        let (parts, body) = request.into_parts();
        let gate = &self.gate;
        let form = match Form::of(&parts, gate.keeps_sessions()) {
            Ok(form) => form,
            Err(refused) => {
                gate.refused_at_the_edge(Reason::InvalidRequest).await;
                return Err(refused);
            }
        };
        let admitted = self.let_in(&parts).await?;
        let dispatch = self.room(parts.uri.path(), &admitted).await?;
        match form {
            Form::Message(takes) => {
                self.take_message(dispatch, admitted, takes, parts.headers, body).await
            }
            Form::Listen => Ok(self.listen(dispatch, admitted, &parts).await),
            Form::End => Ok(self.end_session(&dispatch, admitted, &parts).await),
        }
    }

    /// Where does the path lead them?
    async fn room(&self, path: &str, admitted: &Admitted) -> Result<Arc<Dispatch>, Refused> {
        match self.rooms.room(path, admitted).await {
            Ok(Some(Served(dispatch))) => Ok(dispatch),
            Ok(None) => {
                self.gate.refused_unread(admitted, Reason::NotFound).await;
                Err(Box::new(closing(
                    StatusCode::NOT_FOUND,
                    Reason::NotFound.code(),
                    Reason::NotFound.message(),
                )))
            }
            Err(error) => {
                tracing::error!(?error, "a surface cannot be served");
                self.gate.refused_unread(admitted, Reason::Unavailable).await;
                Err(Box::new(overloaded()))
            }
        }
    }

    /// Who is this, and may they come in now?
    async fn let_in(&self, parts: &Parts) -> Result<Admitted, Refused> {
        let gate = &self.gate;
        let presented = Presented { bearer: bearer(&parts.headers), source: source(parts) };
        let away = |refusal| Box::new(turned_away(&refusal));
        let identified = gate.identify(presented).await.map_err(away)?;
        gate.admit(identified).await.map_err(away)
    }

    async fn take_message(
        self: Arc<Self>,
        dispatch: Arc<Dispatch>,
        admitted: Admitted,
        takes: Takes,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Body>, Refused> {
        let (held, read) = match self.read(admitted.principal().agent.id, body).await {
            Ok(both) => both,
            Err(fault) => {
                self.gate.refused_unread(&admitted, fault.reason()).await;
                return Err(Box::new(unread(fault)));
            }
        };
        // The head of a handshake's answer may have to name the session, so it waits for it.
        let shakes_hands = read.as_ref().is_ok_and(opens_session);
        // Only a stream has room for more than the answer.
        let wanted = read.as_ref().ok().filter(|_| takes.events).and_then(progress::wanted);
        let (says, words) = wanted.unzip();
        let (to, asks) = mpsc::channel(QUESTIONS);
        let logs = (takes.events && dispatch.hears_logs()).then(|| mpsc::channel(WAITING));
        let (log, logs) = logs.unzip();
        let to = takes.events.then_some(to);
        let ways = Ways { says, log, to, asks: Arc::clone(&self.asks) };
        let said = Said { words, asks: Some(asks), logs };
        let work = Box::pin(work(dispatch, admitted.clone(), headers, read, held, ways));
        Ok(if shakes_hands {
            early::plain(work.await)
        } else {
            early::respond(&self, admitted, takes, work, said).await
        })
    }

    /// The message. What is larger than a message may be is only ever the one large call, which has
    /// a bound of its own whichever of the two is higher.
    async fn read(
        &self,
        agent: AgentId,
        body: Body,
    ) -> Result<(Held, Result<Message, Unreadable>), BodyFault> {
        let held = self.bodies.read(agent, body).await?;
        let read = Message::read(&held.bytes);
        let large = self.large.filter(|large| read.as_ref().is_ok_and(|read| large.is(read)));
        let most = large.map_or(self.config.body_bytes, |large| large.bytes);
        if held.bytes.len() <= most { Ok((held, read)) } else { Err(BodyFault::TooLarge) }
    }
}

/// Answers the message; its memory is held until then.
async fn work(
    dispatch: Arc<Dispatch>,
    admitted: Admitted,
    headers: HeaderMap,
    read: Result<Message, Unreadable>,
    held: Held,
    ways: Ways,
) -> Reply {
    let message = match read {
        Ok(message) => message,
        Err(unreadable) => {
            let taken = ways.take_answer(&dispatch, &admitted, &headers, &held.bytes).await;
            if taken {
                return Reply::accepted();
            }
            return dispatch.refuse_message(&admitted, unreadable).await;
        }
    };
    let era = match Era::of_http(&message, &headers) {
        Ok(era) => era,
        Err(fault) => return dispatch.refuse_asked(&admitted, &message, fault).await,
    };
    let mut session = None;
    if dispatch.needs_session(era, &message) {
        let method = method_of(&message);
        match dispatch.session(&admitted, session_id(&headers), &method).await {
            Ok(known) => session = Some(known),
            Err(fault) => return Reply::fault(message.id.as_ref(), &fault),
        }
    }
    let voice = session.as_ref().and_then(|session| ways.voice(session));
    let logs = ways.log.and_then(|to| log_wanted(era, &message, to));
    let says = ways.says;
    let asked = Asked { message, era, carrier: Carrier::Http(session), says, logs, voice };
    dispatch.answer(&admitted, asked).await
}

/// What can be said to a client, and heard from it, besides its message and the answer.
struct Ways {
    says: Option<Says>,
    log: Option<mpsc::Sender<Value>>,
    /// Where it is asked something: only a stream has room for it.
    to: Option<mpsc::Sender<Bytes>>,
    asks: Arc<OpenAsks>,
}

impl Ways {
    /// How the client of a session is asked something.
    fn voice(&self, session: &OpenSession) -> Option<Arc<dyn AsksClient>> {
        let (to, open) = (self.to.clone()?, Arc::clone(&self.asks));
        Some(Arc::new(Voice { to, open, session: Some(session.id.clone()) }))
    }

    /// Takes an answer to something the client was asked in a session of its own.
    async fn take_answer(
        &self,
        dispatch: &Dispatch,
        admitted: &Admitted,
        headers: &HeaderMap,
        bytes: &[u8],
    ) -> bool {
        let legacy = Era::of_headers(headers).is_ok_and(|era| era == Era::Legacy);
        let (true, Some(id), Some(response)) =
            (legacy, session_id(headers), ClientResponse::read(bytes))
        else {
            return false;
        };
        match dispatch.gate.resume_session(admitted, id).await {
            Ok(session) => self.asks.deliver(Some(&session.id), response),
            Err(_) => false,
        }
    }
}

fn unread(fault: BodyFault) -> Response<Body> {
    match fault {
        BodyFault::TooLarge => closing(
            StatusCode::PAYLOAD_TOO_LARGE,
            "payload_too_large",
            "the body is larger than this server takes",
        ),
        BodyFault::TooSlow => closing(
            StatusCode::REQUEST_TIMEOUT,
            "request_timeout",
            "the body did not arrive in time",
        ),
        BodyFault::Broken => {
            closing(StatusCode::BAD_REQUEST, "bad_request", "the body could not be read")
        }
        BodyFault::NoRoom => overloaded(),
    }
}

/// Where the request came from. What a header says about it is only ever the client's word.
pub(super) fn source(parts: &Parts) -> Source {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    Source::Address(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}
