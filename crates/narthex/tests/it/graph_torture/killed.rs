//! The server is killed in loads, merges and mutations, again and again. `NARTHEX_TORTURE=200`
//! kills more often, `NARTHEX_SEED=…` repeats a run's moments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use narthex_core::ProposalStatus;
use narthex_server::owner::{Reply, Request};
use serde_json::json;

use super::hands::{Agent, Owner, run};
use super::work::{How, Tried, Work};
use super::{GRAPH, Place, WORK, in_time, inserts, lines};
use crate::serving::{Random, Server, number, seed};
use crate::support::{narthex, stderr};

type All = BTreeMap<String, Tried>;

/// What marks begin with.
const KINDS: [&str; 7] = ["command", "parts", "owner", "call", "agent", "merge", "proposal"];

/// Of each of these kinds, something must have been under way when a server was killed: loads, merges.
const INTERRUPTED: [&[&str]; 2] = [&["command", "parts", "call"], &["merge", "proposal"]];

/// Lives beyond those that were asked for, to come to that.
const MORE: u64 = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_graph_is_lost_or_half_there_however_often_it_is_killed() -> anyhow::Result<()>
{
    let rounds = number("NARTHEX_TORTURE").unwrap_or(12);
    let seed = number("NARTHEX_SEED").unwrap_or_else(seed);
    println!("NARTHEX_SEED={seed}");
    let mut random = Random(seed);
    let place = Arc::new(Place::new()?);
    let tried = Arc::new(Mutex::new(All::new()));
    let mut round = 0;
    // Some more lives, until what must have been interrupted was.
    while round < rounds || (round < rounds + MORE && !missed(&tried).is_empty()) {
        let aim = if round < rounds { None } else { missed(&tried).first().copied() };
        let running = in_time(kill(&place, round, &mut random, &tried, aim));
        running.await.with_context(|| format!("round {round}"))?;
        round += 1;
    }
    let missed = missed(&tried);
    ensure!(missed.is_empty(), "nothing of {missed:?} was interrupted in {round} lives");
    let server = place.serve().await?;
    let tried = std::mem::take(&mut *tried.lock().unwrap_or_else(PoisonError::into_inner));
    let mut owner = place.owner().await?;
    look_after(&place, &server, &mut owner, &tried, round.saturating_sub(1)).await?;
    println!("{}", told(&tried));
    ensure!(tried.values().any(|one| one.acknowledged), "everything was interrupted");
    // And all that was ever answered.
    let logs = logs(&mut owner).await?;
    for (mark, one) in &tried {
        check(&mut owner, &logs, mark, one).await?;
    }
    well(&place)
}

/// What must have gone unanswered, and never did.
fn missed(tried: &Mutex<All>) -> Vec<&'static [&'static str]> {
    let tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
    let left =
        |kinds: &&[&str]| tried.iter().any(|(mark, one)| !one.acknowledged && is_of(mark, kinds));
    INTERRUPTED.into_iter().filter(|kinds| !left(kinds)).collect()
}

fn is_of(mark: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| mark.starts_with(kind))
}

/// One life of the server: looks after what the last one left, works, and ends. With an aim, it ends
/// as soon as something of these kinds is under way.
async fn kill(
    place: &Arc<Place>,
    round: u64,
    random: &mut Random,
    tried: &Arc<Mutex<All>>,
    aim: Option<&[&str]>,
) -> anyhow::Result<()> {
    let mut server = place.serve().await?;
    if round == 0 {
        place.found(&server).await?;
    } else {
        let mut owner = place.owner().await?;
        let last = std::mem::take(&mut *tried.lock().unwrap_or_else(PoisonError::into_inner));
        let found = look_after(place, &server, &mut owner, &last, round - 1).await;
        *tried.lock().unwrap_or_else(PoisonError::into_inner) = last;
        found?;
    }
    let over = Arc::new(AtomicBool::new(false));
    let work = Work {
        place: Arc::clone(place),
        agent: Agent::of(&server),
        round,
        tried: Arc::clone(tried),
        over: Arc::clone(&over),
    };
    #[expect(clippy::disallowed_methods, reason = "it is waited for below")]
    let running = tokio::spawn(work.start());
    let answered = |kind: &str| {
        let tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.iter().filter(|(mark, one)| mark.starts_with(kind) && one.acknowledged).count()
    };
    let under_way = |kinds: &[&str]| {
        let tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
        let is = |(mark, one): (&String, &Tried)| {
            one.round == round && !one.acknowledged && is_of(mark, kinds)
        };
        tried.iter().any(is)
    };
    // Some lives end in the start, others after one more answer of a kind, so that each has its turn.
    let kind = KINDS.get(usize::try_from(random.below(8))?).copied();
    let enough = kind.map_or(0, |kind| answered(kind) + 1);
    while answered(kind.unwrap_or_default()) < enough && !running.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let later = if aim.is_some() { random.below(1_000) } else { random.below(30_000) };
    while aim.is_some_and(|kinds| !under_way(kinds)) && !running.is_finished() {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_micros(later)).await;
    over.store(true, Ordering::SeqCst);
    server.kill()?;
    running.await?
}

