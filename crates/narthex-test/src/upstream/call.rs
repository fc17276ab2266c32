//! The steps of a call, carried out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::chat::{Chat, Request};
use super::fill::{fill, grandparent};
use super::mouth::{Mouth, Said};
use super::stage::Event;
use super::{Id, Step, deeds, list};

/// A request that is being dealt with.
#[derive(Debug)]
pub(super) struct Call {
    chat: Arc<Chat>,
    pub(super) request: Request,
    pub(super) mouth: Mouth,
    cancelled: CancellationToken,
    /// What was found, by step.
    found: Map<String, Value>,
    answered: bool,
    last: Option<Vec<u8>>,
    told: u64,
}

impl Call {
    pub(super) fn new(
        chat: Arc<Chat>,
        request: Request,
        mouth: Mouth,
        cancelled: CancellationToken,
    ) -> Self {
        let (found, answered, last, told) = (Map::new(), false, None, 0);
        Self { chat, request, mouth, cancelled, found, answered, last, told }
    }

    /// Takes the steps, and tells what was found if no step answered.
    pub(super) async fn run(&mut self, steps: &[Step]) {
        for step in steps {
            if *step == Step::Silence {
                self.mouth.closed().await;
                return;
            }
            self.step(step).await;
            if self.answered && matches!(step, Step::NeedInput(_)) {
                return;
            }
        }
        if !self.answered {
            let found = self.findings();
            self.result(found).await;
        }
    }

