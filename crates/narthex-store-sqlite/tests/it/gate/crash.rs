//! What the process leaves behind when it ends in the middle of it.

use std::path::Path;

use narthex_core::{
    ApprovalStatus, Budget, Cost, Outcome, Phase, Reason, RecordDraft, Reserve, Usage,
};
use narthex_store::suite::Backend as _;
use narthex_store::{
    Approvals as _, Clock as _, Commits as _, GateBooks as _, LedgerReader as _, Refused,
    StoreError, UnitOfWork,
};
use narthex_store_sqlite::SqliteStore;

use super::{House, commit, latch, observed, records};
use crate::backend::{SqliteBackend, config_in};

/// What the disk would hold if the process ended now: the files, without closing any.
fn snapshot(house: &SqliteBackend, to: &Path) {
    for name in ["house.db", "house.db-wal", "house.head"] {
        std::fs::copy(house.dir().join(name), to.join(name)).expect("copies");
    }
}

#[tokio::test]
async fn nothing_of_it_is_lost() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    let used = house.approved(&store, "used").await;
    commit(&store, house.using(&used)).await.expect("commits");
    let approved = house.approved(&store, "approved").await;
    let waiting = house.waiting(&store, "waiting").await;
    let after = tempfile::tempdir().expect("a directory");
    snapshot(&house.backend, after.path());

    let again = SqliteStore::open(config_in(after.path(), house.backend.clock()));
    let again = again.await.expect("opens");
    // And one more, which says that the house was not closed.
    assert_eq!(records(&again).await, records(&store).await + 1);
    let agent = &house.agent;
    assert_eq!(latch(&again, agent).await, latch(&store, agent).await);
    assert_eq!(again.switches().await.expect("reads"), store.switches().await.expect("reads"));
    assert_eq!(again.noted_mode().await.expect("reads"), store.noted_mode().await.expect("reads"));
    assert_eq!(
        again.spent(super::holder(agent)).await.expect("reads"),
        spent(&store, &house).await
    );
    let status = async |approval: &narthex_core::Approval| {
        again.approval(approval.id).await.expect("reads").expect("one").status
    };
    assert_eq!(status(&waiting).await, ApprovalStatus::Waiting);
    assert_eq!(status(&approved).await, ApprovalStatus::Approved);
    let twice = commit(&again, house.using(&used)).await;
    let expected = Refused::NotApproved(ApprovalStatus::Used);
    assert!(matches!(twice, Err(StoreError::Refused(refused)) if refused == expected));
    commit(&again, house.using(&approved)).await.expect("commits");
    again.close().await.expect("closes");
    store.close().await.expect("closes");
}

async fn spent(store: &SqliteStore, house: &House) -> narthex_core::Spent {
    store.spent(super::holder(&house.agent)).await.expect("reads")
}

/// The rows are written now and then; whatever the moment, rows and ledger add up.
#[tokio::test]
async fn what_was_used_up_is_exact_wherever_it_ends() {
    let (house, store) = House::open().await;
    let mut expected = 0;
    for step in [1_u64, 255, 256, 3_000, 1_000, 1, 4_096, 5_000, 17] {
        let calls = (0..step).map(|_| observed(&house.agent)).collect();
        commit(&store, UnitOfWork::records(calls)).await.expect("commits");
        expected += step;
        assert_eq!(house.used(&store, &house.agent).await, expected);
        let after = tempfile::tempdir().expect("a directory");
        snapshot(&house.backend, after.path());
        let again = SqliteStore::open(config_in(after.path(), house.backend.clock()));
        let again = again.await.expect("opens");
        assert_eq!(house.used(&again, &house.agent).await, expected, "after {step}");
        assert_eq!(house.used(&again, &house.other).await, 0);
        again.close().await.expect("closes");
        let again = SqliteStore::open(config_in(after.path(), house.backend.clock()));
        let again = again.await.expect("opens");
        assert_eq!(house.used(&again, &house.agent).await, expected, "closed after {step}");
        again.close().await.expect("closes");
        house.backend.clock().advance_millis(20_000);
    }
    store.close().await.expect("closes");
}

/// What a call had in reserve when the process ended is charged at the next start, once.
#[tokio::test]
async fn a_call_that_was_cut_off_costs_what_it_may_have() {
    let (house, store) = House::open().await;
    let reserve = Reserve { micros: 7_000, bytes: 30, cost: Cost::from_millionths(9) };
    let intent = RecordDraft {
        phase: Phase::Intent,
        outcome: Outcome::Open,
        micros: None,
        bytes: None,
        cost: None,
        reserve,
        ..observed(&house.agent)
    };
    commit(&store, UnitOfWork::records(vec![intent.clone()])).await.expect("commits");
    let after = tempfile::tempdir().expect("a directory");
    snapshot(&house.backend, after.path());
    let window = Budget::default().window();
    let now = house.backend.clock().now();
    let used = async |store: &SqliteStore| spent(store, &house).await.within(now, window);
    let Usage { calls, .. } = used(&store).await;
    assert_eq!(used(&store).await, Usage { calls, ..Usage::default() }, "while it is under way");
    for start in 0..3 {
        let again = SqliteStore::open(config_in(after.path(), house.backend.clock()));
        let again = again.await.expect("opens");
        let expected = Usage { calls, ..reserve.usage() };
        assert_eq!(used(&again).await, expected, "start {start}");
        let all = again.records(1, 1_000).await.expect("reads");
        let ends = all.iter().map(|record| record.read().expect("reads").draft);
        let ends: Vec<_> = ends
            .filter(|draft| draft.call == intent.call && draft.phase == Phase::Outcome)
            .collect();
        let [end] = ends.as_slice() else { panic!("{ends:?}") };
        assert_eq!((end.outcome, end.reason), (Outcome::Unknown, Reason::Interrupted));
        assert!(end.reserve.is_nothing());
        again.close().await.expect("closes");
    }
    store.close().await.expect("closes");
}

/// Records that the accounts need are believed only because they chain.
#[tokio::test]
async fn a_record_edited_to_save_budget_is_noticed() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    let after = tempfile::tempdir().expect("a directory");
    snapshot(&house.backend, after.path());
    store.close().await.expect("closes");
    let last = 7;
    let config = config_in(after.path(), house.backend.clock());
    let change = format!(
        "UPDATE ledger SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"T0\"', '\"T1\"') AS BLOB)
          WHERE seq > {last} AND seq < (SELECT max(seq) FROM ledger)"
    );
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&config.database);
    let mut conn = sqlx::ConnectOptions::connect(&options).await.expect("connects");
    let change = sqlx::raw_sql(sqlx::AssertSqlSafe(change));
    let changed = change.execute(&mut conn).await.expect("runs").rows_affected();
    assert!(changed > 0);
    sqlx::Connection::close(conn).await.expect("closes");
    let opened = SqliteStore::open(config).await;
    assert!(matches!(opened, Err(StoreError::Damaged(_))), "{opened:?}");
}

#[tokio::test]
async fn dropping_without_closing_loses_nothing() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    drop(store);
    for _ in 0..3 {
        let store = house.backend.store().await.expect("opens");
        assert_eq!(house.used(&store, &house.agent).await, 5);
        assert!(store.switches().await.expect("reads").get(&house.scope()).is_some());
        assert!(store.is_writable());
        drop(store);
    }
}
