//! `narthex token create`.

use narthex_server::owner::{Reply, Request};

use crate::cli::TokenCreateArgs;
use crate::commands::{once, unexpected};
use crate::output::table;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &TokenCreateArgs) -> Result<Exit, Failure> {
    let request = Request::TokenCreate {
        agent: args.agent.clone(),
        label: args.label.clone(),
        expires_in: args.expires,
    };
    let Reply::TokenCreated(made) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&made)?;
        return Ok(Exit::Done);
    }
    output::text(table::facts([
        ("token", made.token.clone()),
        ("id", made.id.to_string()),
        ("agent", made.agent.to_string()),
        ("label", made.label.as_str().to_owned()),
        ("expires", made.expires.map_or_else(|| "never".to_owned(), table::moment)),
    ]))?;
    output::note("\nKeep it now: it is not shown again.");
    Ok(Exit::Done)
}
