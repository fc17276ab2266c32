//! What is written in another order than rows come in.

use sqlx::SqliteConnection;

use super::commit::Onto;
use super::index::Entries;
use super::rows::{self, Ends};
use crate::fault::Fault;

/// What indexes have of rows, and where edges begin and end. It is sorted before it is written, in
/// runs of a bounded size, so that many rows hold no more of it in memory than some.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) entries: Entries,
    pub(super) ends: Vec<Ends>,
    /// Bytes from which on it is written.
    enough: usize,
    /// The most that was ever held.
    held: usize,
}

impl Pending {
    pub(super) fn of(enough: usize) -> Self {
        Self { entries: Entries::default(), ends: Vec::new(), enough, held: 0 }
    }

    /// After each page of rows.
    pub(super) async fn write_if_much(
        &mut self,
        conn: &mut SqliteConnection,
        onto: Onto,
    ) -> Result<(), Fault> {
        if self.bytes() < self.enough { Ok(()) } else { self.write(conn, onto).await }
    }

    pub(super) async fn write(
        &mut self,
        conn: &mut SqliteConnection,
        onto: Onto,
    ) -> Result<(), Fault> {
        self.held = self.held.max(self.bytes());
        rows::write_ends(conn, onto, &mut self.ends).await?;
        self.entries.write(conn, onto).await
    }

    fn bytes(&self) -> usize {
        self.entries.bytes() + self.ends.len() * size_of::<Ends>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use narthex_core::Timestamp;
    use narthex_store::chain::{HeadKey, SealKey};
    use narthex_store::{
        ManualClock, RowNo, RowPages, RowSource, RowWrite, RowWrites, StoreError, Tag,
    };
    use serde_json::json;
    use sqlx::AssertSqlSafe;

    use super::super::commit::{Onto, all};
    use super::Pending;
    use crate::{SqliteConfig, open};

    #[derive(Debug)]
    struct Pages(i64);

    impl RowSource for Pages {
        fn count(&self) -> u64 {
            self.0.unsigned_abs() * 100
        }

        fn pages(&self) -> RowPages {
            let edge = |row: i64| RowWrite {
                tag: Tag(1),
                row: RowNo(row),
                // Neither in the order of rows.
                ends: Some((RowNo(row * 7 % 1_000), RowNo(-row))),
                body: Some("{}".to_owned()),
                unindex: Vec::new(),
                index: vec![(Tag(2), json!(format!("value {}", row * 13 % 1_000)))],
                texts: Vec::new(),
            };
            let page = move |page: i64| -> Result<_, StoreError> {
                Ok((page * 100..(page + 1) * 100).map(edge).collect())
            };
            Box::new((0..self.0).map(page))
        }
    }

    #[tokio::test]
    async fn many_rows_hold_no_more_than_some() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
        let (key, seal) = (HeadKey::new([3; 32]), SealKey::from_seed(&[8; 32]));
        let (database, head) = (dir.path().join("db"), dir.path().join("head"));
        let config = SqliteConfig::new(database, head, key, seal, clock);
        let mut writer = open::writer(&config).await.unwrap();
        let conn = &mut writer.conn;
        sqlx::query("PRAGMA foreign_keys = OFF").execute(&mut *conn).await.unwrap();
        for (line, pages, enough) in [(1, 10, usize::MAX), (2, 10, 16_384), (3, 40, 16_384)] {
            let onto = Onto { graph: 1, line, seq: 1, fresh: true };
            let mut pending = Pending::of(enough);
            let writes = RowWrites::Source(Arc::new(Pages(pages)));
            all(conn, onto, writes, &[], &mut pending).await.unwrap();
            let page = 100 * 128;
            assert!(pending.held < enough.saturating_add(page), "{}", pending.held);
            assert!(enough != usize::MAX || pending.held > 16_384 + page, "{}", pending.held);
            for table in ["graph_rows", "graph_from", "graph_to", "graph_index"] {
                let sql = format!("SELECT count(*) FROM {table} WHERE line = ?1");
                let found = sqlx::query_scalar(AssertSqlSafe(sql)).bind(line);
                let found: i64 = found.fetch_one(&mut *conn).await.unwrap();
                assert_eq!(found, pages * 100, "{table} of {line}");
            }
        }
    }
}
