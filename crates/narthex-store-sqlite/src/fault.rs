//! What went wrong inside, and what the caller is told of it.

use narthex_store::{Refused, StoreError};

/// A failure on the way, before it is clear how far it reaches.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A rule of the house said no.
    Refused(Refused),
    /// What is stored does not make sense.
    Damaged(String),
    /// The database could not do it.
    Sql(sqlx::Error),
}

impl Fault {
    /// A stored value that is not what it should be.
    pub(crate) fn damaged(what: impl std::fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }

    /// Whether the disk failed, or was full: then SQLite drops what it remembered of the file.
    pub(crate) fn is_of_disk(&self) -> bool {
        matches!(self.code().map(primary), Some(SQLITE_IOERR | SQLITE_FULL))
    }

    /// Whether the database took nothing of a statement that is a transaction of its own, for sure: it
    /// was refused before it could become durable, or the disk had no room for it.
    pub(crate) fn took_nothing(&self) -> bool {
        self.code().is_some_and(|code| match primary(code) {
            SQLITE_CONSTRAINT => code != SQLITE_CONSTRAINT_COMMITHOOK,
            SQLITE_BUSY | SQLITE_LOCKED | SQLITE_READONLY | SQLITE_FULL => true,
            _ => false,
        })
    }

    fn code(&self) -> Option<u32> {
        match self {
            Self::Sql(sqlx::Error::Database(told)) => code(told.as_ref()),
            _ => None,
        }
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(refused) => Self::Refused(refused),
            Fault::Damaged(what) => Self::Damaged(what),
            Fault::Sql(error) => of_sql(&error),
        }
    }
}

fn of_sql(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(told) if told.is_unique_violation() => Refused::Taken("id").into(),
        sqlx::Error::Database(told) if told.is_foreign_key_violation() => {
            Refused::NotFound("what it refers to").into()
        }
        sqlx::Error::Database(told) if told.is_check_violation() => {
            StoreError::Damaged("a value is out of its range".to_owned())
        }
        sqlx::Error::Database(told) if is_corrupt(told.as_ref()) => {
            StoreError::Damaged(format!("the database file is corrupt: {told}"))
        }
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::TypeNotFound { .. } => StoreError::Damaged(error.to_string()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

/// SQLite's words for a file that is not a sound database.
fn is_corrupt(error: &dyn sqlx::error::DatabaseError) -> bool {
    matches!(code(error).map(primary), Some(SQLITE_CORRUPT | SQLITE_NOTADB))
}

/// SQLite's extended code.
fn code(error: &dyn sqlx::error::DatabaseError) -> Option<u32> {
    error.code().and_then(|code| code.parse().ok())
}

const fn primary(extended: u32) -> u32 {
    extended & 0xff
}

const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_READONLY: u32 = 8;
const SQLITE_IOERR: u32 = 10;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_FULL: u32 = 13;
const SQLITE_CONSTRAINT: u32 = 19;
const SQLITE_CONSTRAINT_COMMITHOOK: u32 = 531;
const SQLITE_NOTADB: u32 = 26;
