//! What is said on the pipes.

use narthex_test::upstream::{Id, Script, Speaks, Step};
use serde_json::{Value, json};

use super::peer::Peer;

const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

#[test]
fn each_era_is_spoken_or_not() {
    for (era, modern, legacy) in
        [(Speaks::Both, true, true), (Speaks::Modern, true, false), (Speaks::Legacy, false, true)]
    {
        let script = Script::new().speaking(era).tool("a", [Step::Echo]).instructions("Do.");
        let mut peer = Peer::start(&script);
        let meta = json!({"_meta": {MODERN: "2026-07-28"}});
        let discovered = peer.request("server/discover", &meta);
        let initialized = peer.request("initialize", &json!({"protocolVersion": "2025-06-18"}));
        assert_eq!(discovered["result"]["supportedVersions"][0] == "2026-07-28", modern);
        assert_eq!(discovered["result"]["resultType"] == "complete", modern, "{discovered}");
        assert_eq!(initialized["result"]["protocolVersion"] == "2025-06-18", legacy);
        assert_eq!(initialized["result"]["instructions"] == "Do.", legacy, "{initialized}");
        let listed = peer.request("tools/list", &meta);
        assert_eq!(listed["result"]["tools"][0]["name"], "a");
        assert_eq!(listed["result"]["cacheScope"], "private");
    }
}

#[test]
fn what_is_offered_is_listed_in_pages() {
    let mut script = Script::new()
        .tool("a", [Step::Echo])
        .tool("b", [Step::Echo])
        .resource(json!({"uri": "test://r", "name": "r"}), [])
        .template(json!({"uriTemplate": "test://{x}", "name": "t"}))
        .prompt(json!({"name": "p"}), [Step::Answer(json!({"messages": []}))]);
    script.page = Some(1);
    let mut peer = Peer::start(&script);
    let first = peer.request("tools/list", &json!({}))["result"].clone();
    assert_eq!((&first["tools"][0]["name"], &first["nextCursor"]), (&json!("a"), &json!("1")));
    let second = peer.request("tools/list", &json!({"cursor": "1"}))["result"].clone();
    assert_eq!(second["tools"][0]["name"], "b");
    assert!(second.get("nextCursor").is_none() && second["tools"].as_array().unwrap().len() == 1);
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let listed = peer.request(method, &json!({}));
        assert_eq!(listed["result"][key].as_array().map(Vec::len), Some(1), "{method}");
    }
    let got = peer.request("prompts/get", &json!({"name": "p"}));
    assert_eq!(got["result"], json!({"messages": []}));
    assert_eq!(peer.call("c", &json!({}))["error"]["code"], -32602);
    assert_eq!(peer.request("x/y", &json!({}))["error"]["code"], -32601);
}

