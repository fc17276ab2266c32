//! A small MCP client that can speak both eras, and say what no client should.

use anyhow::Context;
use serde_json::{Value, json};

use crate::Answer;

/// Which revision of the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28, stateless.
    Modern,
    /// 2025-11-25.
    Legacy,
}

impl Era {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    /// The version on the wire.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }

    /// Puts in what every request of the era carries.
    pub(crate) fn stamp(self, params: &mut Value, declares: &Value) {
        if self == Self::Modern
            && let Some(map) = params.as_object_mut()
            && let Some(meta) = map.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
        {
            let version = "io.modelcontextprotocol/protocolVersion";
            meta.insert(version.to_owned(), self.version().into());
            meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), declares.clone());
        }
    }
}

/// A stream that is listened to.
#[derive(Debug)]
pub struct Listening {
    response: reqwest::Response,
    text: String,
}

impl Listening {
    /// The next message; an error once it has ended.
    pub async fn next(&mut self) -> anyhow::Result<Value> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data {
                    return Ok(serde_json::from_str(data)?);
                }
            }
            let chunk = self.response.chunk().await?.context("it ended")?;
            self.text.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}

/// A client with a token, or without.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
    era: Era,
    /// What it says it can be asked.
    declares: Value,
    /// The session it is in.
    session: Option<String>,
}

