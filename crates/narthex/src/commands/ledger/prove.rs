//! `narthex ledger prove`.

use super::new_file::NewFile;
use super::verify::{bar, broken, ledger, no_key};
use crate::cli::{LedgerProveArgs, LedgerVerifyArgs};
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerProveArgs) -> Result<Exit, Failure> {
    let ledger = ledger(context, &LedgerVerifyArgs::default())?;
    if ledger.keys.seal.is_none() {
        return Err(no_key());
    }
    let progress = bar();
    let proven = ledger.prove(args.seq, |records| progress.set_position(records)).await;
    progress.finish_and_clear();
    let proof = proven.map_err(|failure| broken(&failure))?.ok_or_else(|| {
        Failure::new(Exit::NotFound, format!("no checkpoint covers a record {}", args.seq))
            .hint("narthex ledger verify says how far they go; a new record waits a second for its")
    })?;
    match &args.out {
        None => output::json(&proof)?,
        Some(path) => {
            let text = serde_json::to_vec_pretty(&proof)
                .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
            let mut file = NewFile::create(path)?;
            file.line(&text)?;
            file.finish()?;
            output::text(format!("proof of record {} written to {}", args.seq, path.display()))?;
        }
    }
    Ok(Exit::Done)
}
