//! One tool, `echo`, as fast as it can be: what a benchmark calls directly and through Narthex.

use std::borrow::Cow;
use std::io::{BufRead as _, Write as _};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::http::wire::{self, Head};
use super::list::{LEGACY, MODERN};

/// Answers on its own pipes until its input ends.
pub(super) fn pipes() -> std::io::Result<()> {
    let (mut from, mut to) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = String::new();
    while from.read_line(&mut line)? > 0 {
        if let Some(mut answer) = answer(&line) {
            answer.push('\n');
            to.write_all(answer.as_bytes())?;
            to.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Answers over HTTP, for ever; says where in a line.
pub(super) async fn http() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        connections.spawn(serve(stream));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from);
    while let Some(came) = wire::read(&mut from).await {
        let written = match (came.method.as_str(), answer(&came.body.to_string())) {
            ("POST", Some(answer)) => wire::whole(&mut to, &Head::json(200), &answer).await,
            ("POST", None) => wire::whole(&mut to, &Head::new(202), "").await,
            _ => wire::whole(&mut to, &Head::new(405), "").await,
        };
        if written.is_err() {
            return;
        }
    }
}

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// The answer to a message, if it has one.
fn answer(message: &str) -> Option<String> {
    let Question { id, method, params } = serde_json::from_str(message).ok()?;
    let id = id?.get();
    let params: Params<'_> =
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let modern = params.meta.is_some_and(|meta| meta.get().contains("/protocolVersion"));
    if method == "tools/call" {
        let text = params.arguments.and_then(|arguments| arguments.text);
        let text = text.map_or("\"\"", RawValue::get);
        let kind = if modern { r#","resultType":"complete""# } else { "" };
        return Some(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]{kind}}}}}"#
        ));
    }
    let said = match rare(&method, modern) {
        Some(result) => format!(r#""result":{result}"#),
        None => r#""error":{"code":-32601,"message":"no such method"}"#.to_owned(),
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},{said}}}"#))
}

/// What is asked once.
fn rare(method: &str, modern: bool) -> Option<Value> {
    let info = json!({"name": "echo", "version": "1.0.0"});
    let versions: Vec<_> = [MODERN].into_iter().chain(LEGACY.iter().copied()).collect();
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let tool = json!({"name": "echo", "description": "Says it again.", "inputSchema": schema});
    let mut said = match method {
        "initialize" => json!({"protocolVersion": "2025-11-25", "serverInfo": info,
            "capabilities": {"tools": {}}}),
        "server/discover" => json!({"supportedVersions": versions, "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": info}}),
        "tools/list" => json!({"tools": [tool]}),
        "ping" => json!({}),
        _ => return None,
    };
    if let Some(said) = said.as_object_mut().filter(|_| modern) {
        said.insert("resultType".to_owned(), "complete".into());
        said.insert("ttlMs".to_owned(), 0.into());
        said.insert("cacheScope".to_owned(), "private".into());
    }
    Some(said)
}
