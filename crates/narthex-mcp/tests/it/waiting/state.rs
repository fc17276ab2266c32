//! What comes back with a state: this agent's, this call's, in time; or garbage.

use std::time::Duration;

use narthex_core::{ApprovalStatus, Phase, Reason};
use narthex_mcp::ConsoleUrl;
use serde_json::{Value, json};

use super::{CONSOLE, Told, check, house, modern, publish, told};
use crate::house::{House, Open, TA, TC, TD};
use crate::raw::{Answer, Request};

/// Asks with URL mode declared.
async fn ask(house: &Open, token: &str, params: &Value) -> Answer {
    modern(token, params, &json!({"elicitation": {"url": {}}})).send(house.addr).await
}

async fn state_of(house: &Open, token: &str, params: &Value) -> Value {
    ask(house, token, params).await.result()["requestState"].clone()
}

fn with_state(params: &Value, state: &Value) -> Value {
    let mut params = params.clone();
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({"approval": {"action": "accept"}});
    params
}

#[tokio::test]
async fn a_state_leads_back_to_its_call_and_the_gate_decides() {
    let house = house(true).open().await;
    let call = publish("x");
    let state = state_of(&house, TC, &call).await;
    let again = with_state(&call, &state);
    // Whatever the client says was accepted: the owner has said nothing yet. It is not sent to
    // the console a second time, or a client that repeats by itself would go round in circles.
    let answer = ask(&house, TC, &again).await;
    assert_eq!(check(&house, &answer.json(), true), Told::Result);
    assert_eq!((house.ran(), house.store.approvals().len()), (0, 1));
    house.store.approve_all();
    let done = ask(&house, TC, &again).await.result();
    assert_eq!(done["structuredContent"], json!({"published": true}));
    let used = ask(&house, TC, &again).await.result();
    assert_eq!(used["_meta"]["narthex/error"]["code"], "approval_used");
    assert_eq!(house.ran(), 1, "once");
    assert_eq!(house.store.approvals()[0].status, ApprovalStatus::Used);
}

#[tokio::test]
async fn a_state_of_another_agent_call_or_time_is_garbage_like_any_other() {
    let house = house(true).open().await;
    let call = publish("x");
    let (own, others) = (state_of(&house, TC, &call).await, state_of(&house, TD, &call).await);
    let elsewhere = state_of(&house, TC, &publish("y")).await;
    house.store.approve_all();
    let text = own.as_str().expect("text");
    let flipped: String = text
        .chars()
        .map(|c| {
            if c == 'A' {
                'B'
            } else if c == 'B' {
                'A'
            } else {
                c
            }
        })
        .collect();
    let mut bodies = Vec::new();
    for (token, params, state) in [
        (TC, call.clone(), others.clone()),
        (TD, call.clone(), own.clone()),
        (TC, call.clone(), elsewhere),
        (TC, publish("z"), own.clone()),
        (TC, json!({"name": "echo", "arguments": {"text": "x"}}), own.clone()),
        (TC, json!({"name": "nosuch", "arguments": {"text": "x"}}), own.clone()),
        (TC, call.clone(), json!(flipped)),
        (TC, call.clone(), json!(&text[1..])),
        (TC, call.clone(), json!(format!("{text}A"))),
        (TC, call.clone(), json!("A".repeat(75))),
        (TC, call.clone(), json!("A".repeat(100_000))),
        (TC, call.clone(), json!("")),
        (TC, call.clone(), json!(null)),
        (TC, call.clone(), json!({"state": text})),
        (TC, call.clone(), json!(7)),
    ] {
        let before = house.records().len();
        for answer in [
            ask(&house, token, &with_state(&params, &state)).await,
            Request::modern(token, "tools/call", &with_state(&params, &state))
                .send(house.addr)
                .await,
        ] {
            assert_eq!((answer.status, answer.code()), (200, -32602), "{params} {state}");
            bodies.push(answer.body);
        }
        let records = house.records();
        let new: Vec<_> = records[before..].iter().map(|r| (r.phase, r.reason)).collect();
        assert_eq!(new, [(Phase::Refused, Reason::InvalidRequest); 2]);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "one and the same error");
    assert_eq!(house.ran(), 0, "though each of the calls was approved");
}

#[tokio::test]
async fn a_state_ends_with_what_it_is_about() {
    let mut house = House::with(|gate| {
        gate.approval_wait = Duration::from_millis(100);
        gate.approval_valid = Duration::from_millis(200);
    });
    house.edge.console = ConsoleUrl::parse(CONSOLE).ok();
    let house = house.open().await;
    let call = publish("x");
    let state = state_of(&house, TC, &call).await;
    assert_eq!(ask(&house, TC, &with_state(&call, &state)).await.code(), 0);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(ask(&house, TC, &with_state(&call, &state)).await.code(), -32602);
}

#[tokio::test]
async fn what_was_turned_down_in_the_client_does_not_run() {
    let house = house(true).open().await;
    let call = publish("x");
    let state = state_of(&house, TC, &call).await;
    house.store.approve_all();
    for action in ["decline", "cancel"] {
        let mut again = with_state(&call, &state);
        again["inputResponses"]["approval"]["action"] = json!(action);
        let result = ask(&house, TC, &again).await.result();
        assert_eq!(result["_meta"]["narthex/error"]["code"], "approval_needed", "{action}");
        assert_eq!(house.ran(), 0);
    }
    // What else is answered there means nothing.
    for responses in [json!(7), json!({"other": {"action": "decline"}}), json!({"approval": 7})] {
        let mut again = with_state(&publish(&responses.to_string()), &state);
        again.as_object_mut().expect("an object").swap_remove("requestState");
        again["inputResponses"] = responses;
        assert_eq!(told(&ask(&house, TC, &again).await.json()), Told::InputRequired);
    }
}

#[tokio::test]
async fn who_may_not_ask_is_not_told_to_wait() {
    let house = house(true).open().await;
    let result = ask(&house, TA, &publish("x")).await.result();
    assert_eq!(result["_meta"]["narthex/error"]["code"], "over_ceiling");
    assert!(house.store.approvals().is_empty());
}
