//! `narthex ledger tail`.

use std::time::Duration;

use narthex_core::Actor;
use narthex_server::owner::{Reply, Request};
use narthex_store::chain::Record;
use serde_json::Value;

use crate::cli::LedgerTailArgs;
use crate::commands::{once, unexpected};
use crate::output::clean;
use crate::output::table::{self, Column, Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerTailArgs) -> Result<Exit, Failure> {
    let records = newest(context, args.count).await?;
    if args.follow {
        return follow(context, records).await;
    }
    if context.is_json() {
        output::json(&records)?;
    } else {
        output::text(table::rows(&COLUMNS, records.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

async fn newest(context: &Context, count: u32) -> Result<Vec<Record>, Failure> {
    match once(context, Request::LedgerTail { count }).await? {
        Reply::Records(records) => Ok(records),
        _ => Err(unexpected()),
    }
}

/// Prints what is there, then what a running server adds. Each look is a connection of its own,
/// so that nobody is kept from the data directory in between.
async fn follow(context: &Context, records: Vec<Record>) -> Result<Exit, Failure> {
    let mut next = 1;
    for record in &records {
        print_line(context, record)?;
        next = record.seq.saturating_add(1);
    }
    loop {
        if !someone_writes(context).await? {
            output::note("Nothing runs on this data directory, so nothing will be added.");
            return Ok(Exit::Done);
        }
        for record in since(context, next).await? {
            print_line(context, &record)?;
            next = record.seq.saturating_add(1);
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Done),
        }
    }
}

/// INVARIANT: asked before each look, because looking by ourselves would open the house.
async fn someone_writes(context: &Context) -> Result<bool, Failure> {
    match once(context, Request::Status).await? {
        Reply::Status(status) => Ok(status.pid != std::process::id()),
        _ => Err(unexpected()),
    }
}

async fn since(context: &Context, from: u64) -> Result<Vec<Record>, Failure> {
    let Reply::Stored(lines) = once(context, Request::LedgerRead { from, limit: 500 }).await?
    else {
        return Err(unexpected());
    };
    let read = |line: &str| {
        serde_json::from_str(line).map_err(|_| {
            Failure::new(Exit::LedgerBroken, "a record cannot be read")
                .hint("narthex ledger verify")
        })
    };
    lines.iter().map(|line| read(&line.record)).collect()
}

fn print_line(context: &Context, record: &Record) -> Result<(), Failure> {
    if context.is_json() {
        return output::json_line(record);
    }
    let draft = &record.draft;
    output::text(clean::line(&format!(
        "{:<6}  {}  {:<8}  {:<16}  {:<16}  {:<8}  {}",
        record.seq,
        table::moment(record.at),
        word(&draft.phase),
        who(&draft.actor),
        draft.tool,
        word(&draft.outcome),
        draft.reason.code(),
    )))
}

fn row(record: &Record) -> [Said; 7] {
    let draft = &record.draft;
    let outcome = word(&draft.outcome);
    [
        record.seq.to_string().into(),
        table::moment(record.at).into(),
        word(&draft.phase).into(),
        who(&draft.actor).into(),
        clean::short(&draft.tool, 40).into(),
        match outcome.as_str() {
            "ok" => good(outcome),
            "open" => fair(outcome),
            _ => bad(outcome),
        },
        draft.reason.code().into(),
    ]
}

fn who(actor: &Actor) -> String {
    match actor {
        Actor::Agent { slug, .. } => slug.to_string(),
        Actor::Owner => "(owner)".to_owned(),
        Actor::House => "(house)".to_owned(),
        Actor::Nobody => "(nobody)".to_owned(),
    }
}

/// The word a small enum is written with.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => table::dash(),
    }
}

const EVERY: Duration = Duration::from_secs(1);

const COLUMNS: [Column; 7] = [
    Column::Whole("SEQ"),
    Column::Whole("AT"),
    Column::Whole("PHASE"),
    Column::Flows("WHO"),
    Column::Flows("WHAT"),
    Column::Whole("OUTCOME"),
    Column::Flows("REASON"),
];
