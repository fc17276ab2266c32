//! What a person at a terminal is asked, and what their answer does.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use narthex_core::Tier;
use narthex_test::TestHouse;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::waiting;
use crate::support::{answer, command};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_is_shown_and_a_yes_is_asked_for() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T2, json!({"to": "bob"})).await?;
    let id = call.id.to_string();
    let (code, said) = Terminal::start(&["approvals", "approve", &id], dir).answer("[y/N]", "n");
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("\"to\": \"bob\"") && said.contains("nothing was changed"), "{said}");
    assert_eq!(answer(&["approvals", "show", &id], dir)["status"], "waiting");
    let (code, said) = Terminal::start(&["approvals", "approve", &id], dir).answer("[y/N]", "y");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(answer(&["approvals", "show", &id], dir)["status"], "approved");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_nonce_is_shown_and_must_be_typed_even_with_yes() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let call = waiting(&house, Tier::T3, json!({"to": "bob"})).await?;
    let (id, nonce) = (call.id.to_string(), house.house().gate().nonce_of(&call));
    let approve = ["approvals", "approve", id.as_str()];
    let (code, said) = Terminal::start(&approve, dir).answer("Type the nonce", "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(&nonce), "the owner sees it: {said}");
    let (code, said) = Terminal::start(&approve, dir).answer("Type the nonce", "y");
    assert_eq!(code, Some(7), "a yes is no nonce: {said}");
    let yes = [&approve[..], &["--yes"]].concat();
    let (code, said) = Terminal::start(&yes, dir).answer("Type the nonce", &nonce);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(answer(&["approvals", "show", &id], dir)["status"], "approved");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_what_goes_upward_is_asked_about() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let set = ["agent", "set", "agent-a"];
    let with = |more: &[&'static str]| [&set[..], more].concat();
    for down in [
        with(&["--ceiling", "T0"]),
        with(&["--budget", "t1=5"]),
        vec!["mode", "set", "readonly"],
        vec!["space", "set", "a", "--ceiling", "T1"],
    ] {
        let (code, said) = Terminal::start(&down, dir).end();
        assert_eq!(code, Some(0), "{down:?}: {said}");
    }
    for up in [
        with(&["--ceiling", "T2"]),
        with(&["--budget", "t1=6"]),
        with(&["--budget", "default"]),
        vec!["mode", "set", "guarded"],
        vec!["space", "set", "a", "--ceiling", "none"],
    ] {
        let (code, said) = Terminal::start(&up, dir).answer("Go on? [y/N]", "");
        assert_eq!(code, Some(7), "{up:?}: {said}");
        let (code, said) = Terminal::start(&[&up[..], &["--yes"]].concat(), dir).end();
        assert_eq!(code, Some(0), "{up:?}: {said}");
        assert!(!said.contains("[y/N]"), "{up:?}: {said}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn watching_draws_the_list_anew_when_it_changes() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let dir = house.dir().root();
    let mut terminal = Terminal::start(&["approvals", "list", "--watch"], dir);
    terminal.until("Nothing waits");
    let call = waiting(&house, Tier::T2, json!({})).await?;
    terminal.until(&call.id.to_string());
    super::serving::signal(terminal.child.id(), Signal::INT);
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    Ok(())
}

/// The program on a terminal of its own.
struct Terminal {
    child: Child,
    screen: File,
    said: String,
}

impl Terminal {
    fn start(args: &[&str], dir: &Path) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let screen: OwnedFd = openpt(flags).expect("a terminal");
        grantpt(&screen).and_then(|()| unlockpt(&screen)).expect("it is ours");
        let name = ptsname(&screen, Vec::new()).expect("a name");
        let path = Path::new(name.to_str().expect("UTF-8"));
        let side = || File::options().read(true).write(true).open(path).expect("its other side");
        let mut program = command(args, dir);
        let child = program.stdin(side()).stdout(side()).stderr(side()).spawn().expect("it starts");
        Self { child, screen: File::from(screen), said: String::new() }
    }

    /// Types a line after a prompt, and waits for the end.
    fn answer(mut self, prompt: &str, line: &str) -> (Option<i32>, String) {
        self.until(prompt);
        writeln!(self.screen, "{line}").expect("typed");
        self.end()
    }

    /// Reads until something is said.
    fn until(&mut self, wanted: &str) {
        let start = Instant::now();
        while !self.said.contains(wanted) {
            assert!(start.elapsed() < Duration::from_secs(30), "{wanted}: {}", self.said);
            assert!(self.read(), "{wanted}: {}", self.said);
        }
    }

    fn end(mut self) -> (Option<i32>, String) {
        while self.read() {}
        (self.child.wait().expect("it ends").code(), self.said)
    }

    /// Reads a little more; false when nobody is on the other side any more.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4_096];
        match self.screen.read(&mut bytes) {
            Ok(0) | Err(_) => false,
            Ok(n) => {
                self.said.push_str(&String::from_utf8_lossy(&bytes[..n]));
                true
            }
        }
    }
}
