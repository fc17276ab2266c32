//! The answer to one message: JSON, or a stream of events with the answer in it.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use narthex_egress::{Answering, EgressError};
use narthex_gate::upstream::UpstreamFault;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::exchange::Exchange;
use super::fault_of;
use crate::events::Events;
use crate::upstream::incoming::{Incoming, Said, garbled};
use crate::upstream::pace::Pace;
use crate::upstream::progress::{self, Ear};
use crate::upstream::talk::Served;

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Trouble {
    Fault(UpstreamFault),
    /// A status that is no success, with the error in its body if there was one.
    Status {
        status: StatusCode,
        refused: Option<UpstreamFault>,
    },
}

/// What one message of a stream was.
enum Heard {
    Answer(Result<Box<RawValue>, UpstreamFault>),
    Asked(Served),
    Else,
}

impl Exchange {
    /// The result under this id, and what is said on the way to it.
    pub(super) async fn received(
        self: &Arc<Self>,
        id: u64,
        answer: Answering,
        ear: Option<Ear>,
    ) -> Result<Box<RawValue>, Trouble> {
        let status = answer.status;
        if !status.is_success() {
            let body = answer.whole(MAX_ERROR).await.unwrap_or_default();
            let refused = match Incoming::read(&body) {
                Some(Incoming::Answer { said: said @ Said::Error(_), .. }) => {
                    said.taken(MAX_ERROR).err()
                }
                _ => None,
            };
            return Err(Trouble::Status { status, refused });
        }
        match kind(&answer.headers) {
            "application/json" => Ok(self.whole(id, answer).await?),
            "text/event-stream" => Ok(self.stream(id, answer, ear).await?),
            _ => Err(garbled("it answered with neither JSON nor events").into()),
        }
    }

    async fn whole(&self, id: u64, answer: Answering) -> Result<Box<RawValue>, UpstreamFault> {
        let most = self.talk.terms.line_bytes;
        let length = answer.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let size: Option<u64> = length.and_then(|length| length.parse().ok());
        if size.is_some_and(|size| size > most as u64) {
            return Err(UpstreamFault::TooLarge { size, most });
        }
        let body = answer.whole(most).await.map_err(broken)?;
        match self.hear(id, &body, &mut None, Some(id)) {
            Heard::Answer(answer) => answer,
            Heard::Asked(_) | Heard::Else => Err(garbled("it answered something else")),
        }
    }

    async fn stream(
        self: &Arc<Self>,
        id: u64,
        mut answer: Answering,
        mut ear: Option<Ear>,
    ) -> Result<Box<RawValue>, UpstreamFault> {
        let most = self.talk.terms.line_bytes;
        let (mut events, mut pace) = (Events::new(most), Pace::default());
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            let whole = events.feed(&chunk);
            let too_large = |_| UpstreamFault::TooLarge { size: None, most };
            for data in whole.map_err(too_large)?.iter().filter(|data| !data.is_empty()) {
                match self.hear(id, data, &mut ear, Some(id)) {
                    Heard::Answer(result) => {
                        self.let_end(answer);
                        return result;
                    }
                    Heard::Asked(served) => self.serve(served),
                    Heard::Else => {}
                }
                pace.unasked().await;
            }
        }
        Err(UpstreamFault::Ended("its stream ended without an answer".to_owned()))
    }

    /// Sorts one message. An answer to another question is nobody's here.
    fn hear(&self, id: u64, data: &[u8], ear: &mut Option<Ear>, about: Option<u64>) -> Heard {
        match Incoming::read(data) {
            Some(Incoming::Answer { id: Some(answered), said }) if answered == id => {
                Heard::Answer(said.taken(self.talk.terms.result_bytes))
            }
            // It could not read the id. Over HTTP it can only be ours.
            Some(Incoming::Answer { id: None, said: said @ Said::Error(_) }) => {
                Heard::Answer(said.taken(self.talk.terms.result_bytes))
            }
            Some(Incoming::Request { id: theirs, method, params }) => {
                Heard::Asked(self.talk.serve(theirs, method, params, about))
            }
            Some(Incoming::Notice { method, params }) => {
                if method == "notifications/progress" {
                    self.progress(id, params, ear);
                } else {
                    self.talk.notice(&method, params, about);
                }
                Heard::Else
            }
            Some(Incoming::Answer { .. }) | None => {
                self.talk.pass_over();
                Heard::Else
            }
        }
    }

    /// Passes progress on. With somebody else's token it is nobody's.
    fn progress(&self, id: u64, params: Option<&RawValue>, ear: &mut Option<Ear>) {
        match (ear, progress::read(params)) {
            (Some(ear), Some((token, said))) if token == id => ear.hear(said),
            _ => self.talk.pass_over(),
        }
    }

    /// What comes on a stream that answers nothing.
    pub(super) async fn overhear(self: &Arc<Self>, id: u64, mut answer: Answering) -> usize {
        let (mut events, mut pace) = (Events::new(MAX_ANNOUNCEMENT), Pace::default());
        let mut heard = 0;
        while let Ok(Some(chunk)) = answer.chunk().await {
            let Ok(whole) = events.feed(&chunk) else { return heard };
            for data in whole.iter().filter(|data| !data.is_empty()) {
                heard += 1;
                match self.hear(id, data, &mut None, None) {
                    Heard::Answer(_) => return heard,
                    Heard::Asked(served) => self.serve(served),
                    Heard::Else => {}
                }
                pace.unasked().await;
            }
        }
        heard
    }

    /// Lets a stream end by itself for a moment after its answer, so that its connection can be used
    /// again.
    fn let_end(&self, mut answer: Answering) {
        let stop = self.talk.stop.clone();
        let ending = async move {
            let rest = async { while let Ok(Some(_)) = answer.chunk().await {} };
            let _ = timeout(LET_END, rest).await;
        };
        drop(self.talk.tasks.spawn(stop.run_until_cancelled_owned(ending)));
    }
}

impl Trouble {
    /// Whether this answer to `server/discover` means that only the handshake is known.
    pub(super) fn means_legacy(&self) -> bool {
        use crate::upstream::greet::means_legacy;
        match self {
            Self::Fault(fault) => means_legacy(fault),
            Self::Status { status, refused: Some(refused) } => {
                status.is_client_error() && means_legacy(refused)
            }
            Self::Status { status, refused: None } => matches!(status.as_u16(), 400 | 404 | 405),
        }
    }
}

impl From<UpstreamFault> for Trouble {
    fn from(fault: UpstreamFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Trouble> for UpstreamFault {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Fault(fault) => fault,
            Trouble::Status { refused: Some(refused), .. } => refused,
            Trouble::Status { status, refused: None } => {
                Self::Unreachable(format!("it answered with status {}", status.as_u16()))
            }
        }
    }
}

/// The media type, without what follows it.
pub(super) fn kind(headers: &HeaderMap) -> &'static str {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let said = said.split(';').next().unwrap_or_default().trim();
    let known = ["application/json", "text/event-stream"];
    known.into_iter().find(|known| said.eq_ignore_ascii_case(known)).unwrap_or("")
}

/// What broke a body off.
fn broken(error: EgressError) -> UpstreamFault {
    match error {
        EgressError::Unreachable { detail, .. } => UpstreamFault::Ended(detail),
        other => fault_of(other),
    }
}

/// Read of a body that explains a status.
const MAX_ERROR: usize = 64 << 10;
/// The longest event on a stream that only announces.
const MAX_ANNOUNCEMENT: usize = 1 << 20;
const LET_END: Duration = Duration::from_secs(1);
