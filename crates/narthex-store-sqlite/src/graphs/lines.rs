//! Graphs and their lines, each under a MAC.

use narthex_core::{AgentId, BranchName, CommitId, Digest, GraphId, Slug, SpaceId, Timestamp};
use narthex_store::{Branch, GraphInfo, LineNo, Refused, RowKey, StoreError};
use sqlx::sqlite::SqliteRow;
use sqlx::{SqliteConnection, SqliteExecutor, SqlitePool};

use crate::fault::Fault;
use crate::identity::{bytes, number, text};
use crate::rows::{self, Fields};

/// A graph with its short key.
#[derive(Debug, Clone)]
pub(crate) struct GraphRow {
    pub(crate) n: i64,
    pub(crate) info: GraphInfo,
}

impl GraphRow {
    /// A row that is genuine.
    pub(crate) fn read(row: Fields<'_>, key: &RowKey) -> Result<Self, Fault> {
        let salt: &[u8] = row.get("salt")?;
        let info = GraphInfo {
            id: row.id("id", GraphId::from_bytes)?,
            slug: row.parsed("slug")?,
            space: row.id("space_id", SpaceId::from_bytes)?,
            salt: salt.try_into().map_err(Fault::damaged)?,
            created: Timestamp::from_millis(row.get("created")?),
        };
        let (n, space): (i64, i64) = (row.get("n")?, row.get("space")?);
        let mac = graph_mac(key, n, space, &info);
        // Compared as digests: whoever could time this could read the row.
        if mac.as_bytes().as_slice() != row.get::<&[u8]>("mac")? {
            return Err(Fault::damaged(format!("graph {} was changed from outside", info.slug)));
        }
        Ok(Self { n, info })
    }
}

/// Over every column. The space is there by its short key and by the id that this leads to.
pub(crate) fn graph_mac(key: &RowKey, n: i64, space: i64, info: &GraphInfo) -> Digest {
    let fields = [
        number(n),
        bytes(info.id.as_bytes()),
        number(space),
        bytes(info.space.as_bytes()),
        text(info.slug.as_str()),
        bytes(&info.salt),
        number(info.created.as_millis()),
    ];
    key.row("graphs", &fields.each_ref().map(Vec::as_slice))
}

/// A line, dropped or not.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) n: i64,
    pub(crate) graph: i64,
    pub(crate) name: BranchName,
    /// Where it was forked from.
    pub(crate) fork: Option<(i64, i64)>,
    pub(crate) head: i64,
    pub(crate) owner: Option<AgentId>,
    pub(crate) protected: bool,
    pub(crate) dropped: bool,
    pub(crate) created: Timestamp,
}

impl Line {
    /// A row that is genuine and stands at the last of its commits.
    pub(crate) fn read(row: Fields<'_>, key: &RowKey) -> Result<Self, Fault> {
        let fork: Option<i64> = row.get("fork")?;
        let line = Self {
            n: row.get("n")?,
            graph: row.get("graph")?,
            name: row.parsed("name")?,
            fork: row.get::<Option<i64>>("parent")?.zip(fork),
            head: row.get("head")?,
            owner: row.id_if("owner", AgentId::from_bytes)?,
            protected: row.flag("protected")?,
            dropped: row.flag("dropped")?,
            created: Timestamp::from_millis(row.get("created")?),
        };
        if line.mac(key).as_bytes().as_slice() != row.get::<&[u8]>("mac")? {
            return Err(line.damaged("was changed from outside"));
        }
        if row.get::<Option<i64>>("last")?.unwrap_or_default() != line.head {
            return Err(line.damaged("does not stand at the last of its commits"));
        }
        Ok(line)
    }

    /// Over every column.
    pub(crate) fn mac(&self, key: &RowKey) -> Digest {
        let fields = [
            number(self.n),
            number(self.graph),
            text(self.name.as_str()),
            self.fork.map(|(parent, _)| number(parent)).unwrap_or_default(),
            self.fork.map(|(_, fork)| number(fork)).unwrap_or_default(),
            number(self.head),
            self.owner.map(|owner| bytes(owner.as_bytes())).unwrap_or_default(),
            number(self.protected.into()),
            number(self.dropped.into()),
            number(self.created.as_millis()),
        ];
        key.row("graph_lines", &fields.each_ref().map(Vec::as_slice))
    }

    /// The commit it stands at.
    pub(crate) fn stands_at(&self) -> Result<(i64, i64), Fault> {
        match self.fork {
            _ if self.head > 0 => Ok((self.n, self.head)),
            Some(fork) => Ok(fork),
            None => Err(self.damaged("has no commits")),
        }
    }

