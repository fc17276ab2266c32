//! Agents' programs, and a server that is killed while one runs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use narthex_server::DataDir;

use crate::serving::Server;
use crate::support::command;

/// A program that does nothing but run has no pipe to notice the end by: the kernel ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_program_outlives_the_server() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let dir = DataDir::at(folder.path().join("house"));
    let mut server = Server::start(folder.path(), &dir).await?;
    let program = folder.path().join("endless.js");
    std::fs::write(&program, "for (;;);")?;
    let program = program.to_string_lossy().into_owned();
    let mut asks = command(&["run", &program, "--agent", "demo-agent"], dir.root()).spawn()?;
    // One that is at work, and not only ready.
    let at_work = || workers(server.child.id()).into_iter().find(|worker| ticks(*worker) > 20);
    let worker = wait_for(at_work).await;
    server.kill()?;
    asks.wait()?;
    let Some(worker) = worker else { anyhow::bail!("no worker was at work") };
    // It has a minute of its own, and would be there all that time.
    let gone = wait_for(|| (!is_alive(worker)).then_some(())).await;
    ensure!(gone.is_some(), "worker {worker} outlived the server");
    Ok(())
}

async fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..400 {
        if let Some(found) = what() {
            return Some(found);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    None
}

fn stat(process: u32) -> Option<Vec<String>> {
    let path = PathBuf::from(format!("/proc/{process}/stat"));
    let text = std::fs::read_to_string(path).ok()?;
    // The name is in brackets, and may be anything.
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Children that are shut in.
fn workers(of: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten();
    let ids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_one = |id: &u32| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let is_child = stat(*id).is_some_and(|stat| stat.get(1) == Some(&of.to_string()));
        is_child && words.split(|byte| *byte == 0).nth(1) == Some(b"sandbox")
    };
    ids.filter(is_one).collect()
}

/// How long it was at work, in hundredths of a second.
fn ticks(process: u32) -> u64 {
    stat(process).and_then(|stat| stat.get(11)?.parse().ok()).unwrap_or(0)
}

fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|stat| stat.first().is_some_and(|state| state != "Z"))
}
