//! Many rows in few statements.

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Encode, Sqlite, SqliteConnection, Type};

use crate::fault::Fault;

/// The values of one row, in order.
pub(super) struct Values<'a>(&'a mut SqliteArguments);

impl Values<'_> {
    pub(super) fn add<'t, T>(&mut self, value: T) -> Result<(), Fault>
    where
        T: Encode<'t, Sqlite> + Type<Sqlite>,
    {
        self.0.add(value).map_err(Fault::damaged)
    }
}

/// A statement over rows of values: `before (VALUES (?, …), …) after`, with the values as `column1`,
/// `column2` and so on.
///
/// The parameters have no numbers: SQLite looks for the name of a numbered one among all of them.
pub(super) struct Bulk {
    pub(super) before: &'static str,
    pub(super) columns: usize,
    pub(super) after: &'static str,
    /// Numbers that stand in `before`, as parameters.
    pub(super) first: Vec<i64>,
    /// And in `after`.
    pub(super) last: Vec<i64>,
}

impl Bulk {
    /// Runs it for these rows, as many of them in each statement as fit.
    pub(super) async fn run<T>(
        &self,
        conn: &mut SqliteConnection,
        rows: impl ExactSizeIterator<Item = T>,
        mut put: impl FnMut(T, &mut Values<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut rows = rows;
        while rows.len() > 0 {
            // Few sizes, so that few statements are ever prepared.
            let size = SIZES.into_iter().find(|size| *size <= rows.len()).unwrap_or(1);
            let mut values = SqliteArguments::default();
            values.reserve(self.first.len() + self.last.len() + size * self.columns, 0);
            for number in &self.first {
                values.add(*number).map_err(Fault::damaged)?;
            }
            for row in rows.by_ref().take(size) {
                put(row, &mut Values(&mut values))?;
            }
            for number in &self.last {
                values.add(*number).map_err(Fault::damaged)?;
            }
            let sql = AssertSqlSafe(self.sql(size));
            sqlx::query_with(sql, values).execute(&mut *conn).await?;
        }
        Ok(())
    }

    fn sql(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        format!("{} (VALUES {}) {}", self.before, vec![row.as_str(); rows].join(","), self.after)
    }
}

/// Rows in one statement, the most first.
const SIZES: [usize; 4] = [512, 64, 8, 1];
