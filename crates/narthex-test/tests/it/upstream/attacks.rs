//! What is hostile in itself arrives as it was written.

use narthex_test::upstream::attacks::{deep_tools, definitions, many_tools, replies};
use narthex_test::upstream::{Script, Step};
use serde_json::{Value, json};

use super::peer::Peer;

fn start(script: &Script) -> (tempfile::TempDir, Peer) {
    let folder = tempfile::tempdir().unwrap();
    let args = script.args_in(&folder.path().join("script.json")).unwrap();
    let peer = Peer::start_with(&args.iter().map(String::as_str).collect::<Vec<_>>());
    (folder, peer)
}

#[test]
fn definitions_are_listed_and_answers_given() {
    let mut script = Script::new();
    for definition in definitions() {
        script = script.defined(definition.tool, [Step::Echo]);
    }
    for (n, reply) in replies().into_iter().enumerate() {
        script = script.on(&format!("tools/call reply_{n}"), [reply.step]);
    }
    let (_folder, mut peer) = start(&script);
    let listed = peer.request("tools/list", &json!({}))["result"]["tools"].clone();
    let written: Vec<Value> = definitions().into_iter().map(|definition| definition.tool).collect();
    assert_eq!(listed, Value::from(written));
    for (n, reply) in replies().iter().enumerate() {
        peer.begin(&format!("reply_{n}"), &json!({}));
        let line = String::from_utf8(peer.line()).unwrap();
        let is_there = match &reply.step {
            Step::Answer(result) => line.contains(&result.to_string()),
            Step::Written(text) => line.contains(text),
            _ => line.contains("s3cret"),
        };
        assert!(is_there, "{}, {}: {line}", reply.row, reply.what);
    }
}

#[test]
fn f10_lists_are_as_long_and_as_deep_as_wanted() {
    let mut script = Script::new();
    script.offer.tools = Some(many_tools(10_000));
    let (_folder, mut peer) = start(&script);
    let listed = peer.request("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(10_000));
    let (_folder, mut peer) = start(&Script::new().on("tools/list", [deep_tools(1000)]));
    peer.ask("tools/list", &json!({}));
    let line = String::from_utf8(peer.line()).unwrap();
    assert_eq!(line.matches("\"properties\"").count(), 1000);
    assert_eq!(line.matches('{').count(), line.matches('}').count());
}