#[test]
fn answers_are_whatever_the_script_says() {
    let odd = json!({"z": 1, "content": [{"type": "unheard-of"}], "a": {"b": null}});
    let script = Script::new()
        .tool("echo", [Step::Echo])
        .tool("odd", [Step::Answer(odd.clone())])
        .tool("no", [Step::refuse(-32099, "no, {arg:who}")])
        .tool("large", [Step::Large(2 << 20)])
        .tool("many", [Step::Many(500)])
        .tool("fails", [Step::Fail("at /home/me/x.py:3 with {env:PLANTED}".into())])
        .tool("twice", [Step::text("once"), Step::Again])
        .tool("slow", [Step::Sleep(150), Step::text("late")])
        .tool("silent", [Step::Silence]);
    let mut peer = Peer::start(&script);
    let echo = peer.call("echo", &json!({"x": [1, 2]}));
    assert_eq!(echo["result"]["structuredContent"], json!({"x": [1, 2]}));
    assert_eq!(peer.call("odd", &json!({}))["result"].to_string(), odd.to_string());
    let no = peer.call("no", &json!({"who": "you"}));
    assert_eq!(no["error"], json!({"code": -32099, "message": "no, you"}));
    let text = |said: &Value| said["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(&peer.call("large", &json!({}))).len(), 2 << 20);
    let many = peer.call("many", &json!({}));
    assert_eq!(many["result"]["content"].as_array().map(Vec::len), Some(500));
    let fails = peer.call("fails", &json!({}));
    assert_eq!(fails["result"]["isError"], true);
    assert_eq!(text(&fails), "at /home/me/x.py:3 with s3cret");
    let twice = peer.call("twice", &json!({}));
    assert_eq!(peer.message(), twice);
    peer.begin("silent", &json!({}));
    let start = std::time::Instant::now();
    assert_eq!(text(&peer.call("slow", &json!({}))), "late");
    assert!(start.elapsed().as_millis() >= 150);
    assert!(peer.is_silent());
}

#[test]
fn f15_ids_are_wrong_in_every_way() {
    let other = json!({"content": []});
    for (whose, id) in [
        (Id::Off(1), json!(2)),
        (Id::Off(-1), json!(0)),
        (Id::Text, json!("1")),
        (Id::Fixed(json!(null)), json!(null)),
        (Id::Fixed(json!("else")), json!("else")),
    ] {
        let steps = [Step::AnswerTo(whose, other.clone()), Step::text("right")];
        let mut peer = Peer::start(&Script::new().tool("t", steps));
        let asked = peer.begin("t", &json!({}));
        let stray = peer.message();
        assert_eq!((&stray["id"], &stray["result"]), (&id, &other));
        assert_eq!(peer.answer(asked)["result"]["content"][0]["text"], "right");
    }
}

#[test]
fn f13_what_is_no_message_is_said_too() {
    let script = Script::new()
        .tool("text", [Step::Line("Server listening".into()), Step::text("ok")])
        .tool("bytes", [Step::Hex("7b22ff fe22 7d".into()), Step::text("ok")])
        .tool("endless", [Step::Endless(3_000_000), Step::text("ok")])
        .tool("drip", [Step::Pids, Step::Drip(2)]);
    let mut peer = Peer::start(&script);
    peer.begin("text", &json!({}));
    assert_eq!(peer.line(), b"Server listening\n");
    peer.message();
    peer.begin("bytes", &json!({}));
    assert_eq!(peer.line(), b"{\"\xff\xfe\"}\n");
    peer.message();
    let start = std::time::Instant::now();
    let drip = peer.call("drip", &json!({}));
    assert!(drip["result"]["structuredContent"]["pids"][0]["pid"].is_number());
    assert!(start.elapsed().as_millis() as usize > drip.to_string().len());
    peer.begin("endless", &json!({}));
    assert!(peer.line().len() > 3_000_000);
}

#[test]
fn f16_f18_the_client_is_asked_and_its_answer_told() {
    let script = Script::new()
        .tool("ask", [Step::sampling(), Step::roots(), Step::password(), Step::visit("data:,x")]);
    let mut peer = Peer::start(&script);
    let asked = peer.begin("ask", &json!({}));
    let mut methods = Vec::new();
    for n in 0..4 {
        let question = peer.message();
        methods.push(question["method"].as_str().unwrap().to_owned());
        if n == 3 {
            assert_eq!(question["params"]["url"], "data:,x");
        }
        let error = json!({"code": -32601, "message": format!("no {n}")});
        peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}));
    }
    let elicit = "elicitation/create";
    assert_eq!(methods, ["sampling/createMessage", "roots/list", elicit, elicit]);
    let told = peer.answer(asked)["result"]["structuredContent"]["ask"].clone();
    assert_eq!(told.as_array().map(Vec::len), Some(4));
    assert_eq!(told[3]["error"]["message"], "no 3");
}

#[test]
fn input_is_required_and_then_told() {
    let steps = [Step::need_password(), Step::Count];
    let mut peer = Peer::start(&Script::new().tool("need", steps));
    let asked = peer.call("need", &json!({}))["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["ask"]["method"], "elicitation/create");
    let again = json!({"name": "need", "inputResponses": {"ask": {"action": "decline"}},
        "requestState": asked["requestState"]});
    let told = peer.request("tools/call", &again)["result"]["structuredContent"].clone();
    assert_eq!(told["need_input"][0]["responses"]["ask"]["action"], "decline");
    assert_eq!(told["need_input"][0]["state"], asked["requestState"]);
    assert_eq!(told["count"], json!([1]));
}

#[test]
fn progress_floods_and_cancellations() {
    let script = Script::new()
        .tool("steps", [Step::Progress { steps: 3, every_ms: 1 }, Step::text("done")])
        .tool("flood", [Step::notify("notifications/message", 1000), Step::text("done")])
        .tool("late", [Step::AwaitCancel(5000), Step::text("too late")])
        .tool("heard", [Step::Heard])
        .tool("count", [Step::Count]);
    let mut peer = Peer::start(&script);
    let params = json!({"name": "steps", "_meta": {"progressToken": "p"}});
    peer.ask("tools/call", &params);
    for step in 1..=3 {
        let said = peer.message();
        assert_eq!(said["params"]["progressToken"], "p");
        assert_eq!(said["params"]["progress"], step);
    }
    peer.message();
    peer.begin("flood", &json!({}));
    for _ in 0..1000 {
        assert_eq!(peer.message()["method"], "notifications/message");
    }
    peer.message();
    let late = peer.begin("late", &json!({}));
    assert!(peer.is_silent());
    let cancel = json!({"requestId": late});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}));
    assert_eq!(peer.answer(late)["result"]["content"][0]["text"], "too late");
    let heard = peer.found("heard")["heard"][0].clone();
    assert_eq!(heard[0]["method"], "notifications/cancelled");
    assert_eq!(heard[0]["params"]["requestId"], late);
    assert_eq!((peer.found("count"), peer.found("count")), (count(1), count(2)));
}

fn count(n: u64) -> Value {
    json!({"count": [n]})
}
