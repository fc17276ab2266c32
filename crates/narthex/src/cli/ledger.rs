//! `ledger tail|verify|export|prove|check-proof|prune|key|checkpoint`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::parse::{Before, at_least_one, before};

/// The ledger: everything agents did, or were refused.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "\
Examples:
  narthex ledger tail
  narthex ledger verify
  narthex ledger export --to ledger.jsonl
  narthex ledger prove 42 --out proof.json")]
pub enum LedgerCommand {
    Tail(LedgerTailArgs),
    Verify(LedgerVerifyArgs),
    /// Print records exactly as they are stored, one JSON line each
    Export(LedgerExportArgs),
    Prove(LedgerProveArgs),
    CheckProof(LedgerCheckProofArgs),
    Prune(LedgerPruneArgs),
    /// Print the public key checkpoints are signed with
    ///
    /// Give it to whoever is to check proofs, or keep it where the data directory is not.
    #[command(after_help = "\
Examples:
  narthex ledger key
  narthex ledger key > house.pub")]
    Key,
    /// Print the newest signed checkpoint
    ///
    /// Kept elsewhere it is an anchor: `ledger verify --anchor` finds out if the ledger was rolled
    /// back to before it.
    #[command(after_help = "\
Examples:
  narthex ledger checkpoint
  narthex ledger checkpoint > anchor.note")]
    Checkpoint,
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
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20, value_parser = at_least_one())]
    pub count: u32,

    /// Go on as a running server writes more
    #[arg(short, long)]
    pub follow: bool,
}

/// Prove that nothing was changed, cut or reordered
///
/// Reads the files by itself, whether a server runs or not: chain, tree, every checkpoint and its
/// signature, the heads, the rows that carry a seal. Ends with exit code 6 if the ledger is not
/// whole. An older copy of everything is whole in itself; only an anchor or an expected head, kept
/// elsewhere, tells.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Examples:
  narthex ledger verify
  narthex ledger verify --anchor /mnt/other/narthex.anchor
  narthex ledger verify --data-dir ./house --output json
  narthex ledger verify --segment until-512.segment --public-key house.pub")]
pub struct LedgerVerifyArgs {
    /// A signed checkpoint kept elsewhere, which the ledger must still contain
    #[arg(long, value_name = "FILE")]
    pub anchor: Option<PathBuf>,

    /// A size and a root noted earlier, which the ledger must still have come by
    #[arg(long, value_name = "SIZE:ROOT")]
    pub expect_head: Option<String>,

    /// The public key, or a file with it [default: ledger.pub in the data directory]
    #[arg(long, value_name = "KEY")]
    pub public_key: Option<String>,

    /// Verify this exported segment instead
    #[arg(long, value_name = "FILE")]
    pub segment: Option<PathBuf>,
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

/// Show what is in the ledger, or that it only grew, to someone who does not have it
///
/// Verifies the ledger first. The proof of a record carries it and a signed checkpoint. With `--since`
/// it carries the earlier checkpoint and the newest one, and shows that the ledger only grew in
/// between. `ledger check-proof` needs nothing else but the public key.
#[derive(Debug, Clone, Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["seq", "since"]),
    after_help = "\
Examples:
  narthex ledger prove 42
  narthex ledger prove 42 --out proof.json
  narthex ledger prove --since anchor.note --out grown.json")]
pub struct LedgerProveArgs {
    /// The record's number
    #[arg(value_name = "N")]
    pub seq: Option<u64>,

    /// A signed checkpoint kept from earlier, which the newest one continues
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,

    /// Into this file, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Check a proof with the public key alone
///
/// Works anywhere, without a data directory. Ends with exit code 6 if it does not prove anything.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex ledger check-proof proof.json --public-key house.pub
  narthex ledger check-proof proof.json
  narthex ledger check-proof grown.json --since anchor.note")]
pub struct LedgerCheckProofArgs {
    /// The proof
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The checkpoint you kept, which the proof must begin at
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,

    /// The public key, or a file with it [default: ledger.pub in the data directory]
    #[arg(long, value_name = "KEY")]
    pub public_key: Option<String>,
}

/// Take old records out of the ledger, into a file of their own
///
/// Writes a segment that `ledger verify --segment` verifies on its own, verifies it, and only then
/// takes those records out. What stays verifies as before, from a signed base on. Whole stretches
/// of 256 records go, never a call that is still open. Run it again if it was killed.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  narthex ledger prune --before 90d --export until-summer.segment
  narthex ledger prune --before 2026-01-01 --export 2025.segment
  narthex ledger prune --before 100000 --export first.segment")]
pub struct LedgerPruneArgs {
    /// Records before this one, this day (UTC), or older than this (90d, 12h)
    #[arg(long, value_name = "WHEN", value_parser = before)]
    pub before: Before,

    /// Into this file, which must not exist, or hold exactly these records
    #[arg(long, value_name = "FILE")]
    pub export: PathBuf,
}
