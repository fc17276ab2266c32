//! Those who work on the graph: the owner over the socket, the owner's commands, and an agent.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, ensure};
use narthex_graph::engine::LoadMode;
use narthex_server::owner::{
    BranchRequest, Bytes, GraphChange, GraphQuery, GraphReply, GraphRequest, LoadRequest,
    MAX_LOAD_PART, OwnerError, Reply, Request,
};
use narthex_server::{DataDir, OwnerClient};
use narthex_test::{Answer, Client};
use serde_json::{Value, json};

use super::GRAPH;
use crate::serving::Server;
use crate::support::command;

/// The owner, over the socket.
pub(super) struct Owner(OwnerClient);

impl Owner {
    pub(super) async fn connect(dir: &DataDir) -> anyhow::Result<Self> {
        Ok(Self(OwnerClient::connect(dir).await?.context("nobody listens")?))
    }

    pub(super) async fn ask(&mut self, request: Request) -> Result<Reply, OwnerError> {
        self.0.ask(&request).await
    }

    async fn graph(&mut self, request: GraphRequest) -> anyhow::Result<GraphReply> {
        match self.ask(Request::Graph(request)).await? {
            Reply::Graph(reply) => Ok(reply),
            other => anyhow::bail!("{other:?}"),
        }
    }

    /// A change that must be made: the commit it made, if it did.
    async fn change(&mut self, request: GraphRequest) -> anyhow::Result<Option<String>> {
        match self.graph(request).await? {
            GraphReply::Changed(done) => {
                Ok(done.commit.filter(|_| done.committed).map(|commit| commit.to_string()))
            }
            other => anyhow::bail!("{other:?}"),
        }
    }

    pub(super) async fn mutate(
        &mut self,
        on: &str,
        source: String,
    ) -> anyhow::Result<Option<String>> {
        let query = GraphQuery { text: Some(source), ..GraphQuery::default() };
        self.change(GraphRequest::Mutate { change: change(on), query }).await
    }

    /// A file in parts as small as these.
    pub(super) async fn load(
        &mut self,
        on: &str,
        lines: &str,
        part: usize,
    ) -> anyhow::Result<Option<String>> {
        let begin = LoadRequest::Begin { change: change(on), from: None, mode: LoadMode::Merge };
        self.graph(GraphRequest::Load(begin)).await?;
        for bytes in lines.as_bytes().chunks(part.min(MAX_LOAD_PART)) {
            let part = LoadRequest::Part { bytes: Bytes(bytes.to_vec()) };
            self.graph(GraphRequest::Load(part)).await?;
        }
        self.change(GraphRequest::Load(LoadRequest::End)).await
    }

    pub(super) async fn fork(&mut self, name: &str) -> anyhow::Result<()> {
        let (graph, name) = (GRAPH.to_owned(), name.to_owned());
        let create = BranchRequest::Create { graph, name, from: None, protected: false };
        self.change(GraphRequest::Branch(create)).await.map(drop)
    }

    pub(super) async fn delete(&mut self, name: &str, force: bool) -> anyhow::Result<()> {
        let (graph, name) = (GRAPH.to_owned(), name.to_owned());
        let delete = BranchRequest::Delete { graph, name, force };
        self.change(GraphRequest::Branch(delete)).await.map(drop)
    }

    pub(super) async fn merge(&mut self, from: &str, into: &str) -> anyhow::Result<Option<String>> {
        let merge = GraphRequest::Merge {
            change: change(into),
            from: from.to_owned(),
            resolutions: Vec::new(),
            allow_data_loss: false,
        };
        self.change(merge).await
    }

    pub(super) async fn branches(&mut self) -> anyhow::Result<Vec<String>> {
        let list = BranchRequest::List { graph: GRAPH.to_owned() };
        match self.graph(GraphRequest::Branch(list)).await? {
            GraphReply::Branches(all) => Ok(all.iter().map(|of| of.name.to_string()).collect()),
            other => anyhow::bail!("{other:?}"),
        }
    }

