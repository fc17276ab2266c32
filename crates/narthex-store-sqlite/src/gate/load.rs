//! Reading the gate's state when a house opens, and what is done where it cannot be believed.
//!
//! In doubt everything is stopped: a row that was edited or is gone opens the house with the kill
//! switch for everything engaged, and what might have been set counts as set.

use std::sync::Arc;

use narthex_core::{
    AgentId, CallId, Cause, Digest, Engaged, EngagedBy, Holder, Mode, Moment, SpaceId, Subject,
    SwitchScope, Taint,
};
use narthex_store::RowKey;
use sqlx::SqliteConnection;

use super::rows::{anchor_of, mac};
use super::{Gate, RowName, Setting};
use crate::fault::Fault;
use crate::identity::{self, Name};
use crate::matter::{self, Matter};
use crate::rows::{self, Fields};
use crate::writer::Tail;

/// The gate's state as it was found.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// What could be believed of it.
    pub(crate) gate: Gate,
    /// What could not.
    pub(crate) damage: Vec<String>,
    /// Whether there is a seal over it at all.
    pub(crate) sealed: bool,
    /// What the seal is from before of.
    pub(crate) older: Older,
    /// Whose row among agents, tokens and spaces was edited.
    pub(crate) disowned: Vec<Name>,
    /// Whose row among open matters was.
    pub(crate) disowned_matters: Vec<Matter>,
    /// Whose latch was edited.
    edited: Vec<Holder>,
    /// Scopes of switches that were edited.
    doubtful: Vec<SwitchScope>,
    /// The seal does not fit: anything may be missing.
    pub(crate) gaps: bool,
}

/// What is not under the seal yet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Older {
    /// Agents, tokens and spaces.
    pub(crate) identities: bool,
    /// Open matters.
    pub(crate) matters: bool,
}

/// Reads it and checks every MAC.
pub(crate) async fn load(conn: &mut SqliteConnection, key: &RowKey) -> Result<Loaded, Fault> {
    let mut loaded = Loaded::default();
    loaded.latches(conn, key).await?;
    loaded.switches(conn, key).await?;
    loaded.settings(conn, key).await?;
    loaded.identities(conn, key).await?;
    loaded.matters(conn, key).await?;
    let row = sqlx::query(
        "SELECT s.mac, h.seq, h.hash, h.gate
           FROM gate_seal s JOIN ledger_head h WHERE s.name = 'gate'",
    )
    .fetch_optional(conn)
    .await?;
    if let Some(row) = row {
        loaded.sealed = true;
        loaded.check_seal(Fields(&row), key)?;
    }
    for name in &loaded.disowned {
        loaded.gate.identities_mut().forget(name);
    }
    for matter in &loaded.disowned_matters {
        loaded.gate.matters_mut().forget(matter);
    }
    Ok(loaded)
}

impl Loaded {
    /// Notes that anything may be missing.
    pub(crate) fn missing(&mut self, what: &str) {
        self.gaps = true;
        self.damage.push(what.to_owned());
    }

    /// The state to go on with: everything stopped, and whatever might have been set, set.
    pub(crate) fn fail_closed(mut self, now: Moment, call: CallId, agents: &[Holder]) -> Gate {
        let note = format!(
            "the gate's state was damaged ({}); run `narthex doctor`",
            self.damage.join("; ")
        );
        for scope in std::iter::once(SwitchScope::Everything).chain(self.doubtful) {
            let by = EngagedBy::House;
            self.gate.engage(Engaged { scope, by, note: note.clone(), at: now.wall });
        }
        let everyone = if self.gaps { agents } else { &[] };
        for holder in self.edited.iter().chain(everyone) {
            let mut latch = self.gate.latch(holder).cloned().unwrap_or_default();
            let both = Taint { private: true, untrusted: true };
            latch.arm(both, &cause(*holder, now, call));
            self.gate.set_latch(*holder, latch);
        }
        if self.gate.mode().is_none() {
            // The owner may have chosen a lower one than the settings say.
            self.gate.set_mode((Mode::Readonly, Some(Mode::Readonly)));
        }
        self.gate
    }

