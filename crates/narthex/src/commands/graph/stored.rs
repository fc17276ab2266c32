//! `narthex graph stored`.

use narthex_server::owner::{GraphReply, GraphRequest, ParamShown, StoredQueryShown};

use super::ask;
use crate::cli::GraphStoredArgs;
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphStoredArgs) -> Result<Exit, Failure> {
    let request = GraphRequest::Stored { graph: args.graph.clone() };
    let GraphReply::Stored(stored) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&stored)?;
        return Ok(Exit::Done);
    }
    if stored.queries.is_empty() {
        output::text(format!(
            "No stored queries; declare some under [graphs.{}] in the settings.",
            stored.graph
        ))?;
        return Ok(Exit::Done);
    }
    let how = if stored.mode == "meta" {
        "stored_query_list and stored_query_run"
    } else {
        "a tool each"
    };
    output::text(format!(
        "{} of {} shown to agents as {how} (mode {}, threshold {})\n\n{}",
        stored.exposed,
        stored.queries.len(),
        stored.declared,
        stored.threshold,
        table::rows(&COLUMNS, stored.queries.iter().map(row))
    ))?;
    Ok(Exit::Done)
}

fn row(query: &StoredQueryShown) -> [Said; 6] {
    let params: Vec<String> = query.params.iter().map(param).collect();
    [
        query.name.as_str().into(),
        if query.exposed { query.tool.as_str().into() } else { fair("hidden") },
        if query.writes { fair("changes") } else { good("reads") },
        params.join(", ").into(),
        query.file.as_str().into(),
        query.description.as_str().into(),
    ]
}

/// `slug: String`, with a `?` where it may be left out.
fn param(param: &ParamShown) -> String {
    format!("{}{}: {}", param.name, if param.required { "" } else { "?" }, param.kind)
}

const COLUMNS: [Column; 6] = [
    Column::Whole("QUERY"),
    Column::Whole("TOOL"),
    Column::Whole("DOES"),
    Column::Flows("PARAMETERS"),
    Column::Flows("FILE"),
    Column::Flows("DESCRIPTION"),
];
