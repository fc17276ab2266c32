//! When a server runs, for whom, and when it ends.

use std::time::Duration;

use narthex_core::Mode;
use narthex_server::owner::{Reply, Request, ServerReply, ServerRequest};
use narthex_test::upstream::{Script, Speaks, Step};
use narthex_test::{HouseOptions, Persona};
use serde_json::{Value, json};

use super::rig::{By, Rig, text};

fn lines(path: &std::path::Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

async fn state(rig: &Rig, name: &str) -> (String, Option<String>) {
    let ServerReply::Servers(listed) = rig.ask(ServerRequest::List).await.unwrap() else {
        panic!()
    };
    let found = listed.servers.into_iter().find(|server| server.name == name).unwrap();
    (found.state, found.error)
}

/// The same, as `narthex status` tells it.
async fn in_status(rig: &Rig, name: &str) -> Option<(String, Option<String>)> {
    let Reply::Status(status) = rig.house.owner(Request::Status).await.unwrap() else { panic!() };
    let mut servers = status.servers?.servers.into_iter();
    servers.find(|server| server.name == name).map(|server| (server.state, server.error))
}

#[tokio::test]
async fn nothing_runs_until_it_is_on_approved_and_needed() {
    let mut rig = Rig::new().await;
    let log = rig.path().join("log");
    let script = Script::new().tool("echo", [Step::Echo]).logging(&log);
    rig.name("up", By::Pipes, &script, json!({})).await;
    let client = rig.client("anna", "up").await;
    // Named, given to the agent, and not approved: there is nothing there.
    assert_eq!(client.request("tools/list", json!({})).await.unwrap().status, 404);
    assert!(rig.look("up").await.unwrap_err().message.contains("not approved"));
    assert_eq!(lines(&log), 0, "nothing was started");
    // The start is approved, what it offers is not.
    rig.approve_start("up").await.unwrap();
    assert_eq!(client.request("tools/list", json!({})).await.unwrap().status, 404);
    assert_eq!(lines(&log), 0, "approving starts nothing");
    rig.approve("up").await.unwrap();
    rig.house.house().servers().end_all().await;
    let said = lines(&log);
    assert!(said > 0);
    // Listed from what was approved, without the server.
    assert_eq!(client.tools().await.unwrap(), ["echo"]);
    assert_eq!(lines(&log), said, "a list starts nothing");
    assert_eq!(state(&rig, "up").await, ("idle".to_owned(), None));
    let answer = client.call("echo", json!({"a": 1})).await.unwrap();
    assert!(answer.is_ok(), "{answer:?}");
    assert!(lines(&log) > said);
    assert_eq!(state(&rig, "up").await.0, "connected");
    assert_eq!(in_status(&rig, "up").await, Some(("connected".to_owned(), None)));
    // Off: nothing is there, and nothing of it runs.
    rig.ask(ServerRequest::Switch { on: false }).await.unwrap();
    assert_eq!(in_status(&rig, "up").await, None);
    assert_eq!(client.request("tools/list", json!({})).await.unwrap().status, 404);
    let off = rig.ask(ServerRequest::List).await.unwrap_err();
    assert!(off.message.contains("narthex mcp on"), "{off:?}");
    rig.ask(ServerRequest::Switch { on: true }).await.unwrap();
    assert_eq!(client.tools().await.unwrap(), ["echo"], "what was approved stays so");
}

#[tokio::test]
async fn who_has_no_profile_with_it_sees_what_is_nowhere() {
    let mut rig = Rig::new().await;
    rig.serve("up", By::Pipes, &Script::new().tool("echo", [Step::Echo]), json!({})).await;
    let nowhere = |name: &'static str| {
        let (house, token) = (&rig.house, rig.house.token(Persona::AgentA));
        let client = house.server_client_with(token, name);
        async move { client.request("tools/list", json!({})).await.unwrap() }
    };
    let (there, not_there) = (nowhere("up").await, nowhere("nope").await);
    assert_eq!((there.status, &there.text), (404, &not_there.text));
    for persona in [Persona::Stranger, Persona::Nobody, Persona::Owner, Persona::Revoked] {
        let client = rig.house.server_client_with(rig.house.token(persona), "up");
        let answer = client.request("tools/list", json!({})).await.unwrap();
        assert!(matches!(answer.status, 401 | 403), "{persona:?} {}", answer.status);
    }
    // A profile given counts at once, and one taken away too.
    let client = rig.client("anna", "up").await;
    assert_eq!(client.tools().await.unwrap(), ["echo"]);
    rig.give("anna", &[]).await.unwrap();
    assert_eq!(client.request("tools/list", json!({})).await.unwrap().status, 404);
    assert_eq!(client.call("echo", json!({})).await.unwrap().status, 404);
    assert!(rig.give("anna", &["unheard-of"]).await.is_err());
}

