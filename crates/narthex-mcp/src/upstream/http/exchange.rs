//! Questions over HTTP: what is sent in each era, and what becomes of one that nobody waits for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use narthex_egress::{Answering, EgressClient, EgressLine, LineRequest, LineTerms};
use narthex_gate::upstream::{Credentials, Greeting, UpstreamFault, UpstreamQuestion};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::receiving::Trouble;
use super::session::Session;
use super::{To, fault_of, headers};
use crate::upstream::UpstreamConfig;
use crate::upstream::outgoing;
use crate::upstream::progress::Ear;
use crate::upstream::talk::{Served, Talk, declared};

/// One server over HTTP.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) talk: Arc<Talk>,
    pub(super) line: EgressLine,
    pub(super) owner: HeaderMap,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) config: UpstreamConfig,
    pub(super) session: Mutex<Option<Session>>,
    /// Held by whoever opens a session anew.
    pub(super) renewing: tokio::sync::Mutex<()>,
}

impl Exchange {
    pub(super) fn new(
        to: To,
        talk: Arc<Talk>,
        egress: &EgressClient,
        config: &UpstreamConfig,
    ) -> Result<Self, UpstreamFault> {
        let terms = LineTerms {
            checked_for: config.checked_for,
            idle: talk.terms.questions.min(MOST_IDLE),
            unused: KEPT_UNUSED,
            concurrent: talk.terms.questions.saturating_add(SPARE_PLACES),
        };
        Ok(Self {
            line: egress.line(&to.url, terms).map_err(fault_of)?,
            owner: headers::owners(&to.headers)?,
            credentials: to.credentials,
            config: config.clone(),
            session: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            talk,
        })
    }

    /// Asks a server without sessions. Dropped, the answer is closed, and that is the cancellation.
    pub(super) async fn ask_modern(
        self: &Arc<Self>,
        question: UpstreamQuestion,
    ) -> Result<Box<RawValue>, UpstreamFault> {
        let UpstreamQuestion {
            method,
            mut params,
            name,
            input_schema,
            deadline,
            progress,
            asked,
            logs,
        } = question;
        let id = self.talk.next_id();
        let headers = headers::modern(&method, &params, name.as_deref(), input_schema.as_deref())?;
        let declared = declared(asked.as_ref());
        let (token, least) = (progress.is_some().then_some(id), logs.as_ref().map(|ear| ear.least));
        outgoing::dress(&mut params, Some(&declared), token, least);
        let body = outgoing::request(id, &method, &params);
        let _hears = self.talk.hear(id, logs);
        let answer = self.post(headers, body, deadline).await?;
        Ok(self.received(id, answer, progress.map(Ear::new)).await?)
    }

    /// Asks a server with a handshake. A session that the server has forgotten is opened anew, once:
    /// it said so before it did anything.
    pub(super) async fn ask_legacy(
        self: &Arc<Self>,
        question: UpstreamQuestion,
        greeting: &Greeting,
    ) -> Result<Box<RawValue>, UpstreamFault> {
        let (session, answer) = self.ask_in_session(&question).await;
        match answer {
            Err(Trouble::Status { status: StatusCode::NOT_FOUND, .. }) if session.has_id() => {
                self.renew(session.generation, greeting).await?;
                Ok(self.ask_in_session(&question).await.1?)
            }
            answer => Ok(answer?),
        }
    }

    async fn ask_in_session(
        self: &Arc<Self>,
        question: &UpstreamQuestion,
    ) -> (Session, Result<Box<RawValue>, Trouble>) {
        let id = self.talk.next_id();
        let mut params = question.params.clone();
        outgoing::dress(&mut params, None, question.progress.is_some().then_some(id), None);
        let body = outgoing::request(id, &question.method, &params);
        let session = self.session();
        let _attends = self.talk.attend(id, question.asked.clone());
        let _hears = self.talk.hear(id, question.logs.clone());
        let mut cancels = Cancels { exchange: Arc::clone(self), id, armed: true };
        let answer = match self.post(session.headers(), body, question.deadline).await {
            Ok(answer) => {
                let ear = question.progress.clone().map(Ear::new);
                self.received(id, answer, ear).await
            }
            Err(fault) => Err(fault.into()),
        };
        // The line's deadline is the question's, and whoever ran into it may still be at work.
        cancels.armed = matches!(answer, Err(Trouble::Fault(UpstreamFault::Late(_))));
        (session, answer)
    }

    /// Sends a message; its answer has a head.
    pub(super) async fn post(
        &self,
        mut headers: HeaderMap,
        body: Bytes,
        deadline: Duration,
    ) -> Result<Answering, UpstreamFault> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        self.knock(LineRequest {
            method: Method::POST,
            headers,
            body,
            deadline,
            body_bytes: self.talk.terms.line_bytes.saturating_mul(STREAM_LINES),
        })
        .await
    }

    /// Sends what has no answer. Nobody is left to tell if this fails.
    pub(super) async fn tell(&self, body: Bytes) {
        let telling = async {
            let posted = self.post(self.session().headers(), body, self.config.courtesy).await;
            if let Ok(answer) = posted {
                let _ = answer.whole(MAX_COURTESY).await;
            }
        };
        // Finding out who we are takes time too.
        let _ = timeout(self.config.courtesy, telling).await;
    }

    /// Answers a request of the server's in a message of its own.
    pub(super) fn serve(self: &Arc<Self>, served: Served) {
        let exchange = Arc::clone(self);
        let answering = async move {
            match served {
                Served::Now(answer) => exchange.tell(answer).await,
                Served::Later(asking) => {
                    if let Some(answer) = asking.answered().await {
                        exchange.tell(answer).await;
                    }
                }
                Served::Not => {}
            }
        };
        let stop = self.talk.stop.clone();
        drop(self.talk.tasks.spawn(stop.run_until_cancelled_owned(answering)));
    }

    /// Sends `server/discover`.
    pub(super) async fn discover(self: &Arc<Self>) -> Result<Box<RawValue>, Trouble> {
        let (method, mut params) = ("server/discover", Map::<String, Value>::new());
        let headers = headers::modern(method, &params, None, None)?;
        let id = self.talk.next_id();
        outgoing::dress(&mut params, Some(&Map::new()), None, None);
        let body = outgoing::request(id, method, &params);
        let answer = self.post(headers, body, self.talk.terms.connect_deadline).await?;
        self.received(id, answer, None).await
    }
}

/// Tells a server with a handshake that nobody waits any more, if that is so when it is dropped.
struct Cancels {
    exchange: Arc<Exchange>,
    id: u64,
    armed: bool,
}

impl Drop for Cancels {
    fn drop(&mut self) {
        let Some(runtime) = Handle::try_current().ok().filter(|_| self.armed) else { return };
        let (exchange, id) = (Arc::clone(&self.exchange), self.id);
        let tasks = &self.exchange.talk.tasks;
        tasks.spawn_on(async move { exchange.tell(outgoing::cancelled(id)).await }, &runtime);
    }
}

/// Connections kept while nobody uses them.
const MOST_IDLE: usize = 16;
/// How long each of them is. Many servers close theirs after five seconds; a question on its way just
/// then would be lost, and nobody could say whether it was carried out.
const KEPT_UNUSED: Duration = Duration::from_secs(4);
/// Places on the line besides questions: what is told, and the stream of announcements.
const SPARE_PLACES: usize = 8;
/// A stream may have so many times the longest event.
const STREAM_LINES: usize = 4;
/// Read of an answer to what has none.
const MAX_COURTESY: usize = 4096;
