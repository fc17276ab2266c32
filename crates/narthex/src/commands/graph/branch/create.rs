//! `narthex graph branch create`.

use narthex_server::owner::{BranchRequest, GraphRequest};

use crate::cli::GraphBranchCreateArgs;
use crate::commands::graph::{ask, print_branch};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphBranchCreateArgs) -> Result<Exit, Failure> {
    let request = BranchRequest::Create {
        graph: args.graph.clone(),
        name: args.branch.clone(),
        from: args.from.clone(),
        protected: args.protected,
    };
    print_branch(context, ask(context, GraphRequest::Branch(request)).await?, "made")
}
