//! Copies the write-ahead log into the database, away from the writer.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, Row, SqliteConnection};
use tokio::sync::{oneshot, watch};

use crate::graphs::KeptViews;
use crate::writer::Standing;

/// The task and its own connection.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    pub(crate) conn: SqliteConnection,
    /// Moves when the writer has committed.
    pub(crate) commits: watch::Receiver<u64>,
    pub(crate) standing: Arc<Standing>,
    /// Looks at graphs that are over but kept: they hold the log back.
    pub(crate) kept: Arc<KeptViews>,
    /// Pages in the log from which on copying is worth it.
    pub(crate) pages: u32,
    /// Pages in the log from which on the writer must make it start over.
    pub(crate) hard: u32,
}

impl Checkpointer {
    /// Runs until the writer or the store is gone.
    pub(crate) async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                moved = self.commits.changed() => if moved.is_err() { break },
            }
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "the write-ahead log could not be copied");
            }
            tokio::select! {
                _ = &mut stopped => break,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
        let _ = self.conn.close().await;
    }

    // INVARIANT: nothing here makes the log start over (RESTART, TRUNCATE): that changes its
    // header, and the writer would take it for another hand.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        self.kept.let_go_of_old();
        let (log, copied) = self.log("PRAGMA wal_checkpoint(NOOP)").await?;
        let (pages, hard) = (i64::from(self.pages), i64::from(self.hard));
        if log.saturating_sub(copied) < pages && log < hard {
            return Ok(());
        }
        self.kept.let_go();
        let (log, _) = self.log("PRAGMA wal_checkpoint(PASSIVE)").await?;
        if log >= hard {
            self.standing.wal_is_long();
        }
        Ok(())
    }

    /// Pages in the log, and how many of them are copied.
    async fn log(&mut self, sql: &'static str) -> Result<(i64, i64), sqlx::Error> {
        let row = sqlx::query(sql).fetch_one(&mut self.conn).await?;
        Ok((row.try_get(1)?, row.try_get(2)?))
    }
}

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
