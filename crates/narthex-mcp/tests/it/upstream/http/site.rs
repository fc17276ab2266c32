//! A server over HTTP that does as it is told, request by request, on connections that stay open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use narthex_gate::upstream::Line;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use crate::upstream::peer::{legacy_greeting, modern_greeting};

/// What came in.
#[derive(Debug, Clone)]
pub(crate) struct Came {
    pub(crate) method: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

/// What goes out.
pub(crate) enum Said {
    /// These bytes, and the connection stays.
    Bytes(Vec<u8>),
    /// These bytes, and the connection is closed.
    Last(Vec<u8>),
    /// The first bytes, and then the second again and again.
    Drip(Vec<u8>, Vec<u8>),
    /// Nothing, until the other side goes away.
    Nothing,
}

type Says = dyn Fn(&Came) -> Said + Send + Sync;

pub(crate) struct Site {
    pub(crate) url: String,
    came: Arc<Mutex<Vec<Came>>>,
    pub(crate) connections: Arc<AtomicUsize>,
    /// Connections that the other side closed.
    pub(crate) left: Arc<AtomicUsize>,
    _serving: AbortOnDropHandle<()>,
}

impl Came {
    pub(crate) fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

impl Site {
    pub(crate) async fn new(says: impl Fn(&Came) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let (came, connections) = (Arc::new(Mutex::default()), Arc::new(AtomicUsize::new(0)));
        let (left, says): (_, Arc<Says>) = (Arc::new(AtomicUsize::new(0)), Arc::new(says));
        let (seen, count, gone) = (Arc::clone(&came), Arc::clone(&connections), Arc::clone(&left));
        #[expect(clippy::disallowed_methods, reason = "ends with the test")]
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (seen, says, gone) = (Arc::clone(&seen), Arc::clone(&says), Arc::clone(&gone));
                drop(tokio::spawn(async move {
                    serve(stream, &seen, &*says).await;
                    gone.fetch_add(1, Ordering::SeqCst);
                }));
            }
        });
        Self { url, came, connections, left, _serving: AbortOnDropHandle::new(serving) }
    }

    /// One of the newer revisions, that answers everything but the greeting by a function.
    pub(crate) async fn modern(says: impl Fn(&Came) -> Said + Send + Sync + 'static) -> Self {
        Self::new(move |came| match came.rpc() {
            "server/discover" => result(came, &modern_greeting()),
            _ => says(came),
        })
        .await
    }

    /// One of the older, with a session.
    pub(crate) async fn legacy(says: impl Fn(&Came) -> Said + Send + Sync + 'static) -> Self {
        Self::new(move |came| match (came.method.as_str(), came.rpc()) {
            (_, "server/discover") => status(400, "no session"),
            (_, "initialize") => {
                let body = answer(came, &legacy_greeting("2025-11-25"));
                json_with("mcp-session-id: sess-1\r\n", &body)
            }
            ("POST", "notifications/initialized") => status(202, ""),
            ("DELETE", _) => status(200, ""),
            _ => says(came),
        })
        .await
    }

    pub(crate) fn line(&self) -> Line {
        Line::Http { url: self.url.clone(), headers: Vec::new(), credentials: None }
    }

    pub(crate) fn came(&self) -> Vec<Came> {
        self.came.lock().expect("a lock").clone()
    }

    /// What came with this method.
    pub(crate) fn of(&self, rpc: &str) -> Vec<Came> {
        self.came().into_iter().filter(|came| came.rpc() == rpc).collect()
    }
}

async fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Came>>, says: &Says) {
    let mut bytes = Vec::new();
    while let Some(came) = read(&mut stream, &mut bytes).await {
        seen.lock().expect("a lock").push(came.clone());
        match says(&came) {
            Said::Bytes(bytes) => {
                let _ = stream.write_all(&bytes).await;
            }
            Said::Last(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Said::Drip(first, more) => {
                let _ = stream.write_all(&first).await;
                while stream.write_all(&more).await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                return;
            }
            Said::Nothing => {
                let _ = stream.read_u8().await;
                return;
            }
        }
    }
}

async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Came> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
            let mut lines = head.lines();
            let method = lines.next()?.split(' ').next()?.to_owned();
            let headers: HashMap<String, String> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length =
                headers.get("content-length").map_or(0, |n| n.parse::<usize>().expect("n"));
            if bytes.len() >= end + 4 + length {
                let body: Vec<u8> = bytes.drain(..end + 4 + length).skip(end + 4).collect();
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                return Some(Came { method, headers, body });
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(read) if read > 0 => bytes.extend_from_slice(&piece[..read]),
            _ => return None,
        }
    }
}

fn answer(came: &Came, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": came.body["id"], "result": result}).to_string()
}

/// 200 with a result.
pub(crate) fn result(came: &Came, value: &Value) -> Said {
    json_with("", &answer(came, value))
}

/// 200 with JSON.
pub(crate) fn json_with(headers: &str, body: &str) -> Said {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    Said::Bytes(format!("{head}{headers}content-length: {}\r\n\r\n{body}", body.len()).into())
}

/// A status with text.
pub(crate) fn status(code: u16, body: &str) -> Said {
    status_with(code, "", body)
}

pub(crate) fn status_with(code: u16, headers: &str, body: &str) -> Said {
    let length = body.len();
    let head = format!("HTTP/1.1 {code} Said\r\n{headers}content-length: {length}\r\n\r\n{body}");
    Said::Bytes(head.into())
}

pub(crate) const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// Events, and then the end.
pub(crate) fn events(said: &[String]) -> Said {
    let events: String =
        said.iter().fold(String::new(), |all, data| all + "event: message\ndata: " + data + "\n\n");
    Said::Last(format!("{EVENTS}{events}").into())
}

/// The message that answers.
pub(crate) fn answer_text(came: &Came, value: &Value) -> String {
    answer(came, value)
}
