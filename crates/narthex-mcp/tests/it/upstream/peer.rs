//! The other end of two pipes: says what it is told, and reads what it is sent.

use std::sync::Arc;

use narthex_gate::upstream::{AskedByServer, Connection, Connector as _, Line, RefusesAll, Terms};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::connector;
use crate::raw::PATIENCE;

pub(crate) struct Peer {
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    to: WriteHalf<DuplexStream>,
}

impl Peer {
    /// A line, and who is at its end.
    pub(crate) fn new() -> (Line, Self) {
        let (ours, theirs) = tokio::io::duplex(256 << 10);
        let (from, to) = tokio::io::split(theirs);
        let (read, write) = tokio::io::split(ours);
        let line = Line::Pipes { to: Box::new(to), from: Box::new(from) };
        (line, Self { from: BufReader::new(read).lines(), to: write })
    }

    /// The next message; none when the other end is closed.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.from.next_line()).await.expect("in time");
        line.expect("a line").map(|line| serde_json::from_str(&line).expect("JSON"))
    }

    pub(crate) async fn next(&mut self) -> Value {
        self.read().await.expect("a message")
    }

    /// The next message with this method; others are passed over.
    pub(crate) async fn next_of(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Says a line. Nobody may be there any more.
    pub(crate) async fn say(&mut self, text: &str) {
        let _ = self.to.write_all(text.as_bytes()).await;
        let _ = self.to.write_all(b"\n").await;
    }

    /// Says something that does not end.
    pub(crate) async fn mumble(&mut self, bytes: &[u8]) -> bool {
        self.to.write_all(bytes).await.is_ok()
    }

    pub(crate) async fn answer(&mut self, asked: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string()).await;
    }

    pub(crate) async fn refuse(&mut self, asked: &Value, code: i64, data: &Value) {
        let error = json!({"code": code, "message": "no", "data": data});
        self.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}).to_string()).await;
    }

    /// Ends what it says.
    pub(crate) async fn end(&mut self) {
        self.to.shutdown().await.expect("closed");
    }

    pub(crate) async fn greet_modern(&mut self) {
        let discover = self.next().await;
        assert_eq!(discover["method"], "server/discover");
        self.answer(&discover, &modern_greeting()).await;
    }

    pub(crate) async fn greet_legacy(&mut self) {
        let discover = self.next().await;
        self.refuse(&discover, -32601, &Value::Null).await;
        self.shake_hands("2025-11-25").await;
    }

    pub(crate) async fn shake_hands(&mut self, revision: &str) {
        let hello = self.next_of("initialize").await;
        assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
        self.answer(&hello, &legacy_greeting(revision)).await;
        assert_eq!(self.next().await["method"], "notifications/initialized");
    }
}

pub(crate) fn modern_greeting() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "ttlMs": 5, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "peer", "version": "1"}},
    })
}

pub(crate) fn legacy_greeting(revision: &str) -> Value {
    json!({
        "protocolVersion": revision, "capabilities": {"tools": {}},
        "serverInfo": {"name": "peer", "version": "1"}, "instructions": "be kind",
    })
}

pub(crate) async fn legacy(terms: Terms) -> (Arc<dyn Connection>, Peer) {
    legacy_with(terms, Arc::new(RefusesAll)).await
}

pub(crate) async fn legacy_with(
    terms: Terms,
    asked: Arc<dyn AskedByServer>,
) -> (Arc<dyn Connection>, Peer) {
    let (line, mut peer) = Peer::new();
    let connector = connector();
    let (connection, ()) = tokio::join!(connector.connect(line, terms, asked), peer.greet_legacy());
    (connection.expect("a connection"), peer)
}

pub(crate) async fn modern(terms: Terms) -> (Arc<dyn Connection>, Peer) {
    let (line, mut peer) = Peer::new();
    let connector = connector();
    let (connection, ()) =
        tokio::join!(connector.connect(line, terms, Arc::new(RefusesAll)), peer.greet_modern());
    (connection.expect("a connection"), peer)
}
