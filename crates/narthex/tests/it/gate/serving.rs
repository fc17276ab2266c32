//! The program as a server: signals, and the file that stops everything.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{answer, command, narthex, stderr, stdout};

/// A `narthex serve` that is ended when it is dropped.
pub(super) struct Server(Child);

impl Server {
    pub(super) fn start(dir: &Path) -> Self {
        let args = ["serve", "--listen", "127.0.0.1:0", "--output", "json"];
        let mut serve = command(&args, dir);
        let mut child =
            serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        assert!(line.contains("\"ready\":true"), "{line}");
        Self(child)
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("it can be signalled");
}

/// Waits until something is stopped, and says by what.
pub(super) fn stopped_by(dir: &Path) -> Value {
    let start = Instant::now();
    loop {
        let stops = answer(&["stop", "--list"], dir);
        if let Some(stop) = stops["engaged"].get(0) {
            return stop["by"].clone();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is stopped");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_stops_everything_and_a_kill_does_not_lift_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let server = Server::start(dir);
    assert_eq!(answer(&["stop", "--list"], dir)["engaged"], json!([]));
    signal(server.pid(), Signal::USR1);
    assert_eq!(stopped_by(dir), "signal");
    drop(server);
    assert_eq!(stopped_by(dir), "signal", "after kill -9, without a server");
    let server = Server::start(dir);
    assert_eq!(stopped_by(dir), "signal", "after a restart");
    assert_eq!(answer(&["resume"], dir)["still"], json!([]));
    drop(server);
    assert_eq!(answer(&["stop", "--list"], dir)["engaged"], json!([]));
}

#[test]
fn stopped_and_killed_at_once_it_is_stopped_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    for round in 0..5 {
        let server = Server::start(dir);
        let stopped = narthex(&["stop", "--reason", "drill"], dir);
        drop(server);
        assert!(stopped.status.success(), "{round}: {}", stderr(&stopped));
        let status = answer(&["status"], dir);
        assert_eq!(status["stops"]["engaged"][0]["by"], "owner", "{round}: {status}");
        answer(&["resume"], dir);
    }
}

#[test]
fn a_file_made_while_nothing_runs_stops_the_next_start_before_the_door_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    assert!(narthex(&["init"], dir).status.success());
    std::fs::write(dir.join("STOP"), "").expect("a file");
    let server = Server::start(dir);
    assert_eq!(answer(&["stop", "--list"], dir)["engaged"][0]["by"], "sentinel");
    drop(server);
    std::fs::remove_file(dir.join("STOP")).expect("removed");
    let server = Server::start(dir);
    assert_eq!(stopped_by(dir), "sentinel", "removing the file lifts nothing");
    answer(&["resume"], dir);
    drop(server);
}

#[test]
fn a_stdio_process_heeds_the_file_and_the_signal_whether_it_holds_the_house_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    assert!(narthex(&["init"], dir).status.success());
    let (holder, input) = companion(dir);
    std::fs::write(dir.join("STOP"), "").expect("a file");
    assert_eq!(stopped_by(dir), "sentinel", "the one that holds it");
    std::fs::remove_file(dir.join("STOP")).expect("removed");
    answer(&["resume"], dir);
    signal(holder.0.id(), Signal::USR1);
    assert_eq!(stopped_by(dir), "signal");
    answer(&["resume"], dir);
    let (other, more) = companion(dir);
    signal(other.0.id(), Signal::USR1);
    assert_eq!(stopped_by(dir), "owner", "told through the one that holds it");
    drop((input, more));
}

/// A stdio process that has answered once, so that it surely hears signals.
fn companion(dir: &Path) -> (Server, ChildStdin) {
    use std::io::Write as _;
    let mut stdio = command(&["stdio", "--companion"], dir);
    stdio.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = stdio.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).expect("written");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    (Server(child), input)
}

/// Whoever reads the log may go away; the switches must go on working.
#[test]
fn a_log_nobody_reads_blinds_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    assert!(narthex(&["init"], dir).status.success());
    let mut child = crate::support::command(&["serve", "--listen", "127.0.0.1:0"], dir)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().expect("output"));
    std::io::BufRead::read_line(&mut out, &mut line).expect("ready");
    drop(child.stderr.take());
    for _ in 0..2 {
        signal(child.id(), Signal::USR1);
        assert_eq!(stopped_by(dir), "signal");
        answer(&["resume"], dir);
    }
    std::fs::write(dir.join("STOP"), "").expect("a file");
    assert_eq!(stopped_by(dir), "sentinel");
    std::fs::remove_file(dir.join("STOP")).expect("removed");
    assert_eq!(stopped_by(dir), "sentinel");
    assert!(child.try_wait().expect("its state").is_none(), "it fell");
    signal(child.id(), Signal::TERM);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_ledger_that_cannot_be_written_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let _server = Server::start(dir);
    assert!(answer(&["status"], dir).get("ledger_trouble").is_none());
    std::fs::rename(dir.join("ledger.head"), dir.join("elsewhere")).expect("moved");
    // Whatever is written next finds it out.
    narthex(&["space", "add", "more"], dir);
    let status = narthex(&["status"], dir);
    assert_eq!(status.status.code(), Some(5), "{}", stderr(&status));
    let shown = stdout(&status);
    let line = shown.lines().find(|line| line.starts_with("ledger ")).expect("a line");
    for word in ["out of order", "ledger.head is gone from its place", "until a restart"] {
        assert!(line.contains(word), "{word}: {line}");
    }
}
