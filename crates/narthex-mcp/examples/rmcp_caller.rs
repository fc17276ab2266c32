//! rmcp's own client on a process's pipes, for the benchmark of other people's servers: what it costs to
//! call a server with nothing in between.
//!
//! `rmcp_caller COMMAND [ARGUMENT …]` starts the command and greets it. Then a line `CALLERS CALLS
//! PACE_MS` on standard input is a load, and is answered with a line of times in nanoseconds, all calls of
//! all callers, after how long it took in all.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Client = Arc<RunningService<RoleClient, ()>>;

#[tokio::main(worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "says what it measured")]
async fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("rmcp_caller COMMAND [ARGUMENT …]")?;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let to = child.stdin.take().ok_or("no input")?;
    let from = child.stdout.take().ok_or("no output")?;
    let client: Client = Arc::new(().serve((from, to)).await?);
    let mut loads = BufReader::new(tokio::io::stdin()).lines();
    while let Some(load) = loads.next_line().await? {
        let load: Vec<u64> = load.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [callers, calls, pace] = load[..] else { return Err("CALLERS CALLS PACE_MS".into()) };
        let (took, times) = measured(&client, callers, calls, Duration::from_millis(pace)).await?;
        let times: Vec<String> = times.iter().map(|time| time.as_nanos().to_string()).collect();
        println!("{} {}", took.as_nanos(), times.join(" "));
    }
    Ok(())
}

async fn measured(
    client: &Client,
    callers: u64,
    calls: u64,
    pace: Duration,
) -> Result<(Duration, Vec<Duration>), Failure> {
    let (mut all, mut times) = (JoinSet::new(), Vec::new());
    let each = (calls / callers.max(1)).max(1);
    let start = Instant::now();
    for caller in 0..callers {
        let client = Arc::clone(client);
        all.spawn(async move {
            let mut times = Vec::new();
            // Not all at once.
            let first = u32::try_from(caller).unwrap_or_default();
            tokio::time::sleep(pace.mul_f64(f64::from(first) / 16.0)).await;
            for _ in 0..each {
                let begun = Instant::now();
                call(&client).await?;
                let took = begun.elapsed();
                times.push(took);
                if !pace.is_zero() {
                    tokio::time::sleep(pace.saturating_sub(took)).await;
                }
            }
            Ok::<_, Failure>(times)
        });
    }
    while let Some(came) = all.join_next().await {
        times.extend(came??);
    }
    Ok((start.elapsed(), times))
}

async fn call(client: &Client) -> Result<(), Failure> {
    let arguments = json!({"text": "hello"}).as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let answer = client.call_tool(params).await?;
    let said = serde_json::to_string(&answer)?;
    if said.contains("hello") { Ok(()) } else { Err(said.into()) }
}
