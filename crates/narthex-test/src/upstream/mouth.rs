//! What a server says, before it is put on a pipe or into an answer.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// Something said.
#[derive(Debug)]
pub(super) enum Said {
    /// A whole line or event.
    Line(Vec<u8>),
    /// Bytes that end nothing.
    Piece(Vec<u8>),
    /// A whole line or event, byte by byte.
    Drip(Vec<u8>, Duration),
    /// An HTTP answer of its own; nothing on a pipe.
    Status { code: u16, headers: Vec<(String, String)>, body: String },
    /// Tells when everything before has been written.
    Written(oneshot::Sender<()>),
}

/// Where to say it.
#[derive(Debug, Clone)]
pub(super) struct Mouth(mpsc::Sender<Said>);

impl Mouth {
    pub(super) fn new() -> (Self, mpsc::Receiver<Said>) {
        let (to, from) = mpsc::channel(16);
        (Self(to), from)
    }

    /// False if nobody listens any more.
    pub(super) async fn say(&self, said: Said) -> bool {
        self.0.send(said).await.is_ok()
    }

    pub(super) async fn message(&self, message: &Value) -> bool {
        self.say(Said::Line(message.to_string().into_bytes())).await
    }

    /// Until everything said so far is written.
    pub(super) async fn written(&self) {
        let (tell, told) = oneshot::channel();
        if self.say(Said::Written(tell)).await {
            let _ = told.await;
        }
    }

    /// Until nobody listens any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}
