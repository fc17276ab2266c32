//! Clients of both eras in front of servers of both, over pipes and HTTP: results as they came,
//! resources, prompts, completions, progress and cancellation.

use narthex_test::Era;
use narthex_test::upstream::{Script, Speaks, Step};
use serde_json::{Value, json};

use super::rig::{By, Rig};

const SERVERS: [Speaks; 2] = [Speaks::Modern, Speaks::Legacy];

#[tokio::test]
async fn a_result_comes_as_it_was_written_in_all_combinations() {
    let result = json!({
        "content": [{"type": "text", "text": "é", "x-new": 1.0}, {"type": "hologram", "z": [1e2]}],
        "structuredContent": {"n": 12_345_678_901_234_567_u64, "a": null},
        "isError": false,
        "x-unknown": {"b": 1, "a": 2}
    });
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = Rig::new().await;
            let script = Script::new().speaking(speaks).tool("get", [Step::Answer(result.clone())]);
            rig.serve("up", by, &script, json!({})).await;
            for era in Era::ALL {
                let client = rig.client("anna", "up").await.speaking(era);
                let mut got = client.call("get", json!({})).await.unwrap().result();
                let map = got.as_object_mut().unwrap();
                let meta = map.shift_remove("_meta").unwrap();
                assert_eq!(meta["narthex/provenance"]["server"], "up");
                assert_eq!(map.shift_remove("resultType").is_some(), era == Era::Modern);
                assert_eq!(got.to_string(), result.to_string(), "{by:?} {speaks:?} {era:?}");
            }
        }
    }
}

#[tokio::test]
async fn resources_and_prompts_are_there_as_far_as_they_are_approved() {
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = Rig::new().await;
            let read =
                |text: &str| Step::Answer(json!({"contents": [{"uri": "test://a", "text": text}]}));
            let prompt = json!({"messages": [
                {"role": "user", "content": {"type": "text", "text": "hello"}}]});
            let script = Script::new()
                .speaking(speaks)
                .resource(json!({"uri": "test://a", "name": "a"}), [read("one")])
                .template(json!({"uriTemplate": "test://t/{id}", "name": "t"}))
                .on("resources/read test://t/7", [read("seven")])
                .on("resources/read test://hidden", [read("hidden")])
                .prompt(json!({"name": "greet"}), [Step::Answer(prompt)]);
            rig.serve("up", by, &script, json!({})).await;
            for era in Era::ALL {
                let client = rig.client("anna", "up").await.speaking(era);
                let at = format!("{by:?} {speaks:?} {era:?}");
                let list = client.request("resources/list", json!({})).await.unwrap().result();
                assert_eq!(list["resources"][0]["uri"], "test://a", "{at}");
                let list = client.request("resources/templates/list", json!({})).await.unwrap();
                assert_eq!(list.result()["resourceTemplates"][0]["name"], "t", "{at}");
                let list = client.request("prompts/list", json!({})).await.unwrap().result();
                assert_eq!(list["prompts"][0]["name"], "greet", "{at}");
                for (uri, said) in [
                    ("test://a", Some("one")),
                    ("test://t/7", Some("seven")),
                    ("test://hidden", None),
                    ("file:///etc/passwd", None),
                    ("test://t/../a", None),
                ] {
                    let answer =
                        client.request("resources/read", json!({"uri": uri})).await.unwrap();
                    let text = answer.result().pointer("/contents/0/text").cloned();
                    assert_eq!(text.as_ref().and_then(Value::as_str), said, "{at} {uri}");
                }
                let got = client.request("prompts/get", json!({"name": "greet"})).await.unwrap();
                assert_eq!(got.result()["messages"][0]["content"]["text"], "hello", "{at}");
                let none = client.request("prompts/get", json!({"name": "nope"})).await.unwrap();
                assert_eq!(none.rpc_code(), Some(-32602), "{at}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    for by in By::ALL {
        let mut rig = Rig::new().await;
        let log = rig.path().join("log");
        let script = Script::new().tool("hang", [Step::Silence]).logging(&log);
        rig.serve("up", by, &script, json!({"limits": {"callSeconds": 1}})).await;
        let client = rig.client("anna", "up").await;
        let answer = client.call("hang", json!({})).await.unwrap();
        assert_eq!(answer.tool_code().as_deref(), Some("upstream_failed"), "{answer:?}");
        if by == By::Pipes {
            for _ in 0..100 {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                if said.contains("notifications/cancelled") {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            panic!("it was not told");
        }
    }
}

#[tokio::test]
async fn a_resource_that_waits_for_the_owner_says_so_and_is_read_once_approved() {
    use narthex_server::owner::{Answer, ApprovalRequest, Reply, Request};
    let mut rig = Rig::new().await;
    let read = Step::Answer(json!({"contents": [{"uri": "test://a", "text": "one"}]}));
    let script = Script::new().resource(json!({"uri": "test://a", "name": "a"}), [read]);
    rig.serve("up", By::Pipes, &script, json!({"tier": "T2"})).await;
    let client = rig.client("anna", "up").await;
    let waits = client.request("resources/read", json!({"uri": "test://a"})).await.unwrap();
    let error = &waits.json()["error"];
    assert_eq!(error["data"]["code"], "approval_needed", "{error}");
    let approval = error["data"]["approval"]["id"].as_str().unwrap().to_owned();
    let show = ApprovalRequest::Show { approval: approval.clone() };
    let Reply::Approval(detail) = rig.house.owner(Request::Approval(show)).await.unwrap() else {
        panic!("no approval");
    };
    let (digest, answer) = (detail.info.digest, Answer::Approve { nonce: None });
    let request = ApprovalRequest::Answer { approval, digest, answer };
    rig.house.owner(Request::Approval(request)).await.unwrap();
    let done = client.request("resources/read", json!({"uri": "test://a"})).await.unwrap();
    assert_eq!(done.result()["contents"][0]["text"], "one", "{done:?}");
    let again = client.request("resources/read", json!({"uri": "test://a"})).await.unwrap();
    assert_eq!(again.json()["error"]["data"]["code"], "approval_used", "{again:?}");
}
