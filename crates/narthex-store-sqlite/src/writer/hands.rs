//! Whether another hand wrote to the database while the house is open.
//!
//! The writer's connection is the only one that ever commits, and SQLite counts for it when another
//! one did. Nothing that was written from outside can be told apart from what was there, so nothing
//! more is written: the next start proves all of it. Whoever only reads, or copies the log into the
//! database, is not noticed; whoever makes the log start over is.

use std::time::Duration;

use sqlx::SqliteConnection;
use tokio::time::Instant;

use super::Writer;
use crate::fault::Fault;

/// What was last seen of other hands.
#[derive(Debug)]
pub(crate) struct Hands {
    /// Nothing where it could not be asked for.
    version: Option<i64>,
    looked: Instant,
    every: Duration,
}

impl Hands {
    /// To be asked for before anything that is on the disk is believed.
    pub(crate) async fn of(conn: &mut SqliteConnection, every: Duration) -> Result<Self, Fault> {
        Ok(Self { version: Some(version(conn).await?), looked: Instant::now(), every })
    }
}

impl Writer {
    /// Looks, if it is time to, and stops where another hand wrote.
    pub(super) async fn look_at_hands(&mut self) {
        if self.hands.looked.elapsed() < self.hands.every {
            return;
        }
        self.hands.looked = Instant::now();
        match version(&mut self.conn).await {
            Ok(version) if self.hands.version.is_none_or(|was| was == version) => {
                self.hands.version = Some(version);
            }
            Ok(_) => {
                tracing::error!("{ANOTHER_HAND}");
                self.standing.stop(ANOTHER_HAND);
            }
            Err(fault) => {
                tracing::warn!(?fault, "whether another process wrote cannot be told");
                self.forget_hands(fault.is_of_disk()).await;
            }
        }
    }

    /// After the disk failed SQLite reads the file anew, and counts that as well. Not after any
    /// other failure: whoever holds the lock until the writer gives up must not pass unnoticed.
    pub(super) async fn forget_hands(&mut self, of_disk: bool) {
        if of_disk {
            self.hands.version = version(&mut self.conn).await.ok();
        }
    }
}

async fn version(conn: &mut SqliteConnection) -> Result<i64, Fault> {
    Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(conn).await?)
}

/// What everyone is told from then on.
const ANOTHER_HAND: &str = "the database was changed by another process while the house was open; \
     nothing is written until a restart, which proves everything anew: restart, then run \
     `narthex doctor`";
