//! The rows that latches, switches and the mode are kept in. Each carries a MAC, and one more MAC
//! over all of those says that none is missing.

use std::sync::Arc;

use narthex_core::{AgentId, Digest, Engaged, Holder, Latch, ServerStanding, Slug, SwitchScope};
use narthex_store::RowKey;
use sqlx::SqliteConnection;

use super::{Gate, NotedMode, RowName, Setting, holder_columns};
use crate::fault::Fault;
use crate::writer::Tail;

/// What a change to the gate's state is made with: the rows, and the state that will be in force
/// if the unit stands.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) conn: &'a mut SqliteConnection,
    pub(crate) key: &'a RowKey,
    pub(crate) gate: &'a mut Arc<Gate>,
}

impl Bench<'_> {
    /// Keeps a latch as it is now; an open one needs no row.
    pub(crate) async fn keep_latch(&mut self, holder: Holder, latch: Latch) -> Result<(), Fault> {
        let name = RowName::Latch(holder);
        if latch.taint().is_clean() {
            self.drop_row(&name).await?;
        } else {
            self.put_row(name, &latch).await?;
        }
        Arc::make_mut(self.gate).set_latch(holder, latch);
        Ok(())
    }

    /// False if the scope was engaged already; the first note stays.
    pub(crate) async fn engage(&mut self, engaged: Engaged) -> Result<bool, Fault> {
        if self.gate.switches().get(&engaged.scope).is_some() {
            return Ok(false);
        }
        self.put_row(RowName::Switch(engaged.scope.clone()), &engaged).await?;
        Ok(Arc::make_mut(self.gate).engage(engaged))
    }

    /// False if it was not engaged.
    pub(crate) async fn lift(&mut self, scope: SwitchScope) -> Result<bool, Fault> {
        if self.gate.switches().get(&scope).is_none() {
            return Ok(false);
        }
        let lifted = Arc::make_mut(self.gate).lift(&scope);
        self.drop_row(&RowName::Switch(scope)).await?;
        Ok(lifted)
    }

    /// False if it was noted so already.
    pub(crate) async fn note_mode(&mut self, mode: NotedMode) -> Result<bool, Fault> {
        if self.gate.mode() == Some(mode) {
            return Ok(false);
        }
        self.put_row(RowName::Setting(Setting::Mode), &mode).await?;
        Arc::make_mut(self.gate).set_mode(mode);
        Ok(true)
    }

    /// False if it was so already.
    pub(crate) async fn switch_servers(&mut self, on: bool) -> Result<bool, Fault> {
        if self.gate.servers().on == on {
            return Ok(false);
        }
        self.put_row(RowName::Setting(Setting::Servers), &on).await?;
        Arc::make_mut(self.gate).servers_mut().on = on;
        Ok(true)
    }

    /// False if it was so already.
    pub(crate) async fn set_server(
        &mut self,
        name: Slug,
        standing: ServerStanding,
    ) -> Result<bool, Fault> {
        let was = self.gate.servers().standings.get(&name);
        if was.map_or(standing.is_blank(), |was| **was == standing) {
            return Ok(false);
        }
        let row = RowName::Setting(Setting::Server(name.clone()));
        if standing.is_blank() {
            self.drop_row(&row).await?;
            Arc::make_mut(self.gate).servers_mut().standings.remove(&name);
        } else {
            self.put_row(row, &standing).await?;
            Arc::make_mut(self.gate).servers_mut().standings.insert(name, Arc::new(standing));
        }
        Ok(true)
    }

    /// False if it was so already.
    pub(crate) async fn set_profiles(
        &mut self,
        agent: AgentId,
        profiles: Vec<Slug>,
    ) -> Result<bool, Fault> {
        let was = self.gate.servers().profiles.get(&agent);
        if was.map_or(profiles.is_empty(), |was| *was == profiles) {
            return Ok(false);
        }
        let row = RowName::Setting(Setting::Profiles(agent));
        if profiles.is_empty() {
            self.drop_row(&row).await?;
            Arc::make_mut(self.gate).servers_mut().profiles.remove(&agent);
        } else {
            self.put_row(row, &profiles).await?;
            Arc::make_mut(self.gate).servers_mut().profiles.insert(agent, profiles);
        }
        Ok(true)
    }

    async fn put_row(&mut self, name: RowName, body: &impl serde::Serialize) -> Result<(), Fault> {
        let body = serde_json::to_string(body).map_err(Fault::damaged)?;
        let mac = put(self.conn, self.key, &name, &body).await?;
        Arc::make_mut(self.gate).keep_mac(name, mac);
        Ok(())
    }

    async fn drop_row(&mut self, name: &RowName) -> Result<(), Fault> {
        remove(self.conn, name).await?;
        Arc::make_mut(self.gate).forget_mac(name);
        Ok(())
    }
}

