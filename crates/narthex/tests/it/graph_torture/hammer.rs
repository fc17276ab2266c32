//! Commands in processes of their own and clients over HTTP on one branch, all at once: nobody loses
//! an update, and who was too late is told so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use narthex_test::ledger_of;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::hands::{Agent, run};
use super::{GRAPH, Place, WORK, in_time, inserts, lines};

/// What one of them was told.
#[derive(Debug, Default)]
struct Told {
    commits: Vec<String>,
    /// Marks, with how many rows each has.
    marks: Vec<(String, usize)>,
    /// How often the counter went up.
    counted: u64,
    /// How often somebody else was quicker.
    late: u64,
}

impl Told {
    fn made(&mut self, mark: &str, rows: usize, commit: Option<String>) -> anyhow::Result<()> {
        self.commits.push(commit.with_context(|| format!("{mark} made no commit"))?);
        self.marks.push((mark.to_owned(), rows));
        Ok(())
    }

    fn extend(&mut self, other: Self) {
        self.commits.extend(other.commits);
        self.marks.extend(other.marks);
        self.counted += other.counted;
        self.late += other.late;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_loses_an_update_on_a_branch_that_many_work_on() -> anyhow::Result<()> {
    in_time(hammer()).await
}

async fn hammer() -> anyhow::Result<()> {
    let place = Arc::new(Place::new()?);
    let server = place.serve().await?;
    place.found(&server).await?;
    let agent = Agent::of(&server);
    let start = "query q() { insert Counter { slug: \"c\", n: 0 } }";
    agent.make("graph_mutate", json!({"query": start, "branch": WORK})).await?;
    let mut everyone = JoinSet::new();
    for who in 0..3 {
        everyone.spawn(commands(Arc::clone(&place), who));
        everyone.spawn(calls(Agent::of(&server), who));
    }
    everyone.spawn(merges(Arc::clone(&place)));
    let mut told = Told::default();
    while let Some(one) = everyone.join_next().await {
        told.extend(one??);
    }
    ensure!(told.late > 0, "nobody was in anybody's way: {told:?}");
    let (rows, _) = agent.look(WORK, COUNTER).await?;
    let counted = told.counted.to_string();
    ensure!(rows[0]["n"] == counted.as_str(), "{rows}, but {counted} counted");
    let mut owner = place.owner().await?;
    let log = owner.log(WORK).await?;
    for commit in &told.commits {
        ensure!(log.contains(commit), "{commit} is not in the log");
    }
    for (mark, rows) in &told.marks {
        ensure!(owner.marked(WORK, mark).await? == (*rows, rows - 1), "{mark} is not whole");
    }
    ledger_of(&place.dir)?.verify(|_| {}).await?;
    Ok(())
}

/// `narthex graph …` again and again: adds one to the counter if nobody was quicker, inserts and
/// loads whoever else is there.
async fn commands(place: Arc<Place>, who: usize) -> anyhow::Result<Told> {
    let mut told = Told::default();
    let house = place.house();
    for n in 0..COMMANDS {
        count_by_command(house, &mut told).await?;
        let mark = format!("command-{who}-{n}");
        let (text, file): (String, PathBuf);
        let change = if n % 2 == 0 {
            text = inserts(&mark, 2);
            ["mutate", GRAPH, "--text", &text, "--branch", WORK]
        } else {
            file = place.file(&mark, &lines(&mark, 20, 10))?;
            ["load", GRAPH, file.to_str().expect("UTF-8"), "--branch", WORK, "--mode=append"]
        };
        let ended = run(house, &change).await?;
        ensure!(ended.code == Some(0), "{change:?}: {ended:?}");
        told.made(&mark, if n % 2 == 0 { 2 } else { 20 }, ended.commit())?;
    }
    while told.counted < AT_LEAST {
        count_by_command(house, &mut told).await?;
    }
    Ok(told)
}

async fn count_by_command(house: &Path, told: &mut Told) -> anyhow::Result<()> {
    let source = format!("query q() {{ {COUNTER} }}");
    let seen = run(house, &["query", GRAPH, "--text", &source, "--at", WORK]).await?;
    let head = seen.said["commit"].as_str().context("a commit")?;
    let up = up(&seen.said["rows"])?;
    let add = ["mutate", GRAPH, "--text", &up, "--branch", WORK, "--expected", head];
    let ended = run(house, &add).await?;
    match ended.code {
        Some(0) => {
            told.counted += 1;
            told.commits.extend(ended.commit());
        }
        Some(4) if ended.said["error"]["code"] == "conflict" => told.late += 1,
        _ => anyhow::bail!("{ended:?}"),
    }
    Ok(())
}

/// The same over HTTP.
async fn calls(agent: Agent, who: usize) -> anyhow::Result<Told> {
    let mut told = Told::default();
    for n in 0..CALLS {
        count_by_call(&agent, &mut told).await?;
        let mark = format!("call-{who}-{n}");
        if n % 2 == 0 {
            let insert = json!({"query": inserts(&mark, 2), "branch": WORK});
            told.made(&mark, 2, agent.commit("graph_mutate", insert).await?)?;
        } else {
            let load = json!({"data": lines(&mark, 20, 10), "branch": WORK, "mode": "append"});
            told.made(&mark, 20, agent.commit("graph_load", load).await?)?;
        }
    }
    while told.counted < AT_LEAST {
        count_by_call(&agent, &mut told).await?;
    }
    Ok(told)
}

async fn count_by_call(agent: &Agent, told: &mut Told) -> anyhow::Result<()> {
    let (rows, head) = agent.look(WORK, COUNTER).await?;
    let add = json!({"query": up(&rows)?, "branch": WORK, "expected_head": head});
    let answer = agent.call("graph_mutate", add).await?;
    match answer.tool_code().as_deref() {
        None if answer.is_ok() => {
            told.counted += 1;
            told.commits.extend(answer.structured()["commit"].as_str().map(str::to_owned));
        }
        Some("conflict") => told.late += 1,
        _ => anyhow::bail!("{answer:?}"),
    }
    Ok(())
}

/// Branches off, works there, and brings it back, while the branch moves on.
async fn merges(place: Arc<Place>) -> anyhow::Result<Told> {
    let mut told = Told::default();
    let house = place.house();
    for n in 0..MERGES {
        let (aside, mark) = (format!("aside-{n}"), format!("merge-{n}"));
        let insert = inserts(&mark, 5);
        let mut commit = None;
        for args in [
            &["branch", "create", GRAPH, &aside, "--from", WORK][..],
            &["mutate", GRAPH, "--text", &insert, "--branch", &aside],
            &["merge", GRAPH, &aside, "--into", WORK],
            &["branch", "delete", GRAPH, &aside],
        ] {
            let ended = run(house, args).await?;
            ensure!(ended.code == Some(0), "{args:?}: {ended:?}");
            if args[0] == "merge" {
                commit = ended.commit();
            }
        }
        told.made(&mark, 5, commit)?;
    }
    Ok(told)
}

/// One more than what was read.
fn up(rows: &Value) -> anyhow::Result<String> {
    let is: u64 = rows[0]["n"].as_str().context("a number")?.parse()?;
    Ok(format!("query q() {{ update Counter set {{ n: {} }} where slug = \"c\" }}", is + 1))
}

const COUNTER: &str = "match { $c: Counter { slug: \"c\" } } return { $c.n as n }";
/// How often each must be the quickest.
const AT_LEAST: u64 = 2;
const COMMANDS: usize = 6;
const CALLS: usize = 16;
const MERGES: usize = 4;
