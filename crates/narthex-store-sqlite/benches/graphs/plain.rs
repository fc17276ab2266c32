//! The same in plain SQL, written by hand.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use super::{Fallible, data};

/// Tables of the natural shape.
pub(crate) struct Plain {
    conn: SqliteConnection,
    options: SqliteConnectOptions,
}

/// The same, closed.
pub(crate) struct Closed(SqliteConnectOptions);

impl Closed {
    /// Opens the file and reads something.
    pub(crate) async fn first(&self, n: u64) -> Fallible<SqliteConnection> {
        let mut conn = self.0.connect().await?;
        sqlx::query(POINT).bind(format!("p{n}")).fetch_all(&mut conn).await?;
        Ok(conn)
    }
}

impl Plain {
    pub(crate) async fn open(path: PathBuf) -> Fallible<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON")
            .disable_statement_logging();
        let mut conn = options.connect().await?;
        sqlx::raw_sql(TABLES).execute(&mut conn).await?;
        Ok(Self { conn, options })
    }

    pub(crate) async fn close(self) -> Fallible<Closed> {
        self.conn.close().await?;
        Ok(Closed(self.options))
    }

    /// All rows in one transaction, many in a statement.
    pub(crate) async fn load(&mut self, file: &Path) -> Fallible<()> {
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.conn).await?;
        let mut ids: HashMap<String, i64> = HashMap::new();
        let (mut people, mut companies, mut knows) = (Vec::new(), Vec::new(), Vec::new());
        for line in BufReader::new(std::fs::File::open(file)?).lines() {
            let line: Value = serde_json::from_str(&line?)?;
            let data = line.get("data").cloned().unwrap_or_default();
            let text =
                |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
            if line.get("edge").is_some() {
                // Everybody is there before anybody knows them.
                self.people(&mut people).await?;
                let end = |name| text(&line, name).and_then(|slug| ids.get(&slug).copied());
                let (from, to) = (end("from").ok_or("nobody")?, end("to").ok_or("nobody")?);
                knows.push((from, to, text(&data, "since")));
            } else if line.get("type").and_then(Value::as_str) == Some("Company") {
                companies.push(text(&data, "slug").ok_or("no slug")?);
            } else {
                let slug = text(&data, "slug").ok_or("no slug")?;
                let id = ids.len() as i64 + 1;
                ids.insert(slug.clone(), id);
                let place: Vec<u8> = data
                    .get("place")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .flat_map(|number| (number.as_f64().unwrap_or_default() as f32).to_le_bytes())
                    .collect();
                let age = data.get("age").and_then(Value::as_i64).unwrap_or_default();
                people.push((id, slug, text(&data, "name"), text(&data, "bio"), age, place));
                if people.len() == CHUNK {
                    self.people(&mut people).await?;
                }
            }
            if knows.len() == CHUNK {
                self.knows(&mut knows).await?;
            }
        }
        self.people(&mut people).await?;
        self.knows(&mut knows).await?;
        for slug in companies {
            sqlx::query("INSERT INTO company (slug) VALUES (?)")
                .bind(slug)
                .execute(&mut self.conn)
                .await?;
        }
        sqlx::query("COMMIT").execute(&mut self.conn).await?;
        Ok(())
    }

    async fn people(&mut self, people: &mut Vec<Person>) -> Fallible<()> {
        if people.is_empty() {
            return Ok(());
        }
        let texts: Vec<_> = people.iter().map(|of| (of.0, of.2.clone(), of.3.clone())).collect();
        let sql = format!(
            "INSERT INTO person (id, slug, name, bio, age, place) VALUES {}",
            vec!["(?,?,?,?,?,?)"; people.len()].join(",")
        );
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for (id, slug, name, bio, age, place) in people.drain(..) {
            query = query.bind(id).bind(slug).bind(name).bind(bio).bind(age).bind(place);
        }
        query.execute(&mut self.conn).await?;
        let sql = format!(
            "INSERT INTO person_fts (rowid, name, bio) VALUES {}",
            vec!["(?,?,?)"; texts.len()].join(",")
        );
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for (id, name, bio) in texts {
            query = query.bind(id).bind(name).bind(bio);
        }
        query.execute(&mut self.conn).await?;
        Ok(())
    }

    async fn knows(&mut self, knows: &mut Vec<(i64, i64, Option<String>)>) -> Fallible<()> {
        if knows.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO knows (a, b, since) VALUES {}",
            vec!["(?,?,?)"; knows.len()].join(",")
        );
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for (a, b, since) in knows.drain(..) {
            query = query.bind(a).bind(b).bind(since);
        }
        query.execute(&mut self.conn).await?;
        Ok(())
    }

    /// How many rows are found.
    pub(crate) async fn look(&mut self, what: &str, n: u64) -> Fallible<u64> {
        let slug = format!("p{n}");
        let rows = match what {
            "open" => {
                let mut conn = self.options.connect().await?;
                sqlx::query(POINT).bind(slug).fetch_all(&mut conn).await?
            }
            "point read" => sqlx::query(POINT).bind(slug).fetch_all(&mut self.conn).await?,
            "one hop" => sqlx::query(ONE_HOP).bind(slug).fetch_all(&mut self.conn).await?,
            "two hops" => sqlx::query(TWO_HOPS).bind(slug).fetch_all(&mut self.conn).await?,
            "full text" => {
                let word = format!("bio : w{}", n % 997);
                sqlx::query(SEARCH).bind(word).fetch_all(&mut self.conn).await?
            }
            "vector nearest" => return self.nearest(&data::place(n)).await,
            _ => sqlx::query(AGGREGATE).fetch_all(&mut self.conn).await?,
        };
        // Everything that was asked for is taken, as whoever asks would.
        let taken = |row: &sqlx::sqlite::SqliteRow| {
            (0..row.len())
                .map(|at| row.try_get_unchecked::<String, _>(at).map_or(0, |text| text.len()))
                .sum::<usize>()
        };
        std::hint::black_box(rows.iter().map(taken).sum::<usize>());
        Ok(rows.len() as u64)
    }

    async fn nearest(&mut self, at: &[f32]) -> Fallible<u64> {
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT slug, place FROM person").fetch_all(&mut self.conn).await?;
        let mut all: Vec<(f32, &str)> = rows
            .iter()
            .map(|(slug, place)| {
                let numbers = place
                    .chunks_exact(4)
                    .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap_or_default()));
                let (dot, own) = numbers
                    .zip(at)
                    .fold((0.0, 0.0), |(dot, own), (a, b)| (dot + a * b, own + a * a));
                (-dot / f32::sqrt(own), slug.as_str())
            })
            .collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Ok(std::hint::black_box(all).iter().take(10).count() as u64)
    }

    pub(crate) async fn fork(&mut self, round: u64) -> Fallible<()> {
        let name = format!("b{round}");
        sqlx::query("INSERT INTO branch (name, head) VALUES (?, 1)")
            .bind(name)
            .execute(&mut self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn grow(&mut self, n: u64, round: u64) -> Fallible<()> {
        sqlx::query("UPDATE person SET age = ? WHERE slug = ?")
            .bind(data::age(n, round) as i64)
            .bind(format!("p{n}"))
            .execute(&mut self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn rewrite(&mut self, n: u64, round: u64) -> Fallible<()> {
        let (slug, bio) = (format!("p{n}"), data::bio(n, round % 80 + 1));
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.conn).await?;
        sqlx::query(
            "INSERT INTO person_fts (person_fts, rowid, name, bio)
             SELECT 'delete', id, name, bio FROM person WHERE slug = ?",
        )
        .bind(&slug)
        .execute(&mut self.conn)
        .await?;
        sqlx::query("UPDATE person SET bio = ? WHERE slug = ?")
            .bind(bio)
            .bind(&slug)
            .execute(&mut self.conn)
            .await?;
        sqlx::query(
            "INSERT INTO person_fts (rowid, name, bio) SELECT id, name, bio FROM person WHERE slug = ?",
        )
        .bind(&slug)
        .execute(&mut self.conn)
        .await?;
        sqlx::query("COMMIT").execute(&mut self.conn).await?;
        Ok(())
    }

    pub(crate) async fn update_all(&mut self, changed: &[(u64, u64)]) -> Fallible<()> {
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.conn).await?;
        for (n, age) in changed {
            sqlx::query("UPDATE person SET age = ? WHERE slug = ?")
                .bind(*age as i64)
                .bind(format!("p{n}"))
                .execute(&mut self.conn)
                .await?;
        }
        sqlx::query("COMMIT").execute(&mut self.conn).await?;
        Ok(())
    }
}

type Person = (i64, String, Option<String>, Option<String>, i64, Vec<u8>);

/// Rows in one statement.
const CHUNK: usize = 512;

const TABLES: &str = "
    CREATE TABLE person (
        id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, bio TEXT NOT NULL,
        age INTEGER NOT NULL, place BLOB NOT NULL) STRICT;
    CREATE INDEX person_name ON person (name);
    CREATE INDEX person_bio ON person (bio);
    CREATE VIRTUAL TABLE person_fts USING fts5(name, bio, content = 'person', content_rowid = 'id');
    CREATE TABLE company (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE knows (
        a INTEGER NOT NULL REFERENCES person (id), b INTEGER NOT NULL REFERENCES person (id),
        since TEXT, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID;
    CREATE INDEX knows_to ON knows (b, a);
    CREATE TABLE branch (name TEXT PRIMARY KEY, head INTEGER NOT NULL) STRICT, WITHOUT ROWID;";
const POINT: &str = "SELECT name, age, bio FROM person WHERE slug = ?";
const ONE_HOP: &str = "
    SELECT f.slug, f.name FROM person p JOIN knows k ON k.a = p.id JOIN person f ON f.id = k.b
     WHERE p.slug = ?";
const TWO_HOPS: &str = "
    SELECT DISTINCT g.slug FROM person p JOIN knows k ON k.a = p.id JOIN knows l ON l.a = k.b
      JOIN person g ON g.id = l.b WHERE p.slug = ?";
const AGGREGATE: &str = "
    SELECT f.slug, count(*) AS n FROM knows k JOIN person f ON f.id = k.b
     GROUP BY k.b ORDER BY n DESC, f.slug LIMIT 10";
const SEARCH: &str = "
    SELECT p.slug, -bm25(person_fts) AS score FROM person_fts JOIN person p ON p.id = person_fts.rowid
     WHERE person_fts MATCH ? ORDER BY score DESC LIMIT 10";
