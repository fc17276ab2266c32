//! Many hands on one graph at once: nothing is lost, nothing is half, nobody stays in the way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use narthex_core::{BranchName, CommitId};
use narthex_graph::engine::{Ask, Done, Mutation};
use narthex_graph::exec::Page;
use narthex_graph::{Engine, GraphError};
use narthex_store::{At, Refused, StoreError, SystemClock};
use narthex_test::TestHouse;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use super::{Net, SCHEMA, commit, owner};

const ON: [&str; 3] = ["main", "left", "right"];
const TASKS: usize = 8;
const ROUNDS: usize = 8;

/// What one of many did.
#[derive(Debug, Default)]
struct Did {
    /// Commits that were acknowledged, by branch.
    commits: Vec<(usize, CommitId)>,
    /// How often a counter went up, by branch.
    counted: BTreeMap<usize, u64>,
    /// How often it was somebody else's turn.
    moved: u64,
}

impl Did {
    fn note(&mut self, on: usize, done: &Done) {
        if done.committed {
            self.commits.extend(done.commit.map(|commit| (on, commit)));
        }
    }
}

async fn mutate_at(
    net: &Net,
    on: &str,
    source: &str,
    expected: Option<CommitId>,
) -> Result<Done, GraphError> {
    let (branch, params) = (on.parse()?, Map::new());
    let ask = Mutation {
        source,
        name: None,
        params: &params,
        branch: &branch,
        expected,
        message: "",
        limits: &net.limits,
    };
    commit(net.store.as_ref(), net.engine.mutate(&net.graph, &ask, &owner()).await?).await
}

async fn look(net: &Net, on: &str, source: &str) -> Result<(Value, CommitId), GraphError> {
    let params = Map::new();
    let (at, page) = (At::Branch(on.parse()?), Page::default());
    let ask = Ask { source, name: None, params: &params, at, page, limits: &net.limits };
    let (answer, commit) = net.engine.query(&net.graph, &ask).await?;
    Ok((answer.to_json(), commit.id))
}

/// What a counter stands at, and the commit it was read at.
async fn counter(net: &Net, on: &str) -> Result<(u64, CommitId), GraphError> {
    let source = format!("match {{ $p: Person {{ slug: \"c-{on}\" }} }} return {{ $p.seen as n }}");
    let (rows, commit) = look(net, on, &source).await?;
    Ok((rows[0]["n"].as_str().unwrap().parse().unwrap(), commit))
}