#[tokio::test]
async fn one_agents_state_never_answers_another_unless_the_owner_says_it_keeps_none() {
    for (by, stateless, expected) in [
        (By::Pipes, false, ["1", "1", "2"]),
        (By::Http, false, ["1", "1", "2"]),
        (By::Pipes, true, ["1", "2", "3"]),
    ] {
        let mut rig = Rig::new().await;
        // Over HTTP only the older revisions know of a connection.
        let script = Script::new().speaking(Speaks::Legacy).tool("count", [Step::Count]);
        rig.serve("up", by, &script, json!({"stateless": stateless})).await;
        let (anna, ben) = (rig.client("anna", "up").await, rig.client("ben", "up").await);
        let mut counted = Vec::new();
        for client in [&anna, &ben, &anna] {
            let result = client.call("count", json!({})).await.unwrap().result();
            counted.push(result["structuredContent"]["count"][0].to_string());
        }
        assert_eq!(counted, expected, "{by:?} {stateless}");
    }
}

#[tokio::test]
async fn one_that_crashes_is_tried_three_times_more_and_then_left_alone() {
    let mut rig = Rig::new().await;
    let starts = rig.path().join("starts");
    let script = Script::new().tool("echo", [Step::Echo]).tool("die", [Step::Exit(3)]);
    rig.serve("up", By::Pipes, &script, json!({})).await;
    // From here on it does not even start.
    let step = Step::ExitBefore { file: starts.clone(), starts: 1_000, code: 7 };
    let doomed = script.clone().at_start([step]);
    rig.name("up", By::Pipes, &doomed, json!({})).await;
    rig.approve_start("up").await.unwrap();
    let client = rig.client("anna", "up").await;
    let end = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        let answer = client.call("echo", json!({})).await.unwrap();
        assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{answer:?}");
        if text(&answer.result()).contains("only the owner can help") {
            break;
        }
        assert!(tokio::time::Instant::now() < end, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Each start greets twice: once in each era.
    let tried = lines(&starts);
    assert_eq!(tried, 8, "one start and three restarts, in two eras each");
    client.call("echo", json!({})).await.unwrap();
    assert_eq!(lines(&starts), tried, "left alone");
    let (word, why) = state(&rig, "up").await;
    assert_eq!(in_status(&rig, "up").await, Some((word.clone(), why.clone())));
    assert_eq!(word, "error");
    assert!(why.unwrap().contains("code 7"));
    // Until the owner asks.
    rig.ask(ServerRequest::Enable { server: "up".to_owned(), on: true }).await.unwrap();
    client.call("echo", json!({})).await.unwrap();
    assert!(lines(&starts) > tried);
}

/// It greets, and never says what it offers: that is no connection, whoever waited for one.
#[tokio::test]
async fn one_that_hangs_before_it_says_what_it_offers_is_a_failure_like_any_other() {
    for by in By::ALL {
        for speaks in [Speaks::Modern, Speaks::Legacy] {
            let at = format!("{by:?} {speaks:?}");
            let mut rig = Rig::new().await;
            let script = Script::new().speaking(speaks).tool("echo", [Step::Echo]);
            rig.serve("up", by, &script, json!({})).await;
            let limits = json!({"limits": {"connectSeconds": 1, "restarts": 2}});
            let hung = script.on("tools/list", [Step::Silence]);
            rig.name("up", by, &hung, limits).await;
            rig.approve_start("up").await.unwrap();
            let client = rig.client("anna", "up").await;
            // Whoever asked first went away, and it counts all the same.
            let gone =
                tokio::time::timeout(Duration::from_millis(200), client.call("echo", json!({})));
            assert!(gone.await.is_err(), "{at}");
            let end = tokio::time::Instant::now() + Duration::from_secs(20);
            while state(&rig, "up").await.0 != "error" {
                assert!(tokio::time::Instant::now() < end, "{at}: nothing was counted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            // One start and two restarts, and then it is left alone.
            loop {
                let began = tokio::time::Instant::now();
                let answer = client.call("echo", json!({})).await.unwrap();
                assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{at}");
                assert!(began.elapsed() < Duration::from_secs(8), "{at}: {:?}", began.elapsed());
                if text(&answer.result()).contains("only the owner can help") {
                    break;
                }
                assert!(tokio::time::Instant::now() < end, "{at}: {answer:?}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

#[tokio::test]
async fn one_that_nobody_asks_is_stopped_and_started_again_when_asked() {
    let mut rig = Rig::new().await;
    let starts = rig.path().join("starts");
    let step = Step::ExitBefore { file: starts.clone(), starts: 0, code: 0 };
    let script = Script::new().at_start([step]).tool("echo", [Step::Echo]);
    rig.serve("up", By::Pipes, &script, json!({"limits": {"idleSeconds": 10}})).await;
    let client = rig.client("anna", "up").await;
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    let (began, before) = (tokio::time::Instant::now(), lines(&starts));
    while state(&rig, "up").await.0 != "idle" {
        assert!(began.elapsed() < Duration::from_secs(30), "it was not stopped");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(began.elapsed() >= Duration::from_secs(9), "{:?}", began.elapsed());
    let (_, alive) = narthex_test::chaos::processes(&starts);
    assert!(alive.is_empty(), "{alive:?}");
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    assert_eq!(lines(&starts), before + 1);
}

/// At T3 the owner sees what it is done to, and types what only the owner is shown.
#[tokio::test]
async fn a_tool_at_t3_needs_its_target_and_a_nonce() {
    use narthex_server::owner::{Answer, ApprovalRequest, Nonce, Reply, Request};
    let mut rig = Rig::new().await;
    let script = Script::new().tool("merge", [Step::Echo]);
    // Without a target it could be done to anything: such a file is none.
    rig.name("up", By::Pipes, &script, json!({"tools": {"merge": {"tier": "T3"}}})).await;
    assert!(rig.info("up").await.unwrap_err().message.contains("needs a `target`"));
    let tools = json!({"merge": {"tier": "T3", "target": "/id"}});
    rig.serve("up", By::Pipes, &script, json!({"tools": tools})).await;
    let client = rig.client("anna", "up").await;
    assert_eq!(client.tools().await.unwrap(), ["merge"]);
    let untold = client.call("merge", json!({})).await.unwrap();
    assert_eq!(untold.tool_code().as_deref(), Some("one_target"), "{untold:?}");
    let arguments = json!({"id": "pull-7"});
    let waits = client.call("merge", arguments.clone()).await.unwrap();
    assert_eq!(waits.tool_code().as_deref(), Some("approval_needed"), "{waits:?}");
    let said: Value = serde_json::from_str(&text(&waits.result())).unwrap();
    let approval = said["error"]["approval"]["id"].as_str().unwrap().to_owned();
    let show = ApprovalRequest::Show { approval: approval.clone() };
    let Reply::Approval(detail) = rig.house.owner(Request::Approval(show)).await.unwrap() else {
        panic!("no approval");
    };
    assert!(detail.info.needs_nonce && format!("{:?}", detail.info).contains("pull-7"));
    let nonce = detail.nonce.expect("a nonce");
    let answer = |nonce: Option<Nonce>| {
        let (digest, answer) = (detail.info.digest, Answer::Approve { nonce });
        Request::Approval(ApprovalRequest::Answer { approval: approval.clone(), digest, answer })
    };
    assert!(rig.house.owner(answer(None)).await.is_err());
    assert!(rig.house.owner(answer(Some(Nonce::typed("nonsense")))).await.is_err());
    let still = client.call("merge", arguments.clone()).await.unwrap();
    assert_eq!(still.tool_code().as_deref(), Some("approval_needed"), "{still:?}");
    rig.house.owner(answer(Some(nonce))).await.unwrap();
    let other = client.call("merge", json!({"id": "pull-8"})).await.unwrap();
    assert_eq!(other.tool_code().as_deref(), Some("approval_needed"), "{other:?}");
    assert!(client.call("merge", arguments.clone()).await.unwrap().is_ok());
    let again = client.call("merge", arguments).await.unwrap();
    assert!(!again.is_ok(), "{again:?}");
}

#[tokio::test]
async fn one_that_hangs_holds_up_nobody_else_and_is_taken_away() {
    let mut rig = Rig::new().await;
    let script = Script::new().tool("hang", [Step::Silence]).tool("echo", [Step::Echo]);
    rig.serve("hung", By::Pipes, &script, json!({"limits": {"callSeconds": 1}})).await;
    rig.serve("good", By::Pipes, &Script::new().tool("echo", [Step::Echo]), json!({})).await;
    let hung = rig.client("anna", "hung").await;
    let good = rig.client("anna", "good").await;
    let hang = || hung.call("hang", json!({}));
    let waits = async { tokio::join!(hang(), hang(), hang()) };
    let meanwhile = async {
        for _ in 0..20 {
            assert!(good.call("echo", json!({})).await.unwrap().is_ok());
        }
    };
    let (waited, ()) = tokio::join!(waits, meanwhile);
    for answer in [waited.0, waited.1, waited.2] {
        let answer = answer.unwrap();
        assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{answer:?}");
    }
    // It is started anew after a while, and answers what it can.
    let mut answered = false;
    for _ in 0..40 {
        answered = hung.call("echo", json!({})).await.unwrap().is_ok();
        if answered {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(answered);
}

#[tokio::test]
async fn no_more_run_at_once_than_may_and_idle_ones_make_room() {
    let options = HouseOptions { started: 2, mode: Mode::Open, ..HouseOptions::default() };
    let mut rig = Rig::with(options).await;
    let script =
        Script::new().tool("echo", [Step::Echo]).tool("slow", [Step::Sleep(1_500), Step::Echo]);
    for name in ["one", "two", "three"] {
        rig.serve(name, By::Pipes, &script, json!({})).await;
        rig.house.house().servers().end_all().await;
    }
    let mut clients = Vec::new();
    for name in ["one", "two", "three"] {
        clients.push(rig.client("anna", name).await);
    }
    for client in &clients {
        assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    }
    let mut up = 0;
    for name in ["one", "two", "three"] {
        up += usize::from(state(&rig, name).await.0 == "connected");
    }
    assert_eq!(up, 2);
    // All in use: one more has to wait for another time.
    let busy = async {
        tokio::join!(clients[1].call("slow", json!({})), clients[2].call("slow", json!({})))
    };
    let third = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        clients[0].call("echo", json!({})).await.unwrap()
    };
    let ((a, b), third) = tokio::join!(busy, third);
    assert!(a.unwrap().is_ok() && b.unwrap().is_ok());
    assert_eq!(third.tool_code().as_deref(), Some("upstream_failed"), "{third:?}");
}

#[tokio::test]
async fn nothing_is_left_behind_whatever_a_server_started() {
    let mut rig = Rig::new().await;
    let pids = rig.path().join("pids");
    let fork = Step::Fork { count: 3, pids: pids.clone(), detach: true };
    let script = Script::new().tool("fork", [Step::IgnoreTerm, fork]);
    rig.serve("up", By::Pipes, &script, json!({})).await;
    let client = rig.client("anna", "up").await;
    assert!(client.call("fork", json!({})).await.unwrap().is_ok());
    let all: Vec<u32> = loop {
        let text = std::fs::read_to_string(&pids).unwrap_or_default();
        if text.lines().count() == 3 {
            break text.lines().map(|line| line.parse().unwrap()).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    rig.ask(ServerRequest::Switch { on: false }).await.unwrap();
    for pid in all {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} is left");
    }
}

#[tokio::test]
async fn a_kill_switch_for_one_server_stops_it_and_no_other() {
    use narthex_server::owner::{Request, StopScope, SwitchRequest};
    let mut rig = Rig::new().await;
    let script = Script::new().tool("echo", [Step::Echo]).tool("hang", [Step::Silence]);
    rig.serve("one", By::Pipes, &script, json!({})).await;
    rig.serve("two", By::Pipes, &script, json!({})).await;
    let (one, two) = (rig.client("anna", "one").await, rig.client("anna", "two").await);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let scope = StopScope::Server("one".to_owned());
        let request = SwitchRequest::Engage { scope, reason: None };
        rig.house.owner(Request::Switch(request)).await.unwrap();
    };
    let (cancelled, ()) = tokio::join!(one.call("hang", json!({})), stop);
    assert_eq!(cancelled.unwrap().tool_code().as_deref(), Some("stopped"));
    let refused = one.call("echo", json!({})).await.unwrap();
    assert_eq!(refused.tool_code().as_deref(), Some("stopped"));
    assert_eq!(one.tools().await.unwrap(), Vec::<String>::new());
    assert!(two.call("echo", json!({})).await.unwrap().is_ok());
}

#[tokio::test]
async fn what_a_server_says_is_kept_clean_and_without_its_secrets() {
    let mut rig = Rig::new().await;
    rig.variables.set("TOKEN", "s3cr3t-value-1234");
    let script = Script::new().tool(
        "talk",
        [
            Step::Stderr("\u{1b}[31mred {env:TOKEN}".to_owned(), 1),
            Step::Fail("no {env:TOKEN}".to_owned()),
        ],
    );
    rig.serve("up", By::Pipes, &script, json!({"env": {"TOKEN": "${TOKEN}"}})).await;
    let client = rig.client("anna", "up").await;
    let answer = client.call("talk", json!({})).await.unwrap();
    assert!(!answer.text.contains("s3cr3t"), "{}", answer.text);
    assert_eq!(answer.result()["isError"], Value::Bool(true));
    let request = ServerRequest::Logs { server: "up".to_owned() };
    let ServerReply::Logs(logs) = rig.ask(request).await.unwrap() else { panic!() };
    let said = format!("{logs:?}");
    assert!(said.contains("red") && said.contains("anna"), "{said}");
    assert!(!said.contains("s3cr3t") && !said.contains("\\u{1b}"), "{said}");
    assert!(!format!("{:?}", rig.info("up").await.unwrap()).contains("s3cr3t"));
    let records = format!("{:?}", rig.house.records().await.unwrap());
    assert!(!records.contains("s3cr3t"));
}

#[tokio::test]
async fn profiles_say_how_careful_one_is_with_a_server_and_the_more_careful_word_counts() {
    let mut rig = Rig::new().await;
    let script = Script::new().tool("echo", [Step::Echo]).tool("other", [Step::Echo]);
    rig.serve("up", By::Pipes, &script, json!({})).await;
    let say = |overrides: Value| json!({"servers": ["up"], "overrides": {"up": overrides}});
    rig.profile("less", say(json!({"denyTools": ["other"]})));
    rig.profile("asked", say(json!({"tools": {"echo": {"tier": "T2"}}})));
    rig.profile("code", say(json!({"env": {"LD_PRELOAD": "/evil.so"}})));
    let client = rig.client("anna", "up").await;
    for (profiles, tools, code) in [
        (&["all"] as &[&str], &["echo", "other"] as &[&str], None),
        (&["less"], &["echo"], None),
        (&["all", "less"], &["echo"], None),
        (&["asked", "all"], &["echo", "other"], Some("approval_needed")),
        (&["code"], &["echo", "other"], Some("upstream_failed")),
    ] {
        rig.give("anna", profiles).await.unwrap();
        assert_eq!(client.tools().await.unwrap(), tools, "{profiles:?}");
        let answer = client.call("echo", json!({})).await.unwrap();
        assert_eq!(answer.tool_code().as_deref(), code, "{profiles:?} {answer:?}");
    }
}

#[tokio::test]
async fn policy_is_asked_about_each_thing_of_a_server() {
    let policy = r#"forbid (principal, action == Narthex::Action::"use_server", resource)
        when { resource.name == "up" && context has tool && context.tool like "delete_*" };"#;
    let options = HouseOptions {
        mode: Mode::Open,
        policies: vec![("own.cedar".to_owned(), policy.to_owned())],
        ..HouseOptions::default()
    };
    let mut rig = Rig::with(options).await;
    let script = Script::new().tool("read", [Step::Echo]).tool("delete_all", [Step::Echo]);
    rig.serve("up", By::Pipes, &script, json!({})).await;
    rig.serve("other", By::Pipes, &script, json!({})).await;
    let up = rig.client("anna", "up").await;
    assert_eq!(up.tools().await.unwrap(), ["read"]);
    let denied = up.call("delete_all", json!({})).await.unwrap();
    let unknown = up.call("unheard_of", json!({})).await.unwrap();
    assert_eq!(denied.text.replace("delete_all", "unheard_of"), unknown.text);
    let other = rig.client("anna", "other").await;
    assert_eq!(other.tools().await.unwrap(), ["delete_all", "read"]);
    // Who may not read may not ask a server for anything.
    let bare =
        rig.house.agent("bare-one", "a", &["suggest"], narthex_core::Tier::T3).await.unwrap();
    drop(bare);
    rig.give("bare-one", &["all"]).await.unwrap();
    let token = rig.house.new_token("bare-one", None, None).await.unwrap().token;
    let bare = rig.house.server_client_with(Some(token), "up");
    assert_eq!(bare.request("tools/list", json!({})).await.unwrap().status, 404);
}
