//! A command is killed in the middle of a load: nothing of it is there, nobody is kept waiting, and
//! what the server had taken of it is given back.

use std::io::Write as _;
use std::process::{Child, Stdio};

use anyhow::{Context, ensure};

use super::{GRAPH, Place, in_time, inserts, lines};
use crate::serving::Server;
use crate::support::command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_whose_command_is_killed_leaves_nothing() -> anyhow::Result<()> {
    in_time(abandon()).await
}

async fn abandon() -> anyhow::Result<()> {
    let place = Place::new()?;
    let server = place.serve().await?;
    place.found(&server).await?;
    let mut owner = place.owner().await?;
    let text = lines("abandoned", ROWS, 10_000);
    let mut first = None;
    for round in 0..ROUNDS {
        // As many as there may be: if one were left lying, the next would be refused.
        let mut commands = Vec::new();
        for _ in 0..AT_ONCE {
            commands.push(begun(&place, &text).await?);
        }
        // Nobody is kept from the branch while they are under way.
        let made = owner.mutate("main", inserts(&format!("meanwhile-{round}"), 2)).await?;
        ensure!(made.is_some());
        for mut child in commands {
            child.kill()?;
            child.wait()?;
        }
        let made = owner.mutate("main", inserts(&format!("after-{round}"), 2)).await?;
        ensure!(made.is_some());
        ensure!(owner.marked("main", "abandoned").await? == (0, 0), "half a file is there");
        // That the connections are gone is noticed soon, if not at once.
        for n in 0..AT_ONCE {
            while let Err(error) =
                owner.load("main", &lines(&format!("next-{round}-{n}"), 2, 1), 9).await
            {
                ensure!(error.to_string().contains("under way"), "{error}");
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        let now = memory(&server)?;
        // The first rounds fill what is used again and again.
        if round < WARM {
            continue;
        }
        let before = *first.get_or_insert(now);
        // Kept, it would be as much again each round.
        let kept = u64::try_from(text.len() * AT_ONCE / 1024)?;
        ensure!(now < before + 2 * kept, "{before} KiB became {now} KiB by round {round}");
    }
    Ok(())
}

/// A command that has sent most of a file and waits for the rest.
async fn begun(place: &Place, text: &str) -> anyhow::Result<Child> {
    let mut command = command(&["graph", "load", GRAPH, "-"], place.house());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().context("open")?;
    let text = text.to_owned();
    // What is written has been read, but for what a pipe holds.
    let written =
        tokio::task::spawn_blocking(move || input.write_all(text.as_bytes()).map(|()| input));
    child.stdin = Some(written.await??);
    ensure!(child.try_wait()?.is_none(), "it ended by itself");
    Ok(child)
}

/// What the server holds in memory, in KiB.
fn memory(server: &Server) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("a line")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}

const ROWS: usize = 200;
const ROUNDS: usize = 6;
const WARM: usize = 2;
/// Loads that may be under way in a house.
const AT_ONCE: usize = 4;