/// Reads, adds one, and writes if nobody was quicker.
async fn count(net: &Net, no: usize, did: &mut Did) -> Result<(), GraphError> {
    let on = ON[no];
    let (is, head) = counter(net, on).await?;
    let next = is + 1;
    let source = format!("update Person set {{ seen: {next} }} where slug = \"c-{on}\"");
    match mutate_at(net, on, &source, Some(head)).await {
        Ok(done) => {
            did.note(no, &done);
            *did.counted.entry(no).or_default() += 1;
        }
        Err(GraphError::HeadMoved { expected, head: is, .. }) => {
            assert!(expected == head && is != head);
            did.moved += 1;
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

async fn work(net: Arc<Net>, task: usize) -> Result<Did, GraphError> {
    let mut did = Did::default();
    for round in 0..ROUNDS {
        let no = (task + round / 2) % ON.len();
        let own = format!("t{task}-{round}");
        match (task + round) % 4 {
            0 => {
                let source =
                    format!("insert Person {{ slug: \"{own}\", name: \"{own}\", seen: 0 }}");
                did.note(no, &mutate_at(&net, ON[no], &source, None).await?);
            }
            1 => {
                let line =
                    json!({"type": "Person", "data": {"slug": own, "name": "l", "seen": "1"}});
                did.note(no, &net.load(ON[no], &line.to_string()).await?);
            }
            2 => did.note(no, &net.merge(ON[(no + 1) % ON.len()], ON[no]).await?),
            _ => {}
        }
        count(&net, no, &mut did).await?;
    }
    Ok(did)
}

/// Regression 7: none of many writers is refused for another's sake, and no update is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_hands_on_three_branches() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Arc::new(Net::open(&house).await?);
    net.schema(SCHEMA).await?;
    for on in ON {
        net.mutate("main", &format!("insert Person {{ slug: \"c-{on}\", name: \"c\", seen: 0 }}"))
            .await?;
    }
    net.fork("left", "main").await?;
    net.fork("right", "main").await?;
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        tasks.spawn(work(Arc::clone(&net), task));
    }
    let mut all = Did::default();
    while let Some(did) = tasks.join_next().await {
        let did = did??;
        all.commits.extend(did.commits);
        all.moved += did.moved;
        for (no, counted) in did.counted {
            *all.counted.entry(no).or_default() += counted;
        }
    }
    let tries = (TASKS * ROUNDS) as u64;
    assert_eq!(all.counted.values().sum::<u64>() + all.moved, tries);
    for (no, on) in ON.iter().enumerate() {
        assert!(all.counted[&no] > 0, "{on}");
        assert_eq!(counter(&net, on).await?.0, all.counted[&no], "{on}");
        let log = net.engine.log(&net.graph, &on.parse()?, None, 10_000).await?;
        for (_, commit) in all.commits.iter().filter(|(of, _)| *of == no) {
            assert!(log.iter().any(|of| of.id == *commit), "{commit} is not in the log of {on}");
        }
    }
    house.verify().await?;
    Ok(())
}

/// Regression 9: whenever a call is cancelled, it was made whole or not at all, and the branch is
/// free for the next. Where the hold on the branch is kept until the store has answered, as the
/// engine asks, nobody else notices either.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelled_calls_leave_nothing_half_and_nothing_held() -> anyhow::Result<()> {
    for keeps_hold in [true, false] {
        cancelled(keeps_hold).await?;
    }
    Ok(())
}

/// Two people and an edge in one commit.
fn pair(no: u64) -> String {
    format!(
        "insert Person {{ slug: \"a{no}\", name: \"a\", seen: 0 }} \
         insert Person {{ slug: \"b{no}\", name: \"b\", seen: 0 }} \
         insert Knows {{ from: \"a{no}\", to: \"b{no}\" }}"
    )
}

async fn insert(net: Arc<Net>, no: u64, after: Option<TaskTracker>) -> Result<u64, GraphError> {
    let Some(after) = after else {
        return mutate_at(&net, "main", &pair(no), None).await.map(|_| no);
    };
    let (branch, params, source) = (BranchName::main(), Map::new(), pair(no));
    let ask = Mutation {
        source: &source,
        name: None,
        params: &params,
        branch: &branch,
        expected: None,
        message: "",
        limits: &net.limits,
    };
    let prepared = net.engine.mutate(&net.graph, &ask, &owner()).await?;
    let store = Arc::clone(&net.store);
    let made = after.spawn(async move { commit(store.as_ref(), prepared).await });
    made.await.unwrap().map(|_| no)
}

async fn cancelled(keeps_hold: bool) -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Arc::new(Net::open(&house).await?);
    net.schema(SCHEMA).await?;
    let before = net.engine.log(&net.graph, &BranchName::main(), None, 1_000).await?.len();
    let (mut acknowledged, after) = (Vec::new(), TaskTracker::new());
    for round in 0..12_u64 {
        let mut tasks = JoinSet::new();
        for task in 0..8_u64 {
            let after = keeps_hold.then(|| after.clone());
            tasks.spawn(insert(Arc::clone(&net), round * 8 + task, after));
        }
        tokio::time::sleep(Duration::from_micros(round * round * 150)).await;
        tasks.abort_all();
        while let Some(ended) = tasks.join_next().await {
            match ended {
                Ok(Ok(no)) => acknowledged.push(no),
                // Somebody let go of the branch while the store had not answered yet.
                Ok(Err(GraphError::Store(StoreError::Refused(Refused::HeadMoved { .. }))))
                    if !keeps_hold => {}
                Ok(Err(error)) => return Err(error.into()),
                Err(error) => assert!(error.is_cancelled(), "{error}"),
            }
        }
    }
    after.close();
    after.wait().await;
    // Nobody holds the branch any more; what was let go of is answered by now.
    let last = tokio::time::timeout(Duration::from_mins(1), async {
        net.store.commit(nothing()).await.unwrap();
        net.mutate("main", &pair(1_000)).await
    });
    assert!(last.await??.committed);
    acknowledged.push(1_000);
    whole(&net, before, &acknowledged).await?;
    house.verify().await?;
    Ok(())
}

