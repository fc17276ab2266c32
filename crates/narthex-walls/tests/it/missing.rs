//! A wall that is missing: nothing is started.

use std::os::unix::fs::PermissionsExt as _;

use narthex_walls::{Ending, Preset, Refusal};

use crate::support::{PERSONA, Room, preset, run, stand};

/// As on a kernel without landlock: the keeper refuses, whatever the gateway thought it saw.
#[tokio::test]
async fn without_landlock_nothing_is_started_behind_walls() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let keeper = room.path().join("keeper");
    std::fs::write(&keeper, format!("#!/bin/sh\nexec {PERSONA} without-landlock \"$@\"\n"))
        .expect("written");
    std::fs::set_permissions(&keeper, std::fs::Permissions::from_mode(0o755)).expect("set");
    let mark = room.path().join("scratch/was-here");
    let attempt = format!("write={}", mark.display());
    let mut launch = room.launch(preset(Preset::Files), &["try", &attempt]);
    launch.keeper = keeper;
    let (ending, heard, log) = run(&launch).await;
    assert_eq!(ending, Ending::Refused(Refusal::Walls), "{log:?}");
    assert!(log.concat().contains("no landlock"), "{log:?}");
    assert!(heard.is_empty() && !mark.exists());
    // With `none` asked for, nothing is missing.
    launch.walls = preset(Preset::None);
    let (ending, ..) = run(&launch).await;
    assert_eq!(ending, Ending::Code(0));
    assert!(mark.exists());
}

#[tokio::test]
async fn nothing_can_be_started_in_strict() {
    if !stand(&preset(Preset::Strict)) {
        return;
    }
    let room = Room::new();
    let (ending, _, log) = run(&room.launch(preset(Preset::Strict), &["exit", "0"])).await;
    assert_eq!(ending, Ending::Refused(Refusal::Walls), "{log:?}");
}
