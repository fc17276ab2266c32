//! The gate's words in MCP's words. The only place where one is turned into the other.

use std::sync::{Arc, LazyLock};

use narthex_core::Reason;
use narthex_gate::{ToolOutput, ToolSpec, Waiting};
use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, JsonObject, ListToolsResult, MetaObject,
    ResultType, Tool, ToolAnnotations,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::era::Era;

/// A tool's name, and how it is listed.
pub(super) fn listed(spec: &ToolSpec) -> Option<(String, Box<RawValue>)> {
    let written = serde_json::value::to_raw_value(&tool(spec));
    let written = written.inspect_err(|error| tracing::error!(%error, "a tool cannot be listed"));
    Some((spec.name.clone(), written.ok()?))
}

/// A list of tools that are written already, in a frame that has none.
#[derive(Serialize)]
pub(super) struct ToolList<'a> {
    tools: Vec<&'a RawValue>,
    #[serde(flatten)]
    frame: JsonObject,
}

impl<'a> ToolList<'a> {
    pub(super) fn new(frame: &ListToolsResult, tools: Vec<&'a RawValue>) -> Self {
        let mut frame = object(serde_json::to_value(frame).unwrap_or_default());
        frame.shift_remove("tools");
        Self { tools, frame }
    }
}

/// A tool as it is listed.
fn tool(spec: &ToolSpec) -> Tool {
    let hints = spec.annotations;
    let annotations = ToolAnnotations::with_title(spec.title.clone())
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    let mut tool =
        Tool::new(spec.name.clone(), spec.description.clone(), object(spec.input_schema.clone()))
            .with_title(spec.title.clone())
            .with_annotations(annotations);
    tool.output_schema = spec.output_schema.clone().map(|schema| Arc::new(object(schema)));
    tool
}

/// A tool's answer: structured, and the same as text for clients that only read text.
pub(super) fn answer(mut output: ToolOutput, era: Era) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.take_text())]);
    // Never null: some clients take a null for a broken answer.
    result.structured_content = Some(output.structured).filter(|content| !content.is_null());
    stamped(result, era)
}

/// A refusal the model can act on. No structured content: that would have to fit the schema.
pub(super) fn refusal(reason: Reason, message: &str, era: Era) -> CallToolResult {
    failure(json!({ "code": reason.code(), "message": message }), era)
}

/// A call that waits for the owner, for a model to read.
pub(super) fn waits(waiting: &Waiting, era: Era) -> CallToolResult {
    let error = json!({
        "code": waiting.because.code(),
        "message": waiting.message(),
        "approval": { "id": waiting.approval, "until": waiting.until },
    });
    failure(error, era)
}

fn failure(error: Value, era: Era) -> CallToolResult {
    let text = json!({ "error": error }).to_string();
    let mut meta = server_info_meta();
    meta.0.insert(ERROR_META_KEY.to_owned(), error);
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(meta);
    stamped(result, era)
}

fn stamped(mut result: CallToolResult, era: Era) -> CallToolResult {
    result.meta.get_or_insert_with(server_info_meta);
    // A hard gate: modern clients reject a result without it, legacy ones must not see it.
    result.result_type = match era {
        Era::Modern => Some(ResultType::COMPLETE),
        Era::Legacy => None,
    };
    result
}

pub(super) fn implementation() -> Implementation {
    Implementation::new("narthex", env!("CARGO_PKG_VERSION"))
}

/// `_meta` that says who answered.
pub(super) fn server_info_meta() -> MetaObject {
    static META: LazyLock<MetaObject> = LazyLock::new(|| {
        let mut meta = MetaObject::new();
        let info = serde_json::to_value(implementation()).unwrap_or_default();
        meta.0.insert(SERVER_INFO_META_KEY.to_owned(), info);
        meta
    });
    META.clone()
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(map) => map,
        // A surface's schemas are objects; `true` and `false` say nothing a client could use.
        _ => JsonObject::new(),
    }
}

const SERVER_INFO_META_KEY: &str = "io.modelcontextprotocol/serverInfo";
const ERROR_META_KEY: &str = "narthex/error";