/// A record and no effect.
fn nothing() -> narthex_store::UnitOfWork {
    let call = narthex_core::CallId::from_uuid(narthex_store::fresh_uuid());
    let record = narthex_core::RecordDraft::new(
        narthex_core::Phase::Owner,
        call,
        narthex_core::Actor::Owner,
        narthex_core::Transport::Local,
        "graph.test",
    );
    narthex_store::UnitOfWork::records(vec![record])
}

/// Every pair is there whole or not at all, with one commit each.
async fn whole(net: &Net, before: usize, acknowledged: &[u64]) -> anyhow::Result<()> {
    let source = "match { $p: Person } return { $p.slug as s } order { s }";
    let (rows, _) = look(net, "main", source).await?;
    let slugs: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["s"].as_str().unwrap()).collect();
    let made: Vec<u64> =
        slugs.iter().filter_map(|slug| slug.strip_prefix('a')?.parse().ok()).collect();
    for no in &made {
        assert!(slugs.contains(&format!("b{no}").as_str()), "half of {no}");
    }
    assert_eq!(slugs.len(), 2 * made.len(), "half of something");
    let ties = "match { $p: Person  $p knows $q } return { count() as n }";
    assert_eq!(look(net, "main", ties).await?.0, json!([{"n": made.len().to_string()}]));
    assert!(acknowledged.iter().all(|no| made.contains(no)), "what was acknowledged is there");
    assert!(made.len() < 97, "some were cancelled in time");
    let log = net.engine.log(&net.graph, &BranchName::main(), None, 1_000).await?;
    assert_eq!(log.len(), before + made.len(), "a commit for each, and no other");
    Ok(())
}

/// Regression 7: two that know nothing of each other, on one graph. The store refuses whoever
/// prepared for a head that has moved, and both go on.
#[tokio::test]
async fn two_engines_on_one_graph() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::open(&house).await?;
    net.schema(SCHEMA).await?;
    let other = Engine::new(Arc::clone(&net.store) as _, Arc::new(SystemClock));
    let other = Net {
        engine: other,
        graph: net.graph.clone(),
        limits: net.limits.clone(),
        store: Arc::clone(&net.store),
    };
    for round in 0..3 {
        let (branch, params) = (BranchName::main(), Map::new());
        let source = format!("insert Person {{ slug: \"slow{round}\", name: \"s\", seen: 0 }}");
        let ask = Mutation {
            source: &source,
            name: None,
            params: &params,
            branch: &branch,
            expected: None,
            message: "",
            limits: &net.limits,
        };
        let slow = net.engine.mutate(&net.graph, &ask, &owner()).await?;
        other
            .mutate(
                "main",
                &format!("insert Person {{ slug: \"quick{round}\", name: \"q\", seen: 0 }}"),
            )
            .await?;
        let refused = commit(net.store.as_ref(), slow).await;
        assert!(
            matches!(
                &refused,
                Err(GraphError::Store(StoreError::Refused(Refused::HeadMoved { .. })))
            ),
            "{refused:?}"
        );
        assert!(net.mutate("main", &source).await?.committed);
        assert!(
            !other
                .mutate(
                    "main",
                    &format!("update Person set {{ seen: 0 }} where slug = \"slow{round}\"")
                )
                .await?
                .committed
        );
    }
    let all = net.ask("main", "match { $p: Person } return { count() as n }").await?;
    assert_eq!(all, json!([{"n": "6"}]));
    Ok(())
}
