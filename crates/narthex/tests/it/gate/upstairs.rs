//! A house served by the program itself, with a server of somebody else's behind it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use narthex_test::Client;
use narthex_test::upstream::{Script, program};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::serving::signal;
use crate::support::{answer, command};

/// The house while nobody serves it.
pub(super) struct Upstairs {
    folder: tempfile::TempDir,
    token: String,
}

impl Upstairs {
    /// With an agent `anna` who has the server `up`, in mode `open`.
    pub(super) fn new(settings: &str, script: &Script, rules: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("house");
        answer(&["init"], &dir);
        fs::write(dir.join("narthex.toml"), format!("mode = \"open\"\n{settings}"))
            .expect("settings");
        let mut server = json!({"command": program().expect("hostile"), "args": script.args()});
        let map = server.as_object_mut().expect("a server");
        map.extend(rules.as_object().cloned().expect("rules"));
        let file = json!({"mcpServers": {"up": server}, "profiles": {"all": {"servers": ["up"]}}});
        fs::write(dir.join("mcp.json"), file.to_string()).expect("mcp.json");
        for args in [
            &["mcp", "on"] as &[&str],
            &["mcp", "approve", "up", "--yes"],
            &["space", "add", "lab"],
            &["agent", "add", "anna", "--space", "lab"],
            &["agent", "set", "anna", "--ceiling", "T3", "--yes"],
            &["mcp", "profiles", "set", "anna", "all"],
        ] {
            let output = command(args, &dir).output().expect("narthex runs");
            assert!(output.status.success(), "{args:?}: {output:?}");
        }
        let token = answer(&["token", "create", "anna"], &dir);
        let token = token["token"].as_str().expect("a token").to_owned();
        Self { folder, token }
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.folder.path().join("house")
    }

    /// Serves it, saying everything there is to say.
    pub(super) fn serve(&self) -> Loud {
        Loud::start(
            command(&["serve", "--listen", "127.0.0.1:0", "--output", "json"], &self.dir()),
            self.folder.path(),
        )
    }

    /// Holds it as a client's own process does.
    pub(super) fn stdio(&self) -> Loud {
        let mut stdio = command(&["stdio", "--agent", "anna"], &self.dir());
        stdio.stdin(Stdio::piped());
        Loud::start(stdio, self.folder.path())
    }

    /// A client of the agent's for the server.
    pub(super) fn client(&self, served: &Loud) -> Client {
        let ready: Value = serde_json::from_str(&served.ready).expect("JSON");
        let url = ready["mcp_url"].as_str().expect("a URL");
        Client::new(url.replace("/mcp", "/servers/up/mcp"), Some(self.token.clone()))
    }
}

/// A process whose every word is kept.
pub(super) struct Loud {
    child: Child,
    log: PathBuf,
    ready: String,
    out: BufReader<std::process::ChildStdout>,
}

impl Loud {
    fn start(mut command: Command, folder: &Path) -> Self {
        let log = folder.join("said");
        let said = fs::File::create(&log).expect("a file");
        command.env("RUST_LOG", "trace").stdout(Stdio::piped()).stderr(said);
        let mut child = command.spawn().expect("it starts");
        if let Some(input) = &mut child.stdin {
            let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
            writeln!(input, "{ping}").expect("written");
        }
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut ready = String::new();
        out.read_line(&mut ready).expect("a line");
        Self { child, log, ready, out }
    }

    /// Ends it as nobody can prepare for.
    pub(super) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }

    /// Ends it, and says all it said, on both.
    pub(super) fn end(mut self) -> String {
        drop(self.child.stdin.take());
        signal(self.child.id(), Signal::TERM);
        let mut said = std::mem::take(&mut self.ready);
        std::io::Read::read_to_string(&mut self.out, &mut said).expect("text");
        self.child.wait().expect("it ends");
        said + &fs::read_to_string(&self.log).expect("a log")
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
