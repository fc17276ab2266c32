//! `narthex graph apply`.

use narthex_server::owner::GraphRequest;

use super::source::Source;
use super::{ask_with, change, print_changed};
use crate::cli::GraphApplyArgs;
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphApplyArgs) -> Result<Exit, Failure> {
    let source = Source::required(&args.source, "schema")?;
    let request = GraphRequest::Apply {
        change: change(&args.graph, args.branch.as_ref(), &args.change),
        schema: source.text.clone(),
        allow_data_loss: args.allow_data_loss,
    };
    print_changed(context, ask_with(context, Some(&source), request).await?)
}
