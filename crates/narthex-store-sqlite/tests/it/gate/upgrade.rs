//! A house from before the gate remembered anything: its first start puts the seal on, and no
//! later one does.

use narthex_core::{Actor, CallId, Phase, RecordDraft, SwitchScope, Timestamp, Transport};
use narthex_store::chain::{GENESIS, seal};
use narthex_store::{Effect, GateBooks as _, HeadFile, Proposals as _, StoreError, fresh_uuid};

use super::{House, done, records, tools};
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
        "UPDATE proposals SET mac = NULL; DELETE FROM gate_seal; DELETE FROM budgets;"
    } else {
        "ALTER TABLE proposals DROP COLUMN mac; ALTER TABLE ledger_head DROP COLUMN gate;
         ALTER TABLE agents DROP COLUMN budget;
         DROP TABLE approvals; DROP TABLE latches; DROP TABLE switches; DROP TABLE settings;
         DROP TABLE budgets; DROP TABLE gate_seal; DROP TABLE IF EXISTS ledger_checkpoints;
         DROP TABLE IF EXISTS ledger_base; DELETE FROM _sqlx_migrations WHERE version > 1;"
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
    house.sql("UPDATE proposals SET body = 'another', mac = NULL; DELETE FROM gate_seal").await;
    let store = house.backend.store().await.expect("opens");
    let read = store.proposal(proposal.id).await;
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
