//! Killed at random moments under load, again and again: nothing acknowledged is lost, nothing is
//! applied twice, the ledger verifies. `NARTHEX_TORTURE=500` kills more often, `NARTHEX_SEED=…`
//! repeats a run.

mod load;
mod stopped;

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use narthex_core::ProposalStatus;
use narthex_server::owner::{Reply, Request};
use narthex_server::{DataDir, OwnerClient};
use narthex_test::ledger_of;
use serde_json::Value;

use self::load::{Acknowledged, Load};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_however_often_it_is_killed() -> anyhow::Result<()> {
    let rounds = number("NARTHEX_TORTURE").unwrap_or(25);
    let seed = number("NARTHEX_SEED").unwrap_or_else(seed);
    println!("NARTHEX_SEED={seed}");
    let folder = tempfile::tempdir()?;
    let dir = DataDir::at(folder.path().join("house"));
    let acknowledged = Arc::new(Mutex::new(Acknowledged::default()));
    let mut random = Random(seed);
    let mut token = None;
    for round in 0..rounds {
        let mut server =
            Server::start(folder.path(), &dir).await.with_context(|| format!("start {round}"))?;
        // The first token must open the door for ever.
        let token = token.get_or_insert_with(|| server.token.clone()).clone();
        let load = Load {
            url: server.url.clone(),
            token,
            dir: dir.clone(),
            round,
            acknowledged: Arc::clone(&acknowledged),
        };
        let running = load.start();
        let total = || acknowledged.lock().expect("not poisoned").total();
        let enough = total() + usize::try_from(random.below(40))?;
        // However slow the machine is, some rounds get some work done; others end in the start.
        for _ in 0..1_500 {
            if total() >= enough {
                break;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_micros(random.below(5_000))).await;
        server.child.kill()?;
        server.child.wait()?;
        running.await;
        let proof = ledger_of(&dir)?.verify(|_| {}).await;
        proof.with_context(|| format!("the ledger after kill {round}"))?;
    }
    let acknowledged = std::mem::take(&mut *acknowledged.lock().expect("not poisoned"));
    println!("{acknowledged}");
    ensure!(
        acknowledged.proposed.len() > usize::try_from(rounds)?,
        "hardly any load: {acknowledged}"
    );
    let _server = Server::start(folder.path(), &dir).await?;
    check(&dir, &acknowledged).await
}

/// Everything that was answered is there, once.
async fn check(dir: &DataDir, acknowledged: &Acknowledged) -> anyhow::Result<()> {
    let mut owner = OwnerClient::connect(dir).await?.context("nobody listens")?;
    let mut applied = 0;
    for (id, slug) in &acknowledged.proposed {
        let Reply::Proposal(proposal) =
            owner.ask(&Request::InboxShow { proposal: id.clone() }).await?
        else {
            anyhow::bail!("no proposal {id}")
        };
        let expected = acknowledged.decided.get(id);
        ensure!(
            expected.is_none_or(|status| *status == proposal.info.status),
            "{id} was {expected:?}, is {:?}",
            proposal.info.status
        );
        let history =
            owner.ask(&Request::PageHistory { space: "harbour".into(), page: slug.clone() }).await;
        match proposal.info.status {
            ProposalStatus::Applied => {
                let Reply::Revisions(revisions) = history? else {
                    anyhow::bail!("no history of {slug}")
                };
                ensure!(revisions.len() == 1, "{slug} was applied {} times", revisions.len());
                ensure!(
                    revisions
                        .iter()
                        .all(|one| one.provenance.proposal.is_some_and(|p| p.to_string() == *id)),
                    "{slug} forgot where it came from"
                );
                applied += 1;
            }
            status => ensure!(history.is_err(), "{slug} exists although its proposal is {status}"),
        }
    }
    ensure!(applied > 0, "nothing was applied");
    let mut observed = 0;
    let mut from = 1;
    loop {
        let Reply::Stored(lines) = owner.ask(&Request::LedgerRead { from, limit: 5_000 }).await?
        else {
            anyhow::bail!("no records")
        };
        let Some(last) = lines.last() else { break };
        from = last.seq + 1;
        observed +=
            lines.iter().filter(|line| line.record.contains(r#""phase":"observed""#)).count();
    }
    ensure!(
        observed >= acknowledged.observed,
        "{observed} observations recorded of {} answered",
        acknowledged.observed
    );
    Ok(())
}

/// The program, serving.
struct Server {
    child: Child,
    url: String,
    token: String,
}

impl Server {
    async fn start(folder: &Path, dir: &DataDir) -> anyhow::Result<Self> {
        let config = folder.join("narthex.toml");
        std::fs::write(
            &config,
            "[limits]\nrequests_per_minute = 1000000\nopen_proposals = 10000\n[budget]\nt1 = 1000000\n",
        )?;
        let mut child = Command::new(env!("CARGO_BIN_EXE_narthex"))
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--output", "json"])
            .arg("--data-dir")
            .arg(dir.root())
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let stdout = child.stdout.take().context("no output")?;
        let mut line = String::new();
        let read = move || std::io::BufReader::new(stdout).read_line(&mut line).map(|_| line);
        let line = tokio::task::spawn_blocking(read).await??;
        let ready: Value = serde_json::from_str(&line)?;
        let fact = |key: &str| {
            ready
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .with_context(|| format!("no {key}"))
        };
        let (url, token) = (fact("mcp_url")?, fact("agent_token")?);
        Ok(Self { child, url, token })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ours to end; most often it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Enough randomness to choose moments by, and the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own settings")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a test's own seed")]
fn seed() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(1, |since| u64::from(since.subsec_nanos()))
}
