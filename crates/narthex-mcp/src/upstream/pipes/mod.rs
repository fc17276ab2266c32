//! A server that is a process: one task reads what it writes, one writes what it reads.

mod lines;
mod reading;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use narthex_gate::upstream::{
    Connection, Greeting, LogLevel, UpstreamEra, UpstreamFault, UpstreamProgress, UpstreamQuestion,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use self::reading::Reading;
use self::waiting::{Answered, Pending, Waiting};
use super::UpstreamConfig;
use super::greet::{self, Discovered};
use super::outgoing;
use super::progress::Ear;
use super::talk::{Spoken, Talk, declared};
use crate::lines::write_lines;

/// A process that was greeted. Dropping it ends both tasks, which closes both pipes.
#[derive(Debug)]
pub(super) struct PipesConnection {
    pipes: Pipes,
    greeting: Greeting,
    _stop: DropGuard,
}

/// Greets a process.
pub(super) async fn connect(
    (to, from): (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>),
    talk: Arc<Talk>,
    config: &UpstreamConfig,
) -> Result<PipesConnection, UpstreamFault> {
    let stop = talk.stop.clone().drop_guard();
    let pipes = Pipes::open((to, from), talk);
    let greeting = pipes.greet(config.silence).await?;
    if greeting.modern {
        pipes.listen(&greeting);
    }
    Ok(PipesConnection { pipes, greeting, _stop: stop })
}

/// Both ends of a process.
#[derive(Debug)]
struct Pipes {
    talk: Arc<Talk>,
    waiting: Waiting,
    outgoing: mpsc::Sender<Bytes>,
}

impl Pipes {
    fn open(
        (to, from): (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>),
        talk: Arc<Talk>,
    ) -> Self {
        let room = talk.terms.questions.saturating_add(SPARE_ROOM);
        let (outgoing, lines) = mpsc::channel(room);
        let waiting = Waiting::default();
        let reading = Reading {
            talk: Arc::clone(&talk),
            waiting: waiting.clone(),
            outgoing: outgoing.downgrade(),
        };
        talk.tasks.spawn(reading.run(from));
        let writer = Arc::clone(&talk);
        talk.tasks.spawn(async move {
            let written = tokio::select! {
                () = writer.stop.cancelled() => return,
                written = write_lines(to, lines) => written,
            };
            if written.is_err() {
                writer.end(UpstreamFault::Ended("it reads no more".to_owned()));
            }
        });
        Self { talk, waiting, outgoing }
    }

    /// Asks, and leaves the answer to be waited for.
    async fn begin(
        &self,
        id: u64,
        method: &str,
        mut params: Map<String, Value>,
        progress: Option<mpsc::Sender<UpstreamProgress>>,
        declared: Option<&Map<String, Value>>,
        least: Option<LogLevel>,
    ) -> Result<Pending, UpstreamFault> {
        let token = progress.is_some().then_some(id);
        outgoing::dress(&mut params, declared, token, least);
        let pending = self.waiting.begin(id, progress.map(Ear::new))?;
        let sent = self.outgoing.send(outgoing::request(id, method, &params)).await;
        // The writer is gone; the reader says why in a moment, if it has not yet.
        sent.map_err(|_| self.talk.ended().unwrap_or_else(gone))?;
        Ok(pending)
    }

    async fn ask(&self, question: UpstreamQuestion) -> Answered {
        let _place = self.talk.place()?;
        let UpstreamQuestion { method, params, deadline, progress, asked, logs, .. } = question;
        let asking = async {
            let declared = self.talk.is_modern().then(|| declared(asked.as_ref()));
            let id = self.talk.next_id();
            let _attends = self.talk.attend(id, asked);
            let least = logs.as_ref().map(|ear| ear.least);
            let _hears = self.talk.hear(id, logs);
            let declared = declared.as_ref();
            let mut pending = self.begin(id, &method, params, progress, declared, least).await?;
            pending.cancels_by(self.outgoing.clone());
            pending.answer().await
        };
        timeout(deadline, asking).await.unwrap_or(Err(UpstreamFault::Late(deadline)))
    }

