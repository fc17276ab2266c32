//! `narthex taint show`.

use narthex_server::owner::{LatchInfo, Reply, Request, TaintRequest};

use super::{causes, said};
use crate::cli::TaintShowArgs;
use crate::commands::{once, unexpected};
use crate::output::table::{self, Said};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &TaintShowArgs) -> Result<Exit, Failure> {
    let request = Request::Taint(TaintRequest::Show { agent: args.agent.clone() });
    let Reply::Latches(latches) = once(context, request).await? else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&latches)?;
    } else if latches.is_empty() {
        output::text("Nothing was taken in.")?;
    } else {
        let shown: Vec<String> = latches.iter().map(facts).collect();
        output::text(shown.join("\n\n"))?;
    }
    Ok(Exit::Done)
}

/// A latch, fact by fact.
pub(super) fn facts(latch: &LatchInfo) -> String {
    let space = latch.space.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string);
    let mut facts: Vec<(&str, Said)> = vec![
        ("agent", latch.agent.to_string().into()),
        ("space", space.into()),
        ("took in", said(latch.taint())),
    ];
    facts.extend(causes(latch));
    table::facts(facts)
}
