//! `narthex ledger key` and `narthex ledger checkpoint`.

use narthex_verify::hex;
use serde_json::json;

use super::verify::{broken, ledger, no_key, public_key};
use crate::cli::LedgerVerifyArgs;
use crate::{Context, Exit, Failure, output};

pub(super) fn run(context: &Context) -> Result<Exit, Failure> {
    let key = public_key(context, None)?.ok_or_else(|| {
        Failure::new(Exit::NotFound, "this house has no public key yet")
            .hint("it is made by narthex init, and for an older house at its next start")
    })?;
    if context.is_json() {
        output::json(&json!({"name": key.name(), "public_key": key.to_string()}))?;
    } else {
        output::text(key.to_string())?;
    }
    Ok(Exit::Done)
}

/// Verified first: nobody should keep an anchor of a ledger that is not whole.
pub(super) async fn checkpoint(context: &Context) -> Result<Exit, Failure> {
    let ledger = ledger(context, &LedgerVerifyArgs::default())?;
    if ledger.keys.seal.is_none() {
        return Err(no_key());
    }
    let newest = ledger.checkpoint(|_| {}).await.map_err(|failure| broken(&failure))?;
    let (said, note) = newest.ok_or_else(|| {
        Failure::new(Exit::NotFound, "there is no checkpoint yet").hint("wait a second")
    })?;
    if context.is_json() {
        output::json(&json!({"size": said.size, "root": hex(&said.root), "note": note}))?;
    } else {
        output::text(note.trim_end())?;
    }
    Ok(Exit::Done)
}
