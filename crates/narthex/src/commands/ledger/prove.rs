//! `narthex ledger prove`.

use narthex_verify::{Ledger, Segment, TakenOut};

use super::verify::{bar, broken, ledger, no_key};
use crate::cli::{LedgerProveArgs, LedgerVerifyArgs};
use crate::commands::new_file::NewFile;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerProveArgs) -> Result<Exit, Failure> {
    let ledger = ledger(context, &LedgerVerifyArgs::default())?;
    if ledger.keys.seal.is_none() {
        return Err(no_key());
    }
    let progress = bar();
    let proven = ledger.prove(args.seq, |records| progress.set_position(records)).await;
    progress.finish_and_clear();
    let Some(proof) = proven.map_err(|failure| broken(&failure))? else {
        return Err(unproven(&ledger, args.seq).await?);
    };
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

/// Why there is nothing to prove, and where to look instead.
async fn unproven(ledger: &Ledger, seq: u64) -> Result<Failure, Failure> {
    let taken_out = ledger.taken_out(seq).await.map_err(|failure| broken(&failure))?;
    let (message, hint) = match taken_out {
        None => (
            format!("no checkpoint covers a record {seq}"),
            "narthex ledger verify says how far they go; a new record waits a second for its"
                .to_owned(),
        ),
        Some(TakenOut { segment: Some(Segment { from, to, sha256 }), .. }) => (
            format!(
                "record {seq} was taken out of the ledger: it is in the segment of records {from} \
                 to {to}, the file whose SHA-256 is {sha256}"
            ),
            IN_A_SEGMENT.to_owned(),
        ),
        Some(TakenOut { base, segment: None }) => (
            format!(
                "record {seq} was taken out of the ledger: it is in one of the segments of \
                 records 1 to {base}; which one is said by a record that was taken out as well"
            ),
            IN_A_SEGMENT.to_owned(),
        ),
    };
    Ok(Failure::new(Exit::NotFound, message).hint(hint))
}

const IN_A_SEGMENT: &str = "narthex ledger verify --segment <FILE>, which proves all of the \
     segment; hand over that file, since a single record of it cannot be proven alone";
