//! Opening a store: migrate, check the ledger's end and the gate's state, found a new house, close
//! what was left open.

mod gate;
mod seal;

use std::path::Path;
use std::sync::Arc;

use narthex_core::{Actor, CallId, Outcome, Phase, Reason, RecordDraft, Reserve, Taint, Transport};
use narthex_store::chain::{GENESIS, Head, StoredRecord};
use narthex_store::{HeadFile, RowKey, StoreError, UnitOfWork, fresh_uuid};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::watch;

use crate::fault::Fault;
use crate::lock::Lock;
use crate::rows::{self, Fields};
use crate::writer::{
    Hands, Known, Places, Probe, RememberedUse, Reserves, Standing, Tail, Writer, learn_to_write,
};
use crate::{SqliteConfig, connect};

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// A writer that is ready, over a ledger whose end was checked.
pub(crate) async fn writer(config: &SqliteConfig) -> Result<Writer, StoreError> {
    let lock = Lock::take(&config.head_file).await?;
    let interrupted = log_is_left(&config.database);
    connect::create_private(&config.database)?;
    migrate(config).await?;
    let mut conn = connect::to_write(config).connect().await.map_err(Fault::Sql)?;
    learn_to_write(&mut conn).await?;
    let hands = Hands::of(&mut conn, config.other_hands).await?;
    let (tail, file) = check_end(&mut conn, config).await?;
    let row_key = RowKey::of(&config.head_key);
    let (checkpoints, older) = seal::checkpoints(&mut conn, config, tail).await?;
    let mut found = gate::Found::look(&mut conn, &row_key, tail, config.clock.now()).await?;
    let head_lost = file.is_none() && tail.seq > 1;
    if head_lost {
        found.head_lost();
    }
    let mut writer = Writer {
        conn,
        head_file: HeadFile::open(&config.head_file).map_err(head_file)?,
        head_key: config.head_key.clone(),
        row_key,
        memory: Arc::new(found.memory()),
        budgets: found.books(),
        reserves: Reserves::default(),
        known: Known::default(),
        probe: Probe::new(),
        places: Places::of(&config.database, &config.head_file),
        hands,
        seal_key: config.seal_key.clone(),
        checkpoints,
        clock: Arc::clone(&config.clock),
        tail,
        standing: Arc::new(Standing::new()),
        commits: watch::Sender::new(0),
        token_use: RememberedUse::default(),
        lock,
    };
    if tail.seq > 0 {
        // It may lag behind after a crash between commit and write.
        let head = writer.head_key.head(tail.seq, tail.hash);
        writer.head_file.write(&head).map_err(head_file)?;
    }
    if older {
        append(&mut writer, vec![of_the_house("house.ledger_sealed")]).await?;
    }
    found.settle(&mut writer).await?;
    if head_lost {
        // Without it an older copy of the database would look whole: a stop or a revocation may
        // have been cut off. Everything is stopped until the owner has looked, and the ledger
        // itself says from here on that this happened.
        tracing::error!(
            "the head file was lost and has been made anew; an older copy of the ledger would not have been noticed"
        );
        append(&mut writer, vec![of_the_house("house.head_file_lost")]).await?;
    }
    if interrupted && tail.seq > 0 {
        tracing::warn!("the house was not closed the last time; what was committed is there");
        append(&mut writer, vec![of_the_house("house.recovered")]).await?;
    }
    close_intents(&mut writer).await?;
    writer.head_file.sync().map_err(head_file)?;
    Ok(writer)
}

/// Whoever closes a house folds the write-ahead log into the database. One that is left says that
/// the process, or the machine, ended before that.
fn log_is_left(database: &Path) -> bool {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The end of the chain, if both heads and the last record agree on it, and the head file's head.
async fn check_end(
    conn: &mut SqliteConnection,
    config: &SqliteConfig,
) -> Result<(Tail, Option<Head>), StoreError> {
    let row = sqlx::query("SELECT seq, hash, mac FROM ledger_head")
        .fetch_optional(&mut *conn)
        .await
        .map_err(Fault::Sql)?;
    let head = row.map(|row| rows::head(Fields(&row))).transpose()?;
    let file = file_head(config)?;
    let last = last_record(conn).await?;
    let (Some(head), Some(last)) = (head, &last) else {
        let nothing = head.is_none() && last.is_none() && file.is_none();
        return if nothing && is_bare(conn).await? {
            Ok((Tail { seq: 0, hash: GENESIS }, None))
        } else {
            Err(broken("its records or its stored head are missing"))
        };
    };
    if !config.head_key.is_genuine(&head) {
        return Err(broken("its stored head is not genuine"));
    }
    if (head.seq, head.hash) != (last.seq, last.hash) {
        return Err(broken("its stored head and its last record disagree"));
    }
    // Records that were taken out never reach up to the last one.
    let before = match last.seq {
        0 => return Err(broken("it has a record without a number")),
        1 => GENESIS,
        seq => hash_at(conn, seq - 1).await?.ok_or_else(|| broken("a record is missing"))?,
    };
    if !last.follows(before) {
        return Err(broken("its last record was changed"));
    }
    if let Some(file) = file {
        if file.seq > last.seq {
            return Err(broken("the head file names a later record: its tail was cut"));
        }
        if hash_at(conn, file.seq).await? != Some(file.hash) {
            return Err(broken("the head file names another history"));
        }
    }
    Ok((Tail { seq: last.seq, hash: last.hash }, file))
}

/// The head file's head. A file with something else in it than ours is no lost file.
fn file_head(config: &SqliteConfig) -> Result<Option<Head>, StoreError> {
    let head = HeadFile::read(&config.head_file, &config.head_key).map_err(head_file)?;
    if head.is_none() && holds_something(&config.head_file)? {
        return Err(broken("the head file is not genuine"));
    }
    Ok(head)
}

/// Whether anything but the zeros of a file that never reached the disk is in it.
fn holds_something(path: &Path) -> Result<bool, StoreError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(bytes.iter().any(|byte| *byte != 0)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(head_file(error)),
    }
}

