//! One call of a server that may ask something before it answers, whichever revision it speaks: the
//! older ones ask by a request while the call is under way, the newer answer with what they ask and
//! are called again.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::Reason;
use narthex_gate::upstream::{
    AskedByServer, LogEar, UpstreamFault, UpstreamProgress, UpstreamQuestion,
};
use narthex_gate::{ClientCan, NotAsked, ToolError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::{Asked, Responses, not_asked};
use crate::hall::{ServerLine, declared};

/// What is asked of a server, as often as it takes.
#[derive(Debug, Clone)]
pub(in crate::surface) struct Wanted {
    pub(in crate::surface) method: String,
    pub(in crate::surface) params: Map<String, Value>,
    pub(in crate::surface) name: Option<String>,
    pub(in crate::surface) input_schema: Option<Arc<Value>>,
    pub(in crate::surface) progress: Option<mpsc::Sender<UpstreamProgress>>,
    pub(in crate::surface) logs: Option<LogEar>,
}

impl Wanted {
    /// To be asked once.
    pub(in crate::surface) fn once(self, deadline: Duration) -> UpstreamQuestion {
        UpstreamQuestion {
            method: self.method,
            params: self.params,
            name: self.name,
            input_schema: self.input_schema,
            deadline,
            progress: self.progress,
            asked: None,
            logs: self.logs,
        }
    }
}

/// The call.
pub(super) struct Dialogue {
    line: ServerLine,
    question: Wanted,
    can: ClientCan,
    /// How long the server may be at work, all in all.
    deadline: Duration,
    worked: Duration,
    asked: usize,
    under_way: Option<UnderWay>,
    /// What goes along the next time, in the newer revision.
    responses: Responses,
    state: Option<String>,
}

/// A question that was sent.
struct UnderWay {
    answer: Pin<Box<dyn Future<Output = Result<Box<RawValue>, UpstreamFault>> + Send>>,
    raised: mpsc::Receiver<Raised>,
}

/// What a server says next.
pub(super) enum Said {
    Answer(Result<Box<RawValue>, UpstreamFault>),
    Asks(Vec<Raised>),
}

/// Something it asks, as it came.
#[derive(Debug)]
pub(super) struct Raised {
    pub(super) method: String,
    pub(super) params: Value,
    pub(super) to: To,
}

/// Where an answer goes.
#[derive(Debug)]
pub(super) enum To {
    /// To the request it was.
    Request(oneshot::Sender<Result<Value, (i64, String)>>),
    /// Along with the next call, under its key.
    Repeated(String),
}

impl To {
    /// The server's own word for it, where it has one.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Request(_) => None,
            Self::Repeated(key) => Some(key),
        }
    }

    /// Says no. What came with an answer ends the call: nobody can say no to a part of it.
    pub(super) fn refuse(self, (code, why): (i64, String)) -> Result<(), ToolError> {
        match self {
            Self::Request(tell) => {
                let _ = tell.send(Err((code, why)));
                Ok(())
            }
            Self::Repeated(_) => Err(not_asked(&why)),
        }
    }
}

impl Dialogue {
    pub(super) const fn new(
        line: ServerLine,
        question: Wanted,
        can: ClientCan,
        deadline: Duration,
    ) -> Self {
        Self {
            line,
            question,
            can,
            deadline,
            worked: Duration::ZERO,
            asked: 0,
            under_way: None,
            responses: Responses::new(),
            state: None,
        }
    }

    pub(super) const fn line(&self) -> &ServerLine {
        &self.line
    }

    /// Goes on over another line: the newer revision keeps nothing in one.
    pub(super) fn take_line(&mut self, line: ServerLine) {
        self.line = line;
    }

    /// One more thing asked, if it may be.
    pub(super) fn counted(&mut self) -> Result<(), (i64, String)> {
        self.asked += 1;
        if self.asked <= MOST_ASKED {
            return Ok(());
        }
        Err((-32600, format!("more than {MOST_ASKED} things are asked in one call")))
    }

    /// What the server says next.
    pub(super) async fn next(&mut self) -> Said {
        let began = Instant::now();
        let left = self.deadline.saturating_sub(self.worked);
        let mut under_way = match self.under_way.take() {
            Some(under_way) => under_way,
            None => self.send(),
        };
        let hearing = async {
            tokio::select! {
                biased;
                answer = &mut under_way.answer => Err(answer),
                Some(raised) = under_way.raised.recv() => Ok(raised),
            }
        };
        let heard = timeout(left, hearing).await;
        self.worked += began.elapsed();
        match heard {
            Ok(Ok(raised)) => {
                self.under_way = Some(under_way);
                Said::Asks(vec![raised])
            }
            Ok(Err(Ok(raw))) => self.answered(raw),
            Ok(Err(Err(fault))) => Said::Answer(Err(fault)),
            Err(_) => {
                self.line.was_late();
                Said::Answer(Err(UpstreamFault::Late(self.deadline)))
            }
        }
    }

