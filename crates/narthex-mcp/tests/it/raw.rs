//! A client that sends exactly the bytes it is told to.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// One response.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The JSON-RPC error's code.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// The code of an error from before the parse.
    pub(crate) fn word(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn result(&self) -> Value {
        let json = self.json();
        assert!(json["result"].is_object(), "no result: {json}");
        json["result"].clone()
    }
}

/// A request to be spoiled.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    line: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    /// A good one in every way, for these bytes; ends its connection.
    pub(crate) fn post(token: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { line: "POST /mcp HTTP/1.1".into(), headers: Vec::new(), body: body.into() }
            .with("host", "localhost")
            .with("authorization", &format!("Bearer {token}"))
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
            .with("connection", "close")
    }

    /// A legacy request.
    pub(crate) fn legacy(token: &str, method: &str, params: &Value) -> Self {
        Self::post(token, message(1, method, params)).with("mcp-protocol-version", "2025-11-25")
    }

    /// A modern request, its headers in order.
    pub(crate) fn modern(token: &str, method: &str, params: &Value) -> Self {
        let request = Self::post(token, message(1, method, &with_meta(params)))
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", method);
        match params["name"].as_str() {
            Some(name) => request.with("mcp-name", name),
            None => request,
        }
    }

    pub(crate) fn line(mut self, line: &str) -> Self {
        line.clone_into(&mut self.line);
        self
    }

    /// Sets a header.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value.as_bytes())
    }

    /// Adds a header, whatever is there.
    pub(crate) fn and(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.to_owned(), value.to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn body_bytes(&self) -> &[u8] {
        &self.body
    }

    /// The head alone, with no framing but what was set.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let length = self.body.len().to_string();
        let framed = self.headers.iter().any(|(name, _)| name == "content-length");
        let whole =
            if framed { self.clone() } else { self.clone().with("content-length", &length) };
        let mut bytes = whole.head();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    pub(crate) async fn send(&self, addr: SocketAddr) -> Answer {
        let mut answers = fire(addr, &self.bytes()).await;
        assert_eq!(answers.len(), 1, "one request, one answer: {answers:?}");
        answers.remove(0)
    }
}

pub(crate) fn message(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn with_meta(params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

/// Sends bytes and reads until the server closes.
pub(crate) async fn fire(addr: SocketAddr, bytes: &[u8]) -> Vec<Answer> {
    let stream = TcpStream::connect(addr).await.expect("a connection");
    answers(&exchange(stream, bytes).await)
}

pub(crate) async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    bytes: &[u8],
) -> Vec<u8> {
    // The server may stop reading before all is sent; what it said still counts.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let reading = stream.read_to_end(&mut all);
    let _ = tokio::time::timeout(PATIENCE, reading).await.expect("the server closes");
    all
}

/// Reads the head of a response that may go on.
pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = tokio::time::timeout(PATIENCE, stream.read_u8()).await.expect("a head in time");
        head.push(byte.expect("a byte"));
    }
    String::from_utf8(head).expect("text")
}

/// Takes responses apart.
pub(crate) fn answers(mut bytes: &[u8]) -> Vec<Answer> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        bytes = &bytes[end + 4..];
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let mut answer = Answer { status, head, body: Vec::new() };
        if answer.header("transfer-encoding").is_some() {
            let rest;
            (answer.body, rest) = unchunk(bytes);
            bytes = rest;
        } else {
            let length = answer.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
            let length = usize::min(length, bytes.len());
            answer.body = bytes[..length].to_vec();
            bytes = &bytes[length..];
        }
        all.push(answer);
    }
    all
}

/// The body of a chunked response as far as it came, and what follows it.
pub(crate) fn unchunk(mut bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a size");
        let start = end + 2;
        if size == 0 || bytes.len() < start + size + 2 {
            return (body, bytes.get(start + size + 2..).unwrap_or_default());
        }
        body.extend_from_slice(&bytes[start..start + size]);
        bytes = &bytes[start + size + 2..];
    }
    (body, &[])
}

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
