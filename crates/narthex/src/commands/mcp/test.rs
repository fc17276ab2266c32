//! `narthex mcp test|logs`.

use std::fmt::Write as _;

use narthex_server::owner::{ServerReply, ServerRequest, ServerSeen};

use super::{ask, names, shown};
use crate::cli::{McpNameArgs, McpTestArgs};
use crate::commands::unexpected;
use crate::output::clean;
use crate::output::table::{self, Column, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpTestArgs) -> Result<Exit, Failure> {
    let request = ServerRequest::Test { server: args.server.clone(), agent: args.agent.clone() };
    let ServerReply::Seen(seen) = ask(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&seen)?;
        return Ok(Exit::Done);
    }
    output::text(told(&seen))?;
    Ok(Exit::Done)
}

fn told(seen: &ServerSeen) -> String {
    let mut out = format!(
        "{} answers (revision {}). An agent sees at {}:\n\n",
        seen.server,
        clean::text(&seen.revision),
        seen.path
    );
    let rows = seen.tools.iter().map(|tool| -> [Said; 3] {
        [
            clean::text(&tool.name).into(),
            tool.tier.to_string().into(),
            shown::first_line(&tool.description).into(),
        ]
    });
    out.push_str(&table::rows(&COLUMNS, rows));
    // Writing to a String cannot fail.
    for (what, list) in [("resources", &seen.resources), ("prompts", &seen.prompts)] {
        if !list.is_empty() {
            let _ = write!(
                out,
                "\n\n{what}\n  {}",
                clean::text(&list.join("\n")).replace('\n', "\n  ")
            );
        }
    }
    for (name, why) in &seen.left_out {
        let _ = write!(out, "\n\nnot shown: {} ({})", clean::text(name), clean::text(why));
    }
    if !seen.waiting.is_empty() {
        let _ = write!(
            out,
            "\n\nwaiting for you: {}\n  narthex mcp approve {}",
            clean::text(&names(&seen.waiting)),
            seen.server
        );
    }
    out
}

pub(super) async fn logs(context: &Context, args: &McpNameArgs) -> Result<Exit, Failure> {
    let request = ServerRequest::Logs { server: args.server.clone() };
    let ServerReply::Logs(logs) = ask(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&logs)?;
        return Ok(Exit::Done);
    }
    if logs.iter().all(|log| log.lines.is_empty()) {
        output::text(format!("{} has said nothing since this house was opened.", args.server))?;
        return Ok(Exit::Done);
    }
    for log in logs {
        for line in log.lines {
            output::text(format!("{}: {}", log.whose, clean::text(&line)))?;
        }
    }
    Ok(Exit::Done)
}

const COLUMNS: [Column; 3] = [Column::Flows("TOOL"), Column::Whole("TIER"), Column::Flows("SAYS")];
