//! Whether a write would reach the disk, also while nobody writes.

use narthex_store::chain::PERIOD;
use sqlx::AssertSqlSafe;
use tokio::time::Instant;

use super::Writer;
use crate::fault::Fault;

/// When a write was last seen to reach the disk, or to fail.
#[derive(Debug)]
pub(crate) struct Probe {
    tried: Instant,
    count: u32,
}

impl Probe {
    pub(crate) fn new() -> Self {
        Self { tried: Instant::now(), count: 0 }
    }

    /// A commit told as much.
    pub(super) fn told(&mut self) {
        self.tried = Instant::now();
    }
}

impl Writer {
    /// Finds out by a write of its own, unless there was one within the last second.
    pub(super) async fn probe(&mut self) {
        if self.probe.tried.elapsed() >= PERIOD && self.standing.is_writable() {
            self.look_after().await;
            self.try_to_write().await;
        }
    }

    /// Writes and flushes one page: if that works, the rest will.
    pub(super) async fn try_to_write(&mut self) {
        self.probe.told();
        match self.write_a_page().await {
            Ok(()) => {
                if self.standing.is_failing() {
                    tracing::info!("the disk takes writes again");
                }
                self.standing.failing(false);
                // It has made the log longer.
                self.commits.send_modify(|commits| *commits = commits.wrapping_add(1));
            }
            Err(fault) => {
                if !self.standing.is_failing() {
                    tracing::error!(?fault, "the disk takes no writes");
                }
                self.standing.failing(true);
                self.forget_hands(fault.is_of_disk()).await;
            }
        }
    }

    /// A number in the file's header that nobody reads. SQLite writes nothing for a row that is set to
    /// what it is already.
    async fn write_a_page(&mut self) -> Result<(), Fault> {
        self.probe.count = self.probe.count.wrapping_add(1);
        let number = self.probe.count % 1_000_000;
        let sql = AssertSqlSafe(format!("PRAGMA user_version = {number}"));
        sqlx::raw_sql(sql).execute(&mut self.conn).await?;
        Ok(())
    }
}
