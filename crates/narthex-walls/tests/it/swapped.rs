//! A program that is not the one that was approved is not run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use narthex_core::Digest;
use narthex_walls::{Ending, Preset, Refusal};

use crate::support::{PERSONA, Room, preset, run, stand};

fn program(room: &Room, bytes: &[u8]) -> (PathBuf, Digest) {
    let path = room.path().join("cwd/program");
    replace(&path, bytes);
    (path, Digest::of(bytes))
}

/// As an installer does: another file under the same name.
fn replace(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).expect("written");
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::rename(&beside, path).expect("replaced");
}

#[tokio::test]
async fn a_binary_is_run_only_as_it_was_approved() {
    let binary = std::fs::read(PERSONA).expect("read");
    for walls in [preset(Preset::None), preset(Preset::Offline)] {
        if !stand(&walls) {
            continue;
        }
        let room = Room::new();
        let (path, digest) = program(&room, &binary);
        let mut launch = room.launch(walls, &["exit", "9"]);
        (launch.command, launch.expected) = (path.clone(), Some(digest));
        assert_eq!(run(&launch).await.0, Ending::Code(9));
        let mut other = binary.clone();
        other.push(0);
        replace(&path, &other);
        let (ending, _, log) = run(&launch).await;
        assert_eq!(ending, Ending::Refused(Refusal::Swapped), "{log:?}");
        assert!(log.concat().contains(&digest.to_string()), "{log:?}");
    }
}

/// Two files change places all the while: whichever is checked is the one that is executed.
#[tokio::test]
async fn a_binary_that_is_swapped_after_the_check_is_not_run() {
    let room = Room::new();
    let mut binary = std::fs::read(PERSONA).expect("read");
    binary.push(5);
    let (path, approved) = program(&room, &binary);
    let (good, bad) = (room.outside("good"), room.outside("bad"));
    std::fs::copy(&path, &good).expect("copied");
    *binary.last_mut().expect("a byte") = 6;
    replace(&bad, &binary);
    let over = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (over, path) = (Arc::clone(&over), path.clone());
        move || {
            for one in [&bad, &good].into_iter().cycle() {
                let beside = path.with_extension("next");
                std::fs::hard_link(one, &beside).expect("linked");
                std::fs::rename(&beside, &path).expect("swapped");
                if over.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    });
    let mut launch = room.launch(preset(Preset::None), &["last-byte"]);
    (launch.command, launch.expected) = (path, Some(approved));
    let mut endings = Vec::new();
    for _ in 0..40 {
        endings.push(run(&launch).await.0);
    }
    over.store(true, Ordering::Relaxed);
    swapping.join().expect("joined");
    let fine = [Ending::Code(5), Ending::Refused(Refusal::Swapped)];
    assert!(endings.iter().all(|ending| fine.contains(ending)), "{endings:?}");
    assert!(fine.iter().all(|ending| endings.contains(ending)), "both happen: {endings:?}");
}

#[tokio::test]
async fn a_script_is_run_only_as_it_was_approved() {
    let room = Room::new();
    let (path, digest) = program(&room, b"#!/bin/sh\nexit 9\n");
    let mut launch = room.launch(preset(Preset::None), &[]);
    (launch.command, launch.expected) = (path.clone(), Some(digest));
    assert_eq!(run(&launch).await.0, Ending::Code(9));
    replace(&path, b"#!/bin/sh\nexit 8\n");
    assert_eq!(run(&launch).await.0, Ending::Refused(Refusal::Swapped));
}

#[tokio::test]
async fn what_is_not_there_is_not_started() {
    let room = Room::new();
    let mut launch = room.launch(preset(Preset::None), &[]);
    launch.command = room.path().join("nowhere");
    let (ending, _, log) = run(&launch).await;
    assert_eq!(ending, Ending::Refused(Refusal::NotStarted));
    assert!(log.concat().contains("nowhere"), "{log:?}");
}
