//! What it sees of our environment.

use std::ffi::OsString;

use narthex_walls::{Environment, Launch, LaunchError, Preset, Spawned};
use secrecy::SecretString;

use crate::support::{Room, preset, run, stand};

fn launch(room: &Room, which: Preset) -> Launch {
    let ours = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/ada"),
        ("LC_ALL", "C.UTF-8"),
        ("NARTHEX_MASTER_KEY", "canary-key"),
        ("AWS_SECRET_ACCESS_KEY", "canary-aws"),
        ("SSH_AUTH_SOCK", "/run/canary"),
        ("LD_LIBRARY_PATH", "/canary"),
    ];
    let mut launch = room.launch(preset(which), &["env"]);
    launch.environment = Environment::of(ours.map(|(k, v)| (OsString::from(k), OsString::from(v))));
    launch.given = vec![("TOKEN".to_owned(), SecretString::from("given-in-secret"))];
    launch
}

#[tokio::test]
async fn only_the_list_and_what_was_given() {
    let room = Room::new();
    let (_, heard, _) = run(&launch(&room, Preset::None)).await;
    let mut lines: Vec<_> = heard.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["HOME=/home/ada", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "TOKEN=given-in-secret"]
    );
}

#[tokio::test]
async fn behind_walls_its_home_is_its_own() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let (_, heard, log) = run(&launch(&room, Preset::Files)).await;
    let home = format!("HOME={}/scratch/home", room.mark());
    assert!(heard.lines().any(|line| line == home), "{heard} {log:?}");
    assert!(!heard.contains("canary") && !heard.contains("/home/ada"), "{heard}");
}

/// What is to be loaded into the target is loaded into nothing of ours, which stands outside of the
/// walls: the loader complains once, not three times.
#[tokio::test]
async fn what_the_target_loads_is_not_loaded_into_the_keeper() {
    let room = Room::new();
    let mut launch = room.launch(preset(Preset::None), &["exit", "0"]);
    launch.given = vec![("LD_PRELOAD".to_owned(), SecretString::from("/nowhere/canary.so"))];
    let (_, _, log) = run(&launch).await;
    assert_eq!(log.len(), 1, "{log:#?}");
}

#[tokio::test]
async fn no_secret_is_on_a_command_line() {
    let room = Room::new();
    let mut launch = room.launch(preset(Preset::None), &["tree", room.mark()]);
    launch.given = vec![("TOKEN".to_owned(), SecretString::from("given-in-secret"))];
    let mut spawned = Spawned::start(&launch).expect("up");
    crate::support::ready(&mut spawned).await;
    let lines = room.left();
    assert!(lines.len() > 3 && lines.iter().all(|line| !line.contains("given-in-secret")));
    assert!(!format!("{launch:?}").contains("given-in-secret"));
    spawned.stop().await;
}

#[tokio::test]
async fn names_that_are_none_are_refused() {
    let room = Room::new();
    for name in ["", "A=B", "A\0B"] {
        let mut launch = room.launch(preset(Preset::None), &["env"]);
        launch.given = vec![(name.to_owned(), SecretString::from("x"))];
        let refused = Spawned::start(&launch).map(|spawned| spawned.id());
        assert!(matches!(refused, Err(LaunchError::Name(_))), "{name:?}");
    }
}
