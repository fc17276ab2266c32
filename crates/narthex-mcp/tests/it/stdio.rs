//! The same surface on lines.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::Transport;
use narthex_gate::Stdio;
use narthex_mcp::StdioServer;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::{House, agent_id};
use crate::raw::{PATIENCE, message, with_meta};

pub(crate) struct Client {
    write: Option<WriteHalf<DuplexStream>>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self { write: Some(write), read: BufReader::new(read).lines() }
    }

    pub(crate) async fn say(&mut self, line: &str) {
        let write = self.write.as_mut().expect("open");
        write.write_all(format!("{line}\n").as_bytes()).await.expect("sent");
    }

    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.read.next_line()).await.expect("in time");
        let line = line.expect("readable")?;
        Some(serde_json::from_str(&line).expect("one JSON text a line"))
    }

    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        self.say(line).await;
        self.hear().await.expect("an answer")
    }

    /// Ends the input and hears what is left.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        let mut write = self.write.take().expect("open");
        write.shutdown().await.expect("closed");
        let mut rest = Vec::new();
        while let Some(answer) = self.hear().await {
            rest.push(answer);
        }
        rest
    }
}

fn start(house: &House, agent: u128) -> (Client, JoinHandle<std::io::Result<()>>) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let who = Stdio::Agent(agent_id(agent));
    let server =
        StdioServer::new(house.gate.clone(), Arc::clone(&house.surface), who, house.edge.clone());
    let (input, output) = tokio::io::split(theirs);
    #[expect(clippy::disallowed_methods, reason = "joined by the test")]
    let serving = tokio::spawn(server.run(input, output, CancellationToken::new()));
    (Client::new(ours), serving)
}

fn call(id: u64, name: &str, arguments: &Value) -> String {
    message(id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

#[tokio::test]
async fn both_eras_on_one_line_each() {
    let house = House::new();
    let (mut client, serving) = start(&house, 1);
    let hello =
        client.ask(&message(1, "initialize", &json!({"protocolVersion": "2025-06-18"}))).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(client.ask(&message(2, "ping", &json!({}))).await["result"], json!({}));
    let echo = client.ask(&call(3, "echo", &json!({"text": "a\nb"}))).await;
    assert_eq!(echo["result"]["structuredContent"]["text"], "a\nb");
    assert!(echo["result"].get("resultType").is_none());
    let discover = client.ask(&message(4, "server/discover", &with_meta(&json!({})))).await;
    assert_eq!(discover["result"]["resultType"], "complete");
    let list = client.ask(&message(5, "tools/list", &with_meta(&json!({})))).await;
    assert_eq!(list["result"]["cacheScope"], "private");
    let unknown = client.ask(&message(6, "prompts/list", &with_meta(&json!({})))).await;
    assert_eq!((&unknown["error"]["code"], &unknown["id"]), (&json!(-32601), &json!(6)));
    assert!(client.end().await.is_empty());
    serving.await.expect("joined").expect("a clean end");
    assert!(house.records().iter().all(|record| record.transport == Transport::Stdio));
    assert!(house.records().iter().all(|record| record.token.is_none()));
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_next_is_served() {
    let house = House::new().edge(|edge| edge.body_bytes = 10_000);
    let (mut client, serving) = start(&house, 1);
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, -32700),
        (&"x".repeat(50_000), -32600),
    ] {
        let answer = client.ask(line).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null));
    }
    for (version, code) in [("2024-11-05", -32022), ("v9", -32022)] {
        let mut params = with_meta(&json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let answer = client.ask(&message(9, "tools/list", &params)).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &json!(9)));
    }
    let echo = client.ask(&call(10, "echo", &json!({"text": "x"}))).await;
    assert_eq!(echo["id"], 10);
    client.end().await;
    serving.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn consent_in_the_handshake_holds_for_the_process_and_only_goes_down() {
    let house = House::new();
    let (mut client, serving) = start(&house, 1);
    let code = |answer: &Value| answer["result"]["_meta"]["narthex/error"]["code"].clone();
    let suggest = |id| call(id, "suggest", &json!({}));
    assert_eq!(code(&client.ask(&suggest(1)).await), "conflict");
    client.ask(&message(2, "initialize", &json!({"consentCeiling": "T0"}))).await;
    assert_eq!(code(&client.ask(&suggest(3)).await), "over_ceiling");
    let raised =
        json!({"name": "suggest", "arguments": {}, "_meta": {"narthex/consentCeiling": "T3"}});
    assert_eq!(code(&client.ask(&message(4, "tools/call", &raised)).await), "over_ceiling");
    client.ask(&message(5, "initialize", &json!({"consentCeiling": "T3"}))).await;
    client.ask(&message(6, "initialize", &json!({}))).await;
    assert_eq!(code(&client.ask(&suggest(7)).await), "over_ceiling");
    client.end().await;
    serving.await.expect("joined").expect("a clean end");
    let (mut fresh, serving) = start(&house, 1);
    fresh.ask(&message(1, "initialize", &json!({"consentCeiling": {"tier": "T3"}}))).await;
    assert_eq!(code(&fresh.ask(&suggest(2)).await), "over_ceiling", "malformed means T0");
    fresh.end().await;
    serving.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn who_it_speaks_for_is_looked_up_for_every_message() {
    let house = House::new();
    let (mut client, serving) = start(&house, 1);
    let echo = |id| call(id, "echo", &json!({"text": "x"}));
    assert!(client.ask(&echo(1)).await["result"].is_object());
    house.store.disable(agent_id(1));
    let refused = client.ask(&echo(2)).await;
    assert_eq!(refused["error"]["data"]["code"], "agent_disabled");
    assert_eq!(refused["id"], 2);
    client.end().await;
    serving.await.expect("joined").expect("a clean end");
    for (agent, code) in [(3, "no_space_scope"), (99, "unauthorized")] {
        let (mut client, serving) = start(&house, agent);
        assert_eq!(client.ask(&echo(1)).await["error"]["data"]["code"], code);
        client.end().await;
        serving.await.expect("joined").expect("a clean end");
    }
    assert_eq!(house.ran(), 1);
}

#[tokio::test]
async fn slow_calls_do_not_hold_up_others_and_finish_after_the_input_ends() {
    let house = House::new();
    let (mut client, serving) = start(&house, 1);
    client.say(&call(1, "slow", &json!({"millis": 400}))).await;
    let fast = client.ask(&call(2, "echo", &json!({"text": "x"}))).await;
    assert_eq!(fast["id"], 2);
    let rest = client.end().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["result"]["structuredContent"]["slept"], 400);
    serving.await.expect("joined").expect("a clean end");
}

#[tokio::test]
async fn a_call_can_be_taken_back() {
    let house = House::new().edge(|edge| edge.stdio_calls = 1);
    let (mut client, serving) = start(&house, 1);
    client.say(&call(1, "slow", &json!({"millis": 10_000}))).await;
    while house.ran() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    assert_eq!(client.ask(&message(2, "ping", &json!({}))).await["id"], 2);
    assert!(client.end().await.is_empty(), "what was taken back is not answered");
    serving.await.expect("joined").expect("a clean end");
}
