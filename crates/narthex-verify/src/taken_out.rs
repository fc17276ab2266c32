//! Where a record went that is no longer in the ledger, as the ledger itself says.

use serde::Deserialize;

use crate::database::Database;
use crate::fault::Failure;
use crate::ledger::Ledger;

/// A record was taken out by the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOut {
    /// The last that was.
    pub base: u64,
    /// The file it went into; none if the record of that went out as well, later.
    pub segment: Option<Segment>,
}

/// An exported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The first record in it.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

impl Ledger {
    /// Where this record went, if it was taken out. Tells, and proves nothing: verify first.
    pub async fn taken_out(&self, seq: u64) -> Result<Option<TakenOut>, Failure> {
        let mut database = Database::open(&self.database).await?;
        let base = database.base().await?.map_or(0, |base| base.size);
        let base = u64::try_from(base).unwrap_or(0);
        if !(1..=base).contains(&seq) {
            return Ok(None);
        }
        let mut segments = database.prunes().await?.into_iter().filter_map(|bytes| read(&bytes));
        let segment = segments.find(|segment| (segment.from..=segment.to).contains(&seq));
        Ok(Some(TakenOut { base, segment }))
    }
}

fn read(bytes: &[u8]) -> Option<Segment> {
    let Record { tool, subject } = serde_json::from_slice(bytes).ok()?;
    let (from, to) = subject.id.split_once('-')?;
    let segment =
        Segment { from: from.parse().ok()?, to: to.parse().ok()?, sha256: subject.digest };
    (tool == PRUNE && subject.kind == "segment").then_some(segment)
}

#[derive(Deserialize)]
struct Record {
    tool: String,
    subject: Subject,
}

#[derive(Deserialize)]
struct Subject {
    kind: String,
    id: String,
    digest: String,
}

/// What the ledger calls it.
pub(crate) const PRUNE: &str = "ledger.prune";
