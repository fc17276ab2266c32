//! What it says on standard error.

use narthex_walls::{Ending, Preset};
use secrecy::SecretString;

use crate::support::{Room, preset, run};

/// 100 MB without a line's end: cut at the bound, and not held meanwhile.
#[tokio::test]
async fn a_line_without_end_is_bounded() {
    let room = Room::new();
    let launch = room.launch(preset(Preset::None), &["flood", "100000000"]);
    let before = peak();
    let (ending, _, log) = run(&launch).await;
    let grown = peak().saturating_sub(before);
    assert_eq!(ending, Ending::Code(0));
    assert_eq!(log.len(), 1);
    assert!(log.concat().len() <= launch.log.line_bytes + 16, "{}", log.concat().len());
    println!("grown by {grown} KiB");
    // Other tests may run beside this one; the line itself would be twice as much.
    assert!(grown < 50_000, "{grown} KiB");
}

#[tokio::test]
async fn secrets_and_sequences_are_not_in_it() {
    let room = Room::new();
    let mut launch = room.launch(
        preset(Preset::None),
        &["say", "auth failed for hunter22", "\u{1b}]52;c;aGk=\u{7}\u{1b}[31mred\u{1b}[0m"],
    );
    launch.given = vec![("PASSWORD".to_owned(), SecretString::from("hunter22"))];
    let (_, _, log) = run(&launch).await;
    assert_eq!(log, ["auth failed for [secret]", "red"]);
}

/// The most memory this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a line");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}
