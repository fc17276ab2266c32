//! What its process does.

use std::time::Duration;

use narthex_test::upstream::{Script, Step};
use serde_json::json;

use super::peer::{Peer, is_alive, signal};

#[test]
fn it_crashes_before_and_after_it_answers() {
    let script = Script::new()
        .tool("before", [Step::Exit(7), Step::text("never")])
        .tool("after", [Step::text("last words"), Step::Exit(9)]);
    let mut peer = Peer::start(&script);
    peer.begin("before", &json!({}));
    assert_eq!(peer.ended().and_then(|status| status.code()), Some(7));
    assert!(peer.is_silent());
    let mut peer = Peer::start(&script);
    let said = peer.call("after", &json!({}));
    assert_eq!(said["result"]["content"][0]["text"], "last words");
    assert_eq!(peer.ended().and_then(|status| status.code()), Some(9));
}

#[test]
fn it_crashes_in_a_loop_until_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let before = Step::ExitBefore { file: file.clone(), starts: 3, code: 5 };
    let script = Script::new().at_start([before]).tool("t", [Step::Echo]);
    for _ in 0..2 {
        let mut peer = Peer::start(&script);
        assert_eq!(peer.ended().and_then(|status| status.code()), Some(5));
    }
    let mut peer = Peer::start(&script);
    assert!(peer.call("t", &json!({})).get("result").is_some());
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(text.lines().last(), Some(peer.child.id().to_string().as_str()));
}

#[test]
fn its_input_ends_and_so_does_it_unless_it_does_not_want_to() {
    let mut peer = Peer::start(&Script::new());
    peer.hang_up();
    assert_eq!(peer.ended().and_then(|status| status.code()), Some(0));
    let mut stubborn = Script::new();
    (stubborn.ignore_eof, stubborn.ignore_term) = (true, true);
    let mut peer = Peer::start(&stubborn.tool("t", [Step::Echo]));
    peer.call("t", &json!({}));
    peer.hang_up();
    peer.terminate();
    assert!(peer.is_up());
    signal(peer.child.id(), "KILL");
    assert!(peer.ended().is_some());
    let mut burnt = Script::new();
    (burnt.ignore_eof, burnt.burns_out_ms) = (true, 100);
    assert!(Peer::start(&burnt).ended().is_some());
}

#[test]
fn its_children_outlive_it() {
    let folder = tempfile::tempdir().unwrap();
    for detach in [false, true] {
        let pids = folder.path().join(format!("pids-{detach}"));
        let fork = Step::Fork { count: 2, pids: pids.clone(), detach };
        let mut peer = Peer::start(&Script::new().tool("fork", [fork]));
        assert_eq!(peer.found("fork")["fork"][0].as_array().map(Vec::len), Some(2));
        peer.hang_up();
        peer.ended().expect("ended");
        let text = std::fs::read_to_string(pids).unwrap();
        let children: Vec<u32> = text.lines().map(|pid| pid.parse().unwrap()).collect();
        for child in &children {
            signal(*child, "TERM");
        }
        std::thread::sleep(Duration::from_millis(100));
        assert!(children.len() == 2 && children.iter().all(|child| is_alive(*child)));
        for child in children {
            signal(child, "KILL");
        }
    }
}

#[tokio::test]
async fn f21_f22_it_looks_around() {
    let folder = tempfile::tempdir().unwrap();
    let (there, new) = (folder.path().join("canary"), folder.path().join("new"));
    std::fs::write(&there, "tweet").unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open = listener.local_addr().unwrap().to_string();
    let script = Script::new().tool(
        "look",
        [
            Step::Environment,
            Step::StderrEnvironment,
            Step::Stderr("noise".into(), 100),
            Step::Read("{arg:path}".into()),
            Step::Read("/proc/{parent}/environ".into()),
            Step::Read(folder.path().display().to_string()),
            Step::Read("/nowhere".into()),
            Step::Write(new.display().to_string()),
            Step::Connect(open),
            Step::Connect("127.0.0.1:1".into()),
            Step::Pids,
        ],
    );
    let mut peer = Peer::start(&script);
    let told = peer.call("look", &json!({"path": there}))["result"]["structuredContent"].clone();
    assert_eq!(told["environment"][0]["PLANTED"], "s3cret");
    let read = &told["read"];
    assert_eq!((&read[0]["text"], &read[0]["size"]), (&json!("tweet"), &json!(5)));
    assert_eq!(read[1]["path"], format!("/proc/{}/environ", std::process::id()));
    assert_eq!((&read[2]["text"], &read[3]["read"]), (&json!("canary"), &json!(false)));
    assert!(told["write"][0]["written"] == true && new.exists());
    assert_eq!(told["connect"][0]["connected"], true);
    assert_eq!(told["connect"][1]["connected"], false);
    assert_eq!(told["pids"][0]["parent"], std::process::id());
    let stderr = peer.stderr();
    assert!(stderr.contains("s3cret") && stderr.lines().count() == 101, "{stderr}");
}

#[test]
fn it_talks_before_it_is_asked() {
    let steps = [Step::Line("listening".into()), Step::Stderr("up".into(), 1), Step::Sleep(50)];
    let mut peer = Peer::start(&Script::new().at_start(steps).on("initialize", [Step::Exit(3)]));
    assert_eq!(peer.line(), b"listening\n");
    peer.ask("initialize", &json!({}));
    assert_eq!(peer.ended().and_then(|status| status.code()), Some(3));
    assert_eq!(peer.stderr(), "up\n");
}