    /// Rows and edges with a mark.
    pub(super) async fn marked(&mut self, on: &str, mark: &str) -> anyhow::Result<(usize, usize)> {
        let rows = format!("match {{ $r: Row {{ mark: \"{mark}\" }} }} return {{ $r.slug as r }}");
        let edges = format!(
            "match {{ $r: Row {{ mark: \"{mark}\" }}  $r next $s }} return {{ $s.slug as s }}"
        );
        Ok((self.look(on, &rows).await?.len(), self.look(on, &edges).await?.len()))
    }

    pub(super) async fn look(&mut self, on: &str, source: &str) -> anyhow::Result<Vec<Vec<Value>>> {
        let query =
            GraphQuery { text: Some(format!("query q() {{ {source} }}")), ..GraphQuery::default() };
        let look = GraphRequest::Query {
            graph: GRAPH.to_owned(),
            query,
            at: Some(on.to_owned()),
            cursor: None,
            limit: 1_000,
        };
        match self.graph(look).await? {
            GraphReply::Answer(answer) if answer.next.is_none() => Ok(answer.rows),
            other => anyhow::bail!("{other:?}"),
        }
    }

    /// All commits that a branch has seen on its line. Each is there once.
    pub(super) async fn log(&mut self, on: &str) -> anyhow::Result<BTreeSet<String>> {
        let (mut all, mut before) = (BTreeSet::new(), None);
        loop {
            let log = GraphRequest::Log {
                graph: GRAPH.to_owned(),
                branch: Some(on.to_owned()),
                before,
                limit: 500,
            };
            let GraphReply::Commits(page) = self.graph(log).await? else {
                anyhow::bail!("no log of {on}")
            };
            let Some(last) = page.last() else { return Ok(all) };
            before = Some(last.id.to_string());
            for commit in page {
                ensure!(all.insert(commit.id.to_string()), "{} is twice in the log", commit.id);
            }
        }
    }
}

fn change(on: &str) -> GraphChange {
    GraphChange { graph: GRAPH.to_owned(), branch: Some(on.to_owned()), ..GraphChange::default() }
}

/// How a command ended, and what it said as JSON.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) said: Value,
}

impl Ended {
    /// The commit it made, if it did.
    pub(super) fn commit(&self) -> Option<String> {
        let committed = self.said["committed"] == true;
        self.said["commit"].as_str().filter(|_| committed).map(str::to_owned)
    }
}

/// `narthex graph …` in a process of its own.
pub(super) async fn run(house: &Path, args: &[&str]) -> anyhow::Result<Ended> {
    let mut command = command(&[&["graph"], args, &["--output", "json"]].concat(), house);
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    let said = if output.status.success() { &output.stdout } else { &output.stderr };
    let said = serde_json::from_slice(said).unwrap_or_default();
    Ok(Ended { code: output.status.code(), said })
}

/// An agent, over HTTP.
#[derive(Clone)]
pub(super) struct Agent(Client);

impl Agent {
    pub(super) fn of(server: &Server) -> Self {
        Self(Client::new(server.graph_url(GRAPH), Some(server.token.clone())))
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> anyhow::Result<Answer> {
        self.0.call(tool, arguments).await
    }

    /// A change that must be made.
    pub(super) async fn make(&self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let answer = self.call(tool, arguments).await?;
        ensure!(answer.is_ok(), "{tool}: {}", answer.text);
        Ok(answer.structured())
    }

    /// The same; the commit it made, if it did.
    pub(super) async fn commit(
        &self,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<Option<String>> {
        let made = self.make(tool, arguments).await?;
        let committed = made["committed"] == true;
        Ok(made["commit"].as_str().filter(|_| committed).map(str::to_owned))
    }

    /// The values of the rows that a query finds, and the commit it looked at.
    pub(super) async fn look(&self, on: &str, source: &str) -> anyhow::Result<(Value, String)> {
        let query = json!({"query": format!("query q() {{ {source} }}"), "branch": on});
        let mut found = self.make("graph_query", query).await?;
        let commit = found["commit"].as_str().context("a commit")?.to_owned();
        Ok((found["rows"].take(), commit))
    }
}
