//! Spaces, agents and tokens: each row under a MAC, and one more over all of those.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::fault::Failure;
use crate::hash::Hash;
use crate::rows::{Check, ended};

/// Checks all of them, and gives their MACs in the order they are sealed in. None where the
/// database is of a program that put no MAC on them.
pub(crate) async fn check(check: &mut Check<'_>) -> Result<Option<Vec<Hash>>, Failure> {
    let signed: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pragma_table_info('agents') WHERE name = 'mac'")
            .fetch_one(&mut *check.conn)
            .await?;
    if signed == 0 {
        return Ok(None);
    }
    let mut macs = check.all("spaces", SPACES, fields).await?;
    let tiers: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pragma_table_info('agents') WHERE name = 'tiers'")
            .fetch_one(&mut *check.conn)
            .await?;
    macs.extend(match tiers {
        0 => check.all("agents", AGENTS_BEFORE_TIERS, fields).await?,
        _ => check.all("agents", AGENTS, with_tiers).await?,
    });
    macs.extend(check.all("tokens", TOKENS, fields).await?);
    Ok(Some(macs))
}

/// All columns before the MAC, whatever they hold.
fn fields(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    (0..row.len().saturating_sub(1)).map(|n| field(row, n).map(ended)).collect()
}

/// The same; the last of them, which is younger than some rows, only where it holds something.
fn with_tiers(row: &SqliteRow) -> Result<Vec<Vec<u8>>, sqlx::Error> {
    let mut fields = fields(row)?;
    fields.pop_if(|tiers| tiers.is_empty());
    Ok(fields)
}

fn field(row: &SqliteRow, n: usize) -> Result<Option<Vec<u8>>, sqlx::Error> {
    if let Ok(number) = row.try_get::<Option<i64>, _>(n) {
        return Ok(number.map(|number| number.to_be_bytes().to_vec()));
    }
    if let Ok(text) = row.try_get::<Option<String>, _>(n) {
        return Ok(text.map(String::into_bytes));
    }
    row.try_get::<Option<Vec<u8>>, _>(n)
}

const SPACES: &str = "SELECT id, n, slug, name, ceiling, created, mac FROM spaces ORDER BY id";
const AGENTS: &str =
    "SELECT a.id, a.slug, a.name, a.kind, a.model, a.grants, a.ceiling, a.budget, a.space,
            s.id AS space_id, a.disabled, a.created, a.tiers, a.mac
       FROM agents a LEFT JOIN spaces s ON s.n = a.space ORDER BY a.id";
const AGENTS_BEFORE_TIERS: &str =
    "SELECT a.id, a.slug, a.name, a.kind, a.model, a.grants, a.ceiling, a.budget, a.space,
            s.id AS space_id, a.disabled, a.created, a.mac
       FROM agents a LEFT JOIN spaces s ON s.n = a.space ORDER BY a.id";
const TOKENS: &str = "SELECT id, agent, label, keyed_hash, created, expires, revoked, mac
       FROM tokens ORDER BY id";