async fn last_record(conn: &mut SqliteConnection) -> Result<Option<StoredRecord>, StoreError> {
    let row = sqlx::query("SELECT seq, bytes, hash FROM ledger ORDER BY seq DESC LIMIT 1")
        .fetch_optional(conn)
        .await
        .map_err(Fault::Sql)?;
    Ok(row.map(|row| rows::stored_record(Fields(&row))).transpose()?)
}

async fn hash_at(
    conn: &mut SqliteConnection,
    seq: u64,
) -> Result<Option<narthex_core::Digest>, StoreError> {
    let row = sqlx::query("SELECT hash FROM ledger WHERE seq = ?1")
        .bind(i64::try_from(seq).unwrap_or(i64::MAX))
        .fetch_optional(conn)
        .await
        .map_err(Fault::Sql)?;
    Ok(row.map(|row| Fields(&row).digest("hash")).transpose()?)
}

/// A house without a ledger is new only if there is nothing else in it.
async fn is_bare(conn: &mut SqliteConnection) -> Result<bool, StoreError> {
    let lived_in: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM spaces) OR EXISTS (SELECT 1 FROM agents)
             OR EXISTS (SELECT 1 FROM conversations) OR EXISTS (SELECT 1 FROM page_revisions)
             OR EXISTS (SELECT 1 FROM switches) OR EXISTS (SELECT 1 FROM gate_seal)",
    )
    .fetch_one(conn)
    .await
    .map_err(Fault::Sql)?;
    Ok(!lived_in)
}

/// The process ended between an intent and its outcome: nobody can say what came of it, and the
/// ledger says so. It is charged what was in reserve for it.
async fn close_intents(writer: &mut Writer) -> Result<(), StoreError> {
    loop {
        let open = sqlx::query(
            "SELECT o.call, l.seq, l.bytes, l.hash
               FROM open_intents o JOIN ledger l ON l.seq = o.seq ORDER BY o.seq LIMIT 500",
        )
        .fetch_all(&mut writer.conn)
        .await
        .map_err(Fault::Sql)?;
        if open.is_empty() {
            return Ok(());
        }
        let mut outcomes = Vec::with_capacity(open.len());
        for row in &open {
            let intent = rows::stored_record(Fields(row))?.read();
            let intent = intent.map_err(|error| broken(&error.to_string()))?.draft;
            if intent.call != Fields(row).id("call", CallId::from_bytes)? {
                return Err(broken("an open call is not the one its intent names"));
            }
            let Reserve { micros, bytes, cost } = intent.reserve;
            outcomes.push(RecordDraft {
                phase: Phase::Outcome,
                outcome: Outcome::Unknown,
                reason: Reason::Interrupted,
                micros: (micros > 0).then_some(micros),
                bytes: (bytes > 0).then_some(bytes),
                cost: (!cost.is_zero()).then_some(cost),
                reserve: Reserve::default(),
                armed: Taint::CLEAN,
                ..intent
            });
        }
        tracing::warn!(calls = outcomes.len(), "calls were interrupted; their outcome is unknown");
        append(writer, outcomes).await?;
    }
}

async fn append(writer: &mut Writer, records: Vec<RecordDraft>) -> Result<(), StoreError> {
    writer.commit_all(vec![UnitOfWork::records(records)]).await.pop().map_or_else(
        || Err(StoreError::Unavailable("the writer gave no answer".to_owned())),
        |answer| answer.map(drop),
    )
}

/// Something the house did by itself.
fn of_the_house(what: &str) -> RecordDraft {
    let call = CallId::from_uuid(fresh_uuid());
    RecordDraft::new(Phase::House, call, Actor::House, Transport::Local, what)
}

fn broken(what: &str) -> StoreError {
    StoreError::Damaged(format!(
        "the ledger is not whole: {what}; run `narthex ledger verify` and do not serve from it"
    ))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
fn head_file(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("the head file cannot be used: {error}"))
}

/// Each migration is one transaction: a crash in one leaves the version before it, and opening
/// again resumes there.
async fn migrate(config: &SqliteConfig) -> Result<(), StoreError> {
    // By way of a pool because the future of a borrowed connection is not known to be `Send`.
    let once = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(config.busy_timeout)
        .connect_lazy_with(connect::to_write(config));
    let migrated = MIGRATIONS.run(&once).await.map_err(migration);
    once.close().await;
    migrated
}

fn migration(error: MigrateError) -> StoreError {
    match error {
        // Nothing that passes: what it makes is there already, or what it changes is not.
        MigrateError::ExecuteMigration(sqlx::Error::Database(told), version)
            if told.code().as_deref() == Some(SQLITE_ERROR) =>
        {
            StoreError::Damaged(format!(
                "migration {version} does not fit the database ({told}): its list of migrations \
                 was changed; restore a backup"
            ))
        }
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
            Fault::Sql(error).into()
        }
        MigrateError::VersionMissing(version) => StoreError::Damaged(format!(
            "the database is at version {version}, made by a newer program than this one"
        )),
        other => StoreError::Damaged(format!("the database is not one of ours: {other}")),
    }
}

/// A statement that cannot be run on this schema.
const SQLITE_ERROR: &str = "1";
