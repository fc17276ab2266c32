//! The gate's state when a house opens: found sound, put there for the first time, or damaged.

use narthex_core::{AgentId, CallId, Holder, RecordDraft, SpaceId, Subject, Timestamp};
use narthex_store::{RowKey, StoreError, fresh_uuid};
use sqlx::SqliteConnection;

use super::{broken, of_the_house};
use crate::fault::Fault;
use crate::gate::{self, Accounts, BudgetBooks, Gate, GateMemory, Loaded};
use crate::identity;
use crate::matter;
use crate::rows::Fields;
use crate::writer::{Tail, Upkeep, Writer};

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    loaded: Loaded,
    accounts: Accounts,
    books: BudgetBooks,
    /// There is no house yet.
    new: bool,
    /// This is the first start of an older house that knows of a gate's state at all.
    first: bool,
    /// The accounts were not there, or not genuine, and come from the ledger alone.
    rebuilt: bool,
}

impl Found {
    /// Looks at all of it, changing nothing.
    pub(super) async fn look(
        conn: &mut SqliteConnection,
        key: &RowKey,
        tail: Tail,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut loaded = gate::load(conn, key).await?;
        let stored = BudgetBooks::load(conn, key, now).await?;
        let new = tail.seq == 0;
        // INVARIANT: whoever is taken for an older house has its whole ledger walked below, from
        // the first record to the genuine head. So what `was_sealed` read there was not edited.
        let unsealed = !loaded.sealed && stored.is_none();
        let first = !new && unsealed && !gate::was_sealed(conn).await?;
        if !new && !loaded.sealed && !first {
            loaded.missing("the seal over the gate's state is gone");
        }
        let rebuilt = stored.is_none();
        let (books, accounts) = if let Some((mut books, mut accounts)) = stored {
            gate::catch_up(conn, &mut books, &mut accounts, tail).await.map_err(unsound)?;
            (books, accounts)
        } else {
            let window = if first || new { gate::UNTIL_TOLD } else { gate::LONGEST };
            gate::rebuild(conn, window, tail, now).await.map_err(unsound)?
        };
        Ok(Self { loaded, accounts, books, new, first, rebuilt })
    }

    /// The end of the ledger may have been cut off together with what it says of the gate.
    pub(super) fn head_lost(&mut self) {
        self.loaded.missing("the head file is gone, so the ledger's end may have been cut");
    }

    /// To be read from now on.
    pub(super) fn memory(&self) -> GateMemory {
        GateMemory::new(self.loaded.gate.clone(), self.accounts.clone())
    }

    pub(super) fn books(&self) -> BudgetBooks {
        self.books.clone()
    }

    /// Does what must be done before anyone is served, and says so in the ledger: a new house is
    /// founded, an older one gets its seal, and where something was damaged everything is stopped.
    pub(super) async fn settle(self, writer: &mut Writer) -> Result<(), StoreError> {
        let mut upkeep = Upkeep { accounts: self.rebuilt, ..Upkeep::default() };
        if self.new {
            let founded = of_the_house("house.founded");
            upkeep.records.push(RecordDraft { subject: gate::sealed_mark(), ..founded });
            upkeep.gate = Some(Gate::default());
        }
        if self.first {
            upkeep.records.push(of_the_house(gate::SEALED));
            upkeep.gate = Some(self.loaded.gate.clone());
            upkeep.proposals = true;
            upkeep.identities = true;
        }
        if self.loaded.older.identities {
            upkeep.records.push(of_the_house(identity::SEALED));
            upkeep.identities = true;
        }
        if self.loaded.older.matters {
            upkeep.records.push(of_the_house(matter::SEALED));
            upkeep.gate = Some(self.loaded.gate.clone());
        }
        if self.rebuilt && !self.first && !self.new {
            tracing::error!("the accounts were damaged; they were added up anew from the ledger");
            upkeep.records.push(of_the_house("house.accounts_rebuilt"));
        }
        if !self.loaded.damage.is_empty() {
            let damage = self.loaded.damage.join("; ");
            tracing::error!(damage, "the gate's state was damaged; everything is stopped");
            let call = CallId::from_uuid(fresh_uuid());
            let agents = agents(&mut writer.conn).await?;
            let subject = Subject {
                kind: Some("gate".to_owned()),
                count: u64::try_from(self.loaded.damage.len()).ok(),
                ..Subject::default()
            };
            let record = RecordDraft { call, subject, ..of_the_house(gate::DAMAGED) };
            upkeep.records.push(record);
            upkeep.disowned.clone_from(&self.loaded.disowned);
            upkeep.disowned_matters.clone_from(&self.loaded.disowned_matters);
            // Any of them may have been used, answered otherwise or taken up before it was put back.
            upkeep.void_matters = self.loaded.gaps;
            upkeep.gate = Some(self.loaded.fail_closed(writer.clock.moment(), call, &agents));
        }
        if upkeep.records.is_empty() { Ok(()) } else { writer.keep_house(upkeep).await }
    }
}

/// Every agent with its space.
async fn agents(conn: &mut SqliteConnection) -> Result<Vec<Holder>, StoreError> {
    let rows =
        sqlx::query("SELECT a.id, s.id AS space FROM agents a LEFT JOIN spaces s ON s.n = a.space")
            .fetch_all(conn)
            .await
            .map_err(Fault::Sql)?;
    let holder = |row| {
        let row = Fields(row);
        Ok(Holder {
            agent: row.id("id", AgentId::from_bytes)?,
            space: row.id_if("space", SpaceId::from_bytes)?,
        })
    };
    Ok(rows.iter().map(holder).collect::<Result<_, Fault>>()?)
}

fn unsound(fault: Fault) -> StoreError {
    match fault {
        Fault::Damaged(what) => broken(&what),
        other => other.into(),
    }
}