    async fn greet(&self, silence: Duration) -> Result<Greeting, UpstreamFault> {
        let deadline = self.talk.terms.connect_deadline;
        let greeting = async {
            match self.talk.terms.era {
                UpstreamEra::Legacy => self.initialize(None).await,
                UpstreamEra::Modern => match self.discover(deadline).await? {
                    Found::Modern(greeting) => Ok(greeting),
                    Found::Refused(fault) => Err(fault),
                    Found::OlderOnly | Found::Silent(_) => {
                        Err(super::incoming::garbled("it speaks no revision without a handshake"))
                    }
                },
                UpstreamEra::Either => match self.discover(silence).await? {
                    Found::Modern(greeting) => Ok(greeting),
                    Found::Refused(fault) if !greet::means_legacy(&fault) => Err(fault),
                    Found::Refused(_) | Found::OlderOnly => self.initialize(None).await,
                    Found::Silent(late) => self.initialize(Some(late)).await,
                },
            }
        };
        let greeting = timeout(deadline, greeting).await;
        let greeting = greeting.unwrap_or(Err(UpstreamFault::Late(deadline)))?;
        self.talk.speak(if greeting.modern { Spoken::Modern } else { Spoken::Legacy });
        Ok(greeting)
    }

    async fn discover(&self, patience: Duration) -> Result<Found, UpstreamFault> {
        let id = self.talk.next_id();
        let mut pending =
            self.begin(id, "server/discover", Map::new(), None, Some(&Map::new()), None).await?;
        match timeout(patience, pending.answer()).await {
            Ok(Ok(raw)) => Found::of(&raw),
            Ok(Err(fault @ UpstreamFault::Refused { .. })) => Ok(Found::Refused(fault)),
            Ok(Err(fault)) => Err(fault),
            Err(_) => Ok(Found::Silent(pending)),
        }
    }

    /// The handshake. A server that was silent because it was still starting may answer the first
    /// greeting after all; if it then refuses the second, the first holds.
    async fn initialize(&self, earlier: Option<Pending>) -> Result<Greeting, UpstreamFault> {
        let params = greet::initialize(&self.talk.declared);
        let mut pending =
            self.begin(self.talk.next_id(), "initialize", params, None, None, None).await?;
        let answer = match pending.answer().await {
            Err(fault @ UpstreamFault::Refused { .. }) => {
                let late = earlier.and_then(|mut earlier| earlier.answered());
                return match late.map(|late| late.and_then(|raw| Found::of(&raw))) {
                    Some(Ok(Found::Modern(greeting))) => Ok(greeting),
                    _ => Err(fault),
                };
            }
            answer => answer?,
        };
        let greeting = greet::initialized(&answer)?;
        let ready = outgoing::notification("notifications/initialized", &Map::new());
        self.outgoing.send(ready).await.map_err(|_| self.talk.ended().unwrap_or_else(gone))?;
        Ok(greeting)
    }

    /// Asks a modern server to announce what it said it announces. What it answers does not matter:
    /// changes raise the count as they come.
    fn listen(&self, greeting: &Greeting) {
        let announces = greet::announces(greeting);
        if announces.is_empty() {
            return;
        }
        let mut params = Map::new();
        params.insert("notifications".to_owned(), announces.into());
        outgoing::dress(&mut params, Some(&Map::new()), None, None);
        let id = self.talk.next_id();
        let Ok(mut pending) = self.waiting.begin(id, None) else { return };
        let request = outgoing::request(id, "subscriptions/listen", &params);
        if self.outgoing.try_send(request).is_err() {
            return;
        }
        let stop = self.talk.stop.clone();
        self.talk.tasks.spawn(async move {
            let _ = stop.run_until_cancelled(pending.answer()).await;
        });
    }
}

/// What came of `server/discover`.
enum Found {
    Modern(Greeting),
    OlderOnly,
    Refused(UpstreamFault),
    Silent(Pending),
}

impl Found {
    fn of(raw: &RawValue) -> Result<Self, UpstreamFault> {
        Ok(match greet::discovered(raw)? {
            Discovered::Modern(greeting) => Self::Modern(greeting),
            Discovered::OlderOnly => Self::OlderOnly,
        })
    }
}

#[async_trait]
impl Connection for PipesConnection {
    fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    async fn ask(&self, question: UpstreamQuestion) -> Answered {
        self.pipes.ask(question).await
    }

    fn lists_changed(&self) -> watch::Receiver<u64> {
        self.pipes.talk.lists_changed()
    }

    fn passed_over(&self) -> u64 {
        self.pipes.talk.passed_over()
    }

    fn ended(&self) -> Option<UpstreamFault> {
        self.pipes.talk.ended()
    }

    async fn close(&self) {
        let talk = &self.pipes.talk;
        talk.end(UpstreamFault::Ended("it was closed".to_owned()));
        talk.tasks.close();
        talk.tasks.wait().await;
    }
}

fn gone() -> UpstreamFault {
    UpstreamFault::Ended("it reads no more".to_owned())
}

/// Room for what is sent besides questions: cancellations, and answers to the server's requests.
const SPARE_ROOM: usize = 16;
