//! The ways to one echo server: a client on its pipes (rmcp's, or ours), HTTP, a house in front of either, and whatever
//! else is to be set beside that.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use narthex_core::{Mode, Tier};
use narthex_egress::{
    Answer as Resolved, EgressClient, EgressConfig, EgressPolicy, Resolve, ResolveError,
};
use narthex_gate::upstream::{
    Connection, Connector as _, Line, RefusesAll, Terms, UpstreamEra, UpstreamQuestion,
};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use narthex_server::owner::{Reply, Request, ServerReply, ServerRequest};
use narthex_test::upstream::program;
use narthex_test::{Client, Era, HouseOptions, TestHouse};
use serde_json::{Map, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::bench::{Asks, Options};

/// Makes one call.
#[async_trait]
pub(crate) trait Ask: Send + Sync {
    async fn call(&self) -> anyhow::Result<()>;
}

/// A way to the server.
pub(crate) struct Way {
    pub(crate) name: String,
    /// What it is compared with.
    pub(crate) direct: String,
    to: To,
}

enum To {
    Pipes(Arc<dyn Connection>),
    /// A line of its own for each caller.
    Http(String, Option<String>),
    /// The same, with a handshake.
    Older(String),
    /// A program that makes the calls itself.
    Elsewhere(Box<Elsewhere>),
}

/// A program that makes calls by itself, and says how long they took.
pub(crate) struct Elsewhere {
    _program: Child,
    line: Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
}

impl Elsewhere {
    fn start(program: &str, server: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args([server, "echo", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let to = child.stdin.take().context("its input")?;
        let from = BufReader::new(child.stdout.take().context("its output")?).lines();
        Ok(Self { _program: child, line: Mutex::new((to, from)) })
    }

    /// How long all of it took, and each call.
    pub(crate) async fn run(
        &self,
        callers: usize,
        calls: usize,
        pace: Option<Duration>,
    ) -> anyhow::Result<(Duration, Vec<Duration>)> {
        let mut line = self.line.lock().await;
        let (to, from) = &mut *line;
        let pace = pace.unwrap_or_default().as_millis();
        to.write_all(format!("{callers} {calls} {pace}\n").as_bytes()).await?;
        let said = from.next_line().await?.context("it ended")?;
        let times = said.split(' ').map(|time| time.parse().map(Duration::from_nanos));
        let mut times: Vec<Duration> = times.collect::<Result<_, _>>()?;
        ensure!(times.len() > 1, "{said}");
        Ok((times.remove(0), times))
    }
}

impl Way {
    /// What one caller calls by.
    pub(crate) async fn seat(&self, _caller: usize) -> anyhow::Result<Asks> {
        Ok(match &self.to {
            To::Pipes(connection) => Arc::new(ByPipes(Arc::clone(connection))),
            To::Http(url, token) => {
                Arc::new(ByHttp { client: Client::new(url, token.clone()), session: None })
            }
            To::Older(url) => Arc::new(older(url).await?),
            To::Elsewhere(_) => anyhow::bail!("it calls by itself"),
        })
    }

    /// What makes the calls, if that is not this process.
    pub(crate) fn elsewhere(&self) -> Option<&Elsewhere> {
        match &self.to {
            To::Elsewhere(elsewhere) => Some(elsewhere),
            _ => None,
        }
    }
}

struct ByPipes(Arc<dyn Connection>);

#[async_trait]
impl Ask for ByPipes {
    async fn call(&self) -> anyhow::Result<()> {
        let question = UpstreamQuestion {
            method: "tools/call".to_owned(),
            params: params(),
            name: Some("echo".to_owned()),
            input_schema: None,
            deadline: Duration::from_secs(30),
            progress: None,
            asked: None,
            logs: None,
        };
        let answer = self.0.ask(question).await?;
        ensure!(answer.get().contains("hello"), "{answer}");
        Ok(())
    }
}

struct ByHttp {
    client: Client,
    session: Option<String>,
}

#[async_trait]
impl Ask for ByHttp {
    async fn call(&self) -> anyhow::Result<()> {
        let message = self.client.message("tools/call", params().into());
        let more = self.session.as_deref().map(|id| ("mcp-session-id", id));
        let answer = self.client.send(more.as_slice(), &message).await?;
        ensure!(answer.status == 200 && answer.text.contains("hello"), "{answer:?}");
        Ok(())
    }
}

async fn older(url: &str) -> anyhow::Result<ByHttp> {
    let client = Client::new(url, None).speaking(Era::Legacy);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"}});
    let answer = client.request("initialize", hello).await?;
    ensure!(answer.status == 200, "{answer:?}");
    let session = answer.header("mcp-session-id").map(str::to_owned);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let more = session.as_deref().map(|id| ("mcp-session-id", id));
    client.send(more.as_slice(), &ready).await?;
    Ok(ByHttp { client, session })
}

fn params() -> Map<String, serde_json::Value> {
    let params = json!({"name": "echo", "arguments": {"text": "hello"}});
    params.as_object().cloned().unwrap_or_default()
}

/// All of them, with what they stand on.
pub(crate) struct Ways {
    pub(crate) all: Vec<Way>,
    house: Option<TestHouse>,
    running: Vec<Child>,
}

impl Ways {
    pub(crate) async fn open(options: &Options) -> anyhow::Result<Self> {
        let program = program()?;
        let own = program.to_str().context("the program's name")?.to_owned();
        let (mut running, stands) = (Vec::new(), &options.stands);
        let on_pipes = if let Some(rmcp) = &stands.rmcp {
            To::Elsewhere(Box::new(Elsewhere::start(rmcp, &own)?))
        } else {
            let (process, connection) = on_pipes(&own).await?;
            running.push(process);
            To::Pipes(connection)
        };
        let url = if let Some(url) = &stands.url {
            url.clone()
        } else {
            let (listening, url) = over_http(&own).await?;
            running.push(listening);
            url
        };
        let (house, base, token) = match (&stands.house, &stands.token) {
            (Some(base), Some(token)) => (None, base.clone(), token.clone()),
            _ => in_this_process(&own, &url).await?,
        };
        let at = |name: &str| format!("{base}/servers/{name}/mcp");
        let way = |name: &str, direct: &str, to| Way {
            name: name.to_owned(),
            direct: direct.to_owned(),
            to,
        };
        let mut all = vec![
            way(PIPES, PIPES, on_pipes),
            way("pipes, through Narthex", PIPES, To::Http(at("process"), Some(token.clone()))),
            way(HTTP, HTTP, To::Http(url.clone(), None)),
            way("HTTP, through Narthex", HTTP, To::Http(at("url"), Some(token))),
        ];
        for (name, command) in &options.beside {
            let (child, to) = start(command, &url, &own).await.with_context(|| name.clone())?;
            running.push(child);
            // What wraps a process is set beside calling that process.
            let direct = if command.contains("{stdio}") { PIPES } else { HTTP };
            all.push(way(name, direct, To::Older(to)));
        }
        Ok(Self { all, house, running })
    }

    pub(crate) async fn close(mut self) -> anyhow::Result<()> {
        self.all.clear();
        if let Some(house) = self.house {
            house.stop().await?;
        }
        for mut child in self.running {
            child.kill().await?;
        }
        Ok(())
    }
}

/// A house in this process with both servers: where it is, and the token of an agent who has them.
async fn in_this_process(
    own: &str,
    url: &str,
) -> anyhow::Result<(Option<TestHouse>, String, String)> {
    let options = HouseOptions { mode: Mode::Open, ..HouseOptions::default() };
    let house = TestHouse::with(options).await?;
    let servers = [
        ("process", json!({"command": own, "args": ["echo", "stdio"], "tier": "T0"})),
        ("url", json!({"url": url, "tier": "T0"})),
    ];
    let token = settle(&house, &servers).await?;
    let base = house.url().trim_end_matches("/mcp").to_owned();
    Ok((Some(house), base, token))
}

async fn on_pipes(program: &str) -> anyhow::Result<(Child, Arc<dyn Connection>)> {
    let mut command = Command::new(program);
    command.args(["echo", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn()?;
    let to = child.stdin.take().context("its input")?;
    let from = child.stdout.take().context("its output")?;
    let egress = EgressClient::new(EgressPolicy::new(EgressConfig::default())?, Arc::new(NoNames))?;
    let connector = UpstreamConnector::new(egress, UpstreamConfig::default());
    let terms = Terms {
        era: UpstreamEra::Either,
        connect_deadline: Duration::from_secs(10),
        line_bytes: 1 << 20,
        result_bytes: 1 << 20,
        questions: 64,
    };
    let line = Line::Pipes { to: Box::new(to), from: Box::new(from) };
    let connection = connector.connect(line, terms, Arc::new(RefusesAll)).await?;
    Ok((child, connection))
}

async fn over_http(program: &str) -> anyhow::Result<(Child, String)> {
    let mut command = Command::new(program);
    command.args(["echo", "http"]).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut said = BufReader::new(child.stdout.take().context("its output")?).lines();
    let url = said.next_line().await?.context("where it listens")?;
    Ok((child, url))
}

/// Approves the servers, and gives them to an agent: its token.
async fn settle(
    house: &TestHouse,
    servers: &[(&str, serde_json::Value)],
) -> anyhow::Result<String> {
    let named: Map<_, _> = servers.iter().map(|(n, s)| ((*n).to_owned(), s.clone())).collect();
    let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
    let file = json!({"mcpServers": named, "profiles": {"all": {"servers": names}}});
    std::fs::write(house.dir().root().join("mcp.json"), file.to_string())?;
    let ask = async |request| match house.owner(Request::Server(request)).await? {
        Reply::Server(reply) => Ok(reply),
        other => Err(anyhow::anyhow!("{other:?}")),
    };
    ask(ServerRequest::Switch { on: true }).await?;
    for name in names {
        let server = || name.to_owned();
        let ServerReply::Server(info) = ask(ServerRequest::Info { server: server() }).await? else {
            anyhow::bail!("no word of {name}");
        };
        let digest = info.start.digest.with_context(|| format!("{:?}", info.trouble))?;
        ask(ServerRequest::ApproveStart { server: server(), digest }).await?;
        let ServerReply::Offer(offer) = ask(ServerRequest::Look { server: server() }).await? else {
            anyhow::bail!("no offer of {name}");
        };
        let definitions = offer.definitions.into_iter().map(|d| (d.name, d.digest)).collect();
        ask(ServerRequest::ApproveDefinitions { server: server(), definitions }).await?;
    }
    house.agent("caller", "a", &["read", "suggest"], Tier::T3).await?;
    let profiles = vec!["all".to_owned()];
    ask(ServerRequest::SetProfiles { agent: "caller".to_owned(), profiles }).await?;
    Ok(house.new_token("caller", None, None).await?.token)
}

/// Starts another proxy, and waits until it answers.
async fn start(command: &str, url: &str, program: &str) -> anyhow::Result<(Child, String)> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let command = command
        .replace("{url}", url)
        .replace("{stdio}", &format!("{program} echo stdio"))
        .replace("{port}", &port.to_string());
    let child = Command::new("sh")
        .args(["-c", &format!("exec {command}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    for _ in 0..300 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok((child, format!("http://127.0.0.1:{port}/mcp")));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("it does not listen: {command}")
}

#[derive(Debug)]
struct NoNames;

#[async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _: &str) -> Result<Resolved, ResolveError> {
        Err(ResolveError::NoAnswer)
    }
}

const PIPES: &str = "pipes, directly";
const HTTP: &str = "HTTP, directly";
