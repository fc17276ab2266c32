//! Changing a graph by a file: one JSON object a line, all of it or nothing.

mod bundle;
mod pass;
mod types;

use std::sync::Arc;

use narthex_core::{BranchName, CommitId};
use narthex_store::{At, CommitKind, GraphInfo, RowNo};
use serde::{Deserialize, Serialize};

use self::bundle::{Reader, Reading};
use self::pass::{FileRows, Pass};
use self::types::Types;
use super::commit::{Content, Draft, line_of};
use super::{
    Engine, GraphError, LOAD_ROWS, Maker, NewBranch, Prepared, expect_head, load_limits, moment,
};
use crate::exec::{Context, Limits};
use crate::load::sorted::{Packed, Sorter};
use crate::load::{Lines, LoadError, unspooled};
use crate::schema::Schema;

/// What a load does with what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadMode {
    /// Rows of the file take the place of those with the same key; the rest stays.
    #[default]
    Merge,
    /// Every row of the file is new; one that is there already is an error.
    Append,
    /// The branch holds what the file holds, and nothing else.
    Overwrite,
}

/// A file to be loaded.
#[derive(Debug, Clone)]
pub struct Load<'a> {
    /// What is in it.
    pub data: &'a [u8],
    /// On which branch.
    pub branch: &'a BranchName,
    /// The branch is new, and begins there. Without it, it must exist.
    pub from: Option<&'a At>,
    /// What to do with what is there.
    pub mode: LoadMode,
    /// The commit the branch must stand at.
    pub expected: Option<CommitId>,
    /// What is said about it.
    pub message: &'a str,
    /// How much it may take.
    pub limits: &'a Limits,
}

/// A file that is still to come.
#[derive(Debug, Clone)]
pub struct LoadAsk {
    /// On which branch.
    pub branch: BranchName,
    /// The branch is new, and begins there. Without it, it must exist.
    pub from: Option<At>,
    /// What to do with what is there.
    pub mode: LoadMode,
    /// The commit the branch must stand at.
    pub expected: Option<CommitId>,
    /// What is said about it.
    pub message: String,
    /// How much it may take.
    pub limits: Limits,
}

/// A file that is coming in. Dropped, it was never there.
///
/// Its rows are read as they come and put aside in order, so that a large file needs little memory.
#[derive(Debug)]
pub struct Loading {
    engine: Engine,
    graph: GraphInfo,
    ask: LoadAsk,
    maker: Maker,
    schema: Arc<Schema>,
    /// Where the branch stood when the first line came.
    begun: CommitId,
    lines: Lines,
    reading: Reading,
    rows: Sorter,
    /// The type and number of each row so far.
    keys: Vec<(u16, RowNo)>,
}

impl Engine {
    /// Prepares a load: one commit, or nothing if nothing changes.
    pub async fn load(
        &self,
        graph: &GraphInfo,
        ask: &Load<'_>,
        maker: &Maker,
    ) -> Result<Prepared, GraphError> {
        let owned = LoadAsk {
            branch: ask.branch.clone(),
            from: ask.from.cloned(),
            mode: ask.mode,
            expected: ask.expected,
            message: ask.message.to_owned(),
            limits: ask.limits.clone(),
        };
        let mut loading = self.begin_load(graph, owned, maker.clone()).await?;
        loading.push(ask.data).await?;
        loading.finish().await
    }

    /// Begins a load whose lines come in bit by bit. Nobody is kept from the branch meanwhile: what
    /// it holds is looked at when all lines are there.
    pub async fn begin_load(
        &self,
        graph: &GraphInfo,
        ask: LoadAsk,
        maker: Maker,
    ) -> Result<Loading, GraphError> {
        if ask.from.is_some() && self.graphs.branch(graph.id, &ask.branch).await?.is_some() {
            return Err(GraphError::BranchExists(ask.branch));
        }
        let looked = self.look(graph, &ask.at()).await?;
        expect_head(looked.view.as_ref(), &ask.branch, ask.expected)?;
        Ok(Loading {
            engine: self.clone(),
            graph: graph.clone(),
            begun: looked.view.placed().commit.id,
            reading: Reading::new(Reader {
                types: Types::of(&looked.schema),
                schema: Arc::clone(&looked.schema),
                graph: graph.clone(),
            }),
            schema: looked.schema,
            ask,
            maker,
            lines: Lines::default(),
            rows: Sorter::within(self.spool.clone()),
            keys: Vec::new(),
        })
    }
}

