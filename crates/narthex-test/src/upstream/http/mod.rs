//! The server over streamable HTTP, written by hand: a well-behaved library would not let it be what
//! it is here.

mod door;
pub(super) mod wire;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::door::Door;
use super::Script;
use super::stage::Stage;

/// A scripted server on loopback, until it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    url: String,
    came: Arc<Mutex<Vec<Came>>>,
    stop: CancellationToken,
    _serving: JoinSet<()>,
    _end: DropGuard,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Came {
    /// Of HTTP.
    pub method: String,
    /// With names in lower case, as they came.
    pub headers: Vec<(String, String)>,
    /// Null if it is no JSON.
    pub body: Value,
}

impl Came {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The method in its body.
    pub fn rpc(&self) -> &str {
        self.body.get("method").and_then(Value::as_str).unwrap_or_default()
    }
}

impl HttpServer {
    /// Starts one in this process, on a port of its own.
    pub async fn start(script: Script) -> anyhow::Result<Self> {
        Self::start_as(script, false).await
    }

    pub(super) async fn start_as(script: Script, own_process: bool) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("a port")?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let stage = Arc::new(Stage::new(script, own_process));
        let (stop, came) = (stage.stop.clone(), Arc::default());
        let door = Arc::new(Door::new(Arc::clone(&stage), Arc::clone(&came)));
        let mut serving = JoinSet::new();
        let until = stop.clone();
        serving.spawn(async move {
            until.run_until_cancelled(accept(listener, door)).await;
        });
        serving.spawn(async move { stage.watch().await });
        let end = stop.clone().drop_guard();
        Ok(Self { url, came, stop, _serving: serving, _end: end })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Everything that came so far.
    pub fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a step ended it.
    pub fn has_ended(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Ends it as a crash would: whatever is under way breaks off.
    pub fn crash(&self) {
        self.stop.cancel();
    }
}

async fn accept(listener: TcpListener, door: Arc<Door>) {
    // Dropped with this future, and every connection with it.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let door = Arc::clone(&door);
        connections.spawn(async move { door.serve(stream).await });
        while connections.try_join_next().is_some() {}
    }
}
