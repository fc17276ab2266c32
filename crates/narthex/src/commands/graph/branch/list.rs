//! `narthex graph branch list`.

use narthex_server::owner::{BranchRequest, BranchShown, GraphReply, GraphRequest};

use crate::cli::GraphBranchListArgs;
use crate::commands::graph::{ask, short};
use crate::commands::unexpected;
use crate::output::table::{self, Column, Said, fair, good};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphBranchListArgs) -> Result<Exit, Failure> {
    let request = BranchRequest::List { graph: args.graph.clone() };
    let reply = ask(context, GraphRequest::Branch(request)).await?;
    let GraphReply::Branches(branches) = reply else { return Err(unexpected()) };
    if context.is_json() {
        output::json(&branches)?;
    } else {
        output::text(table::rows(&COLUMNS, branches.iter().map(row)))?;
    }
    Ok(Exit::Done)
}

fn row(branch: &BranchShown) -> [Said; 6] {
    [
        branch.name.as_str().into(),
        short(branch.commit).into(),
        branch.own_commits.to_string().into(),
        if branch.protected { good("yes") } else { "no".into() },
        branch.agent.as_ref().map_or_else(|| "owner".into(), |agent| fair(agent.clone())),
        table::moment(branch.created).into(),
    ]
}

const COLUMNS: [Column; 6] = [
    Column::Flows("BRANCH"),
    Column::Whole("AT"),
    Column::Whole("OWN COMMITS"),
    Column::Whole("PROTECTED"),
    Column::Flows("WHOSE"),
    Column::Flows("CREATED"),
];
