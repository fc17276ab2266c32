//! Exchanges with one checked target. The only place where the inner client is built.

mod kept;

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderValue};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Response};
use rustls::ClientConfig;

use crate::config::EgressConfig;
use crate::error::EgressError;
use crate::line::LineTerms;
use crate::message::Fetched;
use crate::parse::Target;
use crate::policy::Admitted;
use crate::redirect::{Hop, is_redirect};

/// Sends one hop. A trait so that the tests of this crate can play the public internet.
#[async_trait]
pub(crate) trait Wire: Send + Sync {
    async fn exchange(&self, to: &Admitted, hop: &Hop) -> Result<Fetched, EgressError>;

    /// A way to one target that keeps its connections. It lasts as long as what was checked.
    fn keep(&self, to: Admitted, terms: &LineTerms) -> Result<Box<dyn Kept>, EgressError>;
}

/// A way to one checked target, over connections that are used again.
#[async_trait]
pub(crate) trait Kept: Send + Sync {
    /// What was checked.
    fn to(&self) -> &Admitted;

    /// Sends one hop to a URL of that origin.
    async fn send(&self, url: &Target, hop: &Hop) -> Result<Opened, EgressError>;
}

/// An answer whose head was read.
pub(crate) struct Opened {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Box<dyn Chunks>,
}

/// A body, piece by piece.
#[async_trait]
pub(crate) trait Chunks: Send {
    async fn next(&mut self) -> Result<Option<Bytes>, EgressError>;
}

/// The network.
pub(crate) struct Network {
    config: EgressConfig,
    tls: ClientConfig,
}

impl Network {
    pub(crate) fn new(config: EgressConfig) -> Result<Self, EgressError> {
        let tls = crate::tls::client_config(&config)?;
        Ok(Self { config, tls })
    }

    /// A client for these addresses. It knows no name but this one, and follows nothing. For one
    /// exchange it keeps no connection.
    fn client(&self, to: &Admitted, keeps: Option<&LineTerms>) -> Result<Client, EgressError> {
        let (idle, longest) = keeps.map_or((0, Duration::ZERO), |terms| (terms.idle, terms.unused));
        let pinned = Pinned { name: to.target().host().to_string(), to: to.addresses().to_vec() };
        #[expect(clippy::disallowed_methods, reason = "this is the filtered client")]
        let builder = Client::builder();
        builder
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .tls_backend_preconfigured(self.tls.clone())
            .https_only(to.target().is_secure())
            .http1_only()
            .dns_resolver(pinned)
            .connect_timeout(self.config.connect_deadline)
            .pool_max_idle_per_host(idle)
            .pool_idle_timeout(longest)
            .user_agent(USER_AGENT)
            .build()
            .map_err(|error| EgressError::Client(deepest(&error)))
    }

    async fn read(&self, to: &Admitted, mut response: Response) -> Result<Bytes, EgressError> {
        let cap = self.config.response_bytes;
        let too_long = || EgressError::ResponseBytes { origin: to.target().origin(), cap };
        if response.content_length().is_some_and(|length| length > cap as u64) {
            return Err(too_long());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(to, &error))? {
            if chunk.len() > cap.saturating_sub(body.len()) {
                return Err(too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

#[async_trait]
impl Wire for Network {
    async fn exchange(&self, to: &Admitted, hop: &Hop) -> Result<Fetched, EgressError> {
        let mut headers = hop.headers.clone();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut request = self
            .client(to, None)?
            .request(hop.method.clone(), to.target().url().clone())
            .headers(headers);
        if !hop.body.is_empty() {
            request = request.body(hop.body.clone());
        }
        let response = request.send().await.map_err(|error| unreachable(to, &error))?;
        check_head(&self.config, to, &response)?;
        let (status, headers) = (response.status(), response.headers().clone());
        // The body of a redirect is for people.
        let body = if is_redirect(status) { Bytes::new() } else { self.read(to, response).await? };
        Ok(Fetched { status, headers, body })
    }

    fn keep(&self, to: Admitted, terms: &LineTerms) -> Result<Box<dyn Kept>, EgressError> {
        let client = self.client(&to, Some(terms))?;
        Ok(Box::new(kept::Connections::new(client, to, self.config.clone())))
    }
}

/// What can be refused before the body is read.
fn check_head(
    config: &EgressConfig,
    to: &Admitted,
    response: &Response,
) -> Result<(), EgressError> {
    let origin = || to.target().origin();
    if !response.remote_addr().is_some_and(|peer| is_checked(to.addresses(), peer)) {
        return Err(EgressError::Peer { origin: origin() });
    }
    if size(response.headers()) > config.header_bytes {
        return Err(EgressError::HeaderBytes { origin: origin(), cap: config.header_bytes });
    }
    if is_encoded(response.headers()) {
        return Err(EgressError::Encoded { origin: origin() });
    }
    Ok(())
}

/// Hands out the checked addresses for the checked name, and nothing for any other.
struct Pinned {
    name: String,
    to: Vec<SocketAddr>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let found = if name.as_str() == self.name { self.to.clone() } else { Vec::new() };
        let found: Addrs = Box::new(found.into_iter());
        Box::pin(std::future::ready(Ok(found)))
    }
}

fn is_checked(checked: &[SocketAddr], peer: SocketAddr) -> bool {
    checked.iter().any(|address| address.ip() == peer.ip() && address.port() == peer.port())
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let other_than = |name, plain: &str| {
        headers
            .get_all(name)
            .iter()
            .any(|value| !value.as_bytes().eq_ignore_ascii_case(plain.as_bytes()))
    };
    other_than(header::CONTENT_ENCODING, "identity")
        || other_than(header::TRANSFER_ENCODING, "chunked")
}

fn unreachable(to: &Admitted, error: &reqwest::Error) -> EgressError {
    EgressError::Unreachable { origin: to.target().origin(), detail: deepest(error) }
}

/// What was said at the bottom of it. The layers above repeat the URL.
fn deepest(error: &reqwest::Error) -> String {
    let Some(mut deepest) = std::error::Error::source(error) else {
        return if error.is_timeout() { "out of time" } else { "the exchange failed" }.to_owned();
    };
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    one_line(&deepest.to_string())
}

/// Text from elsewhere, fit for a log.
pub(crate) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().take(DETAIL_CHARACTERS).map(plain).collect()
}

const USER_AGENT: &str = concat!("narthex/", env!("CARGO_PKG_VERSION"));
const DETAIL_CHARACTERS: usize = 200;