    /// The commit it was forked from.
    pub(crate) fn stands_at_fork(&self) -> Result<(i64, i64), Fault> {
        self.fork.ok_or(Fault::Refused(Refused::NotFound("commit")))
    }

    /// A line of a graph.
    pub(crate) async fn by_number(
        conn: &mut SqliteConnection,
        key: &RowKey,
        graph: i64,
        n: i64,
    ) -> Result<Option<Self>, Fault> {
        let row = sqlx::query(LINE_BY_NUMBER).bind(n).bind(graph).fetch_optional(conn).await?;
        row.map(|row| Self::read(Fields(&row), key)).transpose()
    }

    /// The same, with the commit it stands at and whether its graph knows a schema.
    pub(crate) async fn standing(
        conn: &mut SqliteConnection,
        key: &RowKey,
        (graph, n): (i64, i64),
        schema: Digest,
    ) -> Result<Option<(Self, CommitId, bool)>, Fault> {
        let row = sqlx::query(LINE_STANDING)
            .bind(n)
            .bind(graph)
            .bind(schema.as_bytes().as_slice())
            .fetch_optional(conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let row = Fields(&row);
        let line = Self::read(row, key)?;
        Ok(Some((line, CommitId::of(row.digest("commit_id")?), row.flag("schema_known")?)))
    }

    fn damaged(&self, what: &str) -> Fault {
        Fault::damaged(format!("branch {} (line {}) {what}", self.name, self.n))
    }

    fn branch(self, commit: CommitId) -> Result<Branch, Fault> {
        let seq = |seq: i64| u64::try_from(seq).map_err(Fault::damaged);
        Ok(Branch {
            line: LineNo(self.n),
            name: self.name,
            head: seq(self.head)?,
            commit,
            fork: self
                .fork
                .map(|(line, at)| Ok::<_, Fault>((LineNo(line), seq(at)?)))
                .transpose()?,
            owner: self.owner,
            protected: self.protected,
            created: self.created,
        })
    }
}

pub(super) async fn all_graphs(
    pool: &SqlitePool,
    key: &RowKey,
    space: Option<SpaceId>,
) -> Result<Vec<GraphInfo>, StoreError> {
    let query = match space {
        None => sqlx::query(GRAPHS),
        Some(space) => sqlx::query(GRAPHS_OF_SPACE).bind(space.as_bytes().to_vec()),
    };
    sound(query.fetch_all(pool).await, |row| Ok(GraphRow::read(row, key)?.info))
}

pub(super) async fn graph_named(
    pool: &SqlitePool,
    key: &RowKey,
    slug: &Slug,
) -> Result<Option<GraphInfo>, StoreError> {
    let row = sqlx::query(GRAPH_BY_SLUG).bind(slug.as_str()).fetch_optional(pool).await;
    let row = row.map_err(Fault::Sql)?;
    Ok(row.map(|row| GraphRow::read(Fields(&row), key).map(|row| row.info)).transpose()?)
}

pub(super) async fn branches(
    pool: &SqlitePool,
    key: &RowKey,
    graph: GraphId,
) -> Result<Vec<Branch>, StoreError> {
    let rows = sqlx::query(BRANCHES).bind(graph.as_bytes().as_slice()).fetch_all(pool).await;
    sound(rows, |row| read_branch(row, key))
}

pub(crate) async fn branch(
    conn: impl SqliteExecutor<'_>,
    key: &RowKey,
    graph: GraphId,
    name: &BranchName,
) -> Result<Option<Branch>, Fault> {
    let row = sqlx::query(BRANCH_BY_NAME)
        .bind(graph.as_bytes().as_slice())
        .bind(name.as_str())
        .fetch_optional(conn)
        .await?;
    row.map(|row| read_branch(Fields(&row), key)).transpose()
}

/// The branch of this number, also if it is gone.
pub(super) async fn branch_of(
    conn: impl SqliteExecutor<'_>,
    key: &RowKey,
    graph: GraphId,
    line: LineNo,
) -> Result<Option<Branch>, Fault> {
    let row = sqlx::query(BRANCH_BY_NUMBER)
        .bind(graph.as_bytes().as_slice())
        .bind(line.0)
        .fetch_optional(conn)
        .await?;
    row.map(|row| read_branch(Fields(&row), key)).transpose()
}

fn read_branch(row: Fields<'_>, key: &RowKey) -> Result<Branch, Fault> {
    let commit = rows::bytes32(row.get("commit_id")?).ok_or_else(|| Fault::damaged("commit_id"))?;
    Line::read(row, key)?.branch(CommitId::of(Digest::from_bytes(commit)))
}

/// What is said of the graphs and lines that do not hold.
pub(crate) async fn damaged(pool: &SqlitePool, key: &RowKey) -> Result<Vec<String>, StoreError> {
    let mut said = Vec::new();
    let rows = sqlx::query(GRAPHS).fetch_all(pool).await.map_err(Fault::Sql)?;
    for row in &rows {
        said.extend(GraphRow::read(Fields(row), key).err());
    }
    let mut after = 0_i64;
    loop {
        let rows = sqlx::query(LINES_AFTER).bind(after).fetch_all(pool).await;
        let rows = rows.map_err(Fault::Sql)?;
        let Some(last) = rows.last() else { break };
        after = Fields(last).get("n")?;
        for row in &rows {
            said.extend(Line::read(Fields(row), key).err());
        }
    }
    Ok(said.into_iter().map(|fault| StoreError::from(fault).to_string()).collect())
}

/// Every row that holds: one that was changed from outside must not hide the others.
fn sound<T>(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    parse: impl Fn(Fields<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, StoreError> {
    let left_out = |fault: Fault| {
        let error = StoreError::from(fault);
        tracing::error!(%error, "a row is left out; run `narthex doctor`");
    };
    let rows = rows.map_err(Fault::Sql)?;
    Ok(rows.iter().filter_map(|row| parse(Fields(row)).map_err(left_out).ok()).collect())
}

macro_rules! graphs {
    ($rest:literal) => {
        concat!(
            "SELECT g.n, g.id, g.space, s.id AS space_id, g.slug, g.salt, g.created, g.mac
               FROM graphs g JOIN spaces s ON s.n = g.space ",
            $rest
        )
    };
}

pub(crate) use graphs;

/// The columns of a line and the last of its commits; what comes before and after is given.
macro_rules! lines {
    ($before:literal, $more:literal, $($rest:literal),+) => {
        concat!(
            $before,
            "SELECT l.n, l.graph, l.name, l.parent, l.fork, l.head, l.owner, l.protected,
                    l.dropped, l.created, l.mac,
                    (SELECT max(last.seq) FROM graph_commits last WHERE last.line = l.n) AS last",
            $more,
            " FROM ",
            $($rest),+
        )
    };
}
pub(crate) use lines;

macro_rules! branches {
    ($rest:literal) => {
        lines!(
            "",
            ", c.id AS commit_id",
            "graphs g JOIN graph_lines l ON l.graph = g.n
               LEFT JOIN graph_commits c
                 ON c.line = CASE WHEN l.head > 0 THEN l.n ELSE l.parent END
                AND c.seq = CASE WHEN l.head > 0 THEN l.head ELSE l.fork END
              WHERE g.id = ?1 ",
            $rest
        )
    };
}

const GRAPHS: &str = graphs!("ORDER BY g.slug");
const GRAPHS_OF_SPACE: &str = graphs!("WHERE s.id = ?1 ORDER BY g.slug");
const GRAPH_BY_SLUG: &str = graphs!("WHERE g.slug = ?1");
pub(crate) const GRAPH_BY_ID: &str = graphs!("WHERE g.id = ?1");
const LINE_BY_NUMBER: &str = lines!("", "", "graph_lines l WHERE l.n = ?1 AND l.graph = ?2");
const LINES_AFTER: &str = lines!("", "", "graph_lines l WHERE l.n > ?1 ORDER BY l.n LIMIT 256");
const LINE_STANDING: &str = lines!(
    "",
    ", c.id AS commit_id, EXISTS (SELECT 1 FROM graph_schemas s
         WHERE s.graph = l.graph AND s.digest = ?3) AS schema_known",
    "graph_lines l LEFT JOIN graph_commits c
       ON c.line = CASE WHEN l.head > 0 THEN l.n ELSE l.parent END
      AND c.seq = CASE WHEN l.head > 0 THEN l.head ELSE l.fork END
    WHERE l.n = ?1 AND l.graph = ?2"
);
const BRANCHES: &str = branches!("AND l.dropped = 0 ORDER BY l.name");
const BRANCH_BY_NAME: &str = branches!("AND l.dropped = 0 AND l.name = ?2");
const BRANCH_BY_NUMBER: &str = branches!("AND l.n = ?2");
