//! How fast a ledger is verified: makes one of so many records and walks it, a few times.
//!
//! `cargo run -p narthex-verify --release --example verify_speed -- 1000000`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::path::Path;
use std::time::Instant;

use narthex_core::{Actor, CallId, Phase, RecordDraft, Timestamp, Transport};
use narthex_store::HeadFile;
use narthex_store::chain::{GENESIS, HeadKey, Seal, SealKey, Sealer, seal};
use narthex_verify::{Keys, Ledger};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use uuid::Uuid;

#[tokio::main]
async fn main() {
    let count: u64 = std::env::args().nth(1).map_or(500_000, |count| count.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), count).await;
    let bytes = std::fs::metadata(dir.path().join("house.db")).unwrap().len();
    println!("{count} records, {} MiB", bytes >> 20);
    let seal = SealKey::from_seed(&[7; 32]).public().to_string().parse().unwrap();
    let ledger = Ledger {
        database: dir.path().join("house.db"),
        head_file: Some(dir.path().join("house.head")),
        keys: Keys { seal: Some(seal), head: Some(narthex_verify::HeadKey::new([7; 32])) },
        anchors: Vec::new(),
    };
    for _ in 0..3 {
        let start = Instant::now();
        let report = ledger.verify(|_| ()).await.unwrap();
        let rate = report.records as f64 / start.elapsed().as_secs_f64();
        println!("{rate:.0} records a second, {} checkpoints", report.checkpoints);
    }
}

async fn make(dir: &Path, count: u64) {
    let mut conn = SqliteConnectOptions::new()
        .filename(dir.join("house.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(
        "CREATE TABLE ledger (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
         CREATE TABLE ledger_head (one INTEGER PRIMARY KEY, seq INTEGER, hash BLOB, mac BLOB) STRICT;
         CREATE TABLE ledger_checkpoints (size INTEGER PRIMARY KEY, note TEXT, frontier BLOB) STRICT;
         CREATE TABLE ledger_base (one INTEGER PRIMARY KEY, size INTEGER, note TEXT, frontier BLOB) STRICT;
         BEGIN",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    let key = SealKey::from_seed(&[7; 32]);
    let (mut sealer, mut last) = (Sealer::new(), GENESIS);
    for seq in 1..=count {
        let stored =
            seal(draft(seq), seq, Timestamp::from_millis(1_790_000_000_000), last).unwrap();
        last = stored.hash;
        sqlx::query("INSERT INTO ledger VALUES (?1, ?2, ?3)")
            .bind(seq.cast_signed())
            .bind(stored.bytes.as_slice())
            .bind(stored.hash.as_bytes().as_slice())
            .execute(&mut conn)
            .await
            .unwrap();
        if let Some(seal) = sealer.push(&stored, &key) {
            put(&mut conn, seal).await;
        }
    }
    if let Some(seal) = sealer.seal(&key) {
        put(&mut conn, seal).await;
    }
    let head = HeadKey::new([7; 32]).head(count, last);
    sqlx::query("INSERT INTO ledger_head VALUES (1, ?1, ?2, ?3)")
        .bind(count.cast_signed())
        .bind(head.hash.as_bytes().as_slice())
        .bind(head.mac.as_bytes().as_slice())
        .execute(&mut conn)
        .await
        .unwrap();
    sqlx::raw_sql("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    HeadFile::open(&dir.join("house.head")).unwrap().write(&head).unwrap();
}

async fn put(conn: &mut SqliteConnection, seal: Seal) {
    sqlx::query("INSERT INTO ledger_checkpoints VALUES (?1, ?2, ?3)")
        .bind(seal.size.cast_signed())
        .bind(seal.note)
        .bind(seal.frontier)
        .execute(conn)
        .await
        .unwrap();
}

/// About as long as the record of a call.
fn draft(seq: u64) -> RecordDraft {
    let agent = Actor::Agent {
        id: narthex_core::AgentId::from_uuid(Uuid::from_u128(7)),
        slug: "claude-research".parse().unwrap(),
    };
    let call = CallId::from_uuid(Uuid::from_u128(u128::from(seq)));
    let mut draft = RecordDraft::new(Phase::Observed, call, agent, Transport::Local, "search");
    draft.surface = Some("workspace".to_owned());
    draft.arguments = Some(narthex_core::Digest::of(&seq.to_be_bytes()));
    draft.micros = Some(1_234);
    draft
}
