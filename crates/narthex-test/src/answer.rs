//! What came back, with the questions a test asks of it.

use serde_json::Value;

/// An HTTP answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub text: String,
}

impl Answer {
    /// The body as JSON, or null. A call that took long comes as a stream whose last message it is.
    pub fn json(&self) -> Value {
        self.messages().pop().unwrap_or_default()
    }

    /// Everything that came: what was said on the way, and the answer.
    pub fn messages(&self) -> Vec<Value> {
        let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
        if self.header("content-type") == Some("text/event-stream") {
            self.text.lines().filter_map(|line| line.strip_prefix("data: ")).map(read).collect()
        } else {
            vec![read(&self.text)]
        }
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC result.
    pub fn result(&self) -> Value {
        self.json().get("result").cloned().unwrap_or_default()
    }

    /// The structured content of a tool's answer.
    pub fn structured(&self) -> Value {
        self.result().get("structuredContent").cloned().unwrap_or_default()
    }

    /// The JSON-RPC error's code.
    pub fn rpc_code(&self) -> Option<i64> {
        self.json().pointer("/error/code").and_then(Value::as_i64)
    }

    /// The code of our own error body, before the message was read.
    pub fn door_code(&self) -> Option<String> {
        self.json().pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
    }

    /// The reason of a result with `isError`.
    pub fn tool_code(&self) -> Option<String> {
        let result = self.result();
        if result.get("isError") != Some(&Value::Bool(true)) {
            return None;
        }
        let text = result.pointer("/content/0/text").and_then(Value::as_str)?;
        let said: Value = serde_json::from_str(text).ok()?;
        said.pointer("/error/code").and_then(Value::as_str).map(str::to_owned)
    }

    /// The names of the tools in a list, in its order.
    pub fn tool_names(&self) -> Vec<String> {
        let result = self.result();
        let tools = result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }

    /// The id `propose_change` gave.
    pub fn proposal(&self) -> anyhow::Result<String> {
        let structured = self.structured();
        let id = structured.get("pending_change_id").and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| anyhow::anyhow!("no proposal: {self:?}"))
    }

    /// Whether a tool was called and answered without an error.
    pub fn is_ok(&self) -> bool {
        let result = self.result();
        self.status == 200
            && result.is_object()
            && result.get("isError") != Some(&Value::Bool(true))
    }
}