    /// No row is missing, and none is older than the end of the ledger.
    fn check_seal(&mut self, row: Fields<'_>, key: &RowKey) -> Result<(), Fault> {
        let head = Tail { seq: rows::seq(row)?, hash: row.digest("hash")? };
        let stored = row.get::<Option<&[u8]>>("gate")?.unwrap_or_default();
        let sealed = row.get::<&[u8]>("mac")?;
        let is_sealed = |seal: &Digest| seal.as_bytes().as_slice() == sealed;
        let is_end = |seal: &Digest| anchor_of(key, head, seal).as_bytes().as_slice() == stored;
        // INVARIANT: only a start that knows nothing of these rows ties such a seal to the end of
        // the ledger, and the start that puts them under it moves that end.
        let is_of = |seal: Digest| is_sealed(&seal) && is_end(&seal);
        let alone = self.gate.identities().is_empty() && is_of(self.gate.seal_of_gate_alone(key));
        let matters = alone || is_of(self.gate.seal_without_matters(key));
        self.older = Older { identities: alone, matters };
        if matters {
            return Ok(());
        }
        let seal = self.gate.seal(key);
        if !is_sealed(&seal) {
            self.missing(
                "the seal over the gate's state, agents, tokens, spaces, open approvals and \
                 proposals does not fit",
            );
        }
        if !is_end(&seal) {
            self.missing("the gate's state is not the one at the end of the ledger");
        }
        Ok(())
    }

    async fn identities(&mut self, conn: &mut SqliteConnection, key: &RowKey) -> Result<(), Fault> {
        let found = identity::look(conn, key).await?;
        *self.gate.identities_mut() = found.macs;
        self.damage.extend(found.edited.iter().map(|name| format!("the row of {name}")));
        self.disowned = found.edited;
        Ok(())
    }

    async fn matters(&mut self, conn: &mut SqliteConnection, key: &RowKey) -> Result<(), Fault> {
        let found = matter::look(conn, key).await?;
        *self.gate.matters_mut() = found.macs;
        self.damage.extend(found.edited.iter().map(|matter| format!("the row of {matter}")));
        self.disowned_matters = found.edited;
        Ok(())
    }

    async fn latches(&mut self, conn: &mut SqliteConnection, key: &RowKey) -> Result<(), Fault> {
        for row in
            sqlx::query("SELECT agent, space, body, mac FROM latches").fetch_all(conn).await?
        {
            let row = Fields(&row);
            let Ok(holder) = holder(row) else {
                self.missing("a latch of nobody");
                continue;
            };
            if let Some((latch, mac)) = genuine(row, key, &RowName::Latch(holder)) {
                self.gate.set_latch(holder, latch);
                self.gate.keep_mac(RowName::Latch(holder), mac);
            } else {
                self.edited.push(holder);
                self.damage.push(format!("the latch of agent {}", holder.agent));
            }
        }
        Ok(())
    }

    async fn switches(&mut self, conn: &mut SqliteConnection, key: &RowKey) -> Result<(), Fault> {
        for row in sqlx::query("SELECT scope, body, mac FROM switches").fetch_all(conn).await? {
            let row = Fields(&row);
            let Ok(scope) = row.parsed::<SwitchScope>("scope") else {
                self.missing("a switch of no scope");
                continue;
            };
            let name = RowName::Switch(scope.clone());
            match genuine::<Engaged>(row, key, &name) {
                Some((engaged, mac)) if engaged.scope == scope => {
                    self.gate.engage(engaged);
                    self.gate.keep_mac(name, mac);
                }
                _ => {
                    self.damage.push(format!("the switch for {scope}"));
                    self.doubtful.push(scope);
                }
            }
        }
        Ok(())
    }