impl Client {
    /// Of this endpoint.
    pub fn new(url: impl Into<String>, token: Option<String>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "speaks to the tests' own loopback server")]
        let builder = reqwest::Client::builder();
        // Only ever spoken to on loopback and in clear: no certificates to load each time.
        let http = builder.no_proxy().tls_certs_only([]).build().unwrap_or_default();
        let declares = json!({});
        Self { http, url: url.into(), token, era: Era::Modern, declares, session: None }
    }

    /// The token it comes with.
    pub fn token(&self) -> Option<String> {
        self.token.clone()
    }

    /// The same client speaking another revision.
    pub fn speaking(&self, era: Era) -> Self {
        Self { era, ..self.clone() }
    }

    /// The same client, which says that it can be asked this.
    #[must_use]
    pub fn declaring(&self, capabilities: Value) -> Self {
        Self { declares: capabilities, ..self.clone() }
    }

    /// The same client in a session of its own, which it opens with what it declares.
    pub async fn in_session(&self) -> anyhow::Result<Self> {
        let client = self.speaking(Era::Legacy);
        let params = json!({"protocolVersion": client.era.version(), "capabilities": client.declares,
            "clientInfo": {"name": "test", "version": "1"}});
        let opened = client.request("initialize", params).await?;
        let session = opened.header("mcp-session-id").map(str::to_owned);
        Ok(Self { session, ..client })
    }

    /// Listens to what is announced in the session it is in.
    pub async fn listen(&self) -> anyhow::Result<Listening> {
        let session = self.session.clone().context("no session")?;
        let mut request = self
            .http
            .get(&self.url)
            .header("accept", "text/event-stream")
            .header("mcp-protocol-version", self.era.version())
            .header("mcp-session-id", session);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.context("no stream")?;
        anyhow::ensure!(response.status() == 200, "{}", response.status());
        Ok(Listening { response, text: String::new() })
    }

    /// Calls a tool as a client of the older revisions that can be asked something on the way: each
    /// request it is sent is answered with what `answers` says, in a message of its own.
    pub async fn converse(
        &self,
        tool: &str,
        arguments: Value,
        mut answers: impl FnMut(&Value) -> Option<Value>,
    ) -> anyhow::Result<(Vec<Value>, Value)> {
        self.converse_slowly(tool, arguments, async move |asked: Value| answers(&asked)).await
    }

    /// The same, with something else done before each answer.
    pub async fn converse_slowly(
        &self,
        tool: &str,
        arguments: Value,
        mut answers: impl AsyncFnMut(Value) -> Option<Value>,
    ) -> anyhow::Result<(Vec<Value>, Value)> {
        let params = json!({"name": tool, "arguments": arguments});
        let message = self.message("tools/call", params);
        let headers = self.headers(&message);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut response = self.posted(&headers, message.to_string()).await?;
        let (mut text, mut asked) = (String::new(), Vec::new());
        while let Some(chunk) = response.chunk().await? {
            text.push_str(&String::from_utf8_lossy(&chunk));
            while let Some((event, rest)) = text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let said: Value = data.map(serde_json::from_str).transpose()?.unwrap_or_default();
                text = rest.to_owned();
                if said.get("method").is_some() && said.get("id").is_some() {
                    asked.push(said.clone());
                    let Some(answer) = answers(said.clone()).await else { continue };
                    let id = said.get("id");
                    let answer = json!({"jsonrpc": "2.0", "id": id, "result": answer});
                    let taken = self.send(&[], &answer).await?;
                    anyhow::ensure!(taken.status == 202, "not taken: {taken:?}");
                } else if said.get("result").is_some() || said.get("error").is_some() {
                    return Ok((asked, said));
                }
            }
        }
        Ok((asked, serde_json::from_str(&text).unwrap_or_default()))
    }

    /// Calls a tool as a client that wants to know how far it is: each word of that is handed to
    /// `hears` as it comes. What comes back is the last message.
    pub async fn watch(
        &self,
        tool: &str,
        arguments: Value,
        mut hears: impl AsyncFnMut(Value),
    ) -> anyhow::Result<Value> {
        let meta = json!({"progressToken": "watch"});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = self.message("tools/call", params);
        let headers = self.headers(&message);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut response = self.posted(&headers, message.to_string()).await?;
        let mut text = String::new();
        while let Some(chunk) = response.chunk().await? {
            text.push_str(&String::from_utf8_lossy(&chunk));
            while let Some((event, rest)) = text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let said: Value = data.map(serde_json::from_str).transpose()?.unwrap_or_default();
                text = rest.to_owned();
                if said.get("method").and_then(Value::as_str) == Some("notifications/progress") {
                    hears(said).await;
                } else if said.get("result").is_some() || said.get("error").is_some() {
                    return Ok(said);
                }
            }
        }
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> anyhow::Result<Answer> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Calls a tool with what the client consents to.
    pub async fn call_consenting(
        &self,
        consent: Value,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<Answer> {
        let meta = json!({"narthex/consentCeiling": consent});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        self.request("tools/call", params).await
    }

    /// The names of the tools that are listed.
    pub async fn tools(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.request("tools/list", json!({})).await?.tool_names())
    }

    /// Makes a request as a proper client does.
    pub async fn request(&self, method: &str, params: Value) -> anyhow::Result<Answer> {
        self.send(&[], &self.message(method, params)).await
    }

    /// A proper message.
    pub fn message(&self, method: &str, mut params: Value) -> Value {
        self.era.stamp(&mut params, &self.declares);
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    /// Sends a message with the headers its era wants, and some more (which win).
    pub async fn send(&self, more: &[(&str, &str)], message: &Value) -> anyhow::Result<Answer> {
        let mut headers = self.headers(message);
        for (key, value) in more {
            headers.retain(|(known, _)| known != key);
            headers.push((key, (*value).to_owned()));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(&headers, message.to_string()).await
    }

    /// The headers that the era wants with a message.
    fn headers<'a>(&self, message: &Value) -> Vec<(&'a str, String)> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let named = if method == "resources/read" { "/params/uri" } else { "/params/name" };
        let name = message.pointer(named).and_then(Value::as_str).map(str::to_owned);
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        if method != "initialize" {
            headers.push(("mcp-protocol-version", self.era.version().to_owned()));
        }
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id", session.clone()));
        }
        if self.era == Era::Modern {
            headers.push(("mcp-method", method));
            if let Some(name) = name {
                headers.push(("mcp-name", name));
            }
        }
        headers
    }

    /// Sends anything at all.
    pub async fn post(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> anyhow::Result<Answer> {
        let response = self.posted(headers, body).await?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        Ok(Answer { status, headers, text: response.text().await.context("no body")? })
    }

    async fn posted(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> anyhow::Result<reqwest::Response> {
        let mut request = self.http.post(&self.url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request.send().await.context("no answer")
    }
}
