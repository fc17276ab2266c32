//! `narthex graph merge`.

use narthex_server::owner::GraphRequest;

use super::conflicts::resolutions;
use super::{ask_with, change, print_changed};
use crate::cli::GraphMergeArgs;
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphMergeArgs) -> Result<Exit, Failure> {
    let request = GraphRequest::Merge {
        change: change(&args.graph, args.into.as_ref(), &args.change),
        from: args.from.clone(),
        resolutions: resolutions(args.resolve.as_ref())?,
        allow_data_loss: args.allow_data_loss,
    };
    print_changed(context, ask_with(context, None, request).await?)
}
