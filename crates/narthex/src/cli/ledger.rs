//! `ledger tail|verify|export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The ledger: everything agents did, or were refused.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex ledger tail
  narthex ledger verify
  narthex ledger export --to ledger.jsonl")]
pub enum LedgerCommand {
    Tail(LedgerTailArgs),
    /// Prove that nothing was changed, cut or reordered
    ///
    /// Reads the database, the head file and the key by itself, whether a server runs or not. Ends
    /// with exit code 6 if the ledger is not whole.
    #[command(after_help = "\
Examples:
  narthex ledger verify
  narthex ledger verify --data-dir ./house --output json")]
    Verify,
    /// Print records exactly as they are stored, one JSON line each
    Export(LedgerExportArgs),
}

/// Show the newest records
///
/// With `--output json` an array; with `--follow` as well, one line a record.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex ledger tail
  narthex ledger tail -n 100
  narthex ledger tail --follow")]
pub struct LedgerTailArgs {
    /// How many
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    pub count: u32,

    /// Go on as a running server writes more
    #[arg(short, long)]
    pub follow: bool,
}

/// Prints records exactly as they are stored.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex ledger export > ledger.jsonl
  narthex ledger export --from 1000 --to ledger.jsonl")]
pub struct LedgerExportArgs {
    /// From this record on
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub from: u64,

    /// Into this file, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}
