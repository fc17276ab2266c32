//! Our client against servers that crash, hang, lie and are killed, all at once.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use narthex_egress::{Answer, EgressClient, EgressConfig, EgressPolicy, Resolve, ResolveError};
use narthex_gate::upstream::{
    Connection, Connector as _, Line, RefusesAll, Terms, UpstreamEra, UpstreamQuestion,
};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use narthex_test::chaos::{Calls, Chaos, Trouble, processes, script};
use narthex_test::upstream::{Script, Speaks};
use serde_json::{Value, json};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Mutex;

#[derive(Debug)]
pub(super) struct NoNames;

#[async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _: &str) -> Result<Answer, ResolveError> {
        Err(ResolveError::NoAnswer)
    }
}

type Running = (Child, Arc<dyn Connection>);

/// Connections that are opened again when they have ended.
struct Direct {
    connector: UpstreamConnector,
    servers: Vec<Mutex<Option<Running>>>,
    script: Script,
}

impl Direct {
    fn new(servers: usize, pids: &Path, era: Speaks) -> Self {
        let policy = EgressPolicy::new(EgressConfig::default()).unwrap();
        let egress = EgressClient::new(policy, Arc::new(NoNames)).unwrap();
        let connector = UpstreamConnector::new(egress, UpstreamConfig::default());
        let servers = (0..servers).map(|_| Mutex::default()).collect();
        Self { connector, servers, script: script(pids).speaking(era) }
    }

    async fn connection(&self, server: usize) -> Result<Arc<dyn Connection>, String> {
        let mut held = self.servers[server].lock().await;
        if let Some((_, connection)) = held.as_ref().filter(|(_, held)| held.ended().is_none()) {
            return Ok(Arc::clone(connection));
        }
        if let Some((child, _)) = held.as_mut() {
            end(child);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_hostile"))
            .args(self.script.args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = Sender::from_owned_fd(child.stdin.take().unwrap().into()).unwrap();
        let from = Receiver::from_owned_fd(child.stdout.take().unwrap().into()).unwrap();
        let line = Line::Pipes { to: Box::new(to), from: Box::new(from) };
        let terms = Terms {
            era: UpstreamEra::Either,
            connect_deadline: Duration::from_secs(5),
            line_bytes: 2 << 20,
            result_bytes: 1 << 20,
            questions: 64,
        };
        let connection = self.connector.connect(line, terms, Arc::new(RefusesAll)).await;
        let connection = connection.map_err(|fault| fault.to_string());
        match connection {
            Ok(connection) => {
                *held = Some((child, Arc::clone(&connection)));
                Ok(connection)
            }
            Err(fault) => {
                end(&mut child);
                Err(fault)
            }
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[async_trait]
impl Calls for Direct {
    async fn call(&self, server: usize, tool: &str, mark: &str) -> Result<String, String> {
        let params = json!({"name": tool, "arguments": {"mark": mark}});
        let question = UpstreamQuestion {
            method: "tools/call".to_owned(),
            params: params.as_object().cloned().unwrap(),
            name: Some(tool.to_owned()),
            input_schema: None,
            deadline: Duration::from_millis(if server == 0 { 10_000 } else { 400 }),
            progress: None,
            asked: None,
            logs: None,
        };
        let answer = self.connection(server).await?.ask(question).await;
        let answer = answer.map_err(|fault| fault.to_string())?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap();
        Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }

    async fn kill(&self, server: usize) {
        if let Some((child, _)) = self.servers[server].lock().await.as_mut() {
            let _ = child.kill();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reply_is_crossed_and_nobody_else_is_slowed() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, era) in [(1, Speaks::Modern), (2, Speaks::Legacy)] {
        let pids = folder.path().join(format!("pids-{seed}"));
        let direct = Arc::new(Direct::new(5, &pids, era));
        let troubles = &Trouble::UNKEPT;
        let chaos = Chaos { seed, servers: 5, steps: 600, at_once: 16, troubles };
        let tally = chaos.run(Arc::clone(&direct)).await;
        assert!(tally.crossed.is_empty(), "{:?}", tally.crossed);
        assert!(tally.steady_failed.is_empty(), "{:?}", tally.steady_failed);
        assert!(tally.steady.len() > 50 && tally.steady_p99() < Duration::from_secs(5));
        assert!(tally.broke.is_empty(), "{:?}", tally.broke);
        for trouble in Trouble::UNKEPT {
            let (answered, failed) = tally.by_trouble[&trouble];
            match trouble {
                Trouble::Hang | Trouble::Late | Trouble::Large | Trouble::Crash => {
                    assert_eq!(answered, 0, "{trouble:?}");
                }
                // Which comes first, the answer or the end, is open.
                Trouble::Slow | Trouble::Flood | Trouble::Kill => assert!(answered + failed > 0),
                _ => assert!(answered > 0, "{trouble:?}: {failed} failed"),
            }
        }
        for server in &direct.servers {
            if let Some((child, connection)) = server.lock().await.as_mut() {
                connection.close().await;
                end(child);
            }
        }
        let (started, alive) = processes(&pids);
        assert!(started.len() > 20 && alive.is_empty(), "{} started, {alive:?}", started.len());
    }
}
