//! `narthex token revoke`.

use narthex_server::owner::{Reply, Request};

use crate::cli::TokenRevokeArgs;
use crate::commands::{once, unexpected};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &TokenRevokeArgs) -> Result<Exit, Failure> {
    let request = Request::TokenRevoke { token: args.token.clone() };
    let Reply::TokenRevoked(revoked) = once(context, request).await? else {
        return Err(unexpected());
    };
    if context.is_json() {
        output::json(&revoked)?;
    } else if revoked.now {
        output::text(format!("Token {} opens nothing any more.", revoked.id))?;
    } else {
        output::text(format!("Token {} had been revoked before.", revoked.id))?;
    }
    Ok(Exit::Done)
}
