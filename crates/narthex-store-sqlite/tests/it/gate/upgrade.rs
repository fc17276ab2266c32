//! A house from before the gate remembered anything: its first start puts the seal on, and no
//! later one does.

use narthex_core::{Actor, CallId, Phase, RecordDraft, SwitchScope, Timestamp, Transport};
use narthex_store::chain::{GENESIS, seal};
use narthex_store::{
    Agents as _, Effect, GateBooks as _, HeadFile, LedgerReader as _, Proposals as _, RowKey,
    Spaces as _, StoreError, fresh_uuid,
};

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
        "UPDATE proposals SET mac = NULL; DELETE FROM gate_seal; DELETE FROM budgets;
         UPDATE agents SET mac = NULL; UPDATE spaces SET mac = NULL;"
    } else {
        "ALTER TABLE proposals DROP COLUMN mac; ALTER TABLE ledger_head DROP COLUMN gate;
         ALTER TABLE agents DROP COLUMN budget; ALTER TABLE agents DROP COLUMN mac;
         ALTER TABLE tokens DROP COLUMN mac; ALTER TABLE spaces DROP COLUMN mac;
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

/// Makes a house look like one whose gate was sealed before agents, tokens and spaces were: with the
/// key, or as well as it can be done without.
async fn unsign(house: &House, with_key: bool) {
    let store = house.backend.store().await.expect("opens");
    let head = store.head().await.expect("reads").expect("a head");
    store.close().await.expect("closes");
    let rows = RowKey::of(&key());
    let seal = rows.row("gate_seal gate", &[]);
    let fields: [&[u8]; 3] = [&head.seq.to_be_bytes(), head.hash.as_bytes(), seal.as_bytes()];
    let anchor = rows.row("ledger_head gate", &fields);
    let end = if with_key {
        format!("UPDATE ledger_head SET gate = x'{anchor}';")
    } else {
        String::new()
    };
    house
        .sql(&format!(
            "UPDATE agents SET mac = NULL; UPDATE tokens SET mac = NULL; UPDATE spaces SET mac = NULL;
             UPDATE gate_seal SET mac = x'{seal}' WHERE name = 'gate'; {end}"
        ))
        .await;
}

#[tokio::test]
async fn a_house_with_a_gate_gets_its_agents_signed_once() {
    let (house, store) = House::open().await;
    store.close().await.expect("closes");
    unsign(&house, true).await;
    let store = house.backend.store().await.expect("opens");
    let said = records(&store).await;
    assert_eq!(tools(&store, said).await, ["house.identities_sealed"]);
    assert!(store.switches().await.expect("reads").engaged().is_empty());
    assert_eq!(store.agent(house.agent.id).await.expect("reads"), Some(house.agent.clone()));
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");
    house.backend.store().await.expect("opens").close().await.expect("closes");

    unsign(&house, false).await;
    let store = house.backend.store().await.expect("opens");
    assert_eq!(tools(&store, said + 1).await, ["house.gate_damaged"]);
    let read = store.agent(house.agent.id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    store.close().await.expect("closes");
}
