//! System calls that are refused, made for real. The programs themselves are tried row by row in
//! `src/calls/tests.rs`.

use narthex_walls::{Limits, Preset, Walls};

use crate::support::{Room, attempts, preset, run, stand};

#[tokio::test]
async fn what_reaches_others_is_refused() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let us = std::process::id();
    let tries = [
        "signal-keeper=1".to_owned(),
        "hold-keeper=1".to_owned(),
        format!("limit-other={us}"),
        "user-space=1".to_owned(),
        "mount-space=1".to_owned(),
        "change-root=/".to_owned(),
    ];
    let walled = attempts(&room, preset(Preset::Files), &tries).await;
    assert!(walled.iter().all(|went| went.ends_with("EPERM")), "{walled:?}");
    let fine = ["own-signal=1".to_owned(), "thread=1".to_owned(), "execute=/bin/true".to_owned()];
    let fine = attempts(&room, preset(Preset::Files), &fine).await;
    assert!(fine.iter().all(|went| went.ends_with("ok")), "{fine:?}");
    // Without walls some of it works, so that the test can fail.
    let tries = ["hold-keeper=1".to_owned(), format!("limit-other={us}")];
    let free = attempts(&room, preset(Preset::None), &tries).await;
    assert_eq!(free, ["hold-keeper ok", "limit-other ok"]);
}

/// Signals to anybody outside: landlock 6, so it is tried where that is.
#[tokio::test]
async fn nobody_outside_is_signalled() {
    let offer = narthex_walls::probe();
    if offer.landlock < 6 {
        eprintln!("THIS KERNEL DOES NOT HOLD SIGNALS ({offer:?}); only the keeper is shielded");
        return;
    }
    let room = Room::new();
    let mut other = std::process::Command::new("/bin/sleep").arg("60").spawn().expect("other");
    let tries = [format!("signal={}", other.id())];
    assert_eq!(attempts(&room, preset(Preset::Files), &tries).await, ["signal EPERM"]);
    assert!(other.try_wait().expect("looked").is_none());
    assert_eq!(attempts(&room, preset(Preset::None), &tries).await, ["signal ok"]);
    other.wait().expect("ended by the signal");
}

#[tokio::test]
async fn limits_and_privileges_are_held_to() {
    let room = Room::new();
    for which in [Preset::None, Preset::Files] {
        let limits = Limits { open_files: 99, cpu_seconds: Some(77), ..Limits::default() };
        let walls = Walls { limits, ..preset(which) };
        if !stand(&walls) {
            continue;
        }
        let (_, heard, log) = run(&room.launch(walls, &["limits"])).await;
        let line = |start: &str| {
            let line = heard.lines().find(|line| line.starts_with(start)).unwrap_or_default();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("Max core file size"), "Max core file size 0 0 bytes", "{log:?}");
        assert_eq!(line("Max open files"), "Max open files 99 99 files");
        assert_eq!(line("Max cpu time"), "Max cpu time 77 77 seconds");
        assert_eq!(line("NoNewPrivs"), "NoNewPrivs: 1");
        if which == Preset::Files {
            assert_eq!(line("Seccomp:"), "Seccomp: 2");
            // Root keeps seven, everybody else none.
            let bounding = line("CapEff:").split_whitespace().nth(1).expect("a set").to_owned();
            let effective = u64::from_str_radix(&bounding, 16).expect("a number");
            assert!(effective.count_ones() <= 7, "{bounding}");
        }
    }
}
