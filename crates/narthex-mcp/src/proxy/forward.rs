//! One message to the server, and what comes back.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use reqwest::{Certificate, Client, Response, Url};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::answer::{Answer, agreed_version, explain, one_line};
use super::{ProxyConfig, ProxyError, endpoint, loopback, send};
use crate::era::{SESSION_HEADER, VERSION_HEADER, VERSION_META_KEY};
use crate::events::Events;
use crate::message::{Id, Message};
use crate::named::{METHOD_HEADER, NAME_HEADER, encoded, name_of};
use crate::reply::Reply;

/// The client end of the bridge.
#[derive(Debug)]
pub(super) struct Forwarder {
    client: Client,
    url: Url,
    token: HeaderValue,
    answer_bytes: usize,
    legacy: Mutex<Legacy>,
}

/// What the legacy handshake left behind.
#[derive(Debug, Default)]
struct Legacy {
    /// The revision it agreed on.
    version: Option<HeaderValue>,
    /// The session it opened, where the server keeps sessions.
    session: Option<HeaderValue>,
}

impl Forwarder {
    pub(super) fn new(config: &ProxyConfig) -> Result<Self, ProxyError> {
        let url = endpoint(&config.url)?;
        let bearer = format!("Bearer {}", config.token.expose_secret());
        let mut token = HeaderValue::from_str(&bearer).map_err(|_| ProxyError::Token)?;
        token.set_sensitive(true);
        let wrong = |error: reqwest::Error| ProxyError::Client(error.to_string());
        #[expect(clippy::disallowed_methods, reason = "it talks to the one server its user named")]
        let client = Client::builder();
        let mut client = client
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(config.connect_deadline)
            .read_timeout(config.silence)
            .resolve_to_addrs("localhost", &loopback());
        if let Some(pem) = &config.extra_roots {
            let roots = Certificate::from_pem_bundle(pem).map_err(wrong)?;
            client = client.tls_certs_merge(roots);
        }
        Ok(Self {
            client: client.build().map_err(wrong)?,
            url,
            token,
            answer_bytes: config.answer_bytes,
            legacy: Mutex::default(),
        })
    }

    /// Sends a message and passes on its answer; what fails becomes an error under its id.
    pub(super) async fn forward(&self, message: Message, answers: &mpsc::Sender<Bytes>) {
        let id = message.id.clone();
        if let Err(trouble) = self.exchange(&message, answers).await {
            let Some(id) = id else {
                return tracing::warn!(?trouble, "a notification was not delivered");
            };
            send(answers, Reply::fault(Some(&id), &trouble.into_fault())).await;
        }
    }

    async fn exchange(
        &self,
        message: &Message,
        answers: &mpsc::Sender<Bytes>,
    ) -> Result<(), explain::Trouble> {
        let response = self
            .client
            .post(self.url.clone())
            .headers(self.headers(message))
            .body(written(message))
            .send()
            .await
            .map_err(|error| explain::Trouble::of_client(&error))?;
        if message.method == "initialize" && response.status().is_success() {
            self.legacy().session = response.headers().get(SESSION_HEADER).cloned();
        }
        let Some(id) = &message.id else {
            return explain::check_status(response).await.map(|_| ());
        };
        if is_events(&response) {
            self.pass_events(id, response, answers).await
        } else {
            self.pass_json(message, id, response, answers).await
        }
    }

    async fn pass_json(
        &self,
        message: &Message,
        id: &Id,
        response: Response,
        answers: &mpsc::Sender<Bytes>,
    ) -> Result<(), explain::Trouble> {
        let status = response.status();
        let seconds = explain::retry_after(&response);
        let body = explain::read(response, self.answer_bytes).await?;
        let Some(answer) = Answer::read(&body) else {
            return Err(explain::Trouble::of_status(status, seconds, &body));
        };
        if message.method == "initialize"
            && let Some(version) = agreed_version(&answer)
        {
            self.legacy().version = Some(version);
        }
        // Nobody is left to tell if this fails.
        let _ = answers.send(answer.for_request(id)).await;
        Ok(())
    }

    async fn pass_events(
        &self,
        id: &Id,
        mut response: Response,
        answers: &mpsc::Sender<Bytes>,
    ) -> Result<(), explain::Trouble> {
        let mut events = Events::new(self.answer_bytes);
        let mut answered = false;
        while let Some(chunk) =
            response.chunk().await.map_err(|error| explain::Trouble::of_client(&error))?
        {
            for data in events.feed(&chunk).map_err(|_| explain::Trouble::TooLarge)? {
                let Some(answer) = Answer::read(&data) else { continue };
                answered |= answer.is_response();
                let line =
                    if answer.is_response() { answer.for_request(id) } else { one_line(&data) };
                let _ = answers.send(line).await;
            }
        }
        if answered { Ok(()) } else { Err(explain::Trouble::Unanswered) }
    }

    fn headers(&self, message: &Message) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let said = message.meta().and_then(|meta| meta.get(VERSION_META_KEY));
        if let Some(version) = said.and_then(Value::as_str) {
            let name = name_of(message).map(encoded);
            let pairs = [
                (VERSION_HEADER, Some(version)),
                (METHOD_HEADER, Some(message.method.as_str())),
                (NAME_HEADER, name.as_deref()),
            ];
            for (header, value) in pairs {
                if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                    headers.insert(header, value);
                }
            }
        } else if message.method != "initialize" {
            self.legacy().write(&mut headers);
        }
        headers
    }

    /// Ends the session there is, if any: otherwise it would take up room until it runs out.
    pub(super) async fn end(&self) {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        {
            let legacy = self.legacy();
            if legacy.session.is_none() {
                return;
            }
            legacy.write(&mut headers);
        }
        let ending = self.client.delete(self.url.clone()).headers(headers).timeout(GOODBYE);
        if let Err(error) = ending.send().await {
            tracing::debug!(%error, "a session was not ended");
        }
    }

    fn legacy(&self) -> MutexGuard<'_, Legacy> {
        self.legacy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Legacy {
    fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in [(VERSION_HEADER, &self.version), (SESSION_HEADER, &self.session)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
    }
}

fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    response.status() == StatusCode::OK
        && kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// The message as it was understood: what is forwarded is what was read, not the client's bytes.
fn written(message: &Message) -> Vec<u8> {
    #[derive(Serialize)]
    struct Outgoing<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Id>,
        method: &'a str,
        #[serde(skip_serializing_if = "Map::is_empty")]
        params: &'a Map<String, Value>,
    }
    let Message { id, method, params } = message;
    let outgoing = Outgoing { jsonrpc: "2.0", id: id.as_ref(), method, params };
    serde_json::to_vec(&outgoing).unwrap_or_default()
}

/// How long a server may take to say that a session has ended.
const GOODBYE: Duration = Duration::from_secs(2);
