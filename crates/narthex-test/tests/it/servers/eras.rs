//! Clients of both eras in front of servers of both, over pipes and HTTP: results as they came,
//! resources, prompts, completions, progress and cancellation.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::Reason;
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
        until(&format!("{by:?}: it was not told"), || {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            // The newer revision over HTTP tells by closing, which the next test looks at.
            said.contains("notifications/cancelled") || by == By::Http
        })
        .await;
    }
}

/// A client that hangs up, or takes its call back, cancels it at the server, whatever both speak.
#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call_at_the_server() {
    for by in By::ALL {
        for speaks in SERVERS {
            for era in Era::ALL {
                let at = format!("{by:?} {speaks:?} {era:?}");
                let mut rig = Rig::new().await;
                let given_up = rig.path().join("given-up");
                let steps = [
                    Step::AwaitCancel(25_000),
                    Step::Write(given_up.display().to_string()),
                    Step::Echo,
                ];
                let script = Script::new().speaking(speaks).tool("wait", steps);
                rig.serve("up", by, &script, json!({})).await;
                let client = rig.client("anna", "up").await.speaking(era);
                let seq = rig.house.seq().await.unwrap();
                let calling = client.call("wait", json!({}));
                let gone = tokio::time::timeout(Duration::from_millis(800), calling).await;
                assert!(gone.is_err(), "{at} {gone:?}");
                // Long before its own patience ends.
                until(&format!("{at}: it was not told"), || given_up.exists()).await;
                let mut outcomes = Vec::new();
                for _ in 0..100 {
                    let records = rig.house.records_after(seq).await.unwrap();
                    let of_call = records.into_iter().filter(|record| record.draft.tool == "wait");
                    outcomes = of_call.map(|record| record.draft.reason).collect();
                    if outcomes.contains(&Reason::Interrupted) {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                assert!(outcomes.contains(&Reason::Interrupted), "{at} {outcomes:?}");
            }
        }
    }
}

async fn until(otherwise: &str, so: impl Fn() -> bool) {
    for _ in 0..400 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{otherwise}");
}

fn steps_told(messages: &[Value], token: &Value) -> Vec<f64> {
    let told = messages.iter().filter(|said| said["method"] == "notifications/progress");
    told.map(|said| {
        assert_eq!(&said["params"]["progressToken"], token, "{said}");
        said["params"]["progress"].as_f64().unwrap()
    })
    .collect()
}

#[tokio::test]
async fn progress_comes_in_order_under_the_clients_own_token_and_before_the_answer() {
    for by in By::ALL {
        for speaks in SERVERS {
            let mut rig = Rig::new().await;
            let steps = [Step::Progress { steps: 5, every_ms: 10 }, Step::text("done")];
            let script = Script::new().speaking(speaks).tool("long", steps);
            rig.serve("up", by, &script, json!({})).await;
            for era in Era::ALL {
                let client = rig.client("anna", "up").await.speaking(era);
                for token in [json!("mine"), json!(7)] {
                    let at = format!("{by:?} {speaks:?} {era:?} {token}");
                    let params = json!({"name": "long", "arguments": {},
                        "_meta": {"progressToken": token}});
                    let answer = client.request("tools/call", params).await.unwrap();
                    let messages = answer.messages();
                    assert_eq!(steps_told(&messages, &token), [1.0, 2.0, 3.0, 4.0, 5.0], "{at}");
                    assert!(answer.is_ok(), "{at} {answer:?}");
                }
                // Who gives no token hears nothing.
                let answer = client.call("long", json!({})).await.unwrap();
                assert_eq!(answer.messages().len(), 1, "{answer:?}");
            }
        }
    }
}

/// The same surface on lines, as a process of ours would serve it.
#[tokio::test]
async fn progress_comes_on_lines_too() {
    use narthex_gate::{ReadySurface, Stdio};
    use narthex_mcp::{EdgeConfig, StdioServer};
    use narthex_servers::surface::ServerSurface;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let mut rig = Rig::new().await;
    let steps = [Step::Progress { steps: 5, every_ms: 10 }, Step::text("done")];
    rig.serve("up", By::Pipes, &Script::new().tool("long", steps), json!({})).await;
    drop(rig.client("anna", "up").await);
    let agents = rig.house.store().agents().await.unwrap();
    let anna = agents.into_iter().find(|agent| agent.slug.as_str() == "anna").unwrap();
    let hall = rig.house.house().servers().clone();
    let view = hall.view(anna.id, &"up".parse().unwrap()).await.unwrap().unwrap();
    let approved = hall.approved(&view.standing).await.unwrap();
    let surface = ServerSurface::new(hall, &view.config, &approved, None);
    let surface = Arc::new(ReadySurface::new(Arc::new(surface)).unwrap());
    let gate = rig.house.house().gate().clone();
    let server = StdioServer::new(gate, surface, Stdio::Agent(anna.id), EdgeConfig::default());
    let ((mut to, input), (output, from)) =
        (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    let talking = async {
        let params = json!({"name": "long", "arguments": {}, "_meta": {"progressToken": 7}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        to.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let (mut lines, mut said) = (BufReader::new(from).lines(), Vec::new());
        while let Some(line) = lines.next_line().await.unwrap() {
            said.push(serde_json::from_str::<Value>(&line).unwrap());
            if said.last().unwrap().get("id").is_some() {
                break;
            }
        }
        drop(to);
        said
    };
    let serving = server.run(input, output, tokio_util::sync::CancellationToken::new());
    let (said, served) = tokio::join!(talking, serving);
    served.unwrap();
    assert_eq!(steps_told(&said, &json!(7)), [1.0, 2.0, 3.0, 4.0, 5.0], "{said:?}");
    assert_eq!(said.last().unwrap()["result"]["content"][0]["text"], "done", "{said:?}");
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
