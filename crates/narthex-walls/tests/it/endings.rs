//! Whatever it starts, and whoever dies first, nothing is left behind.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use narthex_walls::{Ending, Preset, Spawned};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{PERSONA, Room, preset, ready, run, stand};

const SOON: Duration = Duration::from_secs(20);

/// A group, a session of its own, a daemon, all deaf to SIGTERM: with and without walls.
#[tokio::test]
async fn a_stop_leaves_nothing() {
    for walls in [preset(Preset::None), preset(Preset::Offline)] {
        if !stand(&walls) {
            continue;
        }
        let room = Room::new();
        let mut spawned = Spawned::start(&room.launch(walls, &["tree", room.mark()])).expect("up");
        ready(&mut spawned).await;
        // The keeper, the target, its two children, the daemons' own: the test can fail.
        assert!(room.left().len() >= 6, "{:#?}", room.left());
        let ending = spawned.stop().await;
        assert_eq!(ending, Ending::Code(128 + 9));
        assert_eq!(room.left(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_gateway_that_is_killed_leaves_nothing() {
    for walls in [r#"{"preset":"none"}"#, r#"{"preset":"files"}"#] {
        if !stand(&serde_json::from_str(walls).expect("walls")) {
            continue;
        }
        let room = Room::new();
        let mut gateway = Command::new(PERSONA)
            .args(["gateway", room.mark(), walls])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a gateway");
        let mut line = String::new();
        let stdout = gateway.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("heard");
        assert_eq!(line, "ready\n");
        assert!(room.left().len() >= 7, "{:#?}", room.left());
        gateway.kill().expect("SIGKILL");
        gateway.wait().expect("reaped");
        room.nothing_is_left_within(SOON).await;
    }
}

#[tokio::test]
async fn what_is_dropped_leaves_nothing() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["tree", room.mark()]);
    let mut spawned = Spawned::start(&launch).expect("up");
    ready(&mut spawned).await;
    drop(spawned);
    room.nothing_is_left_within(SOON).await;
}

/// A target that ends by itself takes its daemons with it, and its code is told.
#[tokio::test]
async fn a_target_that_ends_leaves_nothing() {
    let room = Room::new();
    let (ending, ..) =
        run(&room.launch(preset(Preset::None), &["leaves-daemon", room.mark()])).await;
    assert_eq!(ending, Ending::Code(3));
    assert_eq!(room.left(), Vec::<String>::new());
}

/// A chain of processes, each in a session of its own, each gone before it can be struck.
#[tokio::test]
async fn a_comet_is_caught() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["comet", room.mark(), "3000"]);
    let mut spawned = Spawned::start(&launch).expect("up");
    ready(&mut spawned).await;
    spawned.stop().await;
    assert_eq!(room.left(), Vec::<String>::new());
}

#[tokio::test]
async fn an_input_that_ends_is_the_first_sign() {
    let room = Room::new();
    let mut launch = room.launch(preset(Preset::None), &["until-eof"]);
    launch.grace = Duration::from_secs(20);
    let mut spawned = Spawned::start(&launch).expect("up");
    ready(&mut spawned).await;
    let before = Instant::now();
    assert_eq!(spawned.stop().await, Ending::Code(7));
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
}

#[tokio::test]
async fn a_keeper_that_is_told_by_others_ends_it_too() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["tree", room.mark()]);
    for signal in [Signal::TERM, Signal::INT] {
        let mut spawned = Spawned::start(&launch).expect("up");
        ready(&mut spawned).await;
        kill_process(keeper(&spawned), signal).expect("told");
        assert_eq!(spawned.wait().await, Ending::Code(128 + 9), "{signal:?}");
        assert_eq!(room.left(), Vec::<String>::new(), "{signal:?}");
    }
}

