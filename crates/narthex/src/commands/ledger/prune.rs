//! `narthex ledger prune`: into a file first, durable and verified, and only then out of the ledger.
//! A run that was killed in between is run again: what it finished is the same and is kept.

use std::collections::VecDeque;
use std::io::Read as _;
use std::path::Path;

use narthex_core::Digest;
use narthex_server::owner::{LedgerReply, LedgerRequest, Reply, Request, SealLine, StoredLine};
use narthex_store::chain::segment;
use narthex_verify::{EVERY, PublicKey, verify_segment};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::verify::{broken, kept_anchor, no_key, public_key};
use crate::ask::Asking;
use crate::cli::{Before, LedgerPruneArgs};
use crate::commands::new_file::NewFile;
use crate::commands::unexpected;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &LedgerPruneArgs) -> Result<Exit, Failure> {
    let key = public_key(context, None)?.ok_or_else(no_key)?;
    let mut asking = Asking::open(context).await?;
    let pruned = prune(&mut asking, context, args, &key).await;
    asking.close().await?;
    let (from, to) = pruned?;
    if context.is_json() {
        output::json(&json!({"from": from, "to": to, "segment": args.export}))?;
    } else {
        let file = args.export.display();
        output::text(format!(
            "records {from} to {to} are out of the ledger, and in {file}\n\
             keep it, and verify it with: narthex ledger verify --segment {file}"
        ))?;
    }
    Ok(Exit::Done)
}

async fn prune(
    asking: &mut Asking,
    context: &Context,
    args: &LedgerPruneArgs,
    key: &PublicKey,
) -> Result<(u64, u64), Failure> {
    let (base, last) = bounds(asking).await?;
    let first = first_to_keep(asking, args.before, base, last).await?;
    // Whole stretches only: the one that this record is in stays.
    let to = first.saturating_sub(1).min(last.saturating_sub(1)) / EVERY * EVERY;
    if to <= base {
        return Err(Failure::new(Exit::NotFound, "there is nothing to take out").hint(
            "whole stretches of 256 records go; narthex ledger verify says how many there are",
        ));
    }
    leaves_the_anchor(context, key, to)?;
    write(asking, &args.export, base, to).await?;
    verify_segment(&args.export, key, Vec::new(), |_| {}).map_err(|failure| broken(&failure))?;
    let digest = digest(&args.export)?;
    match ask(asking, LedgerRequest::Prune { to, segment: digest }).await? {
        LedgerReply::Pruned { .. } => Ok((base + 1, to)),
        _ => Err(unexpected()),
    }
}

/// An anchor that names a record which is gone can no longer be held against the ledger, and no
/// house opens with it.
fn leaves_the_anchor(context: &Context, key: &PublicKey, to: u64) -> Result<(), Failure> {
    match kept_anchor(context, Some(key))?.map(|anchor| anchor.size()) {
        Some(size) if size < to => {
            let message = format!(
                "the anchor of the settings is still at record {size}, and the records up to {to} would go"
            );
            Err(Failure::new(Exit::Conflict, message)
                .hint("a running server keeps it current: narthex status says how it is"))
        }
        _ => Ok(()),
    }
}

/// What was taken out before, and the last record.
async fn bounds(asking: &mut Asking) -> Result<(u64, u64), Failure> {
    match ask(asking, LedgerRequest::Bounds).await? {
        LedgerReply::Bounds { base, last } => Ok((base, last)),
        _ => Err(unexpected()),
    }
}

/// The first record that is not old. Times hardly ever run backwards, so that halving finds it.
async fn first_to_keep(
    asking: &mut Asking,
    before: Before,
    base: u64,
    last: u64,
) -> Result<u64, Failure> {
    let now = narthex_store::Clock::now(&narthex_store::SystemClock).as_millis();
    let moment = match before {
        Before::Record(seq) => return Ok(seq),
        Before::Moment(at) => at,
        Before::Ago(seconds) => {
            now.saturating_sub(i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX))
        }
    };
    let (mut low, mut high) = (base + 1, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if at(asking, middle).await? < moment { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

async fn at(asking: &mut Asking, seq: u64) -> Result<i64, Failure> {
    let record = records(asking, seq, 1).await?.into_iter().next().ok_or_else(unexpected)?;
    let record: narthex_store::chain::Record =
        serde_json::from_str(&record.record).map_err(|_| unexpected())?;
    Ok(record.at.as_millis())
}

/// The segment: records and the checkpoints among them, in the order of their numbers.
async fn write(asking: &mut Asking, path: &Path, base: u64, to: u64) -> Result<(), Failure> {
    let mut seals = Seals { next: base.max(1), waiting: VecDeque::new() };
    let mut file = NewFile::create_or_same(path)?;
    file.line(segment::MAGIC.as_bytes())?;
    file.line(segment::from(base).as_bytes())?;
    let mut seq = base;
    seals.up_to(asking, base, &mut file).await?;
    while seq < to {
        let page = records(asking, seq + 1, PAGE).await?;
        if page.is_empty() {
            return Err(unexpected());
        }
        for line in page.into_iter().take_while(|line| line.seq <= to) {
            seq = line.seq;
            file.line(segment::record(&line.hash, &line.record).as_bytes())?;
            seals.up_to(asking, seq, &mut file).await?;
        }
    }
    file.finish()
}

/// The checkpoints, as they come.
struct Seals {
    next: u64,
    waiting: VecDeque<SealLine>,
}

impl Seals {
    async fn up_to(
        &mut self,
        asking: &mut Asking,
        seq: u64,
        file: &mut NewFile<'_>,
    ) -> Result<(), Failure> {
        while self.next <= seq {
            if self.waiting.is_empty() {
                let request = LedgerRequest::Seals { from: self.next, limit: PAGE };
                let LedgerReply::Seals(seals) = ask(asking, request).await? else {
                    return Err(unexpected());
                };
                self.waiting = seals.into();
            }
            let Some(seal) = self.waiting.pop_front_if(|seal| seal.size <= seq) else {
                // None before it: not to be asked for again until then.
                self.next = self.waiting.front().map_or(u64::MAX, |seal| seal.size);
                return Ok(());
            };
            self.next = seal.size + 1;
            file.line(segment::checkpoint(&seal.into()).as_bytes())?;
        }
        Ok(())
    }
}

async fn ask(asking: &mut Asking, request: LedgerRequest) -> Result<LedgerReply, Failure> {
    match asking.ask(Request::Ledger(request)).await? {
        Reply::Ledger(reply) => Ok(reply),
        _ => Err(unexpected()),
    }
}

async fn records(asking: &mut Asking, from: u64, limit: u32) -> Result<Vec<StoredLine>, Failure> {
    match asking.ask(Request::LedgerRead { from, limit }).await? {
        Reply::Stored(lines) => Ok(lines),
        _ => Err(unexpected()),
    }
}

fn digest(path: &Path) -> Result<Digest, Failure> {
    let hash = || -> std::io::Result<Digest> {
        let (mut file, mut hasher) = (std::fs::File::open(path)?, Sha256::new());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Digest::from_bytes(hasher.finalize().into())),
                count => hasher.update(buffer.get(..count).unwrap_or_default()),
            }
        }
    };
    hash().map_err(|error| Failure::file(path, &error))
}

/// Asked for at once.
const PAGE: u32 = 1_000;
