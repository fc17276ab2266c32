//! One MCP endpoint: what a request meets, in this order, before its message is answered.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use narthex_gate::{Admitted, Gate, Presented, ReadySurface, Source};

use super::bearer::bearer;
use super::body::{Bodies, BodyFault, Held};
use super::early;
use super::negotiate::{Takes, sends_json, takes};
use super::refuse::{closing, overloaded, turned_away};
use crate::EdgeConfig;
use crate::dispatch::{Asked, Carrier, Dispatch};
use crate::era::Era;
use crate::message::Message;
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
        dispatch: Dispatch { gate, surface, list_ttl: config.list_ttl },
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

/// A response that was decided before the message was read. Boxed: it is the rare case.
type Refused = Box<Response<Body>>;

impl Endpoint {
    async fn handle(self: Arc<Self>, request: Request<Body>) -> Result<Response<Body>, Refused> {
        let (parts, body) = request.into_parts();
        let takes = check_form(&parts)?;
        let admitted = self.let_in(&parts).await?;
        let held = self
            .bodies
            .read(admitted.principal().agent.id, body)
            .await
            .map_err(|fault| Box::new(unread(fault)))?;
        let work = Arc::clone(&self).work(admitted.clone(), parts.headers, held);
        Ok(early::respond(&self, admitted, takes, Box::pin(work)).await)
    }

    /// Who is this, and may they come in now?
    async fn let_in(&self, parts: &Parts) -> Result<Admitted, Refused> {
        let gate = &self.dispatch.gate;
        let presented = Presented { bearer: bearer(&parts.headers), source: source(parts) };
        let away = |refusal| Box::new(turned_away(&refusal));
        let identified = gate.identify(presented).await.map_err(away)?;
        gate.admit(identified).await.map_err(away)
    }

    /// Reads the message and answers it.
    async fn work(self: Arc<Self>, admitted: Admitted, headers: HeaderMap, held: Held) -> Reply {
        let message = match Message::read(&held.bytes) {
            Ok(message) => message,
            Err(unreadable) => return self.dispatch.refuse_message(&admitted, unreadable).await,
        };
        match Era::of_http(&message, &headers) {
            Ok(era) => {
                let asked = Asked { message, era, carrier: Carrier::Http };
                self.dispatch.answer(&admitted, asked).await
            }
            Err(fault) => self.dispatch.refuse_asked(&admitted, &message, fault).await,
        }
    }
}

/// Method, content type and what may be answered: known before anyone is asked who they are.
fn check_form(parts: &Parts) -> Result<Takes, Refused> {
    if parts.method != Method::POST {
        let mut response = closing(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "this endpoint takes POST; there are no sessions to open or end",
        );
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return Err(Box::new(response));
    }
    if !sends_json(&parts.headers) {
        return Err(Box::new(closing(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the body must be application/json, in UTF-8 and not compressed",
        )));
    }
    takes(&parts.headers).ok_or_else(|| {
        Box::new(closing(
            StatusCode::NOT_ACCEPTABLE,
            "not_acceptable",
            "answers are application/json, and text/event-stream for calls that take long",
        ))
    })
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
