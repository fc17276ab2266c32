//! `narthex graph remove`.

use narthex_server::owner::{GraphReply, GraphRequest};

use super::ask;
use crate::cli::GraphRemoveArgs;
use crate::commands::{confirm, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &GraphRemoveArgs) -> Result<Exit, Failure> {
    let typed = match &args.confirm {
        Some(name) => name.clone(),
        None => confirm::typed(&format!(
            "This removes the graph {} with all its history. Type its name: ",
            args.graph
        ))?
        .ok_or_else(|| {
            Failure::new(Exit::Denied, "not confirmed, so nothing was removed")
                .hint(format!("give its name again: --confirm {}", args.graph))
        })?,
    };
    let request = GraphRequest::Remove { graph: args.graph.clone(), typed };
    let GraphReply::Removed(gone) = ask(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&gone)?;
    } else {
        output::text(format!("The graph {} is gone.", gone.slug))?;
    }
    Ok(Exit::Done)
}
