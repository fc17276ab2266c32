//! `narthex inbox`.

mod approve;
mod list;
mod reject;
mod rows;
mod server;
mod show;

use narthex_core::ProposalStatus;
use narthex_server::owner::{Decided, MergeInfo, Merged, ProposalInfo};

use crate::cli::InboxCommand;
use crate::output::table::{Said, bad, fair, good};
use crate::{Context, Exit, Failure, output};

/// Carries out `narthex inbox …`.
pub async fn run(context: &Context, command: &InboxCommand) -> Result<Exit, Failure> {
    match command {
        InboxCommand::List(args) => list::run(context, args).await,
        InboxCommand::Show(args) => show::run(context, args).await,
        InboxCommand::Approve(args) => approve::run(context, args).await,
        InboxCommand::Reject(args) => reject::run(context, args).await,
    }
}

/// Says what became of a proposal.
fn print(context: &Context, decided: &Decided) -> Result<Exit, Failure> {
    if context.is_json() {
        output::json(decided)?;
    } else {
        let page = match (decided.page, decided.revision) {
            (Some(page), Some(revision)) => format!(" Page {page} is at revision {revision} now."),
            _ => String::new(),
        };
        let merged = decided.merged.as_ref().map(merged).unwrap_or_default();
        let server = decided.let_in.as_ref().map(server::let_in).unwrap_or_default();
        let (id, status) = (decided.id, decided.status);
        output::text(format!("Proposal {id} is {status}.{page}{merged}{server}"))?;
    }
    // A conflict is no failure of the command, but nothing was applied either.
    Ok(if decided.status == ProposalStatus::Conflict { Exit::Conflict } else { Exit::Done })
}

/// Where the branch stands that something was brought into.
fn merged(merged: &Merged) -> String {
    let Merged { graph, branch, commit, committed, rows } = merged;
    let at = commit.map(|commit| format!(" at {commit}")).unwrap_or_default();
    if *committed {
        let rows = if *rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        format!(" {graph}: {branch} is{at} now, with {rows} written.")
    } else {
        format!(" {graph}: {branch} had all of it already{at}.")
    }
}

/// What it is about: the page's slug, or its id; of a merge the graph and its branches; a server's
/// name.
fn subject(info: &ProposalInfo) -> String {
    if let Some(MergeInfo { graph, from, into, .. }) = &info.merge {
        let graph = graph.as_ref().map_or("(gone)", |graph| graph.as_str());
        return format!("{graph}: {from} → {into}");
    }
    let named = info.slug.clone().or_else(|| info.page.map(|page| page.to_string()));
    named.unwrap_or_else(|| info.entity_type.to_string())
}

fn status(status: ProposalStatus) -> Said {
    match status {
        ProposalStatus::Pending => fair("pending"),
        ProposalStatus::Applied => good("applied"),
        ProposalStatus::Rejected => bad("rejected"),
        ProposalStatus::Conflict => bad("conflict"),
    }
}
