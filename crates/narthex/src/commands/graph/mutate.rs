//! `narthex graph mutate`.

use narthex_server::owner::GraphRequest;

use super::query::read;
use super::{ask_with, change, print_changed};
use crate::cli::GraphMutateArgs;
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &GraphMutateArgs) -> Result<Exit, Failure> {
    let (source, query) = read(&args.query)?;
    let change = change(&args.graph, args.branch.as_ref(), &args.change);
    let request = GraphRequest::Mutate { change, query };
    print_changed(context, ask_with(context, source.as_ref(), request).await?)
}
