//! `narthex mcp call`.

use narthex_server::owner::{ServerReply, ServerRequest};
use serde_json::{Map, Value};

use super::ask;
use crate::cli::McpCallArgs;
use crate::commands::unexpected;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpCallArgs) -> Result<Exit, Failure> {
    let arguments: Map<String, Value> = serde_json::from_str(&args.arguments).map_err(|error| {
        Failure::new(Exit::Usage, format!("the arguments are no JSON object: {error}"))
            .hint("narthex mcp call SERVER TOOL '{\"name\": \"value\"}'")
    })?;
    let (server, tool) = (args.server.clone(), args.tool.clone());
    let ServerReply::Answer(answer) =
        ask(context, ServerRequest::Call { server, tool, arguments }).await?
    else {
        return Err(unexpected());
    };
    let failed = answer.get("isError") == Some(&Value::Bool(true));
    if context.is_json() {
        output::json(&answer)?;
    } else {
        output::text(text(&answer))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// The texts of an answer; all of it where there are none.
fn text(answer: &Value) -> String {
    let content = answer.get("content").and_then(Value::as_array);
    let texts: Vec<&str> = content
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("text").and_then(Value::as_str))
        .collect();
    if texts.is_empty() {
        let all = serde_json::to_string_pretty(answer).unwrap_or_else(|_| answer.to_string());
        return clean::text(&all);
    }
    clean::text(&texts.join("\n"))
}
