//! Which files it reaches. Each attempt is made without walls too, where it succeeds.

use narthex_walls::{Launch, LaunchError, Preset, Spawned, Walls};

use crate::support::{PERSONA, Room, attempts, preset, run, stand};

#[tokio::test]
async fn what_is_outside_is_neither_read_nor_changed() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let canary = |name: &str| room.outside(name).display().to_string();
    let outside = room.path().join("outside").display().to_string();
    let tries = [
        format!("read={}", canary("a")),
        format!("list={outside}"),
        format!("link-out={}", canary("b")),
        format!("read=/proc/{}/environ", std::process::id()),
        format!("cut={}", canary("c")),
        format!("cut-unopened={}", canary("d")),
        format!("write={outside}/new"),
        format!("write={}/cwd/new", room.mark()),
        format!("remove={}", canary("e")),
        format!("hard-link-out={}", canary("f")),
        "write=/dev/shm/narthex-walls-test".to_owned(),
        "read=/proc/1/environ".to_owned(),
    ];
    let walled = attempts(&room, preset(Preset::Files), &tries).await;
    for (tried, went) in tries.iter().zip(&walled) {
        // A link to elsewhere says that it leads to another place.
        let refused = went.ends_with("EACCES") || went.contains("Invalid cross-device link");
        assert!(refused, "{tried}: {went}");
    }
    let kept = std::fs::read_to_string(canary("c")).expect("read");
    assert_eq!(kept, "canary");
    let free = attempts(&room, preset(Preset::None), tries.get(..10).expect("ours")).await;
    for (tried, went) in tries.iter().zip(&free) {
        assert!(went.ends_with("ok"), "{tried}: {went}");
    }
}

#[tokio::test]
async fn what_it_needs_is_there() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    std::fs::write(room.path().join("cwd/settings"), "x").expect("written");
    let tries = [
        format!("read={}/cwd/settings", room.mark()),
        format!("write={}/scratch/tmp/x", room.mark()),
        format!("write={}/scratch/home/x", room.mark()),
        format!("remove={}/scratch/tmp/x", room.mark()),
        format!("read={PERSONA}"),
        "read=/etc/passwd".to_owned(),
        "read=/etc/hosts".to_owned(),
        "read=/proc/self/status".to_owned(),
        "read=/proc/meminfo".to_owned(),
        "read=/proc/sys/vm/overcommit_memory".to_owned(),
        "write=/dev/null".to_owned(),
        "read=/sys/devices/system/cpu/online".to_owned(),
        "execute=/bin/true".to_owned(),
        "thread=1".to_owned(),
        "pair=1".to_owned(),
    ];
    for (tried, went) in tries.iter().zip(attempts(&room, preset(Preset::Offline), &tries).await) {
        assert!(went.ends_with("ok"), "{tried}: {went}");
    }
}

#[tokio::test]
async fn what_is_granted_is_open_and_no_more() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    for name in ["read", "write", "neither"] {
        std::fs::create_dir(room.path().join(name)).expect("a directory");
        std::fs::write(room.path().join(name).join("x"), "x").expect("a file");
    }
    let walls = Walls {
        read: vec![room.path().join("read")],
        write: vec![room.path().join("write")],
        ..preset(Preset::Files)
    };
    let tries = ["read=read", "write=read", "read=write", "write=write", "read=neither"]
        .map(|tried| tried.replace('=', &format!("={}/", room.mark())) + "/x");
    assert_eq!(
        attempts(&room, walls, &tries).await,
        ["read ok", "write EACCES", "read ok", "write ok", "read EACCES"]
    );
}

/// Root is held to walls too; modes hold it to nothing.
#[tokio::test]
async fn root_reads_no_passwords() {
    if !stand(&preset(Preset::Files)) || !std::path::Path::new("/etc/shadow").exists() {
        return;
    }
    let room = Room::new();
    let tries = ["read=/etc/shadow".to_owned(), "list=/root".to_owned()];
    let walled = attempts(&room, preset(Preset::Files), &tries).await;
    assert_eq!(walled, ["read EACCES", "list EACCES"]);
}

#[tokio::test]
async fn a_grant_that_is_not_there_is_an_error() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let walls = Walls { read: vec![room.path().join("nowhere")], ..preset(Preset::Files) };
    let (ending, _, log) = run(&room.launch(walls, &["exit", "0"])).await;
    assert_eq!(ending, narthex_walls::Ending::Refused(narthex_walls::Refusal::Walls));
    assert!(log.concat().contains("not there"), "{log:?}");
}

/// However it would be opened: by a grant, as the directory it is started in, or as a place of
/// the system.
#[tokio::test]
async fn no_wall_opens_to_the_data_directory() {
    if !stand(&preset(Preset::Files)) {
        return;
    }
    let room = Room::new();
    let launch = |change: fn(&mut Launch, &Room)| {
        let mut launch = room.launch(preset(Preset::Files), &["exit", "0"]);
        launch.shut = vec![room.path().join("outside")];
        change(&mut launch, &room);
        Spawned::start(&launch).map(|spawned| spawned.id())
    };
    let refused: [fn(&mut Launch, &Room); 5] = [
        |launch, room| launch.walls.read = vec![room.path().to_owned()],
        |launch, room| launch.walls.write = vec![room.path().join("outside")],
        |launch, room| launch.walls.read = vec![room.path().join("outside/inner")],
        |launch, room| launch.cwd = room.path().join("outside"),
        |launch, _| launch.shut = vec!["/usr/share".into()],
    ];
    for (n, change) in refused.into_iter().enumerate() {
        assert!(matches!(launch(change), Err(LaunchError::OpensTo { .. })), "{n}");
    }
    // Its own scratch directory may lie in there.
    assert!(launch(|launch, room| launch.scratch = room.path().join("outside/scratch")).is_ok());
}

#[tokio::test]
async fn a_scratch_directory_that_others_see_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["exit", "0"]);
    std::fs::create_dir(&launch.scratch).expect("made");
    for mode in [0o755, 0o710, 0o707] {
        let others = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&launch.scratch, others).expect("set");
        let refused = Spawned::start(&launch).map(|spawned| spawned.id());
        assert!(matches!(refused, Err(LaunchError::Scratch { .. })), "{mode:o}");
    }
}
