//! The servers under load, as processes of their own.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::load::{META, Request};

/// Builds both in release.
pub(crate) fn build(root: &Path) -> anyhow::Result<()> {
    // One call, so that both are built from one set of dependencies.
    let targets =
        ["-p", "narthex", "--bin", "narthex", "-p", "narthex-mcp", "--example", "bare_rmcp"];
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release"])
        .args(targets)
        .current_dir(root)
        .status()?;
    ensure!(built.success(), "the build failed");
    Ok(())
}

/// A process that ends with its value.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    url: String,
}

impl Process {
    fn start(mut command: Command) -> anyhow::Result<(Self, String)> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok((Self { child, url: String::new() }, line.trim().to_owned()))
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ours to end; it may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// rmcp alone.
pub(crate) fn bare(root: &Path) -> anyhow::Result<Process> {
    let (mut process, line) =
        Process::start(Command::new(root.join("target/release/examples/bare_rmcp")))?;
    process.url = line;
    Ok(process)
}

/// Narthex with its demo house, its rate limits out of the way, its ledger durable.
#[derive(Debug)]
pub(crate) struct Narthex {
    process: Process,
    token: String,
    binary: PathBuf,
    folder: tempfile::TempDir,
}

const LIMITS: &str = "[limits]\nrequests_per_minute = 1000000\nconnections = 4096\n";
const BUDGET: &str = "[budget]\nt0 = 1000000000\nt1 = 1000000000\nbytes = 1000000000000000\n";

impl Narthex {
    /// Starts a program, of this version or of one that knows no budgets yet.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<(Self, Duration)> {
        // The limits are in force, only out of reach.
        Self::start_with(binary, &format!("{LIMITS}{BUDGET}"))
            .or_else(|error| Self::start_with(binary, LIMITS).map_err(|_| error))
    }

    fn start_with(binary: &Path, settings: &str) -> anyhow::Result<(Self, Duration)> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("bench.toml");
        std::fs::write(&config, settings)?;
        let mut command = Command::new(binary);
        command
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--output", "json", "--data-dir"])
            .arg(folder.path().join("house"))
            .arg("--config")
            .arg(&config);
        let started = Instant::now();
        let (mut process, line) = Process::start(command)?;
        let ready = started.elapsed();
        let facts: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let fact = |key: &str| facts.get(key).and_then(Value::as_str).map(str::to_owned);
        process.url = fact("mcp_url").context("no url")?;
        let token = fact("agent_token").context("no token")?;
        Ok((Self { process, token, binary: binary.to_owned(), folder }, ready))
    }

    /// Puts pages into the space the demo agent sees.
    pub(crate) fn fill(&self, pages: usize) -> anyhow::Result<Duration> {
        let notes = self.folder.path().join("notes");
        std::fs::create_dir(&notes)?;
        for n in 0..pages {
            let text = format!(
                "# Page {n}\n\nThe harbour at hour {}, with lantern{} and a word of its own: needle{n}. See [[page-{:05}]].\n\n{}",
                n % 24,
                n % 997,
                (n + 1) % pages.max(1),
                "Wind from the west, the sea calm, nothing to report but the light itself. "
                    .repeat(4)
            );
            std::fs::write(notes.join(format!("page-{n:05}.md")), text)?;
        }
        let started = Instant::now();
        let imported = Command::new(&self.binary)
            .args(["page", "import"])
            .arg(&notes)
            .args(["--space", "harbour", "--output", "json", "--data-dir"])
            .arg(self.folder.path().join("house"))
            .stdout(Stdio::null())
            .status()?;
        if !imported.success() {
            bail!("the import failed");
        }
        Ok(started.elapsed())
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Request {
        Request::call(self.process.url(), Some(&self.token), tool, arguments)
    }

    pub(crate) fn request(&self, method: &str, _params: &str) -> Request {
        Request::method(self.process.url(), Some(&self.token), method, &format!("{{{META}}}"))
    }

    /// Resident memory.
    pub(crate) fn memory_mb(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.child.id()))?;
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kb: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kb / 1024.0)
    }

    /// Verifies the ledger beside the running server: how many records, and how long it took.
    pub(crate) fn verify(&self) -> anyhow::Result<(u64, Duration)> {
        let started = Instant::now();
        let verified = Command::new(&self.binary)
            .args(["ledger", "verify", "--output", "json", "--data-dir"])
            .arg(self.folder.path().join("house"))
            .output()?;
        let took = started.elapsed();
        ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
        let report: Value = serde_json::from_slice(&verified.stdout)?;
        let records = report.get("records").and_then(Value::as_u64).context("no records")?;
        Ok((records, took))
    }

    /// Memory now, and with so many connections held open.
    pub(crate) fn memory_with_connections(&self, count: usize) -> anyhow::Result<(f64, f64)> {
        let before = self.memory_mb()?;
        let address =
            self.process.url().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let open: Vec<TcpStream> =
            (0..count).map(|_| TcpStream::connect(&address)).collect::<Result<_, _>>()?;
        std::thread::sleep(Duration::from_secs(1));
        let after = self.memory_mb()?;
        drop(open);
        Ok((before, after))
    }
}
