//! The kill switch, and `SIGKILL` the moment it is answered, under load: at the next start it is
//! still engaged.

use std::sync::{Arc, Mutex};

use anyhow::{Context, ensure};
use narthex_server::owner::{Reply, Request, StopScope, SwitchRequest};
use narthex_server::{DataDir, OwnerClient};
use narthex_test::ledger_of;

use super::load::{Acknowledged, Load};
use crate::serving::{Server, number};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_stopped_is_stopped_however_soon_it_is_killed() -> anyhow::Result<()> {
    let rounds = number("NARTHEX_TORTURE").unwrap_or(25);
    let folder = tempfile::tempdir()?;
    let dir = DataDir::at(folder.path().join("house"));
    let acknowledged = Arc::new(Mutex::new(Acknowledged::default()));
    for round in 0..rounds {
        let mut server = Server::start(folder.path(), &dir).await?;
        let mut owner = OwnerClient::connect(&dir).await?.context("nobody listens")?;
        if round > 0 {
            ensure!(is_stopped(&mut owner).await?, "kill {round} lifted the switch");
            let scope = StopScope::Everything;
            owner.ask(&Request::Switch(SwitchRequest::Lift { scope })).await?;
        }
        let load = Load {
            url: server.url.clone(),
            token: server.token.clone(),
            dir: dir.clone(),
            round,
            acknowledged: Arc::clone(&acknowledged),
        };
        let running = load.start();
        let (scope, reason) = (StopScope::Everything, Some("a drill".to_owned()));
        owner.ask(&Request::Switch(SwitchRequest::Engage { scope, reason })).await?;
        server.kill()?;
        running.await;
        let proof = ledger_of(&dir)?.verify(|_| {}).await;
        proof.with_context(|| format!("the ledger after kill {round}"))?;
    }
    Ok(())
}

async fn is_stopped(owner: &mut OwnerClient) -> anyhow::Result<bool> {
    match owner.ask(&Request::Switch(SwitchRequest::List)).await? {
        Reply::Stops(stops) => Ok(!stops.engaged.is_empty()),
        other => anyhow::bail!("no list: {other:?}"),
    }
}
