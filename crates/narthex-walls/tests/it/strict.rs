//! A process of ours that shuts itself in.

use std::process::Command;

use narthex_walls::Preset;

use crate::support::{PERSONA, preset, stand};

#[test]
fn what_is_not_on_the_list_fails_and_no_file_is_opened() {
    if !stand(&preset(Preset::Strict)) {
        return;
    }
    let ended = Command::new(PERSONA).arg("strict").output().expect("run");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [
            "Max core file size 0 0 bytes",
            "open Err(PermissionDenied)",
            "socket Err(PermissionDenied)",
            "execute Err(PermissionDenied)",
        ],
        "{ended:?}"
    );
}
