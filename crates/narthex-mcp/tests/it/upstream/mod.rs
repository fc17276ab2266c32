//! The client for other people's servers, against peers that do as they are told and servers that
//! somebody else wrote.

mod fixture;
mod greetings;
mod hostile_pipes;
mod http;
mod peer;
mod pipes;
mod rmcp_servers;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use narthex_egress::{
    Answer, EgressClient, EgressConfig, EgressPolicy, LoopbackHttp, Resolve, ResolveError,
};
use narthex_gate::upstream::{
    AskedByServer, Connection, Connector as _, Line, RefusesAll, Terms, UpstreamEra, UpstreamFault,
    UpstreamQuestion,
};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use serde_json::{Map, Value, json};

/// Nobody is known by name.
#[derive(Debug)]
struct NoNames;

#[async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _: &str) -> Result<Answer, ResolveError> {
        Err(ResolveError::NoAnswer)
    }
}

/// A connector that may reach this machine.
pub(crate) fn connector() -> UpstreamConnector {
    reaching(LoopbackHttp::Allowed)
}

pub(crate) fn reaching(loopback_http: LoopbackHttp) -> UpstreamConnector {
    let policy = EgressPolicy::new(EgressConfig { loopback_http, ..EgressConfig::default() });
    let egress = EgressClient::new(policy.expect("a policy"), Arc::new(NoNames)).expect("a client");
    let silence = Duration::from_millis(200);
    UpstreamConnector::new(egress, UpstreamConfig { silence, ..UpstreamConfig::default() })
}

pub(crate) fn terms() -> Terms {
    Terms {
        era: UpstreamEra::Either,
        connect_deadline: Duration::from_secs(5),
        line_bytes: 64 << 10,
        result_bytes: 16 << 10,
        questions: 8,
    }
}

pub(crate) async fn connect(
    line: Line,
    terms: Terms,
) -> Result<Arc<dyn Connection>, UpstreamFault> {
    connector().connect(line, terms, Arc::new(RefusesAll)).await
}

pub(crate) fn ask(method: &str, params: &Value) -> UpstreamQuestion {
    UpstreamQuestion {
        method: method.to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        name: params.get("name").and_then(Value::as_str).map(str::to_owned),
        input_schema: None,
        deadline: Duration::from_secs(5),
        progress: None,
        asked: None,
        logs: None,
    }
}

pub(crate) fn call(name: &str) -> UpstreamQuestion {
    ask("tools/call", &json!({"name": name, "arguments": {}}))
}

/// Writes down what a server asks, and answers it.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) seen: Mutex<Vec<(String, Value)>>,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answers")
    }
}

#[async_trait]
impl AskedByServer for Answers {
    fn declared(&self) -> Map<String, Value> {
        json!({"roots": {}}).as_object().cloned().unwrap_or_default()
    }

    async fn asked(&self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        self.seen.lock().expect("a lock").push((method.to_owned(), params));
        if method == "elicitation/create" {
            std::future::pending::<()>().await;
        }
        if method == "roots/list" { Ok(json!({"roots": []})) } else { Err((-1, "no".to_owned())) }
    }
}

/// Waits until something is so.
pub(crate) async fn until(mut so: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never became so");
}
