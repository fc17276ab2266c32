//! What a connection has whatever carries it: ids, counts, bounds, and what the server asks of us.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use narthex_gate::upstream::{AskedByServer, LogEar, Terms, UpstreamFault};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{log, outgoing};
use crate::strict;

/// The common ground of a connection and its tasks.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) terms: Terms,
    /// What is declared in a handshake.
    pub(super) declared: Map<String, Value>,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    asked: Arc<dyn AskedByServer>,
    next_id: AtomicU64,
    passed_over: AtomicU64,
    lists: watch::Sender<u64>,
    questions: Arc<Semaphore>,
    answering: Arc<Semaphore>,
    /// Who answers what is asked in the middle of a question, by our id.
    attending: Mutex<HashMap<u64, Arc<dyn AskedByServer>>>,
    /// Who hears what is said to the log in the middle of a question, by our id.
    hearing: Mutex<HashMap<u64, LogEar>>,
    /// The server's requests that are being answered, by its id.
    open: Open,
    era: OnceLock<Spoken>,
    ended: OnceLock<UpstreamFault>,
}

/// Which era was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    Modern,
    Legacy,
}

/// What to do with a request of the server's.
pub(super) enum Served {
    /// Send this.
    Now(Bytes),
    /// Someone has to be asked first; the place is kept until it is answered.
    Later(Asking),
    /// Nothing: this era has no such request, or too many came at once.
    Not,
}

/// A request on its way to whoever answers it.
pub(super) struct Asking {
    asked: Arc<dyn AskedByServer>,
    id: Box<RawValue>,
    taken_back: CancellationToken,
    open: Open,
    method: String,
    params: Value,
    _place: OwnedSemaphorePermit,
}

