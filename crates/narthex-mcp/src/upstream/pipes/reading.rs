//! What a process says, message by message, until it ends.

use std::sync::Arc;

use bytes::Bytes;
use narthex_gate::upstream::UpstreamFault;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

use super::lines::{Line, Lines};
use super::waiting::Waiting;
use crate::upstream::incoming::{Incoming, garbled};
use crate::upstream::pace::Pace;
use crate::upstream::progress;
use crate::upstream::talk::{Served, Talk};

/// Reads a process.
pub(super) struct Reading {
    pub(super) talk: Arc<Talk>,
    pub(super) waiting: Waiting,
    /// Where answers to the server's own requests go. Weak: reading alone keeps no line open.
    pub(super) outgoing: mpsc::WeakSender<Bytes>,
}

impl Reading {
    /// Until it ends or is told to. Whatever waits then has failed.
    pub(super) async fn run<R: AsyncRead + Unpin>(self, from: R) {
        let why = tokio::select! {
            () = self.talk.stop.cancelled() => self.talk.ended().unwrap_or_else(closed),
            why = self.read(from) => why,
        };
        self.waiting.close(&why);
        self.talk.end(why);
    }

    async fn read<R: AsyncRead + Unpin>(&self, from: R) -> UpstreamFault {
        let mut lines = Lines::new(from, self.talk.terms.line_bytes);
        let mut pace = Pace::default();
        loop {
            let asked = match lines.next().await {
                Ok(Some(Line::Text(text))) => self.take(&text),
                Ok(Some(Line::TooLong { id, size })) => {
                    let most = self.talk.terms.line_bytes;
                    let fault = UpstreamFault::TooLarge { size: Some(size), most };
                    let failed = id.filter(|id| self.waiting.answer(*id, || Err(fault.clone())));
                    // It was somebody's answer, and now nobody can tell whose.
                    let Some(_) = failed else { return fault };
                    true
                }
                Ok(Some(Line::Endless)) => return garbled("a line does not end"),
                Ok(None) => return UpstreamFault::Ended("its output ended".to_owned()),
                Err(error) => return UpstreamFault::Ended(error.kind().to_string()),
            };
            if !asked {
                pace.unasked().await;
            }
        }
    }

    /// Takes one message; whether somebody had asked for it.
    fn take(&self, text: &[u8]) -> bool {
        let most = self.talk.terms.result_bytes;
        let asked = match Incoming::read(text) {
            Some(Incoming::Answer { id: Some(id), said }) => {
                self.waiting.answer(id, || said.taken(most))
            }
            Some(Incoming::Notice { method, params }) => {
                self.note(&method, params);
                return false;
            }
            Some(Incoming::Request { id, method, params }) => {
                self.send(self.talk.serve(id, method, params, None));
                return false;
            }
            Some(Incoming::Answer { id: None, .. }) | None => false,
        };
        if !asked {
            self.talk.pass_over();
        }
        asked
    }

    fn note(&self, method: &str, params: Option<&RawValue>) {
        if method != "notifications/progress" {
            return self.talk.notice(method, params, None);
        }
        // Progress of what nobody asked, or with somebody else's token, is nobody's.
        let heard = progress::read(params).map(|(id, said)| self.waiting.progress(id, said));
        if heard != Some(true) {
            self.talk.pass_over();
        }
    }

    /// Answers the server. Who does not read its answers does not get them.
    fn send(&self, served: Served) {
        let Some(outgoing) = self.outgoing.upgrade() else { return };
        match served {
            Served::Now(answer) => {
                if outgoing.try_send(answer).is_err() {
                    self.talk.pass_over();
                }
            }
            Served::Later(asking) => {
                let stop = self.talk.stop.clone();
                drop(self.talk.tasks.spawn(stop.run_until_cancelled_owned(async move {
                    if let Some(answer) = asking.answered().await {
                        let _ = outgoing.send(answer).await;
                    }
                })));
            }
            Served::Not => {}
        }
    }
}

fn closed() -> UpstreamFault {
    UpstreamFault::Ended("it was closed".to_owned())
}
