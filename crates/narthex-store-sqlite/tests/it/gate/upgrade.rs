//! A house from before the gate remembered anything: its first start puts the seal on, and no
//! later one does.

use narthex_core::{Actor, CallId, Digest, Phase, RecordDraft, SwitchScope, Timestamp, Transport};
use narthex_store::chain::{GENESIS, seal};
use narthex_store::{
    Agents as _, Effect, GateBooks as _, HeadFile, LedgerReader as _, Proposals as _, Refused,
    RowKey, Soundness as _, Spaces as _, StoreError, fresh_uuid,
};
use sqlx::{ConnectOptions as _, Connection as _};

use super::{House, commit, done, records, tools};
use crate::backend::key;

/// What an older program would have left: its schema and a founding record that says nothing of
/// a seal. Or, in between, the new schema and nothing in it: the start that made it was cut short.
async fn older(migrated: bool) -> (House, narthex_core::Proposal) {
    let (house, store) = House::open().await;
    let proposal = house.proposal("old");
    done(&store, Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 }).await;
    store.close().await.expect("closes");
    let call = CallId::from_uuid(fresh_uuid());
    let founded =
        RecordDraft::new(Phase::House, call, Actor::House, Transport::Local, "house.founded");
    let first = seal(founded, 1, Timestamp::from_millis(1), GENESIS).expect("seals");
    let head = key().head(1, first.hash);
    let text = std::str::from_utf8(&first.bytes).expect("ASCII");
    let schema = if migrated {
        "UPDATE proposals SET mac = NULL; DELETE FROM gate_seal; DELETE FROM budgets;
         UPDATE agents SET mac = NULL; UPDATE spaces SET mac = NULL;"
    } else {
        "DROP INDEX proposals_open; ALTER TABLE proposals DROP COLUMN merge;
         ALTER TABLE proposals DROP COLUMN server; DROP TABLE IF EXISTS runs;
         ALTER TABLE proposals DROP COLUMN mac; ALTER TABLE ledger_head DROP COLUMN gate;
         ALTER TABLE agents DROP COLUMN budget; ALTER TABLE agents DROP COLUMN mac;
         ALTER TABLE agents DROP COLUMN tiers;
         ALTER TABLE tokens DROP COLUMN mac; ALTER TABLE spaces DROP COLUMN mac;
         DROP TABLE approvals; DROP TABLE latches; DROP TABLE switches; DROP TABLE settings;
         DROP TABLE budgets; DROP TABLE gate_seal; DROP TABLE IF EXISTS ledger_checkpoints;
         DROP TABLE IF EXISTS ledger_base; DELETE FROM _sqlx_migrations WHERE version > 1;
         DROP TABLE definitions; DROP TABLE graph_touched; DROP TABLE graph_texts_old; DROP TABLE graph_texts; DROP TABLE graph_indexes;
         DROP TABLE graph_index_old; DROP TABLE graph_index; DROP TABLE graph_history;
         DROP TABLE graph_to; DROP TABLE graph_from; DROP TABLE graph_rows;
         DROP TABLE graph_schemas; DROP TABLE graph_commits; DROP TABLE graph_lines;
         DROP TABLE graphs;"
    };
    house
        .sql(&format!(
            "{schema} {}
             DELETE FROM ledger; DELETE FROM ledger_head;
             INSERT INTO ledger VALUES (1, CAST('{text}' AS BLOB), x'{2}');
             INSERT INTO ledger_head (one, seq, hash, mac) VALUES (1, 1, x'{2}', x'{1}')",
            if migrated { "DELETE FROM ledger_checkpoints;" } else { "" },
            head.mac,
            first.hash,
        ))
        .await;
    let config = house.backend.config();
    std::fs::remove_file(&config.head_file).expect("removes");
    let mut file = HeadFile::open(&config.head_file).expect("opens");
    file.write(&head).expect("writes");
    (house, proposal)
}

#[tokio::test]
async fn the_first_start_puts_the_seal_on() {
    for migrated in [false, true] {
        let (house, proposal) = older(migrated).await;
        let store = house.backend.store().await.expect("opens");
        assert!(tools(&store, 1).await.contains(&"house.gate_sealed".to_owned()));
        assert_eq!(store.proposal(proposal.id).await.expect("reads"), Some(proposal));
        assert!(store.switches().await.expect("reads").engaged().is_empty());
        assert_eq!(store.agent(house.agent.id).await.expect("reads"), Some(house.agent.clone()));
        assert_eq!(store.spaces().await.expect("reads").len(), 1);
        assert!(store.damaged_rows().await.expect("reads").is_empty());
        let said = records(&store).await;
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said, "only once");
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
    }
}

