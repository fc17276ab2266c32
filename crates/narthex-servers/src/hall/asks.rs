//! What is declared to a server of what it may ask.

use std::sync::Arc;

use async_trait::async_trait;
use narthex_gate::ClientCan;
use narthex_gate::upstream::AskedByServer;
use serde_json::{Map, Value, json};

use super::watch::Watch;
use crate::config::Allow;

/// What the owner lets a server ask.
pub const fn allowed(allow: Allow) -> ClientCan {
    ClientCan {
        forms: allow.elicitation,
        urls: allow.elicitation,
        samples: allow.sampling,
        roots: allow.roots,
    }
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
    if can.roots {
        declared.insert("roots".to_owned(), json!({}));
    }
    declared
}

/// Declares in the handshake what the owner allows. What is asked outside of a call that somebody can
/// be asked in is refused; of what is said by the way, changes of resources reach who watches them.
#[derive(Debug)]
pub(super) struct Declares {
    declared: Map<String, Value>,
    watch: Option<Arc<Watch>>,
}

impl Declares {
    pub(super) fn new(allow: Allow, watch: Option<Arc<Watch>>) -> Self {
        Self { declared: declared(allowed(allow)), watch }
    }
}

#[async_trait]
impl AskedByServer for Declares {
    fn declared(&self) -> Map<String, Value> {
        self.declared.clone()
    }

    fn updated(&self, uri: &str) {
        if let Some(watch) = &self.watch {
            watch.changed(uri);
        }
    }

    async fn asked(&self, method: &str, _params: Value) -> Result<Value, (i64, String)> {
        Err((-32601, format!("{method} is not offered here")))
    }
}
