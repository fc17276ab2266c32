//! What is said while a call is at work: an upstream's word on how far it is, for a client that gave
//! it a token to say it under.

use bytes::Bytes;
use narthex_gate::upstream::UpstreamProgress;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::message::Message;

/// Where it is said.
pub(crate) type Says = mpsc::Sender<UpstreamProgress>;

/// What is said, under the client's token.
#[derive(Debug)]
pub(crate) struct Said {
    token: Value,
    words: mpsc::Receiver<UpstreamProgress>,
}

/// Both ends, if the client wants to hear.
pub(crate) fn wanted(message: &Message) -> Option<(Says, Said)> {
    let token = message.meta()?.get("progressToken")?;
    let fits = match token {
        Value::String(text) => text.chars().nth(MAX_TOKEN_CHARS).is_none(),
        Value::Number(number) => !number.is_f64(),
        _ => false,
    };
    let (says, words) = mpsc::channel(WAITING);
    fits.then(|| (says, Said { token: token.clone(), words }))
}

impl Said {
    /// The next notification; never, once nobody says anything any more.
    pub(crate) async fn next(&mut self) -> Bytes {
        let Some(word) = self.words.recv().await else { return std::future::pending().await };
        let mut params = json!({ "progressToken": self.token, "progress": word.progress });
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
}

const MAX_TOKEN_CHARS: usize = 128;
/// Words that wait for a client who is slow to listen; more are dropped by whoever says them.
const WAITING: usize = 32;
