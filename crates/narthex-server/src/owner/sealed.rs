//! The sealed ledger, for the owner: its bounds, its checkpoints, and taking old records out.

use narthex_core::{Digest, Subject};
use narthex_store::Effect;
use narthex_store::chain::Seal;
use serde::{Deserialize, Serialize};

use super::{Desk, OwnerError, Reply};

/// What can be asked of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "ledger", rename_all = "snake_case")]
pub enum LedgerRequest {
    /// Where it begins and ends.
    Bounds,
    /// Checkpoints in order.
    Seals {
        /// From this size on.
        from: u64,
        /// At most so many.
        limit: u32,
    },
    /// Takes records out. Whoever asks has them in a durable file.
    Prune {
        /// The last that goes.
        to: u64,
        /// The digest of that file.
        segment: Digest,
    },
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerReply {
    /// Where it begins and ends.
    Bounds {
        /// The last record that was taken out; 0 if none was.
        base: u64,
        /// The last there is.
        last: u64,
    },
    /// Checkpoints.
    Seals(Vec<SealLine>),
    /// Records were taken out.
    Pruned {
        /// The last that went.
        to: u64,
    },
}

/// A checkpoint exactly as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealLine {
    /// How many records it covers.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// The tree's frontier.
    pub frontier: Vec<u8>,
}

impl From<Seal> for SealLine {
    fn from(seal: Seal) -> Self {
        Self { size: seal.size, note: seal.note, frontier: seal.frontier }
    }
}

impl From<SealLine> for Seal {
    fn from(line: SealLine) -> Self {
        Self { size: line.size, note: line.note, frontier: line.frontier }
    }
}

impl Desk {
    pub(super) async fn ledger(&self, request: LedgerRequest) -> Result<Reply, OwnerError> {
        let reply = match request {
            LedgerRequest::Bounds => {
                let base = self.store().base().await?.map_or(0, |base| base.size);
                let last = self.store().head().await?.map_or(0, |head| head.seq);
                LedgerReply::Bounds { base, last }
            }
            LedgerRequest::Seals { from, limit } => {
                let seals = self.store().seals(from, limit.clamp(1, MOST)).await?;
                LedgerReply::Seals(seals.into_iter().map(SealLine::from).collect())
            }
            LedgerRequest::Prune { to, segment } => {
                let base = self.store().base().await?.map_or(0, |base| base.size);
                let subject = Subject {
                    digest: Some(segment),
                    count: Some(to.saturating_sub(base)),
                    ..Subject::one("segment", format!("{}-{to}", base + 1))
                };
                self.change("ledger.prune", None, subject, Effect::PruneLedger { to }).await?;
                LedgerReply::Pruned { to }
            }
        };
        Ok(Reply::Ledger(reply))
    }
}

const MOST: u32 = 1_000;
