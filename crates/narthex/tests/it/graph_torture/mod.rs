//! A graph under many hands, in several processes, some of which are killed: nothing that was
//! answered is lost, nothing is half there, nobody stays in the way.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod abandoned;
mod hammer;
mod hands;
mod killed;
mod work;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use narthex_server::DataDir;
use tempfile::TempDir;

use self::hands::{Agent, Owner};
use crate::serving::Server;
use crate::support::answer;

const GRAPH: &str = "torture";
/// The agent's own branch, on which the owner works too.
const WORK: &str = "work";
const SCHEMA: &str = "node Row { slug: String @key  mark: String @index  pad: String? }
node Counter { slug: String @key  n: I64 }
edge Next: Row -> Row
";

/// A folder with a house in it that is served, killed, and served again.
struct Place {
    folder: TempDir,
    dir: DataDir,
}

impl Place {
    fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let dir = DataDir::at(folder.path().join("house"));
        Ok(Self { folder, dir })
    }

    fn house(&self) -> &Path {
        self.dir.root()
    }

    async fn serve(&self) -> anyhow::Result<Server> {
        Server::start(self.folder.path(), &self.dir).await
    }

    /// Makes the graph, with a branch that is the agent's own.
    async fn found(&self, server: &Server) -> anyhow::Result<()> {
        let schema = self.file("torture.pg", SCHEMA)?;
        let schema = schema.to_str().expect("UTF-8");
        answer(&["graph", "init", GRAPH, "--space", "harbour", "--schema", schema], self.house());
        Agent::of(server).make("branch_create", serde_json::json!({"name": WORK})).await?;
        Ok(())
    }

    async fn owner(&self) -> anyhow::Result<Owner> {
        Owner::connect(&self.dir).await
    }

    fn file(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

/// Lines of so many rows with a mark, each row after the one before.
fn lines(mark: &str, rows: usize, pad: usize) -> String {
    let mut lines = String::new();
    for n in 0..rows {
        let pad = "x".repeat(pad);
        let row = serde_json::json!({"slug": format!("{mark}-{n}"), "mark": mark, "pad": pad});
        let _ = writeln!(lines, "{}", serde_json::json!({"type": "Row", "data": row}));
    }
    for n in 1..rows {
        let (from, to) = (format!("{mark}-{}", n - 1), format!("{mark}-{n}"));
        let _ = writeln!(lines, "{}", serde_json::json!({"edge": "Next", "from": from, "to": to}));
    }
    lines
}

/// The same as statements.
fn inserts(mark: &str, rows: usize) -> String {
    let mut source = "query q() {".to_owned();
    for n in 0..rows {
        let _ = write!(source, " insert Row {{ slug: \"{mark}-{n}\", mark: \"{mark}\" }}");
    }
    for n in 1..rows {
        let before = n - 1;
        let _ = write!(source, " insert Next {{ from: \"{mark}-{before}\", to: \"{mark}-{n}\" }}");
    }
    source.push_str(" }");
    source
}

/// Ends a test that hangs, much later than it could end by itself.
async fn in_time<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match tokio::time::timeout(Duration::from_mins(10), work).await {
        Ok(done) => done,
        Err(_) => anyhow::bail!("it hangs"),
    }
}
