//! Runs that wait, against someone with the files but without the key: what a program was answered, whose
//! it is and whether it went on already are not to be changed from outside.

use narthex_core::{ApprovalId, Digest, Holder, Journal, ParkedRun, RunId, Taint, Timestamp};
use narthex_store::{
    Effect, ParkedRuns as _, Refused, Soundness as _, StoreError, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use super::{House, commit, done, record, records, tools};

impl House {
    /// A run of the agent's that waits.
    async fn parked(&self, store: &SqliteStore) -> ParkedRun {
        let run = ParkedRun {
            id: RunId::from_uuid(fresh_uuid()),
            holder: Holder { agent: self.agent.id, space: self.agent.space },
            program: "workspace.read({})".to_owned(),
            asked: Digest::of(b"asked"),
            script_ms: None,
            waiting: vec![ApprovalId::from_uuid(fresh_uuid())],
            journal: Journal::new(7, Timestamp::from_millis(5)),
            taint: Taint::CLEAN,
            rules: None,
            parked: Timestamp::from_millis(5),
            until: Timestamp::from_millis(1_000),
        };
        let now = Timestamp::from_millis(5);
        done(store, Effect::ParkRun { run: Box::new(run.clone()), cap: 9, now }).await;
        run
    }
}

fn take_up(run: &ParkedRun) -> UnitOfWork {
    UnitOfWork::effect(Effect::TakeUpRun { id: run.id, holder: run.holder }, record("take up"))
}

#[tokio::test]
async fn an_edited_run_is_neither_served_nor_taken_up() {
    for edit in [
        "body = replace(body, 'workspace.read', 'workspace.edit')",
        r#"body = replace(body, '"seed":7', '"seed":8')"#,
        r#"body = replace(body, '"until":', '"until":9')"#,
        "body = body || ' '",
        "until = 9999999",
        "agent = (SELECT id FROM agents WHERE slug = 'other')",
        "space = NULL",
        "mac = zeroblob(32)",
    ] {
        let (house, store) = House::open().await;
        let run = house.parked(&store).await;
        let said = records(&store).await;
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
        house.sql(&format!("UPDATE runs SET {edit}")).await;
        assert!(house.backend.verify().await.is_err(), "{edit}");
        let store = house.backend.store().await.expect("opens");
        assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()), "{edit}");
        let read = store.parked_run(run.holder, run.id).await;
        let made = commit(&store, take_up(&run)).await;
        // Without its MAC it cannot be told from one that was put back: then all of them are ended.
        if edit.starts_with("mac") {
            assert!(matches!(read, Ok(None)), "{edit}: {read:?}");
            assert!(matches!(made, Err(StoreError::Refused(_))), "{edit}: {made:?}");
        } else {
            assert!(matches!(read, Err(StoreError::Damaged(_))), "{edit}: {read:?}");
            assert!(matches!(made, Err(StoreError::Damaged(_))), "{edit}: {made:?}");
            assert_eq!(store.damaged_rows().await.expect("reads").len(), 1, "{edit}");
        }
        store.close().await.expect("closes");
    }
}

/// One that went on, put back as it waited, would do the rest once more.
#[tokio::test]
async fn a_run_put_back_after_it_went_on_is_noticed() {
    let (house, store) = House::open().await;
    let run = house.parked(&store).await;
    house.sql("CREATE TABLE kept AS SELECT * FROM runs").await;
    commit(&store, take_up(&run)).await.expect("goes on");
    house.sql("INSERT INTO runs SELECT * FROM kept").await;
    let read = store.parked_run(run.holder, run.id).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    let again = commit(&store, take_up(&run)).await;
    assert!(matches!(again, Err(StoreError::Damaged(_))), "{again:?}");
    store.close().await.expect("closes");
    assert!(house.backend.verify().await.is_err());
    // Which of them it was cannot be told any more: none goes on.
    let store = house.backend.store().await.expect("opens");
    let again = commit(&store, take_up(&run)).await;
    let gone = matches!(again, Err(StoreError::Refused(Refused::NotFound("run"))));
    assert!(gone, "after a start: {again:?}");
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole again");
}

#[tokio::test]
async fn a_run_taken_away_while_it_waits_is_noticed() {
    let (house, store) = House::open().await;
    house.parked(&store).await;
    let said = records(&store).await;
    store.close().await.expect("closes");
    house.sql("DELETE FROM runs").await;
    assert!(house.backend.verify().await.is_err());
    let store = house.backend.store().await.expect("opens");
    assert!(tools(&store, said + 1).await.contains(&"house.gate_damaged".to_owned()));
    store.close().await.expect("closes");
}

#[tokio::test]
async fn what_was_left_alone_is_whole() {
    let (house, store) = House::open().await;
    let run = house.parked(&store).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole while it waits");
    let store = house.backend.store().await.expect("opens");
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    commit(&store, take_up(&run)).await.expect("goes on");
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole when it went on");
}
