//! Where a store lies and how much it may take.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use narthex_store::Clock;
use narthex_store::chain::{HeadKey, SealKey};

/// Everything a store needs to open. [`SqliteConfig::new`] fills in the bounds.
#[derive(Debug, Clone)]
pub struct SqliteConfig {
    /// The database file.
    pub database: PathBuf,
    /// The ledger's head, in a file of its own.
    pub head_file: PathBuf,
    /// The key heads are authenticated with.
    pub head_key: HeadKey,
    /// The key checkpoints are signed with.
    pub seal_key: SealKey,
    /// The clock records are stamped with.
    pub clock: Arc<dyn Clock>,
    /// How many connections read at once.
    pub readers: u32,
    /// How many views of graphs are held at once.
    pub graph_views: u32,
    /// How many of them are kept when they are over, for whoever looks at the same place next.
    pub kept_views: usize,
    /// Bytes of pages remembered after they were read.
    pub page_memory: u64,
    /// How many units may wait for the writer.
    pub queue: usize,
    /// How many units share one flush to disk.
    pub batch: usize,
    /// How long a caller waits for a place in the queue.
    pub queue_wait: Duration,
    /// How long a caller waits for a connection to read on.
    pub reader_wait: Duration,
    /// How long a connection waits for a lock that another process holds.
    pub busy_timeout: Duration,
    /// How often the writer looks whether another process wrote to the database.
    pub other_hands: Duration,
    /// Pages in the write-ahead log from which on it is worth copying them into the database.
    pub wal_pages: u32,
    /// Pages in the write-ahead log from which on the writer itself makes it start over.
    pub wal_pages_hard: u32,
}

impl SqliteConfig {
    /// The standard bounds.
    pub fn new(
        database: impl Into<PathBuf>,
        head_file: impl Into<PathBuf>,
        head_key: HeadKey,
        seal_key: SealKey,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            database: database.into(),
            head_file: head_file.into(),
            head_key,
            seal_key,
            clock,
            readers: 4,
            graph_views: 16,
            kept_views: 4,
            page_memory: 8 * 1024 * 1024,
            queue: 1_024,
            batch: 256,
            queue_wait: Duration::from_secs(3),
            reader_wait: Duration::from_secs(5),
            busy_timeout: Duration::from_secs(5),
            other_hands: Duration::from_secs(1),
            wal_pages: 1_000,
            wal_pages_hard: 16_000,
        }
    }
}
