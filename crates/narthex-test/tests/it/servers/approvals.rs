//! What was approved, what changes, and what editing by hand is worth.

use narthex_server::owner::ServerRequest;
use narthex_test::upstream::{Offer, Script, Step, When, definition};
use narthex_test::{HouseOptions, TestHouse};
use serde_json::{Value, json};

use super::rig::{By, Rig, text};

#[tokio::test]
async fn f06_whatever_changes_is_off_until_it_is_approved_again_and_only_that() {
    let grown = json!({"name": "echo", "description": "Does echo.", "inputSchema": {
        "type": "object", "properties": {"notes": {"type": "string"}}}});
    let read_only = json!({"name": "echo", "description": "Does echo.",
        "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    // What it offers instead; which of echo, other and new are shown then; what is recorded.
    let rows: [(&str, Vec<Value>, &[&str], &str); 5] = [
        (
            "F06 an optional parameter",
            vec![grown, definition("other")],
            &["other"],
            "server.changed",
        ),
        ("an annotation", vec![read_only, definition("other")], &["other"], "server.changed"),
        ("another order", vec![definition("other"), definition("echo")], &["echo", "other"], ""),
        (
            "a new neighbour",
            vec![definition("echo"), definition("other"), definition("new")],
            &["echo", "other"],
            "server.offers",
        ),
        ("one less", vec![definition("other")], &["other"], "server.withdrew"),
    ];
    for by in By::ALL {
        for announced in [true, false] {
            for (what, tools, shown, recorded) in &rows {
                let mut rig = Rig::new().await;
                let script = Script::new()
                    .tool("echo", [Step::Echo])
                    .tool("other", [Step::Echo])
                    .on("tools/call new", [Step::Echo]);
                let turned = rig.path().join("turned");
                let (when, offer) = (When::File(turned.clone()), Offer::tools(tools.clone()));
                let script = if announced {
                    script.turning(when, offer)
                } else {
                    script.turning_silently(when, offer)
                };
                rig.serve("up", by, &script, json!({})).await;
                let client = rig.client("anna", "up").await;
                assert!(client.call("other", json!({})).await.unwrap().is_ok(), "{what}");
                let since = rig.house.seq().await.unwrap();
                std::fs::write(&turned, "now").unwrap();
                if announced {
                    // It is asked again within a second or so.
                    for _ in 0..200 {
                        let actions = rig.actions_since(since).await;
                        let told = actions.iter().any(|action| action == recorded);
                        if told || recorded.is_empty() {
                            break;
                        }
                        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    }
                    assert_eq!(client.tools().await.unwrap(), **shown, "{what} {by:?}");
                } else {
                    // It is asked again with the next connection.
                    rig.house.house().servers().end_all().await;
                    client.call("other", json!({})).await.unwrap();
                    assert_eq!(client.tools().await.unwrap(), **shown, "{what} {by:?}");
                }
                for tool in ["echo", "other", "new"] {
                    let answer = client.call(tool, json!({})).await.unwrap();
                    assert_eq!(answer.is_ok(), shown.contains(&tool), "{what} {tool} {answer:?}");
                }
                let actions = rig.actions_since(since).await;
                let told = actions.iter().any(|action| action == recorded);
                assert_eq!(told, !recorded.is_empty(), "{what} {by:?}: {actions:?}");
                // The owner sees what, and says yes.
                rig.approve("up").await.unwrap();
                let now = client.tools().await.unwrap();
                assert_eq!(now.len(), tools.len(), "{what} {now:?}");
            }
        }
    }
}

#[tokio::test]
async fn f24_another_program_or_other_arguments_are_not_started() {
    let mut rig = Rig::new().await;
    let script = Script::new().tool("echo", [Step::Echo]);
    let program = rig.path().join("server");
    std::fs::copy(narthex_test::upstream::program().unwrap(), &program).unwrap();
    let server = json!({"command": program, "args": script.args(), "tier": "T0"});
    rig.set("up", server.clone());
    rig.approve("up").await.unwrap();
    let client = rig.client("anna", "up").await;
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    rig.house.house().servers().end_all().await;
    // The file is another, under the same name.
    let mut bytes = std::fs::read(&program).unwrap();
    bytes.push(0);
    std::fs::remove_file(&program).unwrap();
    std::fs::write(&program, bytes).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let refused = client.call("echo", json!({})).await.unwrap();
    assert_eq!(refused.tool_code().as_deref(), Some("upstream_failed"), "{refused:?}");
    assert!(text(&refused.result()).contains("only the owner"), "{refused:?}");
    assert!(!refused.text.contains(rig.path().to_str().unwrap()), "{refused:?}");
    let detail = rig.info("up").await.unwrap();
    assert_eq!(detail.start.stands, "changed");
    assert!(detail.start.diff.unwrap().contains("sha256"));
    rig.approve_start("up").await.unwrap();
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    // So are other arguments, another folder, another variable.
    for (key, value) in [
        ("args", json!(["stdio", script.clone().tool("more", [Step::Echo]).json()])),
        ("cwd", json!("/")),
        ("env", json!({"MORE": "1"})),
        ("walls", json!({"preset": "offline"})),
    ] {
        let mut other = server.clone();
        other[key] = value;
        rig.set("up", other);
        rig.house.house().servers().end_all().await;
        let refused = client.call("echo", json!({})).await.unwrap();
        assert_eq!(refused.tool_code().as_deref(), Some("upstream_failed"), "{key}");
    }
    rig.set("up", server);
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
}

#[tokio::test]
async fn only_what_was_shown_is_approved() {
    let mut rig = Rig::new().await;
    rig.name("up", By::Pipes, &Script::new().tool("echo", [Step::Echo]), json!({})).await;
    let wrong = narthex_core::Digest::of(b"another");
    let start = ServerRequest::ApproveStart { server: "up".to_owned(), digest: wrong };
    assert!(rig.ask(start).await.unwrap_err().message.contains("another now"));
    let echo: narthex_core::DefinitionName = "tool:echo".parse().unwrap();
    let early = rig.approve_only("up", vec![(echo.clone(), wrong)]).await;
    assert!(early.is_err(), "nothing before the start");
    rig.approve_start("up").await.unwrap();
    let offer = rig.look("up").await.unwrap();
    assert!(rig.approve_only("up", vec![(echo.clone(), wrong)]).await.is_err());
    let nothing: narthex_core::DefinitionName = "tool:nothing".parse().unwrap();
    assert!(rig.approve_only("up", vec![(nothing, wrong)]).await.is_err());
    let shown = offer.definitions.iter().find(|d| d.name == echo).unwrap();
    let now = rig.approve_only("up", vec![(echo.clone(), shown.digest)]).await.unwrap();
    assert_eq!(now.definitions, 1);
    // Taken back, it is gone at once.
    let client = rig.client("anna", "up").await;
    assert_eq!(client.tools().await.unwrap(), ["echo"]);
    let revoke = ServerRequest::Revoke { server: "up".to_owned(), definitions: vec![echo] };
    rig.ask(revoke).await.unwrap();
    assert_eq!(client.request("tools/list", json!({})).await.unwrap().status, 404);
}

#[tokio::test]
async fn what_was_approved_outlives_a_restart() {
    let mut rig = Rig::new().await;
    rig.serve("up", By::Pipes, &Script::new().tool("echo", [Step::Echo]), json!({})).await;
    rig.client("anna", "up").await;
    let token = rig.house.new_token("anna", Some("later"), None).await.unwrap().token;
    let Rig { house, variables, .. } = rig;
    let root = house.dir().root().to_owned();
    let _folder = house.stop().await.unwrap();
    let options =
        HouseOptions { variables, mode: narthex_core::Mode::Open, ..HouseOptions::default() };
    let house = TestHouse::open(&root, options).await.unwrap();
    let client = house.server_client_with(Some(token), "up");
    assert_eq!(client.tools().await.unwrap(), ["echo"]);
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    house.stop().await.unwrap();
}
