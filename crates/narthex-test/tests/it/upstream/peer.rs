//! The other end of its pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use narthex_test::upstream::Script;
use serde_json::{Value, json};

pub(super) struct Peer {
    pub(super) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next: u64,
}

impl Peer {
    pub(super) fn start(script: &Script) -> Self {
        let args = script.args();
        Self::start_with(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(super) fn start_with(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hostile"))
            .args(args)
            .env("PLANTED", "s3cret")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hostile");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("stdout"));
        let (to, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if to.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, next: 1 }
    }

    /// Sends a request in the older revision; tells its id.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(super) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool and reads until its answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        self.answer(id)
    }

    /// What a tool found.
    pub(super) fn found(&mut self, tool: &str) -> Value {
        self.call(tool, &json!({}))["result"]["structuredContent"].clone()
    }

    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    pub(super) fn answer(&self, id: u64) -> Value {
        loop {
            let said = self.message();
            if said["id"] == id && said.get("method").is_none() {
                return said;
            }
        }
    }

    pub(super) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("it reads");
    }

    /// The next line, which must be a message.
    pub(super) fn message(&self) -> Value {
        serde_json::from_slice(&self.line()).expect("JSON")
    }

    pub(super) fn line(&self) -> Vec<u8> {
        self.lines.recv_timeout(Duration::from_secs(10)).expect("a line")
    }

    /// Whether nothing comes for a moment.
    pub(super) fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(300)).is_err()
    }

    pub(super) fn hang_up(&mut self) {
        drop(self.input.take());
    }

    /// How it ended, within some seconds.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    pub(super) fn is_up(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(300));
        self.child.try_wait().expect("a child").is_none()
    }

    pub(super) fn terminate(&self) {
        signal(self.child.id(), "TERM");
    }

    /// Everything on stderr, once it has ended.
    pub(super) fn stderr(&mut self) -> String {
        self.hang_up();
        let mut text = String::new();
        let stderr = self.child.stderr.as_mut().expect("stderr");
        stderr.read_to_string(&mut text).expect("text");
        text
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
    assert!(sent.expect("kill").success());
}

pub(super) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}
