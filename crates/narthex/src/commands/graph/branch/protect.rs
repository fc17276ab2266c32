//! `narthex graph branch protect` and `unprotect`.

use narthex_server::owner::{BranchRequest, GraphRequest};

use crate::cli::GraphBranchNameArgs;
use crate::commands::graph::{ask, print_branch};
use crate::{Context, Exit, Failure};

pub(super) async fn run(
    context: &Context,
    args: &GraphBranchNameArgs,
    protected: bool,
) -> Result<Exit, Failure> {
    let request =
        BranchRequest::Protect { graph: args.graph.clone(), name: args.branch.clone(), protected };
    let now = if protected { "protected" } else { "no longer protected" };
    print_branch(context, ask(context, GraphRequest::Branch(request)).await?, now)
}
