//! What is said while a call is at work: an upstream's word on how far it is, for a client that gave
//! it a token to say it under; and what an upstream asks a client of the older revisions.

use bytes::Bytes;
use narthex_gate::upstream::UpstreamProgress;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::message::Message;

/// Where it is said how far it is.
pub(crate) type Says = mpsc::Sender<UpstreamProgress>;

/// What is said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// How far it is, under the client's token.
    pub(crate) words: Option<Words>,
    /// What is asked, written already.
    pub(crate) asks: Option<mpsc::Receiver<Bytes>>,
}

/// How far it is, and the client's token for it.
#[derive(Debug)]
pub(crate) struct Words {
    token: Value,
    words: mpsc::Receiver<UpstreamProgress>,
}

/// Both ends, if the client wants to hear.
pub(crate) fn wanted(message: &Message) -> Option<(Says, Words)> {
    let token = message.meta()?.get("progressToken")?;
    let fits = match token {
        Value::String(text) => text.chars().nth(MAX_TOKEN_CHARS).is_none(),
        Value::Number(number) => !number.is_f64(),
        _ => false,
    };
    let (says, words) = mpsc::channel(WAITING);
    fits.then(|| (says, Words { token: token.clone(), words }))
}

impl Said {
    /// The next message; never, once nobody says anything any more.
    pub(crate) async fn next(&mut self) -> Bytes {
        let Self { words, asks } = self;
        tokio::select! {
            ask = heard(asks) => ask,
            word = further(words) => word,
        }
    }
}

async fn heard(asks: &mut Option<mpsc::Receiver<Bytes>>) -> Bytes {
    if let Some(open) = asks {
        if let Some(ask) = open.recv().await {
            return ask;
        }
        *asks = None;
    }
    std::future::pending().await
}

async fn further(words: &mut Option<Words>) -> Bytes {
    let Some(Words { token, words }) = words else { return std::future::pending().await };
    let Some(word) = words.recv().await else { return std::future::pending().await };
    let mut params = json!({ "progressToken": token, "progress": word.progress });
    if let Some(params) = params.as_object_mut() {
        if let Some(total) = word.total {
            params.insert("total".to_owned(), json!(total));
        }
        if let Some(message) = word.message {
            params.insert("message".to_owned(), Value::String(message));
        }
    }
    let all = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
    all.to_string().into()
}

const MAX_TOKEN_CHARS: usize = 128;
/// Words that wait for a client who is slow to listen; more are dropped by whoever says them.
const WAITING: usize = 32;
