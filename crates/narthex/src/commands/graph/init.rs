//! `narthex graph init`.

use narthex_server::owner::{GraphReply, GraphRequest};

use super::ask_with;
use super::list::facts;
use super::source::Source;
use crate::cli::GraphInitArgs;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphInitArgs) -> Result<Exit, Failure> {
    let source = args.schema.as_deref().map(Source::read).transpose()?;
    let request = GraphRequest::Init {
        space: args.space.clone(),
        graph: args.graph.clone(),
        schema: source.as_ref().map(|source| source.text.clone()),
    };
    let GraphReply::Graph(made) = ask_with(context, source.as_ref(), request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&made)?;
    } else {
        output::text(facts(&made))?;
    }
    Ok(Exit::Done)
}
