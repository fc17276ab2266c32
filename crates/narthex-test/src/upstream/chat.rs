//! One conversation: what came in it, what is under way, and where a message leads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::announce::Listener;
use super::call::Call;
use super::list::{LEGACY, MODERN, discovered, has, initialized, listed};
use super::mouth::Mouth;
use super::stage::{Event, Stage};
use super::{Speaks, Step};

/// A conversation: a process, a session, or everything without one.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) stage: Arc<Stage>,
    kept: Mutex<Kept>,
    asked: AtomicU64,
    counted: AtomicU64,
}

#[derive(Debug, Default)]
struct Kept {
    heard: Vec<Value>,
    /// Who waits for an answer of the client's, by id.
    asks: HashMap<String, oneshot::Sender<Value>>,
    /// Calls under way, by id.
    open: HashMap<String, CancellationToken>,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
    /// Headers that it came with.
    pub(super) headers: Vec<(String, String)>,
}

/// What a message is.
pub(super) enum Message {
    Request(Request),
    /// Nothing is to be answered.
    Else,
}

impl Request {
    pub(super) fn is_modern(&self) -> bool {
        let meta = self.params.get("_meta");
        meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some())
    }

    /// What it is about: a tool, a prompt, a resource.
    pub(super) fn name(&self) -> &str {
        let name = self.params.get("name").or_else(|| self.params.get("uri"));
        name.and_then(Value::as_str).unwrap_or_default()
    }
}

impl Chat {
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        let (asked, counted) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { stage, kept: Mutex::default(), asked, counted }
    }

    /// Takes a message; what is no request is dealt with at once.
    pub(super) fn take(&self, message: &Value, headers: Vec<(String, String)>) -> Message {
        self.stage.log(message);
        let get = |key: &str| message.get(key).cloned();
        let method = message.get("method").and_then(Value::as_str);
        match (get("id"), method) {
            (Some(id), Some(method)) => {
                let params = get("params").unwrap_or_else(|| json!({}));
                let method = method.to_owned();
                return Message::Request(Request { id, method, params, headers });
            }
            (Some(id), None) => {
                let waiting = self.kept().asks.remove(&id.to_string());
                match waiting {
                    Some(waiting) => drop(waiting.send(message.clone())),
                    None => self.hear(message.clone()),
                }
            }
            (None, _) => {
                if method == Some("notifications/cancelled") {
                    let id = message.pointer("/params/requestId").cloned().unwrap_or_default();
                    self.cancel(&id);
                }
                self.hear(message.clone());
            }
        }
        Message::Else
    }

    /// Answers a request, or does whatever the script says instead.
    pub(super) async fn answer(self: &Arc<Self>, request: Request, mouth: Mouth) {
        self.stage.turn(Event::Looked).await;
        let (id, method) = (request.id.clone(), request.method.clone());
        let cancelled = CancellationToken::new();
        self.kept().open.insert(id.to_string(), cancelled.clone());
        let steps = self.steps(&request).map(<[Step]>::to_vec);
        let mut call = Call::new(Arc::clone(self), request, mouth, cancelled);
        match steps {
            Some(steps) => call.run(&steps).await,
            None => self.usual(&mut call).await,
        }
        self.kept().open.remove(&id.to_string());
        match method.as_str() {
            "tools/call" => self.stage.turn(Event::Called).await,
            "tools/list" => self.stage.turn(Event::Listed).await,
            _ => {}
        }
    }

    /// What the script says about such a request.
    pub(super) fn steps(&self, request: &Request) -> Option<&[Step]> {
        let acts = &self.stage.script.acts;
        let named = acts.get(&format!("{} {}", request.method, request.name()));
        named.or_else(|| acts.get(&request.method)).map(Vec::as_slice)
    }

    /// What any server does.
    async fn usual(&self, call: &mut Call) {
        let (offer, era) = (self.stage.offer(), self.stage.script.era);
        let request = call.request.clone();
        let (method, name) = (request.method.as_str(), request.name());
        if let Some(page) = listed(&offer, method, &request.params, self.stage.script.page) {
            return call.result(page).await;
        }
        let tools = offer.tools.as_deref();
        match method {
            "server/discover" if era != Speaks::Legacy => {
                let older = if era == Speaks::Both { LEGACY } else { &[] };
                let versions: Vec<_> = [MODERN].into_iter().chain(older.iter().copied()).collect();
                call.result(discovered(&offer, &versions)).await;
            }
            "initialize" if era != Speaks::Modern => {
                call.result(initialized(&offer, &request.params)).await;
            }
            "ping" | "logging/setLevel" => call.result(json!({})).await,
            "tools/call" if has(tools, "name", name) => call.run(&[Step::Echo]).await,
            "resources/read" if has(offer.resources.as_deref(), "uri", name) => {
                let contents = json!([{"uri": name, "mimeType": "text/plain", "text": "plain"}]);
                call.result(json!({"contents": contents})).await;
            }
            "prompts/get" if has(offer.prompts.as_deref(), "name", name) => {
                let content = json!({"type": "text", "text": name});
                call.result(json!({"messages": [{"role": "user", "content": content}]})).await;
            }
            "completion/complete" => call.result(json!({"completion": {"values": []}})).await,
            "subscriptions/listen" => {
                let listener = Listener::new(call.mouth.clone(), Some(request.id.clone()));
                let wanted = request.params.get("notifications").cloned();
                listener.acknowledge(wanted.unwrap_or_else(|| json!({}))).await;
                self.stage.listen(listener);
                call.mouth.closed().await;
            }
            "tools/call" | "resources/read" | "prompts/get" => {
                call.refuse(-32602, "not known here", None).await;
            }
            _ => call.refuse(-32601, "no such method", None).await,
        }
    }

    /// Nobody waits for this request any more.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(open) = self.kept().open.get(&id.to_string()) {
            open.cancel();
        }
    }

    pub(super) fn hear(&self, message: Value) {
        self.kept().heard.push(message);
    }

    pub(super) fn heard(&self) -> Value {
        self.kept().heard.clone().into()
    }

    pub(super) fn count(&self) -> u64 {
        self.counted.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// An id for a request to the client, and where its answer comes.
    pub(super) fn asking(&self) -> (String, oneshot::Receiver<Value>) {
        let id = format!("ask-{}", self.asked.fetch_add(1, Ordering::SeqCst));
        let (tell, told) = oneshot::channel();
        self.kept().asks.insert(Value::from(id.clone()).to_string(), tell);
        (id, told)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