    /// Takes the steps that a process takes before it reads.
    pub(super) async fn prepare(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step).await;
        }
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Echo => self.result(self.echo()).await,
            Step::Answer(result) => self.result(result.clone()).await,
            Step::Raw(result) => self.raw(result.clone()).await,
            Step::Written(text) => {
                self.answered = true;
                let line =
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{text}}}", self.request.id);
                self.say(line.into_bytes()).await;
            }
            Step::Refuse { code, message, data } => {
                self.refuse(*code, message, data.clone()).await;
            }
            Step::Large(size) => self.result(texts(vec!["x".repeat(*size)])).await,
            Step::Many(count) => {
                self.result(texts((0..*count).map(|n| format!("block {n}")).collect())).await;
            }
            Step::Fail(text) => {
                let mut result = texts(vec![self.filled(text)]);
                if let Some(result) = result.as_object_mut() {
                    result.insert("isError".to_owned(), true.into());
                }
                self.result(result).await;
            }
            Step::Drip(every) => {
                let result = self.dressed(self.findings());
                let line = message_for(&self.request.id, &result);
                self.answered = true;
                self.mouth.say(Said::Drip(line, Duration::from_millis(*every))).await;
            }
            Step::Status { code, headers, body } => {
                self.answered = true;
                let (code, headers, body) = (*code, headers.clone(), body.clone());
                self.mouth.say(Said::Status { code, headers, body }).await;
            }
            Step::AnswerTo(whose, result) => {
                let line = message_for(&self.id(whose), &self.dressed(result.clone()));
                self.say(line).await;
            }
            Step::Again => {
                if let Some(last) = self.last.clone() {
                    self.say(last).await;
                }
            }
            Step::Silence => {}
            other => self.act(other).await,
        }
    }

    /// What is said by the way, and what is done.
    async fn act(&mut self, step: &Step) {
        match step {
            Step::Line(text) => self.say(self.filled(text).into_bytes()).await,
            Step::Hex(bytes) => self.say(unhex(bytes)).await,
            Step::Endless(size) => self.endless(*size).await,
            Step::Notify { method, params, times } => {
                let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
                for _ in 0..*times {
                    if !self.mouth.message(&line).await {
                        return;
                    }
                }
            }
            Step::Progress { steps, every_ms } => self.progress(*steps, *every_ms).await,
            Step::Tell(words) => self.tell(words).await,
            Step::Stderr(text, times) => deeds::stderr(&self.filled(text), *times),
            Step::StderrEnvironment => deeds::stderr(&deeds::environment().to_string(), 1),
            Step::Sleep(ms) => sleep(Duration::from_millis(*ms)).await,
            Step::Exit(code) => self.exit(*code).await,
            Step::ExitBefore { file, starts, code } => {
                let _ = deeds::append(file, &format!("{}\n", std::process::id()));
                let text = std::fs::read_to_string(file).unwrap_or_default();
                if text.lines().count() < *starts {
                    self.exit(*code).await;
                }
            }
            Step::Fork { count, pids, detach } => {
                let forked = deeds::fork(*count, pids, *detach).await;
                self.find("fork", forked.unwrap_or_else(|error| error.to_string().into()));
            }
            Step::IgnoreTerm => deeds::ignore_term(),
            Step::AwaitCancel(most) => {
                let gone = self.mouth.clone();
                let waiting = async {
                    tokio::select! {
                        () = self.cancelled.cancelled() => {}
                        () = gone.closed() => {}
                    }
                };
                let came = timeout(Duration::from_millis(*most), waiting).await.is_ok();
                self.find("await_cancel", came.into());
            }
            Step::Flip => self.chat.stage.turn(Event::Flipped).await,
            other => self.look(other).await,
        }
    }

    /// What is found out.
    async fn look(&mut self, step: &Step) {
        match step {
            Step::Environment => self.find("environment", deeds::environment()),
            Step::Read(path) => self.find("read", deeds::read(&self.filled(path))),
            Step::Write(path) => self.find("write", deeds::write(&self.filled(path))),
            Step::Connect(to) => {
                let came = deeds::connect(&self.filled(to)).await;
                self.find("connect", came);
            }
            Step::Ask { method, params } => self.ask(method, params).await,
            Step::NeedInput(requests) => self.need(requests).await,
            Step::Heard => self.find("heard", self.chat.heard()),
            Step::Count => self.find("count", self.chat.count().into()),
            Step::Headers => {
                let pairs = self.request.headers.iter();
                let headers: Map<_, _> =
                    pairs.map(|(name, value)| (name.clone(), value.clone().into())).collect();
                self.find("headers", headers.into());
            }
            Step::Pids => {
                let parent = std::os::unix::process::parent_id();
                let pids = json!({"pid": std::process::id(), "parent": parent,
                    "grandparent": grandparent()});
                self.find("pids", pids);
            }
            _ => {}
        }
    }

    async fn ask(&mut self, method: &str, params: &Map<String, Value>) {
        let (id, told) = self.chat.asking();
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.mouth.message(&line).await;
        let came = match timeout(PATIENCE, told).await {
            Ok(Ok(answer)) => answer,
            _ => "no answer".into(),
        };
        self.find("ask", came);
    }

    /// Asks in the way of the newer revision, or notes what the repeated call brought.
    async fn need(&mut self, requests: &Value) {
        if let Some(came) = self.request.params.get("inputResponses").cloned() {
            let state = self.request.params.get("requestState").cloned();
            self.find("need_input", json!({"responses": came, "state": state}));
            return;
        }
        let result = json!({"resultType": "input_required", "inputRequests": requests,
            "requestState": "where-we-were"});
        self.raw(result).await;
    }

    async fn progress(&self, steps: u64, every_ms: u64) {
        for step in 1..=steps {
            sleep(Duration::from_millis(every_ms)).await;
            self.is_at(step, Some(steps), format!("step {step}")).await;
        }
    }

    /// Each further than the one before.
    async fn tell(&mut self, words: &str) {
        self.told += 1;
        self.is_at(self.told, None, self.filled(words)).await;
    }

    async fn is_at(&self, progress: u64, total: Option<u64>, message: String) {
        let Some(token) = self.request.params.pointer("/_meta/progressToken") else { return };
        let mut params = json!({"progressToken": token, "progress": progress, "message": message});
        if let (Some(total), Some(params)) = (total, params.as_object_mut()) {
            params.insert("total".to_owned(), total.into());
        }
        let line = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        self.mouth.message(&line).await;
    }

    async fn endless(&self, size: u64) {
        let mut left = size;
        while left > 0 {
            let piece = left.min(64 << 10);
            let bytes = vec![b'x'; usize::try_from(piece).unwrap_or_default()];
            if !self.mouth.say(Said::Piece(bytes)).await {
                return;
            }
            left -= piece;
        }
    }

    async fn exit(&self, code: i32) {
        self.mouth.written().await;
        if self.chat.stage.own_process {
            std::process::exit(code);
        }
        self.chat.stage.stop.cancel();
        std::future::pending::<()>().await;
    }

    fn echo(&self) -> Value {
        let arguments = self.request.params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let mut result = texts(vec![arguments.to_string()]);
        if let Some(result) = result.as_object_mut() {
            result.insert("structuredContent".to_owned(), arguments);
        }
        result
    }

    fn findings(&self) -> Value {
        let found = Value::from(self.found.clone());
        let mut result = texts(vec![found.to_string()]);
        if let Some(result) = result.as_object_mut() {
            result.insert("structuredContent".to_owned(), found);
        }
        result
    }

    fn find(&mut self, step: &str, what: Value) {
        let entry = self.found.entry(step.to_owned()).or_insert_with(|| json!([]));
        if let Some(all) = entry.as_array_mut() {
            all.push(what);
        }
    }

    /// Answers, with what the era wants besides.
    pub(super) async fn result(&mut self, result: Value) {
        let result = self.dressed(result);
        self.raw(result).await;
    }

    fn dressed(&self, mut result: Value) -> Value {
        if self.request.is_modern() {
            list::dress(&mut result, &self.request.method, &self.chat.stage.offer());
        }
        result
    }

    async fn raw(&mut self, result: Value) {
        self.answered = true;
        let line = message_for(&self.request.id, &result);
        self.say(line).await;
    }

    pub(super) async fn refuse(&mut self, code: i64, message: &str, data: Option<Value>) {
        let mut error = json!({"code": code, "message": self.filled(message)});
        if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
            error.insert("data".to_owned(), data);
        }
        self.answered = true;
        let line = json!({"jsonrpc": "2.0", "id": self.request.id, "error": error});
        self.say(line.to_string().into_bytes()).await;
    }

    async fn say(&mut self, line: Vec<u8>) {
        self.last = Some(line.clone());
        self.mouth.say(Said::Line(line)).await;
    }

    fn id(&self, whose: &Id) -> Value {
        match whose {
            Id::Fixed(id) => id.clone(),
            Id::Off(by) => {
                json!(self.request.id.as_i64().unwrap_or_default().saturating_add(*by))
            }
            Id::Text => self.request.id.to_string().into(),
        }
    }

    fn filled(&self, text: &str) -> String {
        fill(text, self.request.params.get("arguments").unwrap_or(&Value::Null))
    }
}

fn message_for(id: &Value, result: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_bytes()
}

fn texts(texts: Vec<String>) -> Value {
    let blocks: Vec<_> =
        texts.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
    json!({"content": blocks})
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| u8::try_from(c.to_digit(16)?).ok()).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit)).collect()
}

/// How long an answer of the client's is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
