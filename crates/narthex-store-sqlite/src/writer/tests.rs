//! What the writer does when the disk fails it.

use std::sync::Arc;
use std::time::Duration;

use narthex_core::{
    Actor, CallId, Conversation, ConversationId, Phase, RecordDraft, Timestamp, Title, Transport,
};
use narthex_store::chain::{HeadKey, PERIOD, SealKey};
use narthex_store::{Committed, Effect, HeadFile, ManualClock, StoreError, UnitOfWork, fresh_uuid};
use sqlx::AssertSqlSafe;

use super::Writer;
use crate::{SqliteConfig, open};

#[tokio::test]
async fn a_full_disk_fails_the_batch_and_may_pass() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    let before = writer.tail.seq;
    let pages: i64 =
        sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut writer.conn).await.unwrap();
    pragma(&mut writer, &format!("PRAGMA max_page_count = {}", pages + 8)).await;

    // The second unit does not fit; the first, in the same batch, falls with it.
    let results = writer.commit_all(vec![small(), large()]).await;
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(is_unavailable), "{results:?}");
    assert!(writer.standing.is_writable());
    assert_eq!(writer.tail.seq, before);
    assert_eq!(file_seq(&config), before);

    // What fits still goes in, and once there is room everything does.
    assert!(writer.commit_all(vec![small()]).await[0].is_ok());
    pragma(&mut writer, "PRAGMA max_page_count = 1000000").await;
    let results = writer.commit_all(vec![large(), small()]).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(writer.tail.seq, before + 3);
    assert_eq!(file_seq(&config), before + 3);
    drop(writer);
    assert_eq!(verified(&config).await, before + 3);
}

/// A long log starts over as soon as nobody wants anything, not only before the next commit.
#[tokio::test]
async fn a_long_log_does_not_wait_for_a_commit() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    writer.standing.wal_is_long();
    writer.look_after().await;
    assert!(!writer.standing.is_wal_long());
}

#[tokio::test]
async fn a_full_disk_under_records_alone_fails_them_together() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    pragma(&mut writer, "PRAGMA max_page_count = 1").await;
    let mut batch: Vec<UnitOfWork> = Vec::new();
    for _ in 0..300 {
        batch.push(small());
    }
    let results = writer.commit_all(batch).await;
    assert_eq!(results.len(), 300);
    assert!(results.iter().all(is_unavailable));
    assert!(writer.standing.is_writable());
    drop(writer);
    assert_eq!(verified(&config).await, 1);
}

#[tokio::test]
async fn after_a_failed_commit_nothing_is_written_until_a_restart() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    let before = writer.tail.seq;
    writer.conn.lock_handle().await.unwrap().set_commit_hook(|| false);
    let results = writer.commit_all(vec![small(), small()]).await;
    assert!(results.iter().all(is_unavailable), "{results:?}");
    assert!(!writer.standing.is_writable());
    assert_eq!((writer.tail.seq, file_seq(&config)), (before, before));

    // Even though it would work again.
    writer.conn.lock_handle().await.unwrap().remove_commit_hook();
    assert!(is_unavailable(&writer.commit_all(vec![small()]).await[0]));
    drop(writer);
    let mut writer = open::writer(&config).await.unwrap();
    // At most the record that it was not closed.
    assert!(writer.tail.seq - before <= 1);
    assert!(writer.commit_all(vec![small()]).await[0].is_ok());
}

#[tokio::test]
async fn a_record_that_is_there_already_means_another_writer() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    pragma(&mut writer, "INSERT INTO ledger VALUES (2, x'00', zeroblob(32))").await;
    let results = writer.commit_all(vec![small()]).await;
    assert!(is_unavailable(&results[0]), "{results:?}");
    assert!(!writer.standing.is_writable());
}

#[tokio::test]
async fn batches_of_every_size_make_one_chain() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    let mut expected = writer.tail.seq;
    for size in [1, 2, 3, 7, 64, 100, 255, 256, 257, 600] {
        let results = writer.commit_all((0..size).map(|_| small()).collect()).await;
        for result in results {
            expected += 1;
            assert_eq!(result.unwrap().receipts[0].seq(), expected);
        }
    }
    drop(writer);
    assert_eq!(verified(&config).await, expected);
}

