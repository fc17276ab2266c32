//! Whether the house can read its own state, and whether that makes sense. Whether the rows on
//! disk are those that were written is what `narthex ledger verify` proves, seals included; which of
//! them is not the newest, only the house that holds it knows.

use std::fmt::Display;

use narthex_core::{EngagedBy, SwitchScope};
use narthex_store::ApprovalFilter;

use super::{Checked, Desk, OwnerError, Reply};

impl Desk {
    /// Reads everything the gate relies on. What is damaged is said, not served.
    pub(super) async fn checkup(&self) -> Result<Reply, OwnerError> {
        let store = self.store();
        let mut checked = Vec::new();
        let switches = store.switches().await;
        checked
            .push(seen("kill switches", switches.map(|s| counted(s.engaged().len(), "engaged"))));
        let latches = store.latches().await;
        checked.push(seen("latches", latches.as_ref().map(|all| counted(all.len(), "set"))));
        let filter = ApprovalFilter { limit: MOST, ..ApprovalFilter::default() };
        let approvals = store.approvals(&filter).await;
        checked.push(seen("approvals", approvals.map(|all| counted(all.len(), "kept"))));
        checked.push(seen("rows", self.rows_read().await));
        checked.push(seen("damage", self.damage_read().await));
        checked.push(seen("budgets", self.budgets_read().await));
        checked.push(seen("mode", self.mode_read().await));
        checked.push(seen("clock", self.clock_read().await));
        Ok(Reply::Checked(checked))
    }

    /// Rows against what the house knows of them.
    async fn rows_read(&self) -> Result<String, OwnerError> {
        let damaged = self.store().damaged_rows().await?;
        if damaged.is_empty() {
            return Ok("as they were last written".to_owned());
        }
        Err(super::desk::conflict(damaged.join("; ")))
    }

    /// What a start found, as long as the stop that followed was not lifted. By then the rows may
    /// be sound again.
    async fn damage_read(&self) -> Result<String, OwnerError> {
        let switches = self.store().switches().await?;
        let Some(stop) = switches.get(&SwitchScope::Everything) else { return Ok(answered()) };
        let Some(stored) = self.store().newest_damage().await? else { return Ok(answered()) };
        let record = stored.read().map_err(|error| super::desk::conflict(error.to_string()))?;
        // The owner may have stopped everything for another reason, since or before.
        if stop.by != EngagedBy::House && record.at < stop.at {
            return Ok(answered());
        }
        let note = if stop.by == EngagedBy::House { stop.note.as_str() } else { "" };
        Err(super::desk::conflict(format!(
            "at {} a start found the gate's state damaged (record {}) and stopped everything{}{note}",
            record.at,
            record.seq,
            if note.is_empty() { "" } else { ": " },
        )))
    }

    async fn budgets_read(&self) -> Result<String, OwnerError> {
        let agents = self.store().agents().await?;
        for agent in &agents {
            let holder = narthex_core::Holder { agent: agent.id, space: agent.space };
            self.store().spent(holder).await?;
        }
        Ok(counted(agents.len(), "agents"))
    }

    async fn mode_read(&self) -> Result<String, OwnerError> {
        let noted = self.store().noted_mode().await?.map(|(mode, _)| mode);
        let (mode, settings) = (self.gate.mode(), self.gate.config().mode);
        if noted != Some(mode) {
            return Err(super::desk::conflict(format!(
                "{mode} is in force, and the store notes {}; start the server again",
                noted.map_or("none", narthex_core::Mode::as_str)
            )));
        }
        Ok(if mode == settings {
            format!("{mode}, as the settings say")
        } else {
            format!("{mode}, chosen below what the settings allow ({settings})")
        })
    }

    /// A wall clock that was set back shows against the ledger, one that was never set against
    /// the time since boot.
    async fn clock_read(&self) -> Result<String, OwnerError> {
        let now = self.gate.clock().moment();
        let wrong = |message: String| super::desk::conflict(message);
        let booted = now.wall.as_millis().saturating_sub(i64::try_from(now.up).unwrap_or(i64::MAX));
        if booted < YEAR_2024_MILLIS {
            return Err(wrong(format!("the wall clock says {}: set it", now.wall)));
        }
        let last = match self.store().head().await? {
            Some(head) => self.store().records(head.seq, 1).await?,
            None => Vec::new(),
        };
        let last = last.first().and_then(|record| record.read().ok());
        if let Some(record) = last
            && record.at.as_millis().saturating_sub(now.wall.as_millis()) > JUMP_MILLIS
        {
            return Err(wrong(format!(
                "the wall clock says {}, and the newest record is of {}: it was set back",
                now.wall, record.at
            )));
        }
        Ok(format!("{}, {} s since boot", now.wall, now.up / 1_000))
    }
}

fn seen(what: &str, found: Result<String, impl Display>) -> Checked {
    Checked { what: what.to_owned(), found: found.map_err(|error| error.to_string()) }
}

fn answered() -> String {
    "none that was not answered".to_owned()
}

fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}")
}

const MOST: u32 = 100_000;
const JUMP_MILLIS: i64 = 5 * 60 * 1_000;
const YEAR_2024_MILLIS: i64 = 1_704_067_200_000;
