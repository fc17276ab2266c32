//! One MCP endpoint: what a request meets, in this order, before its message is answered.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use narthex_core::Reason;
use narthex_gate::{Admitted, Gate, Presented, ReadySurface, Source};

use super::bearer::bearer;
use super::body::{Bodies, BodyFault, Held};
use super::early;
use super::form::{Form, Refused, session_id};
use super::negotiate::Takes;
use super::refuse::{closing, overloaded, turned_away};
use crate::EdgeConfig;
use crate::dispatch::{Asked, Carrier, Dispatch, method_of, opens_session};
use crate::era::Era;
use crate::message::{Message, Unreadable};
use crate::reply::Reply;

/// A tower service that answers one surface's MCP messages on whatever path it is mounted.
///
/// It expects the peer's address as [`ConnectInfo`] in the request, as [`super::serve`] puts it
/// there; Host and Origin were checked by then.
#[derive(Debug, Clone)]
pub struct McpEndpoint(Arc<Endpoint>);

#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) dispatch: Dispatch,
    pub(super) config: EdgeConfig,
    bodies: Bodies,
}

/// Puts a surface behind its gate on HTTP.
pub fn mcp_service(gate: Gate, surface: Arc<ReadySurface>, config: EdgeConfig) -> McpEndpoint {
    McpEndpoint(Arc::new(Endpoint {
        dispatch: Dispatch::new(gate, surface, &config),
        bodies: Bodies::new(config.body_bytes, config.body_deadline, config.body_memory),
        config,
    }))
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
        let gate = &self.dispatch.gate;
        let form = match Form::of(&parts, gate.keeps_sessions()) {
            Ok(form) => form,
            Err(refused) => {
                gate.refused_at_the_edge(Reason::InvalidRequest).await;
                return Err(refused);
            }
        };
        let admitted = self.let_in(&parts).await?;
        match form {
            Form::Message(takes) => self.take_message(admitted, takes, parts.headers, body).await,
            Form::Listen => Ok(self.listen(admitted, &parts).await),
            Form::End => Ok(self.end_session(admitted, &parts).await),
        }
    }

    /// Who is this, and may they come in now?
    async fn let_in(&self, parts: &Parts) -> Result<Admitted, Refused> {
        let gate = &self.dispatch.gate;
        let presented = Presented { bearer: bearer(&parts.headers), source: source(parts) };
        let away = |refusal| Box::new(turned_away(&refusal));
        let identified = gate.identify(presented).await.map_err(away)?;
        gate.admit(identified).await.map_err(away)
    }

    async fn take_message(
        self: Arc<Self>,
        admitted: Admitted,
        takes: Takes,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Body>, Refused> {
        let held = match self.bodies.read(admitted.principal().agent.id, body).await {
            Ok(held) => held,
            Err(fault) => {
                self.dispatch.gate.refused_unread(&admitted, fault.reason()).await;
                return Err(Box::new(unread(fault)));
            }
        };
        let read = Message::read(&held.bytes);
        // The head of a handshake's answer may have to name the session, so it waits for it.
        let shakes_hands = read.as_ref().is_ok_and(opens_session);
        let work = Box::pin(Arc::clone(&self).work(admitted.clone(), headers, read, held));
        Ok(if shakes_hands {
            early::plain(work.await)
        } else {
            early::respond(&self, admitted, takes, work).await
        })
    }

    /// Answers the message; its memory is held until then.
    async fn work(
        self: Arc<Self>,
        admitted: Admitted,
        headers: HeaderMap,
        read: Result<Message, Unreadable>,
        _held: Held,
    ) -> Reply {
        let dispatch = &self.dispatch;
        let message = match read {
            Ok(message) => message,
            Err(unreadable) => return dispatch.refuse_message(&admitted, unreadable).await,
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
        let asked = Asked { message, era, carrier: Carrier::Http(session) };
        dispatch.answer(&admitted, asked).await
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
fn source(parts: &Parts) -> Source {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    Source::Address(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}
