//! The same surface on standard input and output: one process, one client, one message a line.
//!
//! Who is asking was said by the owner on the command line, and is looked up again for every
//! message, so that disabling an agent ends a process that is hours old.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use narthex_gate::{AsksClient, Gate, ReadySurface, SessionTerms, Stdio};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::EdgeConfig;
use crate::asking::{OpenAsks, QUESTIONS, Response, Voice};
use crate::dispatch::{Asked, Carrier, Dispatch, opens_session, terms};
use crate::era::Era;
use crate::fault::Fault;
use crate::in_flight::InFlight;
use crate::lines::{Line, Lines, write_lines};
use crate::message::{Message, Unreadable};
use crate::progress::{self, Said, Says, WAITING, log_wanted};
use crate::reply::Reply;

/// A surface served on lines.
#[derive(Debug)]
pub struct StdioServer {
    dispatch: Arc<Dispatch>,
    who: Stdio,
    config: EdgeConfig,
}

impl StdioServer {
    /// For whoever the owner started the process for.
    pub fn new(gate: Gate, surface: Arc<ReadySurface>, who: Stdio, config: EdgeConfig) -> Self {
        Self { dispatch: Arc::new(Dispatch::new(gate, surface, &config)), who, config }
    }

    /// Serves until the input ends or `stop` is cancelled, then lets calls under way finish.
    /// Nothing but protocol is ever written to the output.
    pub async fn run<R, W>(self, input: R, output: W, stop: CancellationToken) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let (answers, outgoing) = mpsc::channel(self.config.stdio_calls.max(1));
        let reading = self.read(Lines::new(input, self.config.body_bytes), answers, stop);
        tokio::try_join!(reading, write_lines(output, outgoing))?;
        Ok(())
    }

    async fn read<R: AsyncRead + Unpin>(
        &self,
        mut lines: Lines<R>,
        answers: mpsc::Sender<Bytes>,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let places = Arc::new(Semaphore::new(self.config.stdio_calls.max(1)));
        let tasks = TaskTracker::new();
        let in_flight = InFlight::default();
        let asks = Arc::new(OpenAsks::default());
        let mut known = SessionTerms::default();
        loop {
            let line = tokio::select! {
                () = stop.cancelled() => break,
                line = lines.next() => line?,
            };
            let Some(line) = line else { break };
            let read = match line {
                Line::Text(text) => match Message::read(&text) {
                    Err(unreadable) => {
                        // It may be an answer to what the client was asked.
                        let answer = Response::read(&text);
                        if answer.is_some_and(|answer| asks.deliver(None, answer)) {
                            continue;
                        }
                        Err(unreadable)
                    }
                    message => message,
                },
                Line::TooLong => Err(too_long()),
            };
            if let Ok(message) = &read {
                if message.id.is_none() {
                    if message.method == "notifications/cancelled" {
                        in_flight.cancel(message);
                    }
                    continue;
                }
                if opens_session(message) {
                    let said = terms(&message.params);
                    // Holds for the process from here on, and can only ever go down.
                    known = SessionTerms { consent: known.consent.and(said.consent), ..said };
                }
            }
            // Notifications never wait for a place, so that a call can be taken back while all
            // places are taken.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let id = read.as_ref().ok().and_then(|message| message.id.clone());
            let answering = self.answer(read, known, place, answers.clone(), Arc::clone(&asks));
            let task = tasks.spawn(answering);
            if let Some(id) = id {
                in_flight.begin(id, task.abort_handle());
            }
        }
        tasks.close();
        // Whatever takes longer is cut off; its record is the gate's to finish.
        let _ = tokio::time::timeout(self.config.drain_deadline, tasks.wait()).await;
        Ok(())
    }

    fn answer(
        &self,
        read: Result<Message, Unreadable>,
        terms: SessionTerms,
        place: OwnedSemaphorePermit,
        answers: mpsc::Sender<Bytes>,
        open: Arc<OpenAsks>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let dispatch = Arc::clone(&self.dispatch);
        let who = self.who;
        async move {
            let (says, words) = read.as_ref().ok().and_then(progress::wanted).unzip();
            let (to, asks) = mpsc::channel(QUESTIONS);
            let logs = dispatch.hears_logs().then(|| mpsc::channel(WAITING));
            let (log, logs) = logs.unzip();
            let mut said = Said { words, asks: Some(asks), logs };
            let voice = Voice { to, open, session: None };
            let mut replying =
                std::pin::pin!(reply(&dispatch, who, read, terms, (says, log), voice));
            let reply = loop {
                tokio::select! {
                    biased;
                    reply = &mut replying => break reply,
                    word = said.next() => drop(answers.send(word).await),
                }
            };
            for word in said.rest() {
                drop(answers.send(word).await);
            }
            if let Some(body) = reply.body {
                // Nobody is left to tell if this fails.
                let _ = answers.send(body).await;
            }
            drop(place);
        }
    }
}

async fn reply(
    dispatch: &Dispatch,
    who: Stdio,
    read: Result<Message, Unreadable>,
    terms: SessionTerms,
    (says, log): (Option<Says>, Option<mpsc::Sender<Value>>),
    voice: Voice,
) -> Reply {
    let admitted = match dispatch.gate.admit_stdio(who).await {
        Ok(admitted) => admitted,
        Err(refusal) => {
            let id = read.map_or_else(|unreadable| unreadable.id, |message| message.id);
            return Reply::fault(id.as_ref(), &Fault::of_refusal(&refusal));
        }
    };
    let message = match read {
        Ok(message) => message,
        Err(unreadable) => return dispatch.refuse_message(&admitted, unreadable).await,
    };
    match Era::of_line(&message) {
        Ok(era) => {
            let voice: Option<Arc<dyn AsksClient>> = Some(Arc::new(voice));
            let logs = log.and_then(|to| log_wanted(era, &message, to));
            let asked = Asked { message, era, carrier: Carrier::Stdio(terms), says, logs, voice };
            dispatch.answer(&admitted, asked).await
        }
        Err(fault) => dispatch.refuse_asked(&admitted, &message, fault).await,
    }
}

fn too_long() -> Unreadable {
    Unreadable {
        id: None,
        fault: Fault::invalid_request("the line is longer than this server takes"),
    }
}
