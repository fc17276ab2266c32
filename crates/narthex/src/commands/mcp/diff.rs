//! `narthex mcp diff`.

use serde_json::json;

use super::{detail, offer, shown};
use crate::ask::Asking;
use crate::cli::McpDiffArgs;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpDiffArgs) -> Result<Exit, Failure> {
    let mut asking = Asking::open(context).await?;
    let found = detail(&mut asking, &args.server).await;
    let offered = match &found {
        Ok(found) if !args.start && found.start.stands == "approved" => {
            Some(offer(&mut asking, &args.server).await)
        }
        _ => None,
    };
    asking.close().await?;
    let (found, offered) = (found?, offered.transpose()?);
    if context.is_json() {
        output::json(&json!({"start": found.start, "offer": offered}))?;
        return Ok(Exit::Done);
    }
    output::text(shown::start(&found))?;
    match offered {
        Some(offered) => output::text(format!("\n{}", shown::offer(&offered)))?,
        None if args.start => {}
        None => output::text(format!(
            "\nWhat it offers is not looked at before its start is approved: narthex mcp approve {}",
            args.server
        ))?,
    }
    Ok(Exit::Done)
}