impl Talk {
    pub(super) fn new(terms: Terms, asked: Arc<dyn AskedByServer>) -> Result<Self, UpstreamFault> {
        let questions = terms.questions.clamp(1, Semaphore::MAX_PERMITS);
        Ok(Self {
            declared: asked.declared(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            next_id: AtomicU64::new(first_id()?),
            passed_over: AtomicU64::new(0),
            lists: watch::Sender::new(0),
            questions: Arc::new(Semaphore::new(questions)),
            answering: Arc::new(Semaphore::new(ANSWERED_AT_ONCE)),
            attending: Mutex::default(),
            hearing: Mutex::default(),
            open: Open::default(),
            era: OnceLock::new(),
            ended: OnceLock::new(),
            terms,
            asked,
        })
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// A place for a question, while the connection stands.
    pub(super) fn place(&self) -> Result<OwnedSemaphorePermit, UpstreamFault> {
        if let Some(why) = self.ended() {
            return Err(why);
        }
        Arc::clone(&self.questions).try_acquire_owned().map_err(|_| UpstreamFault::Busy)
    }

    pub(super) fn pass_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }

    pub(super) fn speak(&self, era: Spoken) {
        let _ = self.era.set(era);
    }

    pub(super) fn is_modern(&self) -> bool {
        self.era.get() == Some(&Spoken::Modern)
    }

    pub(super) fn end(&self, why: UpstreamFault) {
        let _ = self.ended.set(why);
        self.stop.cancel();
    }

    pub(super) fn ended(&self) -> Option<UpstreamFault> {
        self.ended.get().cloned()
    }

    pub(super) fn lists_changed(&self) -> watch::Receiver<u64> {
        self.lists.subscribe()
    }

    pub(super) fn raise_lists(&self) {
        self.lists.send_modify(|count| *count += 1);
    }

    /// Something said by the way: in the middle of that question, if the transport can say so.
    pub(super) fn notice(&self, method: &str, params: Option<&RawValue>, about: Option<u64>) {
        match method {
            "notifications/cancelled" => self.open.take_back(params),
            "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/prompts/list_changed" => self.raise_lists(),
            "notifications/message" => self.log(params, about),
            "notifications/resources/updated" => {
                if let Some(uri) = log::updated(params) {
                    self.asked.updated(&uri);
                }
            }
            // Other people's progress, what is not known: nobody here needs it.
            _ => {}
        }
    }

    /// Passes on what is said to the log: to whoever hears of the question it comes with; where nothing
    /// says which that is, to the only one there is. Between several nobody guesses.
    fn log(&self, params: Option<&RawValue>, about: Option<u64>) {
        let hearing = self.hearing();
        let one = match about {
            Some(question) => hearing.get(&question),
            None if hearing.len() == 1 => hearing.values().next(),
            None => None,
        };
        if let (Some(ear), Some(log)) = (one, log::read(params)) {
            ear.hear(log);
        }
    }

    /// Who hears what is said to the log in the middle of this question, until what comes back is
    /// dropped.
    pub(super) fn hear(self: &Arc<Self>, question: u64, ear: Option<LogEar>) -> Option<Hears> {
        self.hearing().insert(question, ear?);
        Some(Hears { talk: Arc::clone(self), question })
    }

    fn hearing(&self) -> MutexGuard<'_, HashMap<u64, LogEar>> {
        self.hearing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who answers what is asked in the middle of this question, until what comes back is dropped.
    pub(super) fn attend(
        self: &Arc<Self>,
        question: u64,
        asked: Option<Arc<dyn AskedByServer>>,
    ) -> Option<Attends> {
        let asked = asked?;
        self.attending().insert(question, asked);
        Some(Attends { talk: Arc::clone(self), question })
    }

    /// Who answers: whoever attends to the question it comes with; where nothing says which that is,
    /// the only one there is. Between several nobody guesses.
    fn answerer(&self, about: Option<u64>) -> Arc<dyn AskedByServer> {
        let attending = self.attending();
        let one = match about {
            Some(question) => attending.get(&question),
            None if attending.len() == 1 => attending.values().next(),
            None => None,
        };
        Arc::clone(one.unwrap_or(&self.asked))
    }

    fn attending(&self) -> MutexGuard<'_, HashMap<u64, Arc<dyn AskedByServer>>> {
        self.attending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request of the server's, which came in the middle of that question if the transport
    /// can say so. Only the older revisions have any.
    pub(super) fn serve(
        &self,
        id: &RawValue,
        method: String,
        params: Option<&RawValue>,
        about: Option<u64>,
    ) -> Served {
        if self.is_modern() {
            self.pass_over();
            return Served::Not;
        }
        if method == "ping" {
            return Served::Now(outgoing::answer(id, &Ok(json!({}))));
        }
        let refuse =
            |code: i64, why: &str| Served::Now(outgoing::answer(id, &Err((code, why.to_owned()))));
        // Before both have agreed on a revision there is nothing to be asked.
        if self.era.get().is_none() {
            return refuse(-32600, "not before the handshake");
        }
        let text = params.map_or("{}", RawValue::get);
        let Ok(params) = strict::parse(text.as_bytes()) else {
            return refuse(-32602, "the parameters cannot be read");
        };
        let Ok(place) = Arc::clone(&self.answering).try_acquire_owned() else {
            self.pass_over();
            return Served::Not;
        };
        let Some(taken_back) = self.open.begin(id) else {
            return refuse(-32600, "this id is in use");
        };
        let (asked, id, open) = (self.answerer(about), id.to_owned(), self.open.clone());
        Served::Later(Asking { asked, id, taken_back, open, method, params, _place: place })
    }
}

/// While somebody attends to a question.
#[derive(Debug)]
pub(super) struct Attends {
    talk: Arc<Talk>,
    question: u64,
}

impl Drop for Attends {
    fn drop(&mut self) {
        self.talk.attending().remove(&self.question);
    }
}

/// While somebody hears what is said to the log in the middle of a question.
#[derive(Debug)]
pub(super) struct Hears {
    talk: Arc<Talk>,
    question: u64,
}

impl Drop for Hears {
    fn drop(&mut self) {
        self.talk.hearing().remove(&self.question);
    }
}

impl Asking {
    /// Asks, and writes down what to send; nothing if the server took it back meanwhile.
    pub(super) async fn answered(mut self) -> Option<Bytes> {
        let params = std::mem::take(&mut self.params);
        let asking = self.asked.asked(&self.method, params);
        let answer = self.taken_back.run_until_cancelled(asking).await?;
        Some(outgoing::answer(&self.id, &answer))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Taken back, its id may already be another's.
        if !self.taken_back.is_cancelled() {
            self.open.requests().remove(self.id.get());
        }
    }
}

/// Requests of the server's, each with a way to take it back.
#[derive(Debug, Clone, Default)]
struct Open(Arc<Mutex<HashMap<String, CancellationToken>>>);

impl Open {
    /// None if there is one of that id already.
    fn begin(&self, id: &RawValue) -> Option<CancellationToken> {
        let mut requests = self.requests();
        if requests.contains_key(id.get()) {
            return None;
        }
        let token = CancellationToken::new();
        requests.insert(id.get().to_owned(), token.clone());
        Some(token)
    }

    fn take_back(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let said = params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok());
        if let Some(token) = said.and_then(|said| self.requests().remove(said.request_id.get())) {
            token.cancel();
        }
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is declared with a question: what whoever attends to it can be asked.
pub(super) fn declared(asked: Option<&Arc<dyn AskedByServer>>) -> Map<String, Value> {
    asked.map(|asked| asked.declared()).unwrap_or_default()
}

/// Where our ids begin: a server that did not see one cannot guess it, and an answer to a connection
/// that is gone finds no question in the next. Every id is exact as a double.
fn first_id() -> Result<u64, UpstreamFault> {
    let random = getrandom::u64();
    random.map(|id| id >> 14).map_err(|error| UpstreamFault::Unreachable(error.to_string()))
}

/// Requests of the server's that are being answered; one more is passed over.
const ANSWERED_AT_ONCE: usize = 4;
