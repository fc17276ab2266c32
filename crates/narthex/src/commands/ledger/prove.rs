//! `narthex ledger prove`.

use std::path::Path;

use narthex_verify::{Ledger, Segment, TakenOut};
use serde::Serialize;

use super::verify::{bar, broken, ledger, no_key, read};
use crate::cli::{LedgerProveArgs, LedgerVerifyArgs};
use crate::commands::new_file::NewFile;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerProveArgs) -> Result<Exit, Failure> {
    // Read before the ledger: a server that goes on writing then can only be ahead of it.
    let since = args.since.as_deref().map(read).transpose()?;
    let ledger = ledger(context, &LedgerVerifyArgs::default())?;
    match since {
        Some(note) => growth(&ledger, &note, args).await,
        None => record(&ledger, args).await,
    }
}

async fn record(ledger: &Ledger, args: &LedgerProveArgs) -> Result<Exit, Failure> {
    if ledger.keys.seal.is_none() {
        return Err(no_key());
    }
    let (progress, seq) = (bar(), args.seq.unwrap_or_default());
    let proven = ledger.prove(seq, |records| progress.set_position(records)).await;
    progress.finish_and_clear();
    let Some(proof) = proven.map_err(|failure| broken(&failure))? else {
        return Err(unproven(ledger, seq, IN_A_SEGMENT).await?);
    };
    hand_over(&proof, args.out.as_deref(), &format!("proof of record {seq}"))
}

/// That what was signed earlier is the beginning of what is signed now.
async fn growth(ledger: &Ledger, old: &str, args: &LedgerProveArgs) -> Result<Exit, Failure> {
    let key = ledger.keys.seal.as_ref().ok_or_else(no_key)?;
    let size = key.checkpoint(old).map_err(|why| not_kept(args.since.as_deref(), why))?.size;
    let progress = bar();
    let proven = ledger.prove_consistency(old, |records| progress.set_position(records)).await;
    progress.finish_and_clear();
    let Some(proof) = proven.map_err(|failure| broken(&failure))? else {
        return Err(unproven(ledger, size, BEFORE_THE_BASE).await?);
    };
    hand_over(&proof, args.out.as_deref(), &format!("proof of what came after record {size}"))
}

fn hand_over(proof: &impl Serialize, out: Option<&Path>, what: &str) -> Result<Exit, Failure> {
    let Some(path) = out else {
        output::json(proof)?;
        return Ok(Exit::Done);
    };
    let text = serde_json::to_vec_pretty(proof)
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let mut file = NewFile::create(path)?;
    file.line(&text)?;
    file.finish()?;
    output::text(format!("{what} written to {}", path.display()))?;
    Ok(Exit::Done)
}

/// A file that was named as a checkpoint of this house and is none.
pub(super) fn not_kept(file: Option<&Path>, why: &str) -> Failure {
    let file = file.unwrap_or(Path::new("-")).display();
    Failure::new(Exit::LedgerBroken, format!("the checkpoint {file}: {why}"))
        .hint("narthex ledger checkpoint prints one; check that the key is the right one")
}

/// Why there is nothing to prove, and where to look instead.
async fn unproven(ledger: &Ledger, seq: u64, instead: &str) -> Result<Failure, Failure> {
    let taken_out = ledger.taken_out(seq).await.map_err(|failure| broken(&failure))?;
    let (message, hint) = match taken_out {
        None => (
            format!("no checkpoint covers a record {seq}"),
            "narthex ledger verify says how far they go; a new record waits a second for its",
        ),
        Some(TakenOut { segment: Some(Segment { from, to, sha256 }), .. }) => (
            format!(
                "record {seq} was taken out of the ledger: it is in the segment of records {from} \
                 to {to}, the file whose SHA-256 is {sha256}"
            ),
            instead,
        ),
        Some(TakenOut { base, segment: None }) => (
            format!(
                "record {seq} was taken out of the ledger: it is in one of the segments of \
                 records 1 to {base}; which one is said by a record that was taken out as well"
            ),
            instead,
        ),
    };
    Ok(Failure::new(Exit::NotFound, message).hint(hint))
}

const IN_A_SEGMENT: &str = "narthex ledger verify --segment <FILE>, which proves all of the \
     segment; hand over that file, since a single record of it cannot be proven alone";
const BEFORE_THE_BASE: &str = "narthex ledger verify --segment <FILE> --anchor <CHECKPOINT>, which \
     holds the checkpoint against those records; hand over that file";