/// The kernel tells of the death of the thread that started it; only the process counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_ends_is_not_the_gateway_that_ends() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["until-eof"]);
    let runtime = tokio::runtime::Handle::current();
    let (hand_over, mut handed) = tokio::sync::mpsc::channel(1);
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _inside = runtime.enter();
        hand_over.blocking_send(Spawned::start(&launch).expect("up")).expect("handed over");
        // Until the keeper has asked to be told.
        ended.recv().expect("told");
    });
    let mut spawned = handed.recv().await.expect("handed over");
    ready(&mut spawned).await;
    end.send(()).expect("told");
    thread.join().expect("joined");
    let early = tokio::time::timeout(Duration::from_millis(500), spawned.wait()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(spawned.stop().await, Ending::Code(7));
}

/// Killed, it can end nothing; the kernel ends the target for it.
#[tokio::test]
async fn a_keeper_that_is_killed_takes_the_target_with_it() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["lonely", room.mark()]);
    let mut spawned = Spawned::start(&launch).expect("up");
    ready(&mut spawned).await;
    assert_eq!(room.left().len(), 2, "{:#?}", room.left());
    kill_process(keeper(&spawned), Signal::KILL).expect("killed");
    assert_eq!(spawned.wait().await, Ending::Lost);
    room.nothing_is_left_within(SOON).await;
}

/// No key that is pressed and no terminal that is closed reaches it.
#[tokio::test]
async fn a_keeper_has_a_session_of_its_own() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["lonely", room.mark()]);
    let mut spawned = Spawned::start(&launch).expect("up");
    ready(&mut spawned).await;
    let session = rustix::process::getsid(Some(keeper(&spawned))).expect("a session");
    assert_eq!(session, keeper(&spawned));
    spawned.stop().await;
}

/// An output that the target closed is closed, though the keeper lives.
#[tokio::test]
async fn the_pipes_are_the_targets_alone() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["closes-output", room.mark()]);
    let mut spawned = Spawned::start(&launch).expect("up");
    let mut stdout = spawned.take_stdout().expect("a pipe");
    let mut heard = String::new();
    let read = tokio::io::AsyncReadExt::read_to_string(&mut stdout, &mut heard);
    tokio::time::timeout(SOON, read).await.expect("closed").expect("read");
    assert_eq!((heard.as_str(), room.left().len()), ("closing\n", 2));
    spawned.stop().await;
}

/// The keeper's environment has what the target was given; nobody else of its user reads it. Root
/// reads everything, so root tries it as somebody else.
#[test]
fn a_keepers_memory_is_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let room = Room::new();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(room.path(), everybody).expect("set");
    let persona = room.path().join("persona");
    std::fs::copy(PERSONA, &persona).expect("copied");
    let mut command = Command::new(&persona);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let us = std::process::id().to_string();
    let ended = command
        .args(["keep", "--walls", r#"{"preset":"none"}"#, "--grace-ms", "1", "--parent", &us])
        .args(["--scratch", "/", "--"])
        .arg(&persona)
        .args(["try", "read-keeper=environ", "read=/proc/self/environ"])
        .env_clear()
        .output()
        .expect("run");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(said, "read-keeper EACCES\nread ok\n", "{ended:?}");
}

/// An order whose giver is not the parent is not carried out.
#[test]
fn a_keeper_without_its_parent_starts_nothing() {
    let room = Room::new();
    let left = room.path().join("was-here");
    let ended = Command::new(PERSONA)
        .args(["keep", "--walls", r#"{"preset":"none"}"#, "--parent", "1", "--grace-ms", "1"])
        .arg("--scratch")
        .arg(room.path())
        .args(["--", "/usr/bin/touch"])
        .arg(&left)
        .output()
        .expect("run");
    assert_eq!(ended.status.code(), Some(124), "{ended:?}");
    assert!(!left.exists());
}

/// Only its three pipes: nothing that the gateway has open.
#[tokio::test]
async fn no_open_file_of_ours_is_passed_on() {
    let room = Room::new();
    let canary = room.outside("canary");
    let _open = std::fs::File::open(&canary).expect("open");
    let (_, heard, _) = run(&room.launch(preset(Preset::None), &["open-files"])).await;
    assert!(heard.lines().count() >= 3, "{heard}");
    assert!(!heard.contains(room.mark()), "{heard}");
}

fn keeper(spawned: &Spawned) -> Pid {
    let id = spawned.id().expect("up");
    Pid::from_raw(i32::try_from(id).expect("a number")).expect("a number")
}
