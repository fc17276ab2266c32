//! What can be wrong with a ledger.

use std::fmt;

/// A ledger is not whole, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No records at all: a house has at least the record of its founding.
    #[error("the ledger is empty")]
    Empty,
    /// A number is missing, doubled or out of order.
    #[error(
        "expected record {expected}, found {found}: records are missing, doubled or out of order"
    )]
    Sequence {
        /// The number that should stand here.
        expected: u64,
        /// The number that does.
        found: i64,
    },
    /// The bytes do not hash to what is stored.
    #[error("record {seq} was changed: its bytes do not match the chain")]
    Broken {
        /// Where.
        seq: u64,
    },
    /// The bytes are no record in its one form, or a record of another number.
    #[error("record {seq} cannot be read")]
    Unreadable {
        /// Where.
        seq: u64,
    },
    /// A head is missing.
    #[error("the {place} is missing")]
    HeadMissing {
        /// Which.
        place: Place,
    },
    /// A head was not made with this house's key.
    #[error("the {place} is not genuine")]
    HeadForged {
        /// Which.
        place: Place,
    },
    /// Records after this one were cut off.
    #[error("the {place} names record {head}, but the ledger ends at {last}: its tail was cut")]
    Cut {
        /// What names it.
        place: Place,
        /// The record it names.
        head: u64,
        /// The last record there is.
        last: u64,
    },
    /// Records that the head does not know.
    #[error("the ledger goes on to record {last}, but the {place} names {head}")]
    Beyond {
        /// Which head.
        place: Place,
        /// The record it names.
        head: u64,
        /// The last record there is.
        last: u64,
    },
    /// Something signed or authenticated names another history.
    #[error("the {place} and the ledger disagree at record {seq}")]
    Forked {
        /// What.
        place: Place,
        /// Where.
        seq: u64,
    },
    /// There is no checkpoint where one must be.
    #[error("there is no checkpoint at record {size}")]
    Unsealed {
        /// Where.
        size: u64,
    },
    /// There is no checkpoint at all: a house has one from its founding on.
    #[error("the ledger has no checkpoint at all")]
    NeverSealed,
    /// There are checkpoints, and nothing to check their signatures with.
    #[error("the ledger has signed checkpoints, and there is no public key to check them with")]
    NoPublicKey,
    /// A checkpoint is not signed with this house's key, or says something else than its row.
    #[error("the checkpoint at record {size} is not genuine: {why}")]
    SealForged {
        /// Where.
        size: i64,
        /// How.
        why: &'static str,
    },
    /// A checkpoint is signed, and signs another history.
    #[error("the checkpoint at record {size} signs another history: {what}")]
    SealForked {
        /// Where.
        size: u64,
        /// What differs.
        what: &'static str,
    },
    /// What stands for the records that were taken out is not signed, or does not hold.
    #[error("the base that stands for the records taken out is not genuine: {0}")]
    Base(&'static str),
    /// The anchor names records that are gone.
    #[error("the anchor names record {size}, but the ledger ends at {last}: it was rolled back")]
    RolledBack {
        /// The record it names.
        size: u64,
        /// The last record there is.
        last: u64,
    },
    /// The anchor names records that were taken out.
    #[error(
        "the anchor names record {size}, but the ledger begins after {base}: \
         hold it against the exported segment"
    )]
    AnchorPruned {
        /// The record it names.
        size: u64,
        /// Where the ledger begins.
        base: u64,
    },
    /// A row does not carry the seal this house put on it.
    #[error("a row of {table} was changed: it does not carry this house's seal ({row})")]
    Row {
        /// Where it lies.
        table: &'static str,
        /// Which.
        row: String,
    },
}

/// What names a point of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The row beside the records, written in the same transaction.
    Row,
    /// The file of its own, written after each commit; it may lag after a power cut, never lead.
    File,
    /// A checkpoint.
    Checkpoint,
    /// What the one who verifies brought along.
    Anchor,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Row => "stored head",
            Self::File => "head file",
            Self::Checkpoint => "last checkpoint",
            Self::Anchor => "anchor",
        })
    }
}

/// Why a ledger was not found whole.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It was changed, cut or forged.
    #[error(transparent)]
    Broken(#[from] Fault),
    /// The database cannot be read, or is no ledger.
    #[error("the database cannot be read: {0}")]
    Database(String),
    /// A file cannot be read, or is not what it should be.
    #[error("{0}")]
    File(String),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.to_string())
    }
}
