//! `narthex graph diff`.

use anstyle::{AnsiColor, Style};
use narthex_server::owner::{DiffPage, DiffRow, GraphReply, GraphRequest, Reply, Request};
use serde_json::Value;

use crate::ask::Asking;
use crate::cli::GraphDiffArgs;
use crate::commands::unexpected;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphDiffArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let found = all(&mut asking, args).await;
    asking.close().await?;
    let found = found?;
    if context.is_json() {
        output::json(&found)?;
        return Ok(Exit::Done);
    }
    if found.rows.is_empty() {
        output::text("No row differs.")?;
        return Ok(Exit::Done);
    }
    for row in &found.rows {
        output::text(shown(row))?;
    }
    if let Some(next) = &found.next {
        output::note(format!("There are more: go on with --after={next}"));
    }
    Ok(Exit::Done)
}

/// As many rows as were asked for, a page at a time, all between the same two commits.
async fn all(asking: &mut Asking, args: &GraphDiffArgs) -> Result<DiffPage, Failure> {
    let (mut from, mut to) = (args.from.clone(), args.to.clone());
    let mut after = args.after.clone();
    let mut whole: Option<DiffPage> = None;
    loop {
        let had = whole.as_ref().map_or(0, |page| page.rows.len());
        let limit = args.limit.saturating_sub(u32::try_from(had).unwrap_or(u32::MAX));
        let graph = args.graph.clone();
        let request = GraphRequest::Diff { graph, from, to, after, limit };
        let reply = asking.ask(Request::Graph(request)).await?;
        let Reply::Graph(GraphReply::Diff(page)) = reply else { return Err(unexpected()) };
        (from, to, after) = (page.from.to_string(), page.to.to_string(), page.next.clone());
        let whole = match &mut whole {
            None => whole.insert(page),
            Some(whole) => {
                whole.rows.extend(page.rows);
                whole.next = page.next;
                whole
            }
        };
        if whole.next.is_none() || whole.rows.len() >= args.limit as usize {
            return Ok(whole.clone());
        }
    }
}

fn shown(row: &DiffRow) -> String {
    let (mark, style) = match row.change.as_str() {
        "added" => ('+', AnsiColor::Green.on_default()),
        "removed" => ('-', AnsiColor::Red.on_default()),
        _ => ('~', Style::new().bold()),
    };
    let mut text = format!("{style}{mark} {}{style:#}", clean::line(&row.name));
    for property in &row.properties {
        let side = |side: Option<&Value>| {
            let value = side.and_then(|side| side.get(property)).unwrap_or(&Value::Null);
            clean::short(&value.to_string(), WIDTH)
        };
        let name = clean::line(property);
        let (before, after) = (side(row.before.as_ref()), side(row.after.as_ref()));
        let line = match row.change.as_str() {
            "added" => format!("\n    {name}: {after}"),
            "removed" => format!("\n    {name}: {before}"),
            _ => format!("\n    {name}: {before} → {after}"),
        };
        text.push_str(&line);
    }
    text
}

/// Characters of one value.
const WIDTH: usize = 200;
