//! `narthex graph query`.

use narthex_server::owner::{GraphQuery, GraphReply, GraphRequest, QueryAnswer};
use serde_json::{Map, Value, json};

use super::ask_with;
use super::source::Source;
use crate::cli::{GraphQueryArgs, QueryArgs};
use crate::commands::unexpected;
use crate::output::table;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphQueryArgs) -> Result<Exit, Failure> {
    let (source, query) = read(&args.query)?;
    let request = GraphRequest::Query {
        graph: args.graph.clone(),
        query,
        at: args.at.at.clone(),
        cursor: args.cursor.clone(),
        limit: args.limit,
    };
    let GraphReply::Answer(answer) = ask_with(context, source.as_ref(), request).await? else {
        return Err(unexpected());
    };
    print(context, &answer)
}

/// The query that is meant, and its text where one was given.
pub(super) fn read(args: &QueryArgs) -> Result<(Option<Source>, GraphQuery), Failure> {
    let source = Source::given(&args.source)?;
    if source.is_none() && args.query.is_none() {
        return Err(Failure::new(Exit::Usage, "there is no query")
            .hint("name a stored one, or give a text with --file, --file - or --text"));
    }
    let query = GraphQuery {
        text: source.as_ref().map(|source| source.text.clone()),
        name: args.query.clone(),
        params: args.params.clone().unwrap_or_default(),
        words: args.words.clone(),
    };
    Ok((source, query))
}

fn print(context: &Context, answer: &QueryAnswer) -> Result<Exit, Failure> {
    if context.is_json() {
        let row = |cells: &Vec<Value>| -> Map<String, Value> {
            answer.columns.iter().cloned().zip(cells.iter().cloned()).collect()
        };
        let rows: Vec<_> = answer.rows.iter().map(row).collect();
        output::json(&json!({
            "commit": answer.commit,
            "columns": answer.columns,
            "rows": rows,
            "next": answer.next,
        }))?;
        return Ok(Exit::Done);
    }
    if answer.rows.is_empty() {
        output::text("No rows.")?;
        return Ok(Exit::Done);
    }
    let rows = answer.rows.iter().map(|cells| cells.iter().map(cell));
    output::text(table::grid(&answer.columns, rows))?;
    if let Some(next) = &answer.next {
        output::note(format!("There are more: go on with --cursor {next}"));
    }
    Ok(Exit::Done)
}

/// Text as it is, null as a dash, all else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => table::dash(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
