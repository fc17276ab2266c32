//! What is said while a call is at work: an upstream's word on how far it is, for a client that gave
//! it a token to say it under; what it says to the log; and what it asks a client of the older revisions.

use bytes::Bytes;
use narthex_gate::ClientLog;
use narthex_gate::upstream::{LogLevel, UpstreamProgress};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::era::{Era, LOG_LEVEL_META_KEY};
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
    /// What is said to the log.
    pub(crate) logs: Option<mpsc::Receiver<Value>>,
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
        let Self { words, asks, logs } = self;
        tokio::select! {
            ask = heard(asks) => ask,
            word = further(words) => word,
            log = logged(logs) => log,
        }
    }

    /// What was said and not told yet: it comes before the answer.
    pub(crate) fn rest(&mut self) -> Vec<Bytes> {
        let mut rest = Vec::new();
        if let Some(Words { token, words }) = &mut self.words {
            while let Ok(word) = words.try_recv() {
                rest.push(written(token, word));
            }
        }
        if let Some(logs) = &mut self.logs {
            while let Ok(log) = logs.try_recv() {
                rest.push(log_written(&log));
            }
        }
        rest
    }
}

/// Where an upstream's log goes for a client: what its request says it wants, or, in the older
/// revisions, what it said for all of its calls.
pub(crate) fn log_wanted(
    era: Era,
    message: &Message,
    to: mpsc::Sender<Value>,
) -> Option<ClientLog> {
    match era {
        Era::Modern => {
            let level = message.meta()?.get(LOG_LEVEL_META_KEY)?.as_str()?;
            Some(ClientLog { least: Some(LogLevel::parse(level)?), to })
        }
        Era::Legacy => Some(ClientLog { least: None, to }),
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

async fn logged(logs: &mut Option<mpsc::Receiver<Value>>) -> Bytes {
    if let Some(open) = logs {
        if let Some(log) = open.recv().await {
            return log_written(&log);
        }
        *logs = None;
    }
    std::future::pending().await
}

fn log_written(params: &Value) -> Bytes {
    let all = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    all.to_string().into()
}

async fn further(words: &mut Option<Words>) -> Bytes {
    let Some(Words { token, words }) = words else { return std::future::pending().await };
    let Some(word) = words.recv().await else { return std::future::pending().await };
    written(token, word)
}

fn written(token: &Value, word: UpstreamProgress) -> Bytes {
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
pub(crate) const WAITING: usize = 32;
