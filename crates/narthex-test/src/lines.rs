//! An MCP client on lines, as a process the owner started would have one.

use anyhow::{Context, bail};
use narthex_server::House;
use narthex_server::owner::{Reply, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Era};

/// A client on the other end of a stdio process's lines.
#[derive(Debug)]
pub struct LineClient {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    serving: JoinSet<()>,
    next: u64,
    era: Era,
}

impl LineClient {
    /// Of whoever this request says the process speaks for (`Companion` or `StdioAgent`).
    pub async fn start(house: &House, who: Request) -> anyhow::Result<Self> {
        let Reply::Stdio(identity) = house.desk().handle(who).await? else {
            bail!("this names no stdio process")
        };
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (read, write) = tokio::io::split(theirs);
        let (output, input) = tokio::io::split(ours);
        let (house, mut serving) = (house.clone(), JoinSet::new());
        serving.spawn(async move {
            house.serve_stdio(identity, read, write, CancellationToken::new()).await;
        });
        Ok(Self { input, output: BufReader::new(output), serving, next: 1, era: Era::Modern })
    }

    /// The same process, spoken to in another revision from here on.
    pub fn speak(&mut self, era: Era) {
        self.era = era;
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Answer> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Makes a request and waits for its answer.
    pub async fn request(&mut self, method: &str, mut params: Value) -> anyhow::Result<Answer> {
        self.era.stamp(&mut params, &json!({}));
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        let mut text = String::new();
        self.output.read_line(&mut text).await.context("no answer")?;
        let answer = Answer { status: 200, headers: Vec::new(), text };
        anyhow::ensure!(answer.json().get("id") == Some(&json!(id)), "not ours: {answer:?}");
        Ok(answer)
    }

    /// The names of the tools that are listed.
    pub async fn tools(&mut self) -> anyhow::Result<Vec<String>> {
        Ok(self.request("tools/list", json!({})).await?.tool_names())
    }

    /// Ends the input, and waits for the process to end.
    pub async fn close(self) {
        let Self { input, output, mut serving, .. } = self;
        drop((input, output));
        while serving.join_next().await.is_some() {}
    }
}
