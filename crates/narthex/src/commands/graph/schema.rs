//! `narthex graph schema`.

use narthex_server::owner::{GraphReply, GraphRequest};

use super::ask;
use crate::cli::GraphSchemaArgs;
use crate::commands::unexpected;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphSchemaArgs) -> Result<Exit, Failure> {
    let request = GraphRequest::Schema { graph: args.graph.clone(), at: args.at.at.clone() };
    let GraphReply::Schema(shown) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&shown)?;
    } else if shown.source.trim().is_empty() {
        output::text("// no types yet; give it some with: narthex graph apply")?;
    } else {
        output::text(clean::text(shown.source.trim_end()))?;
    }
    Ok(Exit::Done)
}
