//! Killed at random moments under load, again and again: nothing acknowledged is lost, nothing is
//! applied twice, the ledger verifies. `NARTHEX_TORTURE=500` kills more often, `NARTHEX_SEED=…`
//! repeats a run.

mod load;
mod stopped;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, ensure};
use narthex_core::ProposalStatus;
use narthex_server::owner::{Reply, Request};
use narthex_server::{DataDir, OwnerClient};
use narthex_test::ledger_of;

use self::load::{Acknowledged, Load};
use crate::serving::{Random, Server, number, seed};

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
        server.kill()?;
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
