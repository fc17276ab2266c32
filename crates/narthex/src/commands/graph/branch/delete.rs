//! `narthex graph branch delete`.

use narthex_server::owner::{BranchRequest, GraphRequest};

use crate::cli::GraphBranchDeleteArgs;
use crate::commands::graph::{ask, print_branch};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphBranchDeleteArgs) -> Result<Exit, Failure> {
    let request = BranchRequest::Delete {
        graph: args.graph.clone(),
        name: args.branch.clone(),
        force: args.force,
    };
    print_branch(context, ask(context, GraphRequest::Branch(request)).await?, "deleted")
}