    async fn settings(&mut self, conn: &mut SqliteConnection, key: &RowKey) -> Result<(), Fault> {
        for row in sqlx::query("SELECT key, body, mac FROM settings").fetch_all(conn).await? {
            let row = Fields(&row);
            let setting = row.get::<&str>("key").ok().and_then(Setting::of);
            // What cannot be believed was never set: then there are no servers, or one less.
            if setting.and_then(|setting| self.setting(row, key, setting)).is_none() {
                self.damage.push("a setting".to_owned());
            }
        }
        Ok(())
    }

    fn setting(&mut self, row: Fields<'_>, key: &RowKey, setting: Setting) -> Option<()> {
        let name = RowName::Setting(setting.clone());
        let mac = match setting {
            Setting::Mode => {
                let (mode, mac) = genuine(row, key, &name)?;
                self.gate.set_mode(mode);
                mac
            }
            Setting::Servers => {
                let (on, mac) = genuine(row, key, &name)?;
                self.gate.servers_mut().on = on;
                mac
            }
            Setting::Server(server) => {
                let (standing, mac) = genuine(row, key, &name)?;
                self.gate.servers_mut().standings.insert(server, Arc::new(standing));
                mac
            }
            Setting::Profiles(agent) => {
                let (profiles, mac) = genuine(row, key, &name)?;
                self.gate.servers_mut().profiles.insert(agent, profiles);
                mac
            }
        };
        self.gate.keep_mac(name, mac);
        Some(())
    }
}

/// What a row says, if its MAC is genuine.
fn genuine<T: serde::de::DeserializeOwned>(
    row: Fields<'_>,
    key: &RowKey,
    name: &RowName,
) -> Option<(T, Digest)> {
    let body = row.get::<&str>("body").ok()?;
    let stored = row.digest("mac").ok()?;
    // Not a secret to be guessed bit by bit: whoever could time this could read the row.
    if mac(key, name, body) != stored {
        return None;
    }
    Some((serde_json::from_str(body).ok()?, stored))
}

pub(super) fn holder(row: Fields<'_>) -> Result<Holder, Fault> {
    let space = match row.get::<&[u8]>("space")? {
        [] => None,
        bytes => Some(SpaceId::from_bytes(bytes).map_err(Fault::damaged)?),
    };
    Ok(Holder { agent: row.id("agent", AgentId::from_bytes)?, space })
}

fn cause(holder: Holder, now: Moment, call: CallId) -> Cause {
    Cause {
        surface: "house".to_owned(),
        tool: DAMAGED.to_owned(),
        call,
        subject: Subject::one("agent", holder.agent),
        first: now,
        last: now,
    }
}

/// What the ledger calls it.
pub(crate) const DAMAGED: &str = "house.gate_damaged";

/// Whether this house ever had a seal over its gate's state. One founded before there was such a
/// thing has none until the first start after; that start says so in the ledger, in the same
/// transaction. So a seal that is missing where the ledger knows of one was taken away.
pub(crate) async fn was_sealed(conn: &mut SqliteConnection) -> Result<bool, Fault> {
    let first = sqlx::query("SELECT seq, bytes, hash FROM ledger ORDER BY seq LIMIT 1")
        .fetch_optional(&mut *conn)
        .await?;
    let Some(first) = first else { return Ok(false) };
    let first = rows::stored_record(Fields(&first))?;
    let founded = first.read().map_err(Fault::damaged)?;
    // A ledger that was pruned is younger than the seal.
    if first.seq != 1 || founded.draft.subject == sealed_mark() {
        return Ok(true);
    }
    // Quotes inside a text are escaped, so no text of a caller's can look like this.
    Ok(sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM ledger
          WHERE instr(bytes, CAST(?1 AS BLOB)) > 0 AND instr(bytes, CAST(?2 AS BLOB)) > 0)",
    )
    .bind(format!("\"tool\":\"{SEALED}\""))
    .bind("\"phase\":\"house\"")
    .fetch_one(conn)
    .await?)
}

/// What the ledger calls the start that put the seal over an older house.
pub(crate) const SEALED: &str = "house.gate_sealed";

/// What the founding record of a house says that has the seal from the beginning.
pub(crate) fn sealed_mark() -> Subject {
    Subject::one("gate", "sealed")
}
