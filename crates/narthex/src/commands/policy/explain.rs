//! `narthex policy explain`.

use narthex_server::owner::{Explained, Reply, Request};

use crate::cli::PolicyExplainArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &PolicyExplainArgs) -> Result<Exit, Failure> {
    let request = Request::PolicyExplain {
        agent: args.agent.clone(),
        tool: args.tool.clone(),
        action: args.action,
        entity_type: args.entity_type,
        space: args.space.clone(),
    };
    let Reply::Explained(list) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&list)?;
        return Ok(Exit::Done);
    }
    output::text(table::rows(&COLUMNS, list.iter().map(row)))?;
    for error in list.iter().flat_map(|one| &one.errors) {
        output::note(format!("error while deciding: {}", clean::line(error)));
    }
    Ok(Exit::Done)
}

fn row(one: &Explained) -> [Said; 6] {
    let decision = match one.decision.as_str() {
        "allow" => good("allow"),
        "approval" => fair("approval"),
        other => bad(other),
    };
    [
        format!("{} {}", one.action, one.entity_type).into(),
        one.target.clone().into(),
        if one.permitted { good("permit") } else { bad("deny") },
        decision,
        one.reason.clone().into(),
        if one.policies.is_empty() {
            "no permit matches".into()
        } else {
            one.policies.join(", ").into()
        },
    ]
}

const COLUMNS: [Column; 6] = [
    Column::Whole("ACTION"),
    Column::Whole("TARGET"),
    Column::Whole("POLICY"),
    Column::Whole("GATE"),
    Column::Whole("REASON"),
    Column::Flows("BY"),
];
