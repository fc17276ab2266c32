//! The store: what callers hold.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_store::chain::PublicKey;
use narthex_store::{Commits, Committed, RowKey, StoreError, UnitOfWork};
use sqlx::{ConnectOptions, Connection, SqlitePool};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::checkpoint::Checkpointer;
use crate::fault::Fault;
use crate::gate::GateMemory;
use crate::graphs::KeptViews;
use crate::memory::Memory;
use crate::writer::{Command, Standing, Writer};
use crate::{SqliteConfig, connect, open};

/// An open SQLite store. Dropping it finishes what waits; [`SqliteStore::close`] also tidies up.
#[derive(Debug)]
pub struct SqliteStore {
    pub(crate) readers: SqlitePool,
    /// What views of graphs hold, so that a held view never keeps anything else waiting.
    pub(crate) views: SqlitePool,
    pub(crate) kept: Arc<KeptViews>,
    pub(crate) memory: Memory,
    pub(crate) gate: Arc<GateMemory>,
    pub(crate) row_key: RowKey,
    pub(crate) public_key: PublicKey,
    queue: mpsc::Sender<Command>,
    queue_wait: Duration,
    pub(crate) standing: Arc<Standing>,
    tasks: Mutex<Option<Tasks>>,
}

#[derive(Debug)]
struct Tasks {
    writer: JoinHandle<Writer>,
    checkpointer: JoinHandle<()>,
    /// Dropping it ends the checkpointer.
    stop: oneshot::Sender<()>,
}

impl SqliteStore {
    /// Opens the store, making it if there is none. A ledger whose end does not hold is refused.
    #[expect(clippy::disallowed_methods, reason = "both tasks are kept and waited for in close")]
    pub async fn open(config: SqliteConfig) -> Result<Self, StoreError> {
        let writer = open::writer(&config).await?;
        let standing = Arc::clone(&writer.standing);
        let gate = Arc::clone(&writer.memory);
        let beside = connect::to_write(&config).connect().await.map_err(Fault::Sql)?;
        let (queue, waiting) = mpsc::channel(config.queue.max(1));
        let (stop, stopped) = oneshot::channel();
        let kept = Arc::new(KeptViews::new(Arc::clone(&standing), config.kept_views));
        let checkpointer = Checkpointer {
            conn: beside,
            commits: writer.commits.subscribe(),
            standing: Arc::clone(&standing),
            kept: Arc::clone(&kept),
            pages: config.wal_pages,
            hard: config.wal_pages_hard,
        };
        let checkpointer = tokio::spawn(checkpointer.run(stopped));
        let writer = tokio::spawn(writer.run(waiting, config.batch));
        Ok(Self {
            readers: connect::readers(&config),
            views: connect::views(&config),
            kept,
            memory: Memory::new(config.page_memory),
            gate,
            row_key: RowKey::of(&config.head_key),
            public_key: config.seal_key.public().clone(),
            queue,
            queue_wait: config.queue_wait,
            standing,
            tasks: Mutex::new(Some(Tasks { writer, checkpointer, stop })),
        })
    }

    /// Finishes every unit that waits, folds the write-ahead log into the database and lets go
    /// of the files. Later calls are refused; closing twice is closing once.
    pub async fn close(&self) -> Result<(), StoreError> {
        let Some(tasks) = self.tasks.lock().await.take() else {
            return Ok(());
        };
        let _ = self.queue.send(Command::Close).await;
        let ended = tasks.writer.await;
        drop(tasks.stop);
        let _ = tasks.checkpointer.await;
        self.kept.close();
        self.readers.close().await;
        self.views.close().await;
        let mut writer = ended.map_err(|error| {
            StoreError::Unavailable(format!("the writer ended on its own: {error}"))
        })?;
        if !self.standing.is_writable() {
            // After a failed flush the log is left as it is: a restart reads it anew.
            return Ok(());
        }
        let synced = writer.head_file.sync();
        let folded = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut writer.conn).await;
        let Writer { conn, lock, .. } = writer;
        let closed = conn.close().await;
        drop(lock);
        folded.map(drop).and(closed).map_err(Fault::Sql)?;
        synced.map_err(|error| StoreError::Unavailable(format!("the head file: {error}")))
    }
}

#[async_trait]
impl Commits for SqliteStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Committed, StoreError> {
        if let Some(why) = self.standing.stopped() {
            return Err(unavailable(why));
        }
        let (answer, answered) = oneshot::channel();
        let command = Command::Commit { unit, answer };
        // Once in the queue it is done, whether or not anyone still waits here for the answer.
        match self.queue.send_timeout(command, self.queue_wait).await {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(unavailable("the writer is gone"))),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                Err(unavailable("too many commits are waiting"))
            }
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(unavailable("it is closed")),
        }
    }

    fn is_writable(&self) -> bool {
        self.standing.is_writable() && !self.queue.is_closed()
    }

    fn is_well(&self) -> bool {
        self.is_writable() && !self.standing.is_failing()
    }

    async fn try_writing(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        let asked = self.queue.send_timeout(Command::Probe(answer), PROBE_WAIT).await.is_ok();
        // A disk that does not answer takes no writes either.
        let told = asked && tokio::time::timeout(PROBE_WAIT, answered).await.is_ok();
        told && self.is_well()
    }

    fn identity_epoch(&self) -> u64 {
        self.standing.identity_epoch()
    }
}

fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

/// How long health waits for the disk.
const PROBE_WAIT: Duration = Duration::from_secs(1);
