//! `narthex run`.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use narthex_server::owner::{CodeReply, CodeRequest, Reply, Request};
use serde_json::Value;

use super::{once, unexpected};
use crate::cli::RunArgs;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

/// Runs a program in an agent's name, or goes on with one.
pub async fn run(context: &Context, args: &RunArgs) -> Result<Exit, Failure> {
    let agent = args.agent.clone();
    let request = match (&args.resume, &args.eval, &args.script) {
        (Some(run), ..) => CodeRequest::Resume { agent, run: run.clone() },
        (None, Some(code), _) => {
            CodeRequest::Run { agent, code: code.clone(), timeout_ms: args.timeout_ms }
        }
        (None, None, Some(file)) => {
            CodeRequest::Run { agent, code: read(file)?, timeout_ms: args.timeout_ms }
        }
        (None, None, None) => return Err(Failure::new(Exit::Usage, "name a program")),
    };
    let Reply::Code(CodeReply::Ran(ran)) = once(context, Request::Code(request)).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&ran)?;
    } else {
        output::text(shown(&ran, args))?;
    }
    Ok(match ran.get("status").and_then(Value::as_str) {
        Some("done") => Exit::Done,
        Some("paused") => Exit::Conflict,
        _ => Exit::Failed,
    })
}

fn read(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failure::new(Exit::Failed, format!("standard input: {error}")))?;
        return Ok(text);
    }
    std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))
}

/// What it said, what it did if that was asked for, and how it ended.
fn shown(ran: &Value, args: &RunArgs) -> String {
    let mut out = String::new();
    for line in list(ran, "console") {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", clean::text(line.as_str().unwrap_or_default()));
    }
    if args.explain {
        for (number, call) in list(ran, "calls").iter().enumerate() {
            let error = call.get("error").and_then(Value::as_str);
            let error = error.map(|code| format!(" ({code})")).unwrap_or_default();
            let _ = writeln!(
                out,
                "{:>3}  {}  {}{error}",
                number + 1,
                text(call, "call"),
                text(call, "decision")
            );
        }
        let used =
            |key: &str| ran.pointer(&format!("/used/{key}")).and_then(Value::as_u64).unwrap_or(0);
        let _ = writeln!(
            out,
            "     {} ms of its own time, {} ms in all, {} KB of heap, {} calls",
            used("script_ms"),
            used("wall_ms"),
            used("heap_bytes") / 1024,
            used("calls")
        );
    }
    match text(ran, "status").as_str() {
        "done" => {
            if let Some(value) = ran.get("value") {
                out.push_str(&clean::text(&pretty(value)));
            }
        }
        "paused" => {
            for waits in list(ran, "waiting") {
                let _ = writeln!(out, "waits for you: {}", text(waits, "because"));
                let _ = writeln!(out, "  narthex approvals show {}", text(waits, "approval"));
            }
            let agent = &args.agent;
            let _ = write!(out, "then: narthex run --agent {agent} --resume {}", text(ran, "run"));
        }
        _ => {
            let error = ran.get("error").cloned().unwrap_or_default();
            let _ = write!(out, "{}: {}", text(&error, "code"), text(&error, "message"));
            if let Some(line) = error.get("line").and_then(Value::as_u64) {
                let column = error.get("column").and_then(Value::as_u64).unwrap_or(1);
                let _ = write!(out, "\n  at line {line}, column {column}");
            }
            if let Some(excerpt) = error.get("excerpt").and_then(Value::as_str) {
                let _ = write!(out, "\n  {}", clean::text(excerpt));
            }
        }
    }
    out.trim_end().to_owned()
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text(of: &Value, key: &str) -> String {
    clean::text(of.get(key).and_then(Value::as_str).unwrap_or_default())
}

fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}
