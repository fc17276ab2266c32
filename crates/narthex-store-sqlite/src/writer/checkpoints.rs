//! Checkpoints: the writer keeps the tree over the ledger and signs it now and then.
//!
//! Every record the writer commits is added to the tree. At each full stretch, however many are in
//! one batch, and when a second has passed since the last one, a checkpoint becomes durable in the
//! transaction of the records it covers. When nothing more comes, the end is signed by itself.

use narthex_core::hex;
use narthex_store::chain::{PERIOD, Seal, Sealer};
use sqlx::SqliteConnection;
use tokio::time::{Instant, sleep_until};

use super::Writer;
use super::batch::{Abort, execute, no_more};
use super::books::Books;
use crate::fault::Fault;
use crate::rows::number;

/// The tree over what is committed.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    sealer: Sealer,
    /// When the last one was made, or tried.
    at: Instant,
    /// When the writer last looked after itself.
    looked: Instant,
    /// Signed, and to be written with the next batch.
    backlog: Vec<Seal>,
}

/// The tree with a batch in it.
#[derive(Debug)]
pub(super) struct Grown {
    sealer: Sealer,
    sealed: bool,
}

impl Checkpoints {
    pub(crate) fn new(sealer: Sealer, backlog: Vec<Seal>) -> Self {
        Self { sealer, at: Instant::now(), looked: Instant::now(), backlog }
    }

    /// Waits until the end of the ledger is to be signed, and at most a second.
    pub(super) async fn due(&self) {
        let look = self.looked + PERIOD;
        let seal = self.at + PERIOD;
        sleep_until(if self.sealer.is_behind() { look.min(seal) } else { look }).await;
    }

    fn is_due(&self) -> bool {
        self.sealer.is_behind() && self.at.elapsed() >= PERIOD
    }

    /// Only after the commit.
    pub(super) fn committed(&mut self, grown: Option<Grown>) {
        let Some(grown) = grown else { return };
        if grown.sealed {
            self.at = Instant::now();
            self.backlog.clear();
        }
        self.sealer = grown.sealer;
    }
}

impl Writer {
    /// Adds a batch's records to the tree, and writes the checkpoints that are due with them.
    pub(super) async fn checkpoint(&mut self, books: &mut Books) -> Result<(), Fault> {
        let now = &self.checkpoints;
        let mut sealer = now.sealer.clone();
        let mut seals = now.backlog.clone();
        for record in &books.records {
            seals.extend(sealer.push(record, &self.seal_key));
        }
        // The founding is signed at once: a ledger without any checkpoint was robbed of them.
        let at_once = books.seal_now || sealer.is_new() || !now.backlog.is_empty();
        if at_once || now.at.elapsed() >= PERIOD {
            seals.extend(sealer.seal(&self.seal_key));
        }
        if !seals.is_empty() {
            let passing = now.sealer.passing();
            books.begin(&mut self.conn).await?;
            write(&mut self.conn, &seals, passing).await?;
        }
        books.checkpoints = Some(Grown { sealer, sealed: !seals.is_empty() });
        Ok(())
    }

    /// What the writer does when nobody asks for anything: it signs the end of the ledger, lets a
    /// long log start over, and finds out by itself whether it could still write.
    pub(super) async fn look_after(&mut self) {
        self.checkpoints.looked = Instant::now();
        self.look_at_hands().await;
        if !self.standing.is_writable() {
            return;
        }
        if let Some(missing) = self.places.missing() {
            let gone = format!("{} is gone from its place", missing.display());
            tracing::error!("{gone}; no more commits");
            self.standing.stop(no_more(&gone));
            return;
        }
        // Until then no look at a graph is kept.
        self.shorten_wal().await;
        if self.checkpoints.is_due() {
            self.seal_tail().await;
        } else if self.standing.is_failing() {
            self.try_to_write().await;
        }
    }

    /// Signs the end of the ledger, if it is not signed yet.
    pub(super) async fn seal_tail(&mut self) {
        // Whatever comes of it, it is not tried again at once.
        self.checkpoints.at = Instant::now();
        if !self.standing.is_writable() || !self.checkpoints.sealer.is_behind() {
            return;
        }
        let mut books = Books::after(self.tail, self.memory.gate(), self.reserves.clone());
        books.seal_now = true;
        if let Err(Abort { message, until_restart, of_disk }) = self.write(books).await {
            tracing::error!(error = %message, "the end of the ledger could not be signed");
            self.standing.failing(true);
            if until_restart {
                self.standing.stop(no_more(&message));
            }
            let _ = execute(&mut self.conn, "ROLLBACK").await;
            self.forget_hands(of_disk).await;
        }
    }
}

/// Writes them in one step. Of those inside a stretch only the newest stays.
async fn write(
    conn: &mut SqliteConnection,
    seals: &[Seal],
    passing: Option<u64>,
) -> Result<(), Fault> {
    let rows: Vec<(u64, &str, String)> =
        seals.iter().map(|seal| (seal.size, seal.note.as_str(), hex(&seal.frontier))).collect();
    sqlx::query(
        "DELETE FROM ledger_checkpoints WHERE size = ?2;
         INSERT INTO ledger_checkpoints (size, note, frontier)
         SELECT value ->> 0, value ->> 1, unhex(value ->> 2) FROM json_each(?1) ORDER BY key",
    )
    .bind(serde_json::to_string(&rows).map_err(Fault::damaged)?)
    .bind(number(passing.unwrap_or(0))?)
    .execute(conn)
    .await?;
    Ok(())
}
