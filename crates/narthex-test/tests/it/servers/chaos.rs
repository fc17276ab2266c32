//! Several agents call servers that crash, hang, lie and are killed, over pipes and HTTP, through the
//! house. `NARTHEX_CHAOS_STEPS` makes it as many steps as one likes (docs/servers.md).

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::Mode;
use narthex_server::owner::ServerRequest;
use narthex_test::chaos::{Calls, Chaos, Tally, Trouble, forked, processes, script};
use narthex_test::upstream::{HttpServer, Script, Speaks};
use narthex_test::{Client, HouseOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::rig::{By, Rig, text};

const AGENTS: [&str; 3] = ["anna", "ben", "cleo"];

/// The calls of several agents, through one house.
struct ThroughTheHouse {
    rig: Rig,
    /// By server, then by agent.
    clients: Vec<Vec<Client>>,
    behind: Vec<Behind>,
    /// How often a server was left alone.
    given_up: AtomicUsize,
}

/// What is behind a server's name.
enum Behind {
    /// Processes, that write down who they are.
    Pids(PathBuf),
    Http(Front),
}

#[async_trait]
impl Calls for ThroughTheHouse {
    async fn call(&self, server: usize, tool: &str, mark: &str) -> Result<String, String> {
        let step: usize = mark.trim_start_matches("mark-").parse().unwrap();
        let client = &self.clients[server][step % AGENTS.len()];
        // What is at a URL starts its processes elsewhere; here it would be in the test's own.
        let at_url = matches!(self.behind[server], Behind::Http(_));
        let tool = if at_url && tool == Trouble::Fork.tool() { Trouble::Well.tool() } else { tool };
        let answer = client.call(tool, json!({"mark": mark})).await;
        let answer = answer.map_err(|error| format!("{error:#}"))?;
        if answer.is_ok() {
            return Ok(text(&answer.result()));
        }
        // It waits longer and longer before it is tried again, and is left alone in the end. Only then
        // does its owner ask for it: until then nobody helps it.
        if answer.text.contains("only the owner can help") {
            self.given_up.fetch_add(1, Ordering::Relaxed);
            let anew = ServerRequest::Enable { server: name(server), on: true };
            self.rig.ask(anew).await.map_err(|error| error.to_string())?;
        }
        Err(answer.text)
    }

    async fn kill(&self, server: usize) {
        match &self.behind[server] {
            Behind::Http(front) => front.crash(),
            Behind::Pids(pids) => {
                for pid in processes(pids).1 {
                    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    }
}

fn name(server: usize) -> String {
    format!("server-{server}")
}

/// One address for a server that is started anew whenever it has ended.
struct Front {
    url: String,
    now: Arc<Mutex<HttpServer>>,
    _serving: JoinSet<()>,
}

impl Front {
    async fn open(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let now = Arc::new(Mutex::new(HttpServer::start(script.clone()).await.unwrap()));
        let mut serving = JoinSet::new();
        serving.spawn(forward(listener, script, Arc::clone(&now)));
        Self { url, now, _serving: serving }
    }

    fn crash(&self) {
        self.now.lock().unwrap().crash();
    }
}

async fn forward(listener: TcpListener, script: Script, now: Arc<Mutex<HttpServer>>) {
    let mut connections = JoinSet::new();
    while let Ok((mut from, _)) = listener.accept().await {
        let ended = now.lock().unwrap().has_ended();
        if ended {
            let anew = HttpServer::start(script.clone()).await.unwrap();
            *now.lock().unwrap() = anew;
        }
        let url = now.lock().unwrap().url().to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        connections.spawn(async move {
            if let Ok(mut to) = TcpStream::connect(address).await {
                let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn open(era: Speaks) -> ThroughTheHouse {
    let options = HouseOptions { started: 20, mode: Mode::Open, ..HouseOptions::default() };
    let mut rig = Rig::with(options).await;
    let (mut clients, mut behind) = (Vec::new(), Vec::new());
    for server in 0..5 {
        let name = name(server);
        let pids = rig.path().join(format!("pids-{server}"));
        let script = script(&pids).speaking(era);
        // Whoever is only called well has time, however busy the machine is.
        let limits = json!({"callSeconds": if server == 0 { 30 } else { 1 }, "questions": 64});
        let more = json!({"limits": limits});
        if server < 3 {
            rig.name(&name, By::Pipes, &script, more).await;
            behind.push(Behind::Pids(pids));
        } else {
            let front = Front::open(script).await;
            rig.set(&name, json!({"url": front.url, "tier": "T0", "limits": limits}));
            behind.push(Behind::Http(front));
        }
        rig.approve(&name).await.unwrap();
        let mut of_server = Vec::new();
        for agent in AGENTS {
            of_server.push(rig.client(agent, &name).await);
        }
        clients.push(of_server);
    }
    ThroughTheHouse { rig, clients, behind, given_up: AtomicUsize::new(0) }
}

fn check(tally: &Tally) {
    assert!(tally.crossed.is_empty(), "{:?}", tally.crossed);
    assert!(tally.broke.is_empty(), "{:?}", tally.broke);
    // Whoever asks nothing but a good server never notices, however busy the machine is.
    assert!(tally.steady_failed.is_empty(), "{:?}", tally.steady_failed);
    assert!(tally.steady_p99() < Duration::from_secs(10), "{:?}", tally.steady_p99());
    assert!(tally.steady.len() > 10);
    for (trouble, (answered, failed)) in &tally.by_trouble {
        match trouble {
            Trouble::Hang | Trouble::Late | Trouble::Large | Trouble::Crash => {
                assert_eq!(*answered, 0, "{trouble:?}");
            }
            Trouble::Well => assert!(*answered > 0),
            // Whether a server is up when it is asked, after all that was done to it, is open.
            _ => assert!(answered + failed > 0),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_the_house_no_reply_is_crossed_and_nothing_is_left_behind() {
    #[expect(clippy::disallowed_methods, reason = "how long this test runs")]
    let steps = std::env::var("NARTHEX_CHAOS_STEPS").ok().and_then(|steps| steps.parse().ok());
    let steps = steps.unwrap_or(400);
    for (seed, era) in [(11, Speaks::Modern), (12, Speaks::Legacy)] {
        let house = Arc::new(open(era).await);
        let chaos = Chaos { seed, servers: 5, steps, at_once: 16, troubles: &Trouble::ALL };
        let tally = chaos.run(Arc::clone(&house)).await;
        check(&tally);
        let house = Arc::into_inner(house).expect("nobody calls any more");
        house.rig.house.house().servers().end_all().await;
        let mut all = 0;
        for behind in &house.behind {
            if let Behind::Pids(pids) = behind {
                // Theirs, and whatever they started that left their process group.
                for file in [pids.clone(), forked(pids)] {
                    let (started, alive) = processes(&file);
                    assert!(alive.is_empty(), "{file:?}: {} started, {alive:?}", started.len());
                    all += started.len();
                }
            }
        }
        let (troubles, p99) = (&tally.by_trouble, tally.steady_p99());
        let given_up = house.given_up.load(Ordering::Relaxed);
        println!(
            "{era:?}: {steps} calls, {all} processes, left alone {given_up} times, steady p99 {p99:?}: {troubles:?}"
        );
        house.rig.house.verify().await.unwrap();
    }
}