impl LoadAsk {
    /// What the rows are compared with.
    fn at(&self) -> At {
        self.from.clone().unwrap_or_else(|| At::Branch(self.branch.clone()))
    }
}

impl Loading {
    /// Takes the next bytes of the file, cut wherever they are. After an error nothing more is
    /// taken: begin again.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), GraphError> {
        for chunk in bytes.chunks(CHUNK) {
            self.lines.push(chunk);
            self.take().await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// How many lines were taken that are not blank.
    pub fn lines(&self) -> u64 {
        self.reading.lines()
    }

    /// All lines are there: prepares one commit, or nothing if nothing changes. From here on the
    /// branch is held.
    pub async fn finish(mut self) -> Result<Prepared, GraphError> {
        self.lines.finish();
        self.take().await?;
        while let Some(rows) = self.reading.last().await? {
            self.put_aside(&rows)?;
        }
        let Self { engine, graph, ask, maker, schema, reading, begun, rows, keys, .. } = self;
        let hold = engine.holds.hold(graph.id, &ask.branch).await;
        let mut looked = engine.look(&graph, &ask.at()).await?;
        let new_line = match ask.from.clone() {
            None => None,
            Some(from) => {
                let new = NewBranch { name: ask.branch.clone(), from, protected: false };
                let begins = &looked.view.placed().commit;
                Some(engine.new_line(&graph, &new, begins, &maker).await?)
            }
        };
        expect_head(looked.view.as_ref(), &ask.branch, ask.expected)?;
        if !Arc::ptr_eq(&looked.schema, &schema) && looked.schema.digest() != schema.digest() {
            // The lines were read under a schema that the branch no longer has.
            expect_head(looked.view.as_ref(), &ask.branch, Some(begun))?;
        }
        let limits = load_limits(&ask.limits);
        let context = Context {
            schema: &schema,
            salt: &graph.salt,
            params: &[],
            now: moment(engine.now()),
            limits: &limits,
        };
        let file = FileRows::of(reading.into_reader(), rows, keys, ask.mode).map_err(unspooled)?;
        let line = line_of(looked.view.placed(), new_line.as_ref());
        let pass = Pass::new(&context, &file, line, engine.spool.clone()).map_err(unspooled)?;
        let ready = pass.run(looked.view.as_mut()).await?;
        let draft = Draft {
            graph: &graph,
            branch: &ask.branch,
            placed: looked.view.placed(),
            new_line,
            kind: CommitKind::Load,
            maker: &maker,
            message: if ask.message.is_empty() { "load" } else { &ask.message },
            old: &schema,
            schema: &schema,
            content: Content::Ready(ready),
            theirs: None,
            builds: Vec::new(),
        };
        engine.prepare(draft, hold)
    }

    async fn take(&mut self) -> Result<(), GraphError> {
        while let Some((number, text)) = self.lines.next_line()? {
            if self.reading.lines() >= LOAD_ROWS {
                return Err(too_much(number));
            }
            if let Some(rows) = self.reading.take(number, text).await? {
                self.put_aside(&rows)?;
            }
        }
        Ok(())
    }

    fn put_aside(&mut self, rows: &Packed) -> Result<(), GraphError> {
        if self.rows.bytes() >= LOAD_BYTES {
            return Err(too_much(self.reading.lines()));
        }
        self.keys.extend(rows.keys());
        self.rows.add(rows).map_err(unspooled)?;
        Ok(())
    }
}

fn too_much(line: u64) -> GraphError {
    let message = format!(
        "a load has at most {LOAD_ROWS} rows and {} MiB; load it in parts",
        LOAD_BYTES >> 20
    );
    LoadError::new(line, None, message).into()
}

/// How much is parted into lines at once.
const CHUNK: usize = 64 * 1024;
/// Bytes of one load that are put aside.
const LOAD_BYTES: u64 = 4 << 30;
