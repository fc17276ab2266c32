//! Rows of approvals and proposals: served only if they are genuine, and open ones only as they were
//! last written.

use std::sync::Arc;
use std::time::Duration;

use narthex_store::{RowKey, StoreError};
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::fault::Fault;
use crate::gate::Gate;
use crate::matter::Genuine;
use crate::rows::Fields;

/// How a row is read.
type Read<T> = fn(Fields<'_>, &RowKey) -> Result<Genuine<T>, Fault>;

/// How a list of them was read.
pub(super) struct Listed<T> {
    /// What was known before.
    pub(super) known: Arc<Gate>,
    /// One of them by its id.
    pub(super) by_id: &'static str,
    pub(super) read: Read<T>,
}

impl SqliteStore {
    /// One at most. While it is read it may be decided, and right after a commit it may be newer
    /// than what is known: then it is read again, for a moment.
    pub(super) async fn matter<T: Send>(
        &self,
        sql: &'static str,
        keys: &[Option<&[u8]>],
        read: Read<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut looks = 0;
        loop {
            let known = self.gate.gate();
            let query = keys.iter().fold(sqlx::query(sql), |query, key| query.bind(*key));
            let row = query.fetch_optional(&self.readers).await.map_err(Fault::Sql)?;
            let Some(row) = row else { return Ok(None) };
            let found = read(Fields(&row), &self.row_key)?;
            if found.is_current(known.matters()) {
                return Ok(Some(found.said));
            }
            let now = self.gate.gate();
            if looks == LOOKS || found.is_current(now.matters()) {
                return Ok(Some(found.current(now.matters())?));
            }
            looks += 1;
            tokio::time::sleep(BETWEEN).await;
        }
    }

    /// Every one that holds. One that is not known is asked for again by itself, and may not be
    /// wanted any more.
    pub(super) async fn matters<T: Send>(
        &self,
        rows: Result<Vec<SqliteRow>, sqlx::Error>,
        listed: &Listed<T>,
        wanted: impl Fn(&T) -> bool + Sync,
    ) -> Result<Vec<T>, StoreError> {
        let mut sound = Vec::new();
        for row in rows.map_err(Fault::Sql)? {
            let row = Fields(&row);
            match (listed.read)(row, &self.row_key) {
                Ok(found) if found.is_current(listed.known.matters()) => sound.push(found.said),
                Ok(_) => {
                    let id = row.get::<&[u8]>("id")?;
                    match self.matter(listed.by_id, &[Some(id)], listed.read).await {
                        Ok(now) => sound.extend(now.filter(&wanted)),
                        Err(damaged @ StoreError::Damaged(_)) => super::left_out(damaged),
                        Err(other) => return Err(other),
                    }
                }
                Err(fault) => super::left_out(fault),
            }
        }
        Ok(sound)
    }
}

const LOOKS: usize = 10;
const BETWEEN: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use narthex_core::{
        Actor, Agent, AgentId, AgentKind, Approval, ApprovalId, Binding, CallId, Digest, Grants,
        Holder, Mode, Phase, Reason, RecordDraft, Taint, Tier, Timestamp, Title, Transport,
    };
    use narthex_store::chain::{HeadKey, SealKey};
    use narthex_store::{
        ApprovalFilter, Approvals as _, Clock as _, Commits as _, Effect, ManualClock, StoreError,
        UnitOfWork, fresh_uuid,
    };

    use super::BETWEEN;
    use crate::{SqliteConfig, SqliteStore};

    /// The commit is on the disk, and the writer has not said so yet.
    #[tokio::test]
    async fn a_row_that_is_newer_than_what_is_known_is_waited_for() {
        let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(at(1_000)));
        let approval = request(&clock);
        let (database, head) = (dir.path().join("db"), dir.path().join("head"));
        let (key, seal) = (HeadKey::new([3; 32]), SealKey::from_seed(&[8; 32]));
        let config = SqliteConfig::new(database, head, key, seal, Arc::new(clock));
        let store = SqliteStore::open(config).await.unwrap();
        commit(&store, Effect::AddAgent(agent(approval.binding.holder.agent))).await;
        let before = store.gate.gate();
        let id = approval.id;
        commit(&store, Effect::RequestApproval { approval: Box::new(approval), cap: 1 }).await;
        let after = store.gate.gate();
        let filter = ApprovalFilter { limit: 9, ..ApprovalFilter::default() };

        store.gate.replace_gate(Arc::clone(&before));
        let late = async {
            tokio::time::sleep(2 * BETWEEN).await;
            store.gate.replace_gate(after);
        };
        let (one, all, ()) = tokio::join!(store.approval(id), store.approvals(&filter), late);
        assert!(one.unwrap().is_some());
        assert_eq!(all.unwrap().len(), 1);

        // Not for ever.
        store.gate.replace_gate(before);
        assert!(matches!(store.approval(id).await, Err(StoreError::Damaged(_))));
        assert!(store.approvals(&filter).await.unwrap().is_empty());
        store.close().await.unwrap();
    }

    fn request(clock: &ManualClock) -> Approval {
        let binding = Binding {
            holder: Holder { agent: AgentId::from_uuid(fresh_uuid()), space: None },
            surface: "servers/web".to_owned(),
            tool: "post".to_owned(),
            definition: Digest::of(b"definition"),
            arguments: serde_json::json!({}),
            tier: Tier::T2,
            mode: Mode::Guarded,
            policy: Digest::of(b"policy"),
            run: None,
        };
        let (id, now) = (ApprovalId::from_uuid(fresh_uuid()), clock.moment());
        Approval::waiting(id, binding, Reason::Tainted, Taint::CLEAN, now, at(9_000))
    }

    fn agent(id: AgentId) -> Agent {
        Agent {
            id,
            slug: "agent".parse().unwrap(),
            name: Title::parse("Agent").unwrap(),
            kind: AgentKind::External,
            model: None,
            grants: Grants::standard(),
            ceiling: Tier::T3,
            budget: None,
            tiers: narthex_core::ToolTiers::default(),
            space: None,
            disabled: false,
            created: at(1),
        }
    }

    const fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    async fn commit(store: &SqliteStore, effect: Effect) {
        let call = CallId::from_uuid(fresh_uuid());
        let record = RecordDraft::new(Phase::Owner, call, Actor::Owner, Transport::Local, "owner");
        store.commit(UnitOfWork::effect(effect, record)).await.unwrap();
    }
}
