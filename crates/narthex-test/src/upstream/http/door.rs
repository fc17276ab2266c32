//! One connection after the other, one request after the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::task::TaskTracker;

use super::Came;
use super::wire::{self, Form, Head};
use crate::upstream::announce::Listener;
use crate::upstream::chat::{Chat, Message, Request};
use crate::upstream::mouth::Mouth;
use crate::upstream::stage::Stage;
use crate::upstream::{Speaks, Step};

/// What all connections share.
#[derive(Debug)]
pub(super) struct Door {
    stage: Arc<Stage>,
    /// Everything that is in no session.
    common: Arc<Chat>,
    sessions: Mutex<HashMap<String, Arc<Chat>>>,
    came: Arc<Mutex<Vec<Came>>>,
    calls: TaskTracker,
    opened: AtomicU64,
}

/// Which conversation a message belongs to, and what its answer's head has besides.
enum Place {
    Chat(Arc<Chat>, Vec<(String, String)>),
    Refused(Head, String),
}

impl Door {
    pub(super) fn new(stage: Arc<Stage>, came: Arc<Mutex<Vec<Came>>>) -> Self {
        let common = Arc::new(Chat::new(Arc::clone(&stage)));
        let (sessions, calls) = (Mutex::default(), TaskTracker::new());
        Self { stage, common, sessions, came, calls, opened: AtomicU64::new(1) }
    }

    pub(super) async fn serve(&self, stream: TcpStream) {
        let (from, mut to) = stream.into_split();
        let mut from = BufReader::new(from);
        while let Some(came) = wire::read(&mut from).await {
            self.came.lock().unwrap_or_else(PoisonError::into_inner).push(came.clone());
            if self.answer(came, &mut from, &mut to).await.is_err() {
                return;
            }
        }
    }

    async fn answer(
        &self,
        came: Came,
        from: &mut BufReader<OwnedReadHalf>,
        to: &mut OwnedWriteHalf,
    ) -> std::io::Result<()> {
        if !self.lets_in(&came) {
            let challenge = ("www-authenticate".to_owned(), "Bearer".to_owned());
            return wire::whole(to, &Head::new(401).with(challenge), "who are you?").await;
        }
        let session = came.header("mcp-session-id").unwrap_or_default().to_owned();
        match came.method.as_str() {
            "DELETE" => {
                let known = self.sessions().remove(&session).is_some();
                wire::whole(to, &Head::new(if known { 200 } else { 404 }), "").await
            }
            "GET" if self.sessions().contains_key(&session) => {
                let (mouth, said) = Mouth::new();
                self.stage.listen(Listener::new(mouth, None));
                wire::respond(said, from, to, Form::Stream, &Head::new(200)).await
            }
            "POST" => match self.place(&came) {
                Place::Refused(head, body) => wire::whole(to, &head, &body).await,
                Place::Chat(chat, more) => self.talk(&chat, came, more, (from, to)).await,
            },
            _ => wire::whole(to, &Head::new(405), "").await,
        }
    }

    async fn talk(
        &self,
        chat: &Arc<Chat>,
        came: Came,
        more: Vec<(String, String)>,
        (from, to): (&mut BufReader<OwnedReadHalf>, &mut OwnedWriteHalf),
    ) -> std::io::Result<()> {
        let request = match chat.take(&came.body, came.headers) {
            Message::Request(request) => request,
            Message::Else => return wire::whole(to, &Head::new(202), "").await,
        };
        let id = request.id.clone();
        let form = form(chat, &request);
        let (mouth, said) = Mouth::new();
        let (answering, asked) = (Arc::clone(chat), self.stage.stop.clone());
        // It goes on when the client has left, as a server may.
        self.calls.spawn(async move {
            asked.run_until_cancelled(answering.answer(request, mouth)).await;
        });
        let head = more.into_iter().fold(Head::new(200), Head::with);
        let answered = wire::respond(said, from, to, form, &head).await;
        if answered.is_err() {
            chat.hear(json!({"closed": id}));
            chat.cancel(&id);
        }
        answered
    }

    fn place(&self, came: &Came) -> Place {
        let meta = came.body.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let (modern, era) = (meta.is_some(), self.stage.script.era);
        let scripted = self.stage.script.acts.contains_key(came.rpc());
        if modern && era == Speaks::Legacy && !scripted {
            let text = "Bad Request: No valid session ID provided";
            return Place::Refused(Head::new(400), text.to_owned());
        }
        if !modern && era == Speaks::Modern && !scripted {
            let error = json!({"code": -32022, "message": "not spoken here",
                "data": {"supported": ["2026-07-28"]}});
            let body = json!({"jsonrpc": "2.0", "id": came.body.get("id"), "error": error});
            return Place::Refused(Head::json(400), body.to_string());
        }
        let common = || Place::Chat(Arc::clone(&self.common), Vec::new());
        if modern || !self.stage.script.sessions {
            return common();
        }
        if came.rpc() == "initialize" {
            let chat = Arc::new(Chat::new(Arc::clone(&self.stage)));
            let mut sessions = self.sessions();
            let id = format!("session-{}", self.opened.fetch_add(1, Ordering::SeqCst));
            sessions.insert(id.clone(), Arc::clone(&chat));
            return Place::Chat(chat, vec![("mcp-session-id".to_owned(), id)]);
        }
        let session = came.header("mcp-session-id");
        match session.map(|id| self.sessions().get(id).cloned()) {
            Some(Some(chat)) => Place::Chat(chat, Vec::new()),
            Some(None) => Place::Refused(Head::new(404), "no such session".to_owned()),
            None => Place::Refused(Head::new(400), "no session".to_owned()),
        }
    }

    fn lets_in(&self, came: &Came) -> bool {
        let Some(token) = &self.stage.script.bearer else { return true };
        came.header("authorization") == Some(format!("Bearer {token}").as_str())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Chat>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the answer is a stream: if its steps say more than one thing, or it is one.
fn form(chat: &Chat, request: &Request) -> Form {
    let steps = chat.steps(request).unwrap_or_default();
    let listens = request.method == "subscriptions/listen";
    if steps.iter().any(Step::streams) || listens {
        return Form::Stream;
    }
    Form::Whole { modern: request.is_modern() }
}

/// The status that goes with an error of the newer revision.
pub(super) fn status(body: &[u8]) -> u16 {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match body.pointer("/error/code").and_then(Value::as_i64) {
        Some(-32601) => 404,
        Some(-32022..=-32020) => 400,
        _ => 200,
    }
}
