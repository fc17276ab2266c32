//! `narthex graph revert`.

use narthex_server::owner::{GraphChange, GraphRequest};

use super::conflicts::resolutions;
use super::{ask_with, print_changed};
use crate::cli::GraphRevertArgs;
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphRevertArgs) -> Result<Exit, Failure> {
    let change = GraphChange {
        graph: args.graph.clone(),
        branch: args.branch.clone(),
        expected: args.expected.clone(),
        message: String::new(),
    };
    let request = GraphRequest::Revert {
        change,
        commit: args.commit.clone(),
        resolutions: resolutions(args.resolve.as_ref())?,
    };
    print_changed(context, ask_with(context, None, request).await?)
}