#[tokio::test]
async fn a_disk_that_takes_no_writes_is_told_and_noticed_when_it_does_again() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    assert!(!writer.standing.is_failing());
    pragma(&mut writer, "PRAGMA query_only = ON").await;
    assert!(writer.commit_all(vec![small()]).await.iter().all(is_unavailable));
    assert!(writer.standing.is_failing() && writer.standing.is_writable());
    writer.look_after().await;
    assert!(writer.standing.is_failing(), "it still does not");
    pragma(&mut writer, "PRAGMA query_only = OFF").await;
    writer.look_after().await;
    assert!(!writer.standing.is_failing(), "nobody had to ask");
    assert!(writer.commit_all(vec![small()]).await[0].is_ok());
}

#[tokio::test]
async fn a_disk_that_fills_up_while_nobody_writes_is_noticed_by_whoever_asks() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    pragma(&mut writer, "PRAGMA query_only = ON").await;
    writer.probe().await;
    assert!(!writer.standing.is_failing(), "the last write is not a second old");
    for (takes, writes) in [("ON", false), ("OFF", true), ("ON", false)] {
        pragma(&mut writer, &format!("PRAGMA query_only = {takes}")).await;
        tokio::time::sleep(PERIOD).await;
        writer.probe().await;
        assert_eq!(!writer.standing.is_failing(), writes);
    }
    assert!(writer.standing.is_writable());
}

/// A row that is set to what it is already costs SQLite no write, and would prove nothing.
#[tokio::test]
async fn what_is_tried_is_really_written() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    let mut log = config.database.clone().into_os_string();
    log.push("-wal");
    for _ in 0..3 {
        let before = std::fs::metadata(&log).unwrap().len();
        writer.try_to_write().await;
        assert!(std::fs::metadata(&log).unwrap().len() > before);
    }
}

/// The write itself fails, in the middle of a batch: SQLite then reads the file anew, which must not
/// look like another hand. The limit on the size of files is the process's, so it is another one.
#[test]
fn a_disk_that_fails_in_the_middle_is_no_other_hand() {
    let ran = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "writer::tests::under_a_limit", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "needs the limit: run by the test above"]
async fn under_a_limit() {
    let (_dir, config) = place();
    let mut writer = open::writer(&config).await.unwrap();
    // So that it is written before the commit.
    pragma(&mut writer, "PRAGMA cache_size = 8").await;
    for _ in 0..3 {
        assert!(is_unavailable(&writer.commit_all(vec![talk(2_000_000)]).await[0]));
        assert!(writer.standing.is_failing() && writer.standing.is_writable());
        writer.look_after().await;
        let small = writer.commit_all(vec![small()]).await;
        assert!(small[0].is_ok(), "{small:?}");
    }
}

fn place() -> (tempfile::TempDir, SqliteConfig) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let key = HeadKey::new([3; 32]);
    let seal = SealKey::from_seed(&[8; 32]);
    let (database, head) = (dir.path().join("db"), dir.path().join("head"));
    let mut config = SqliteConfig::new(database, head, key, seal, clock);
    // With every batch: none of these faults is another hand.
    config.other_hands = Duration::ZERO;
    (dir, config)
}

async fn pragma(writer: &mut Writer, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(&mut writer.conn).await.unwrap();
}

fn file_seq(config: &SqliteConfig) -> u64 {
    HeadFile::read(&config.head_file, &config.head_key).unwrap().unwrap().seq
}

async fn verified(config: &SqliteConfig) -> u64 {
    let ledger = narthex_verify::Ledger {
        database: config.database.clone(),
        head_file: Some(config.head_file.clone()),
        keys: narthex_verify::Keys {
            seal: config.seal_key.public().to_string().parse().ok(),
            head: Some(narthex_verify::HeadKey::new([3; 32])),
        },
        anchors: Vec::new(),
    };
    ledger.verify(|_| ()).await.unwrap().records
}

fn is_unavailable(result: &Result<Committed, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

fn small() -> UnitOfWork {
    UnitOfWork::records(vec![record()])
}

fn large() -> UnitOfWork {
    talk(100_000)
}

fn talk(words: usize) -> UnitOfWork {
    let talk = Conversation {
        id: ConversationId::from_uuid(fresh_uuid()),
        title: Title::parse("Long").unwrap(),
        body: "word ".repeat(words),
        created: Timestamp::from_millis(1),
    };
    UnitOfWork::effect(Effect::AddConversation(talk), record())
}

fn record() -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft::new(Phase::Observed, call, Actor::Owner, Transport::Local, "tool")
}
