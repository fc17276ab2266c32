//! Asking a client of the older revisions something while a call of its is under way: a request on the
//! stream or the line that its answer will come on. The client's answer comes as a message of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use narthex_core::{Digest, SessionId};
use narthex_gate::{Ask, AsksClient, NotAsked};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::strict;

/// What clients were asked and have not answered, by session (none on a line) and by our id.
///
/// INVARIANT: an answer reaches the request of its id, in the session it was asked in, once.
#[derive(Debug, Default)]
pub(crate) struct OpenAsks(Mutex<HashMap<Key, oneshot::Sender<Answer>>>);

type Key = (Option<SessionId>, String);
type Answer = Result<Value, NotAsked>;

impl OpenAsks {
    /// Hands an answer to whoever waits for it; whether anybody does.
    pub(crate) fn deliver(&self, session: Option<&SessionId>, response: Response) -> bool {
        let key = (session.cloned(), response.id);
        let waiting = self.all().remove(&key);
        waiting.is_some_and(|waiting| waiting.send(response.said).is_ok())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Key, oneshot::Sender<Answer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer of a client's to a request of ours.
#[derive(Debug, PartialEq)]
pub(crate) struct Response {
    id: String,
    said: Answer,
}

impl Response {
    /// Reads one, as strictly as any message; none if it is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let Ok(Value::Object(mut map)) = strict::parse(bytes) else { return None };
        let Some(Value::String(id)) = map.swap_remove("id") else { return None };
        if map.swap_remove("jsonrpc") != Some("2.0".into()) || map.len() != 1 {
            return None;
        }
        let said = match (map.swap_remove("result"), map.swap_remove("error")) {
            (Some(result), None) => Ok(result),
            (None, Some(Value::Object(_))) => Err(NotAsked::Failed),
            _ => return None,
        };
        Some(Self { id, said })
    }
}

/// A client on the other end of a stream or a line.
#[derive(Debug)]
pub(crate) struct Voice {
    pub(crate) to: mpsc::Sender<Bytes>,
    pub(crate) open: Arc<OpenAsks>,
    pub(crate) session: Option<SessionId>,
}

#[async_trait]
impl AsksClient for Voice {
    async fn ask(&self, ask: &Ask) -> Result<Value, NotAsked> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|_| NotAsked::Unavailable)?;
        let id = Digest::from_bytes(bytes).to_string();
        let mut params = ask.params.clone();
        if let Some(params) = params.as_object_mut()
            && params.get("mode").is_some_and(|mode| mode == "form")
        {
            // Not every revision has a word for it, and all take it for granted.
            params.shift_remove("mode");
        }
        let (tell, told) = oneshot::channel();
        let key = (self.session.clone(), id.clone());
        self.open.all().insert(key.clone(), tell);
        let _waits = Waits { open: &self.open, key };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": ask.method, "params": params});
        self.to.send(request.to_string().into()).await.map_err(|_| NotAsked::Failed)?;
        told.await.unwrap_or(Err(NotAsked::Failed))
    }
}

/// Takes a question back that nobody waits for any more.
struct Waits<'a> {
    open: &'a OpenAsks,
    key: Key,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.open.all().remove(&self.key);
    }
}

/// Questions that wait for a client who is slow to listen.
pub(crate) const QUESTIONS: usize = 4;

#[cfg(test)]
mod tests {
    use narthex_core::SessionId;
    use serde_json::json;
    use tokio::sync::oneshot;

    use super::{OpenAsks, Response};

    #[test]
    fn only_what_is_an_answer_is_read_as_one() {
        let good = r#"{"jsonrpc":"2.0","id":"a","result":{"x":1}}"#;
        assert_eq!(Response::read(good.as_bytes()).unwrap().said, Ok(json!({"x": 1})));
        let error = r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#;
        assert!(Response::read(error.as_bytes()).unwrap().said.is_err());
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","id":"b","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"m","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#,
            r#"{"jsonrpc":"1.0","id":"a","result":{}}"#,
            r#"[{"jsonrpc":"2.0","id":"a","result":{}}]"#,
        ] {
            assert!(Response::read(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn an_answer_is_taken_in_its_own_session_and_once() {
        let (ours, theirs) = (SessionId::new("a".to_owned()), SessionId::new("b".to_owned()));
        let asks = OpenAsks::default();
        let (tell, mut told) = oneshot::channel();
        asks.all().insert((Some(ours.clone()), "q".to_owned()), tell);
        let answer = |id: &str| Response { id: id.to_owned(), said: Ok(json!(1)) };
        assert!(!asks.deliver(Some(&theirs), answer("q")));
        assert!(!asks.deliver(None, answer("q")));
        assert!(!asks.deliver(Some(&ours), answer("r")));
        assert!(asks.deliver(Some(&ours), answer("q")));
        assert_eq!(told.try_recv(), Ok(Ok(json!(1))));
        assert!(!asks.deliver(Some(&ours), answer("q")));
    }
}