/// After a start: what the last life did is whole or not there, and nobody stays in the way.
async fn look_after(
    place: &Place,
    server: &Server,
    owner: &mut Owner,
    tried: &All,
    round: u64,
) -> anyhow::Result<()> {
    let logs = logs(owner).await?;
    let agent = Agent::of(server);
    for (mark, one) in tried.iter().filter(|(_, one)| one.round == round) {
        let there = check(owner, &logs, mark, one).await?;
        if !one.acknowledged {
            again(place, &agent, owner, (mark, one), there).await?;
        }
    }
    for branch in owner.branches().await? {
        // Nobody holds it.
        let free = format!("free-{round}-{branch}");
        let made = owner.mutate(&branch, inserts(&free, 1)).await?;
        ensure!(made.is_some(), "{branch} is stuck");
        if branch != "main" && branch != WORK {
            owner.delete(&branch, true).await?;
        }
    }
    well(place)
}

/// Whether it is there. What was answered is.
async fn check(
    owner: &mut Owner,
    logs: &BTreeMap<&str, BTreeSet<String>>,
    mark: &str,
    one: &Tried,
) -> anyhow::Result<bool> {
    let found = owner.marked(one.on, mark).await?;
    let whole = found == (one.rows, one.rows - 1);
    ensure!(whole || found == (0, 0), "{mark} is half there: {found:?} of {one:?}");
    ensure!(whole || !one.acknowledged, "{mark} was answered and is gone: {one:?}");
    if let Some(commit) = &one.commit {
        ensure!(logs[one.on].contains(commit), "{mark}: {commit} is not in the log");
    }
    if let How::Proposal(Some(id)) = &one.how {
        let applied = status(owner, id).await? == ProposalStatus::Applied;
        // It may have been said yes to since, after an answer that was lost.
        ensure!(applied == whole, "{mark}: merged {whole}, marked so {applied}");
    }
    Ok(whole)
}

/// What was not answered is tried again: all of it is made, or nothing.
async fn again(
    place: &Place,
    agent: &Agent,
    owner: &mut Owner,
    (mark, one): (&String, &Tried),
    there: bool,
) -> anyhow::Result<()> {
    let commit = match &one.how {
        How::Command(file) => {
            let file = file.to_str().expect("UTF-8");
            let ended = run(place.house(), &["load", GRAPH, file]).await?;
            ensure!(ended.code == Some(0), "{ended:?}");
            ended.commit()
        }
        How::Parts => owner.load(one.on, &lines(mark, one.rows, 10), 700).await?,
        How::Call => {
            let load = json!({"data": lines(mark, one.rows, 10), "branch": one.on});
            agent.commit("graph_load", load).await?
        }
        How::Merge => owner.merge(mark, one.on).await?,
        How::Proposal(Some(id)) if !there => {
            owner.ask(Request::InboxApprove { proposal: id.clone() }).await?;
            ensure!(status(owner, id).await? == ProposalStatus::Applied, "{mark} stays undecided");
            ensure!(owner.marked(one.on, mark).await? == (one.rows, one.rows - 1));
            return Ok(());
        }
        How::Mutation | How::Proposal(_) => return Ok(()),
    };
    ensure!(commit.is_some() != there, "{mark} was there: {there}, and then {commit:?}");
    let found = owner.marked(one.on, mark).await?;
    ensure!(found == (one.rows, one.rows - 1), "{mark} came to {found:?} of {one:?}");
    Ok(())
}

async fn status(owner: &mut Owner, id: &str) -> anyhow::Result<ProposalStatus> {
    match owner.ask(Request::InboxShow { proposal: id.to_owned() }).await? {
        Reply::Proposal(proposal) => Ok(proposal.info.status),
        other => anyhow::bail!("no proposal {id}: {other:?}"),
    }
}

async fn logs(owner: &mut Owner) -> anyhow::Result<BTreeMap<&'static str, BTreeSet<String>>> {
    Ok([("main", owner.log("main").await?), (WORK, owner.log(WORK).await?)].into())
}

/// The ledger and the house are in order.
fn well(place: &Place) -> anyhow::Result<()> {
    for args in [&["ledger", "verify"][..], &["doctor"]] {
        let output = narthex(args, place.house());
        ensure!(output.status.success(), "{args:?}: {}", stderr(&output));
    }
    Ok(())
}

fn told(tried: &All) -> String {
    let mut by: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (mark, one) in tried {
        let (all, answered) = by.entry(mark.split('-').next().unwrap_or_default()).or_default();
        *all += 1;
        *answered += usize::from(one.acknowledged);
    }
    let one = |(kind, (all, answered)): (&str, (usize, usize))| format!("{kind} {answered}/{all}");
    by.into_iter().map(one).collect::<Vec<_>>().join(", ")
}
