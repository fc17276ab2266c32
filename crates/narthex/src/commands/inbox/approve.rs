//! `narthex inbox approve`.

use std::path::Path;

use narthex_graph::merge::Asked;
use narthex_server::owner::{Reply, Request};

use super::print;
use crate::cli::{InboxApproveArgs, TextArgs};
use crate::commands::{once, text_input, unexpected};
use crate::{Context, Exit, Failure};

pub(super) async fn run(context: &Context, args: &InboxApproveArgs) -> Result<Exit, Failure> {
    let proposal = args.proposal.clone();
    let request = match &args.resolve {
        None => Request::InboxApprove { proposal },
        Some(file) => Request::InboxResolve { proposal, resolutions: resolutions(file)? },
    };
    let asked = once(context, request).await.map_err(|failure| match failure.exit {
        Exit::Conflict if failure.hint.is_none() => {
            failure.hint(format!("narthex inbox show {}", args.proposal))
        }
        _ => failure,
    });
    let Reply::Decided(decided) = asked? else { return Err(unexpected()) };
    print(context, &decided)
}

/// What a file says of rows.
fn resolutions(file: &Path) -> Result<Vec<Asked>, Failure> {
    let text = text_input::required(&TextArgs { body: None, file: Some(file.to_owned()) })?;
    serde_json::from_str(&text).map_err(|error| {
        let message = format!("{}: {error}", file.display());
        Failure::new(Exit::Usage, message).hint("narthex inbox approve --help shows such a file")
    })
}