    /// Hands an answer on, or that there is none.
    pub(super) fn answer(
        &mut self,
        asked: Asked,
        answer: Result<Value, NotAsked>,
    ) -> Result<(), ToolError> {
        match (asked.to, answer) {
            // If it took the request back meanwhile, nobody is there to be told.
            (To::Request(tell), answer) => {
                let answer = answer.map_err(|no| (CLIENT_SAID_NO, no.to_string()));
                drop(tell.send(answer));
            }
            (To::Repeated(key), Ok(answer)) => drop(self.responses.insert(key, answer)),
            (To::Repeated(key), Err(no)) => {
                let asked = Asked { to: To::Repeated(String::new()), ..asked };
                let none = asked.none().ok_or_else(|| not_asked(&no.to_string()))?;
                self.responses.insert(key, none);
            }
        }
        Ok(())
    }

    fn send(&mut self) -> UnderWay {
        let (to, raised) = mpsc::channel(MOST_ASKED);
        let asked: Arc<dyn AskedByServer> = Arc::new(InCall { can: self.can, to });
        let mut question = self.question.clone();
        let responses = std::mem::take(&mut self.responses);
        if !responses.is_empty() {
            let responses: Map<String, Value> = responses.into_iter().collect();
            question.params.insert("inputResponses".to_owned(), responses.into());
        }
        if let Some(state) = self.state.take() {
            question.params.insert("requestState".to_owned(), state.into());
        }
        // How long it may be at work is watched here; what waits for the client is not work.
        let mut question = question.once(self.deadline.saturating_add(MOST_WAIT));
        question.asked = (!self.can.is_nothing()).then_some(asked);
        let line = self.line.clone();
        UnderWay { answer: Box::pin(async move { line.ask(question).await }), raised }
    }

    /// An answer, unless it asks.
    fn answered(&mut self, raw: Box<RawValue>) -> Said {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Asking {
            result_type: Option<String>,
            #[serde(default)]
            input_requests: Option<Map<String, Value>>,
            #[serde(default)]
            request_state: Option<String>,
        }
        let asks = serde_json::from_str::<Asking>(raw.get())
            .ok()
            .filter(|said| said.result_type.as_deref() == Some("input_required"))
            .filter(|_| self.line.is_modern() && !self.can.is_nothing());
        let Some(Asking { input_requests, request_state, .. }) = asks else {
            return Said::Answer(Ok(raw));
        };
        let requests = input_requests.unwrap_or_default();
        let large = request_state.as_ref().is_some_and(|state| state.len() > MAX_STATE);
        let nothing = requests.is_empty() && request_state.is_none();
        // It only wants to be called again: that counts as something asked.
        let again = requests.is_empty() && self.counted().is_err();
        if large || nothing || again || requests.len() > MOST_ASKED {
            let why = "it asks for too much, or for nothing".to_owned();
            return Said::Answer(Err(UpstreamFault::Garbled(why)));
        }
        self.state = request_state;
        Said::Asks(requests.into_iter().map(|(key, request)| raised(key, request)).collect())
    }
}

fn raised(key: String, mut request: Value) -> Raised {
    let mut take = |name: &str| request.get_mut(name).map(Value::take).unwrap_or_default();
    let method = take("method").as_str().unwrap_or_default().to_owned();
    Raised { method, params: take("params"), to: To::Repeated(key) }
}

/// Whoever made the call, to the server.
struct InCall {
    can: ClientCan,
    to: mpsc::Sender<Raised>,
}

impl fmt::Debug for InCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InCall")
    }
}

#[async_trait]
impl AskedByServer for InCall {
    fn declared(&self) -> Map<String, Value> {
        declared(self.can)
    }

    async fn asked(&self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        let (tell, told) = oneshot::channel();
        let raised = Raised { method: method.to_owned(), params, to: To::Request(tell) };
        self.to.try_send(raised).map_err(|_| nobody())?;
        told.await.unwrap_or_else(|_| Err(nobody()))
    }
}

fn nobody() -> (i64, String) {
    (-32603, Reason::InputNeeded.code().to_owned() + ": nobody can be asked now")
}

/// Things asked in one call, answered or not.
const MOST_ASKED: usize = 8;
/// What a question is given beside its deadline: the gate ends what waits long before.
const MOST_WAIT: Duration = Duration::from_mins(20);
/// What an upstream may have us carry for it.
const MAX_STATE: usize = 64 * 1024;
/// What a server is told whose client did not answer.
const CLIENT_SAID_NO: i64 = -1;
