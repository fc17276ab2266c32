//! The trivial one.

use narthex_test::{Client, Era};
use serde_json::json;

use super::peer::Peer;

#[test]
fn on_pipes() {
    let mut peer = Peer::start_with(&["echo", "stdio"]);
    let greeted = peer.request("initialize", &json!({"protocolVersion": "2025-11-25"}));
    assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(peer.request("tools/list", &json!({}))["result"]["tools"][0]["name"], "echo");
    let text = "caf\u{e9} \"quoted\" \n";
    let said = peer.call("echo", &json!({"text": text}));
    assert_eq!(said["result"], json!({"content": [{"type": "text", "text": text}]}));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let modern = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": meta});
    assert_eq!(peer.request("tools/call", &modern)["result"]["resultType"], "complete");
    assert_eq!(peer.request("x/y", &json!({}))["error"]["code"], -32601);
}

#[tokio::test]
async fn over_http() {
    let peer = Peer::start_with(&["echo", "http"]);
    let url = String::from_utf8(peer.line()).unwrap();
    let client = Client::new(url.trim().to_owned(), None);
    for era in [Era::Modern, Era::Legacy] {
        let client = client.speaking(era);
        for n in 0..20 {
            let said = client.call("echo", json!({"text": n.to_string()})).await.unwrap();
            assert_eq!(said.json()["result"]["content"][0]["text"], n.to_string());
        }
    }
}
