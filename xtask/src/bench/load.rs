//! The load generator: `wrk`, the same for everyone.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

/// How hard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

/// One request, sent over and over.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    url: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// What came of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

impl Request {
    /// A stateless tool call, as a current client makes it.
    pub(crate) fn call(url: &str, token: Option<&str>, tool: &str, arguments: &str) -> Self {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments},{META}}}"#);
        let mut request = Self::method(url, token, "tools/call", &params);
        request.headers.push(("Mcp-Name".to_owned(), tool.to_owned()));
        request
    }

    /// Any stateless request; `params` already carries its `_meta`.
    pub(crate) fn method(url: &str, token: Option<&str>, method: &str, params: &str) -> Self {
        let mut headers = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()),
            ("Mcp-Method".to_owned(), method.to_owned()),
        ];
        headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Self { url: url.to_owned(), headers, body }
    }

    fn script(&self) -> String {
        use std::fmt::Write as _;
        let mut script = format!("wrk.method = \"POST\"\nwrk.body = [==[{}]==]\n", self.body);
        for (name, value) in &self.headers {
            // Writing to a String cannot fail.
            let _ = writeln!(script, "wrk.headers[\"{name}\"] = \"{value}\"");
        }
        script + REPORT
    }
}

impl Load {
    /// Runs one round. Anything but success in every answer fails it.
    pub(crate) fn run(&self, request: &Request) -> anyhow::Result<Measured> {
        let mut script = tempfile::NamedTempFile::with_suffix(".lua")?;
        script.write_all(request.script().as_bytes())?;
        let output = Command::new("wrk")
            .args([
                "-t2",
                &format!("-c{}", self.connections),
                &format!("-d{}s", self.time.as_secs()),
                "--timeout",
                "10s",
                "-s",
            ])
            .arg(script.path())
            .arg(&request.url)
            .output()
            .context("wrk is needed: apt-get install wrk")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("RESULT "))
            .with_context(|| text.to_string())?;
        let numbers: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        match numbers.as_slice() {
            [per_second, p99_ms, errors] if *errors == 0.0 => {
                Ok(Measured { per_second: *per_second, p99_ms: *p99_ms })
            }
            _ => bail!("the load met errors: {line}"),
        }
    }
}

impl Measured {
    /// The round in the middle.
    pub(crate) fn median(rounds: &mut [Self]) -> Option<Self> {
        rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        rounds.get(rounds.len() / 2).copied()
    }
}

/// What every modern request says about itself.
pub(crate) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}"#;

const REPORT: &str = r#"
function done(summary, latency, requests)
  local e = summary.errors
  local bad = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format("RESULT %f %f %d\n", summary.requests / (summary.duration / 1000000), latency:percentile(99) / 1000, bad))
end
"#;
