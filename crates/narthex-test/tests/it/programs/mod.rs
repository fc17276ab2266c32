//! Programs that agents send, through the door.

mod gated;
mod recorded;
mod together;
mod waits;

use narthex_core::Mode;
use narthex_test::upstream::{Script, Step};
use narthex_test::{Client, HouseOptions};
use serde_json::{Value, json};

use crate::servers::rig::{By, Rig};

pub(super) fn said(text: &str) -> Step {
    Step::Answer(json!({"content": [{"type": "text", "text": text}]}))
}

pub(super) async fn run(client: &Client, code: &str) -> Value {
    let answer = client.call("execute_code", json!({"code": code})).await.expect("an answer");
    assert!(answer.is_ok(), "{answer:?}");
    answer.structured()
}

pub(super) fn value(ran: &Value) -> &Value {
    assert_eq!(ran["status"], "done", "{ran}");
    &ran["value"]
}

/// A house with one server, `pad`: it reads at T0 and writes at T2.
pub(super) async fn rig(options: HouseOptions) -> (Rig, Client) {
    let mut rig = Rig::with(options).await;
    let script = Script::new()
        .tool("look", vec![said("{\"n\": 7}")])
        .tool("write-down", vec![said("written")]);
    let rules = json!({"tools": {"look": {"tier": "T0"}, "write-down": {"tier": "T2"}}, "effects": {"takesIn": "owned", "sends": "inside"}});
    rig.serve("pad", By::Pipes, &script, rules).await;
    let client = rig.client("coder", "pad").await;
    let token = client.token();
    let client = rig.house.code_client_with(token);
    (rig, client)
}

pub(super) fn open() -> HouseOptions {
    HouseOptions { mode: Mode::Open, ..HouseOptions::default() }
}
