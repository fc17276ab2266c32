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
    pub(crate) fn stamp(self, params: &mut Value) {
        if self == Self::Modern
            && let Some(map) = params.as_object_mut()
            && let Some(meta) = map.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
        {
            let version = "io.modelcontextprotocol/protocolVersion";
            meta.insert(version.to_owned(), self.version().into());
            meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), json!({}));
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
}

impl Client {
    /// Of this endpoint.
    pub fn new(url: impl Into<String>, token: Option<String>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "speaks to the tests' own loopback server")]
        let builder = reqwest::Client::builder();
        // Only ever spoken to on loopback and in clear: no certificates to load each time.
        let http = builder.no_proxy().tls_certs_only([]).build().unwrap_or_default();
        Self { http, url: url.into(), token, era: Era::Modern }
    }

    /// The same client speaking another revision.
    pub fn speaking(&self, era: Era) -> Self {
        Self { era, ..self.clone() }
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
        self.era.stamp(&mut params);
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    /// Sends a message with the headers its era wants, and some more (which win).
    pub async fn send(&self, more: &[(&str, &str)], message: &Value) -> anyhow::Result<Answer> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let named = if method == "resources/read" { "/params/uri" } else { "/params/name" };
        let name = message.pointer(named).and_then(Value::as_str).map(str::to_owned);
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        if method != "initialize" {
            headers.push(("mcp-protocol-version", self.era.version()));
        }
        if self.era == Era::Modern {
            headers.push(("mcp-method", &method));
            if let Some(name) = &name {
                headers.push(("mcp-name", name));
            }
        }
        for (key, value) in more {
            headers.retain(|(known, _)| known != key);
            headers.push((key, value));
        }
        self.post(&headers, message.to_string()).await
    }

    /// Sends anything at all.
    pub async fn post(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> anyhow::Result<Answer> {
        let mut request = self.http.post(&self.url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.context("no answer")?;
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
}
