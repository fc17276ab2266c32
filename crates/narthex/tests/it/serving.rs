//! The program serving a demo, in the hands of a test that may kill it at any moment.

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use anyhow::Context;
use narthex_server::DataDir;
use serde_json::Value;

/// The program, serving.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Where agents reach the workspace.
    pub(crate) url: String,
    /// What the demo's agent shows.
    pub(crate) token: String,
}

impl Server {
    pub(crate) async fn start(folder: &Path, dir: &DataDir) -> anyhow::Result<Self> {
        let config = folder.join("narthex.toml");
        std::fs::write(
            &config,
            "[limits]\nrequests_per_minute = 1000000\nopen_proposals = 10000\n[budget]\nt1 = 1000000\n[code]\nscript_ms = 60000\n",
        )?;
        let mut child = Command::new(env!("CARGO_BIN_EXE_narthex"))
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--output", "json"])
            .arg("--data-dir")
            .arg(dir.root())
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let mut line = String::new();
        let read = move || std::io::BufReader::new(stdout).read_line(&mut line).map(|_| line);
        let line = tokio::task::spawn_blocking(read).await??;
        let ready: Value = serde_json::from_str(&line)?;
        let fact = |key: &str| {
            ready
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .with_context(|| format!("no {key}"))
        };
        let (url, token) = (fact("mcp_url")?, fact("agent_token")?);
        Ok(Self { child, url, token })
    }

    /// Where agents reach a graph.
    pub(crate) fn graph_url(&self, graph: &str) -> String {
        let base = self.url.strip_suffix("/mcp").unwrap_or(&self.url);
        format!("{base}/graphs/{graph}/mcp")
    }

    /// Ends it with `SIGKILL`.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ours to end; most often it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Enough randomness to choose moments by, and the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A setting of a test.
#[expect(clippy::disallowed_methods, reason = "a test's own settings")]
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Another one each time.
#[expect(clippy::disallowed_methods, reason = "a test's own seed")]
pub(crate) fn seed() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(1, |since| u64::from(since.subsec_nanos()))
}