#[tokio::test]
async fn no_later_start_does_it_again() {
    let (house, proposal) = older(false).await;
    house.backend.store().await.expect("opens").close().await.expect("closes");
    // Someone edits a proposal and makes the house look as if it had never been sealed.
    house
        .sql(
            "UPDATE proposals SET body = 'another', mac = NULL; DELETE FROM gate_seal;
             UPDATE agents SET ceiling = 'T2', mac = NULL",
        )
        .await;
    let store = house.backend.store().await.expect("opens");
    let read = store.proposal(proposal.id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    let read = store.agent(house.agent.id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    let switches = store.switches().await.expect("reads");
    assert!(switches.get(&SwitchScope::Everything).is_some());
    store.close().await.expect("closes");
}

/// Not even one whose founding record was edited to be that of an older house.
#[tokio::test]
async fn a_house_cannot_be_made_older_than_it_is() {
    for keep_accounts in [true, false] {
        let (house, store) = House::open().await;
        house.furnish(&store).await;
        let proposal = house.proposal("new");
        done(&store, Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 }).await;
        store.close().await.expect("closes");
        let of = if keep_accounts { "WHERE name = 'gate'" } else { "" };
        house
            .sql(&format!(
                "UPDATE proposals SET body = 'another', mac = NULL;
                 DELETE FROM gate_seal {of}; DELETE FROM switches; DELETE FROM latches;
                 UPDATE ledger_head SET gate = NULL;
                 UPDATE ledger
                    SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"sealed\"', '\"s\"') AS BLOB)
                  WHERE seq = 1"
            ))
            .await;
        match house.backend.store().await {
            Err(StoreError::Damaged(_)) => assert!(!keep_accounts),
            Ok(store) => {
                let switches = store.switches().await.expect("reads");
                assert!(switches.get(&SwitchScope::Everything).is_some());
                assert!(store.proposal(proposal.id).await.is_err());
                store.close().await.expect("closes");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// What was not under the seal yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Identities,
    Matters,
}

/// Makes a house look like one whose gate was sealed before these were: with the key, or as well as
/// it can be done without.
async fn unseal(house: &House, before: Before, with_key: bool) {
    let store = house.backend.store().await.expect("opens");
    let head = store.head().await.expect("reads").expect("a head");
    store.close().await.expect("closes");
    let rows = RowKey::of(&key());
    let under = match before {
        Before::Identities => Vec::new(),
        Before::Matters => vec![house.identity_seal(&rows).await],
    };
    let under: Vec<&[u8]> = under.iter().map(|mac| mac.as_bytes().as_slice()).collect();
    let seal = rows.row("gate_seal gate", &under);
    let fields: [&[u8]; 3] = [&head.seq.to_be_bytes(), head.hash.as_bytes(), seal.as_bytes()];
    let anchor = rows.row("ledger_head gate", &fields);
    if before == Before::Identities {
        house
            .sql(
                "UPDATE agents SET mac = NULL; UPDATE tokens SET mac = NULL;
                 UPDATE spaces SET mac = NULL",
            )
            .await;
    }
    if with_key {
        house.sql(&format!("UPDATE ledger_head SET gate = x'{anchor}'")).await;
    }
    house.sql(&format!("UPDATE gate_seal SET mac = x'{seal}' WHERE name = 'gate'")).await;
}

impl House {
    async fn count(&self, sql: &'static str) -> i64 {
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.backend.config().database);
        let mut conn = options.connect().await.expect("connects");
        let count = sqlx::query_scalar(sql).fetch_one(&mut conn).await.expect("reads");
        conn.close().await.expect("closes");
        count
    }

    /// The seal over the MACs of spaces, agents and tokens.
    async fn identity_seal(&self, rows: &RowKey) -> Digest {
        let options =
            sqlx::sqlite::SqliteConnectOptions::new().filename(self.backend.config().database);
        let mut conn = options.connect().await.expect("connects");
        let mut macs: Vec<Vec<u8>> = Vec::new();
        for sql in [
            "SELECT mac FROM spaces ORDER BY id",
            "SELECT mac FROM agents ORDER BY id",
            "SELECT mac FROM tokens ORDER BY id",
        ] {
            macs.extend(
                sqlx::query_scalar::<_, Vec<u8>>(sql).fetch_all(&mut conn).await.expect("reads"),
            );
        }
        conn.close().await.expect("closes");
        let macs: Vec<&[u8]> = macs.iter().map(Vec::as_slice).collect();
        rows.row("gate_seal identity", &macs)
    }
}

#[tokio::test]
async fn a_house_with_a_gate_gets_the_rest_sealed_once() {
    for (before, said) in [
        (Before::Identities, &["house.identities_sealed", "house.matters_sealed"][..]),
        (Before::Matters, &["house.matters_sealed"]),
    ] {
        let (house, store) = House::open().await;
        let approved = house.approved(&store, "approved").await;
        let proposal = house.proposal("old");
        done(&store, Effect::OpenProposal { proposal: Box::new(proposal.clone()), cap: 9 }).await;
        let was = records(&store).await;
        store.close().await.expect("closes");
        unseal(&house, before, true).await;
        let store = house.backend.store().await.expect("opens");
        assert_eq!(tools(&store, was + 1).await, said);
        assert!(store.switches().await.expect("reads").engaged().is_empty());
        let agent = store.agent(house.agent.id).await.expect("reads");
        assert_eq!(agent, Some(house.agent.clone()));
        assert_eq!(store.proposal(proposal.id).await.expect("reads"), Some(proposal.clone()));
        assert!(store.damaged_rows().await.expect("reads").is_empty());
        commit(&store, house.using(&approved)).await.expect("is still good");
        let last = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, last, "{before:?}: once");
        store.close().await.expect("closes");

        unseal(&house, before, false).await;
        let store = house.backend.store().await.expect("opens");
        assert_eq!(tools(&store, last + 1).await, ["house.gate_damaged"], "{before:?}");
        if before == Before::Identities {
            let read = store.agent(house.agent.id).await;
            assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
        }
        store.close().await.expect("closes");
    }
}

/// Its seal, its end and its rows are all genuine, only from before the first start that sealed
/// open matters.
#[tokio::test]
async fn the_seal_of_an_older_house_put_back_is_noticed() {
    let (house, store) = House::open().await;
    let approved = house.approved(&store, "approved").await;
    store.close().await.expect("closes");
    unseal(&house, Before::Matters, true).await;
    for table in ["gate_seal", "ledger_head", "approvals"] {
        house.sql(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    let store = house.backend.store().await.expect("opens");
    commit(&store, house.using(&approved)).await.expect("is used");
    let said = records(&store).await;
    store.close().await.expect("closes");
    house
        .sql(
            "DELETE FROM approvals; INSERT INTO approvals SELECT * FROM kept_approvals;
             DELETE FROM gate_seal; INSERT INTO gate_seal SELECT * FROM kept_gate_seal;
             UPDATE ledger_head SET gate = (SELECT gate FROM kept_ledger_head)",
        )
        .await;
    let store = house.backend.store().await.expect("opens");
    assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()));
    let used = commit(&store, house.using(&approved)).await;
    assert!(matches!(used, Err(StoreError::Refused(Refused::NotApproved(_)))), "{used:?}");
    store.close().await.expect("closes");
}

/// A house from before merges were proposed, or servers asked for: nothing is said, and every
/// proposal is as it was, in its place.
#[tokio::test]
async fn a_house_that_knew_of_fewer_proposals_is_as_it_was() {
    for older in [
        "ALTER TABLE proposals DROP COLUMN merge; ALTER TABLE proposals DROP COLUMN server;
         CREATE INDEX proposals_open ON proposals (id) WHERE status = 'pending';
         DELETE FROM _sqlx_migrations WHERE version IN (8, 14)",
        "ALTER TABLE proposals DROP COLUMN server;
         CREATE INDEX proposals_open ON proposals (id)
          WHERE status = 'pending' OR (status = 'conflict' AND merge IS NOT NULL);
         DELETE FROM _sqlx_migrations WHERE version = 14",
    ] {
        let (house, store) = House::open().await;
        let [waits, rejected, in_conflict] =
            ["waits", "rejected", "in-conflict"].map(|slug| house.proposal(slug));
        for proposal in [&waits, &rejected, &in_conflict] {
            let proposal = Box::new(proposal.clone());
            done(&store, Effect::OpenProposal { proposal, cap: 9 }).await;
        }
        let (note, at) = (|| "no".to_owned(), Timestamp::from_millis(7));
        done(&store, Effect::RejectProposal { id: rejected.id, note: note(), at }).await;
        done(&store, Effect::MarkConflict { id: in_conflict.id, note: note(), at }).await;
        let mut before = Vec::new();
        for id in [waits.id, rejected.id, in_conflict.id] {
            before.push(store.proposal(id).await.expect("reads").expect("is there"));
        }
        let said = records(&store).await;
        store.close().await.expect("closes");
        house.sql("UPDATE proposals SET rowid = rowid + 40").await;
        house.sql(&format!("DROP INDEX proposals_open; {older}")).await;
        house.backend.verify().await.expect("whole as an older program left it");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said);
        for proposal in before {
            assert_eq!(store.proposal(proposal.id).await.expect("reads"), Some(proposal));
        }
        assert!(store.damaged_rows().await.expect("reads").is_empty());
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        assert_eq!(house.count("SELECT count(*) FROM proposals WHERE rowid > 40").await, 3);
    }
}

/// What was edited in an older house is damage to the first start that looks at it.
#[tokio::test]
async fn an_older_house_with_an_edited_matter_is_damaged() {
    let (house, store) = House::open().await;
    house.approved(&store, "approved").await;
    let said = records(&store).await;
    store.close().await.expect("closes");
    unseal(&house, Before::Matters, true).await;
    house.sql("UPDATE approvals SET body = replace(body, 'approved', 'another')").await;
    let store = house.backend.store().await.expect("opens");
    let told = tools(&store, said + 1).await;
    assert_eq!(told, ["house.matters_sealed", "house.gate_damaged"]);
    let last = records(&store).await;
    store.close().await.expect("closes");
    let store = house.backend.store().await.expect("opens");
    assert_eq!(records(&store).await, last, "once");
    store.close().await.expect("closes");
}
