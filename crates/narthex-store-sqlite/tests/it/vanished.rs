//! A file taken away from under a running store (H01): nothing more is acknowledged, and health
//! tells within a second.

#![allow(clippy::expect_used, reason = "tests")]

use std::time::Duration;

use narthex_store::{Commits as _, StoreError, UnitOfWork};

use crate::backend::{SqliteBackend, append, record};

const FILES: [&str; 3] = ["house.db", "house.db-wal", "house.head"];

#[tokio::test]
async fn nothing_is_acknowledged_into_a_file_that_is_gone() {
    for (file, replaced) in FILES.into_iter().flat_map(|file| [(file, false), (file, true)]) {
        let house = SqliteBackend::new();
        let store = house.store().await.expect("opens");
        append(&store, 3).await;
        let path = house.dir().join(file);
        let bytes = std::fs::read(&path).expect("reads");
        std::fs::remove_file(&path).expect("removes");
        if replaced {
            // The inode must not be the same one again.
            std::fs::write(house.dir().join("another"), b"x").expect("writes");
            std::fs::write(&path, bytes).expect("writes");
        }
        let told = store.commit(UnitOfWork::records(vec![record("late")])).await;
        assert!(matches!(told, Err(StoreError::Unavailable(_))), "{file}, {replaced}: {told:?}");
        assert!(!store.is_writable() && !store.is_well(), "{file}");
        let again = store.commit(UnitOfWork::records(vec![record("later")])).await;
        assert!(again.is_err(), "{file}: until a restart");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn health_tells_within_about_a_second_also_when_nobody_calls() {
    for file in FILES {
        let house = SqliteBackend::new();
        let store = house.store().await.expect("opens");
        append(&store, 1).await;
        assert!(store.is_well());
        std::fs::rename(house.dir().join(file), house.dir().join("elsewhere")).expect("moves");
        tokio::time::sleep(Duration::from_millis(1_300)).await;
        assert!(!store.is_well(), "{file}");
        store.close().await.expect("closes");
    }
}
