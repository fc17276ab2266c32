//! `narthex graph`.

mod apply;
mod branch;
mod check;
mod conflicts;
mod diff;
mod export;
mod init;
mod list;
mod load;
mod log;
mod merge;
mod mutate;
mod place;
mod plan;
mod query;
mod remove;
mod revert;
mod schema;
mod source;
mod stored;

use narthex_core::CommitId;
use narthex_server::owner::{GraphChange, GraphChanged, GraphReply, GraphRequest, Reply, Request};

use serde_json::json;

use self::source::Source;
use super::{once, unexpected};
use crate::cli::{ChangeArgs, GraphCommand};
use crate::output::table;
use crate::{Context, Exit, Failure, output};

/// Carries out `narthex graph …`.
pub async fn run(context: &Context, command: &GraphCommand) -> Result<Exit, Failure> {
    match command {
        GraphCommand::Init(args) => init::run(context, args).await,
        GraphCommand::List(args) => list::run(context, args).await,
        GraphCommand::Schema(args) => schema::run(context, args).await,
        GraphCommand::Plan(args) => plan::run(context, args).await,
        GraphCommand::Apply(args) => apply::run(context, args).await,
        GraphCommand::Query(args) => query::run(context, args).await,
        GraphCommand::Mutate(args) => mutate::run(context, args).await,
        GraphCommand::Load(args) => load::run(context, args).await,
        GraphCommand::Export(args) => export::run(context, args).await,
        GraphCommand::Branch(command) => branch::run(context, command).await,
        GraphCommand::Merge(args) => merge::run(context, args).await,
        GraphCommand::Log(args) => log::run(context, args).await,
        GraphCommand::Diff(args) => diff::run(context, args).await,
        GraphCommand::Revert(args) => revert::run(context, args).await,
        GraphCommand::Stored(args) => stored::run(context, args).await,
        GraphCommand::Check(args) => check::run(context, args),
        GraphCommand::Remove(args) => remove::run(context, args).await,
    }
}

/// Asks one thing about graphs.
async fn ask(context: &Context, request: GraphRequest) -> Result<GraphReply, Failure> {
    match once(context, Request::Graph(request)).await? {
        Reply::Graph(reply) => Ok(reply),
        _ => Err(unexpected()),
    }
}

/// Asks for something that a text says; what is wrong with the text is shown in it.
async fn ask_with(
    context: &Context,
    source: Option<&Source>,
    request: GraphRequest,
) -> Result<GraphReply, Failure> {
    match (ask(context, request).await?, source) {
        (GraphReply::Faults(faults), Some(source)) => Err(source.failure(&faults)),
        (GraphReply::Faults(faults), None) => {
            let said: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
            Err(Failure::new(Exit::Usage, said.join("; ")))
        }
        (reply, _) => Ok(reply),
    }
}

/// What a change says, as the command line has it.
fn change(graph: &str, branch: Option<&String>, args: &ChangeArgs) -> GraphChange {
    GraphChange {
        graph: graph.to_owned(),
        branch: branch.cloned(),
        expected: args.expected.clone(),
        message: args.message.clone(),
    }
}

/// Says what came of a change.
fn print_changed(context: &Context, reply: GraphReply) -> Result<Exit, Failure> {
    let done = match reply {
        GraphReply::Changed(done) => done,
        GraphReply::Conflicts(found) => return conflicts::print(context, &found),
        _ => return Err(unexpected()),
    };
    if context.is_json() {
        output::json(&done)?;
    } else {
        output::text(said(&done))?;
    }
    Ok(Exit::Done)
}

/// Says what came of a change to a branch itself.
fn print_branch(context: &Context, reply: GraphReply, now: &str) -> Result<Exit, Failure> {
    let GraphReply::Changed(done) = reply else { return Err(unexpected()) };
    if context.is_json() {
        let GraphChanged { graph, branch, commit, .. } = done;
        output::json(&json!({"graph": graph, "branch": branch, "commit": commit, "now": now}))?;
    } else {
        output::text(table::facts([
            ("graph", done.graph.to_string()),
            ("branch", done.branch.to_string()),
            ("commit", done.commit.map_or_else(table::dash, |commit| commit.to_string())),
            ("now", now.to_owned()),
        ]))?;
    }
    Ok(Exit::Done)
}

fn said(done: &GraphChanged) -> String {
    let commit = done.commit.map_or_else(table::dash, |commit| commit.to_string());
    let changed = if done.committed { counted(done) } else { "nothing".to_owned() };
    table::facts([
        ("graph", done.graph.to_string()),
        ("branch", done.branch.to_string()),
        ("commit", commit),
        ("changed", changed),
    ])
}

fn counted(done: &GraphChanged) -> String {
    let counts = [
        (done.nodes_inserted, "node", "added"),
        (done.nodes_updated, "node", "changed"),
        (done.nodes_deleted, "node", "deleted"),
        (done.edges_inserted, "edge", "added"),
        (done.edges_updated, "edge", "changed"),
        (done.edges_deleted, "edge", "deleted"),
    ];
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    let some = some.map(|(count, what, how)| {
        format!("{count} {what}{} {how}", if count == 1 { "" } else { "s" })
    });
    let some: Vec<String> = some.collect();
    if some.is_empty() { "no rows".to_owned() } else { some.join(", ") }
}

/// The beginning of a commit's id, as long as people copy it.
fn short(commit: CommitId) -> String {
    commit.to_string().chars().take(SHORT).collect()
}

const SHORT: usize = 12;
