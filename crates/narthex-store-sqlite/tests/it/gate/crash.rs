//! What the process leaves behind when it ends in the middle of it.

use std::path::Path;

use narthex_core::ApprovalStatus;
use narthex_store::suite::Backend as _;
use narthex_store::{
    Approvals as _, Commits as _, GateBooks as _, Refused, StoreError, UnitOfWork,
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