/// Lays all of it down anew: what was in the tables before is gone.
pub(crate) async fn rewrite(
    conn: &mut SqliteConnection,
    key: &RowKey,
    gate: &mut Arc<Gate>,
) -> Result<(), Fault> {
    sqlx::query("DELETE FROM latches; DELETE FROM switches; DELETE FROM settings")
        .execute(&mut *conn)
        .await?;
    let was = Arc::clone(gate);
    Arc::make_mut(gate).forget_macs();
    let mut bench = Bench { conn, key, gate };
    for (holder, latch) in was.latches() {
        bench.put_row(RowName::Latch(*holder), latch).await?;
    }
    for engaged in was.switches().engaged() {
        bench.put_row(RowName::Switch(engaged.scope.clone()), engaged).await?;
    }
    if let Some(mode) = was.mode() {
        bench.put_row(RowName::Setting(Setting::Mode), &mode).await?;
    }
    let servers = was.servers();
    if servers.on {
        bench.put_row(RowName::Setting(Setting::Servers), &true).await?;
    }
    for (name, standing) in &servers.standings {
        bench.put_row(RowName::Setting(Setting::Server(name.clone())), standing.as_ref()).await?;
    }
    for (agent, profiles) in &servers.profiles {
        bench.put_row(RowName::Setting(Setting::Profiles(*agent)), profiles).await?;
    }
    write_seal(conn, key, gate).await
}

/// The MAC over the MACs of all rows.
pub(crate) async fn write_seal(
    conn: &mut SqliteConnection,
    key: &RowKey,
    gate: &Gate,
) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO gate_seal (name, seq, hash, mac) VALUES ('gate', 0, zeroblob(32), ?1)
         ON CONFLICT (name) DO UPDATE SET mac = excluded.mac",
    )
    .bind(gate.seal(key).as_bytes().as_slice())
    .execute(conn)
    .await?;
    Ok(())
}

/// What ties the gate's state to the end of the ledger: a state from before, genuine as it is, does
/// not fit the head.
pub(crate) fn anchor(key: &RowKey, head: Tail, gate: &Gate) -> Digest {
    anchor_of(key, head, &gate.seal(key))
}

/// The same, for a seal as it is stored.
pub(super) fn anchor_of(key: &RowKey, head: Tail, seal: &Digest) -> Digest {
    let seq = head.seq.to_be_bytes();
    key.row("ledger_head gate", &[&seq, head.hash.as_bytes(), seal.as_bytes()])
}

/// What the MAC of a row is.
pub(super) fn mac(key: &RowKey, name: &RowName, body: &str) -> Digest {
    match name {
        RowName::Latch(holder) => {
            let (agent, space) = holder_columns(holder);
            key.row("latches", &[agent, space, body.as_bytes()])
        }
        RowName::Switch(scope) => {
            key.row("switches", &[scope.to_string().as_bytes(), body.as_bytes()])
        }
        RowName::Setting(setting) => {
            key.row("settings", &[setting.key().as_bytes(), body.as_bytes()])
        }
    }
}

async fn put(
    conn: &mut SqliteConnection,
    key: &RowKey,
    name: &RowName,
    body: &str,
) -> Result<Digest, Fault> {
    let mac = mac(key, name, body);
    let stamp = mac.as_bytes().as_slice();
    let query = match name {
        RowName::Latch(holder) => {
            let (agent, space) = holder_columns(holder);
            let sql = "INSERT INTO latches (body, mac, agent, space) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (agent, space)
                       DO UPDATE SET body = excluded.body, mac = excluded.mac";
            sqlx::query(sql).bind(body).bind(stamp).bind(agent).bind(space)
        }
        RowName::Switch(scope) => {
            let sql = "INSERT INTO switches (body, mac, scope) VALUES (?1, ?2, ?3)
                       ON CONFLICT (scope)
                       DO UPDATE SET body = excluded.body, mac = excluded.mac";
            sqlx::query(sql).bind(body).bind(stamp).bind(scope.to_string())
        }
        RowName::Setting(setting) => {
            let sql = "INSERT INTO settings (body, mac, key) VALUES (?1, ?2, ?3)
                       ON CONFLICT (key)
                       DO UPDATE SET body = excluded.body, mac = excluded.mac";
            sqlx::query(sql).bind(body).bind(stamp).bind(setting.key())
        }
    };
    query.execute(conn).await?;
    Ok(mac)
}

async fn remove(conn: &mut SqliteConnection, name: &RowName) -> Result<(), Fault> {
    let query = match name {
        RowName::Latch(holder) => {
            let (agent, space) = holder_columns(holder);
            sqlx::query("DELETE FROM latches WHERE agent = ?1 AND space = ?2")
                .bind(agent)
                .bind(space)
        }
        RowName::Switch(scope) => {
            sqlx::query("DELETE FROM switches WHERE scope = ?1").bind(scope.to_string())
        }
        RowName::Setting(setting) => {
            sqlx::query("DELETE FROM settings WHERE key = ?1").bind(setting.key())
        }
    };
    query.execute(conn).await?;
    Ok(())
}
