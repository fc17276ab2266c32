//! Those who follow the ledger: nothing is lost, nothing is there twice, nobody waits for them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use narthex_server::{Following, Watched};
use narthex_store::{Clock, SystemClock};
use narthex_test::{HouseOptions, TestHouse, ledger_of};
use narthex_verify::Anchor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Followers under way.
struct Under {
    watched: Watched,
    tasks: TaskTracker,
    stop: CancellationToken,
}

fn follow(house: &TestHouse, following: Following) -> Under {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let watched = following.start(&house.store(), &clock, &tasks, &stop);
    Under { watched, tasks, stop }
}

impl Under {
    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The numbers in the sink.
fn numbers(path: &Path) -> anyhow::Result<Vec<u64>> {
    let text = std::fs::read_to_string(path)?;
    text.lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line)?;
            record["seq"].as_u64().ok_or_else(|| anyhow::anyhow!("no number: {line}"))
        })
        .collect()
}

#[tokio::test]
async fn a_file_has_every_record_once_across_restarts() -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let file = elsewhere.path().join("second");
    let folder = tempfile::tempdir()?;
    for round in 0..3 {
        let house = TestHouse::open(folder.path(), HouseOptions::default()).await?;
        let under = follow(&house, Following { file: Some(file.clone()), ..Following::default() });
        house.owner(space(&format!("round-{round}"))).await?;
        if round != 1 {
            // Sometimes it was there when it happened, sometimes it catches up.
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        under.end().await;
        house.owner(space(&format!("after-{round}"))).await?;
        let last = house.seq().await?;
        let under = follow(&house, Following { file: Some(file.clone()), ..Following::default() });
        under.end().await;
        ensure!(numbers(&file)? == (1..=last).collect::<Vec<_>>(), "round {round}");
        // A line that a crash cut is written again.
        let bytes = std::fs::read(&file)?;
        std::fs::write(&file, &bytes[..bytes.len() - 20])?;
        house.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_anchor_is_current_within_about_a_second_and_verifies() -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let path = elsewhere.path().join("anchor");
    let house = TestHouse::start().await?;
    let under = follow(&house, Following { anchor: Some(path.clone()), ..Following::default() });
    for n in 0..2 {
        house.owner(space(&format!("more-{n}"))).await?;
        let last = house.seq().await?;
        tokio::time::sleep(Duration::from_millis(1_700)).await;
        let note = std::fs::read_to_string(&path)?;
        ensure!(note.lines().nth(1) == Some(last.to_string().as_str()), "{last}: {note}");
        let mut ledger = ledger_of(house.dir())?;
        let key = ledger.keys.seal.clone().expect("a key");
        ledger.anchors = vec![Anchor::read(&path, &key)?];
        ledger.verify(|_| {}).await?;
    }
    ensure!(under.watched.status()[0].behind == 0);
    under.end().await;
    Ok(())
}

#[tokio::test]
async fn one_that_cannot_write_is_seen_and_holds_nobody_up() -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let folder = elsewhere.path().join("not there yet");
    let file = folder.join("second");
    let house = TestHouse::start().await?;
    let under = follow(&house, Following { file: Some(file.clone()), ..Following::default() });
    house.owner(space("more")).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let status = under.watched.status().remove(0);
    ensure!(status.failing_since.is_some() && status.error.is_some(), "{status:?}");
    // It comes back by itself, and nothing is missing.
    std::fs::create_dir(&folder)?;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let status = under.watched.status().remove(0);
    ensure!(status.failing_since.is_none() && status.behind == 0, "{status:?}");
    ensure!(numbers(&file)? == (1..=house.seq().await?).collect::<Vec<_>>());
    under.end().await;
    Ok(())
}

#[tokio::test]
async fn a_sink_that_knows_more_than_the_ledger_says_so() -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let file = elsewhere.path().join("second");
    std::fs::write(&file, "{\"seq\":900000,\"v\":1}\n")?;
    let house = TestHouse::start().await?;
    let under = follow(&house, Following { file: Some(file.clone()), ..Following::default() });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let error = under.watched.status().remove(0).error.unwrap_or_default();
    ensure!(error.contains("rolled back"), "{error}");
    under.end().await;
    ensure!(numbers(&file)? == [900_000], "and is left alone");
    Ok(())
}

fn space(slug: &str) -> narthex_server::owner::Request {
    narthex_server::owner::Request::SpaceAdd { slug: slug.to_owned(), name: None }
}
