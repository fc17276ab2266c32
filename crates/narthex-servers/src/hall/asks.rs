//! What is declared to a server of what it may ask.

use async_trait::async_trait;
use narthex_gate::ClientCan;
use narthex_gate::upstream::AskedByServer;
use serde_json::{Map, Value, json};

use crate::config::Allow;

/// What the owner lets a server ask.
pub const fn allowed(allow: Allow) -> ClientCan {
    ClientCan { forms: allow.elicitation, urls: allow.elicitation, samples: allow.sampling }
}

/// The same in the protocol's words.
pub fn declared(can: ClientCan) -> Map<String, Value> {
    let mut declared = Map::new();
    let mut elicitation = Map::new();
    for (mode, can) in [("form", can.forms), ("url", can.urls)] {
        if can {
            elicitation.insert(mode.to_owned(), json!({}));
        }
    }
    if !elicitation.is_empty() {
        declared.insert("elicitation".to_owned(), elicitation.into());
    }
    if can.samples {
        declared.insert("sampling".to_owned(), json!({}));
    }
    declared
}

/// Declares in the handshake what the owner allows. What is asked outside of a call that somebody can
/// be asked in is refused.
#[derive(Debug)]
pub(super) struct Declares(Map<String, Value>);

impl Declares {
    pub(super) fn new(allow: Allow) -> Self {
        Self(declared(allowed(allow)))
    }
}

#[async_trait]
impl AskedByServer for Declares {
    fn declared(&self) -> Map<String, Value> {
        self.0.clone()
    }

    async fn asked(&self, method: &str, _params: Value) -> Result<Value, (i64, String)> {
        Err((-32601, format!("{method} is not offered here")))
    }
}
