//! Files that come in bit by bit.

use super::house::{House, SCHEMA, add, branch, owner};
use crate::engine::{GraphError, LoadAsk, LoadMode, Loading};
use crate::exec::Limits;

const DATA: &str = concat!(
    "{\"type\":\"Person\",\"data\":{\"slug\":\"ada\",\"name\":\"Ada é\",\"age\":36}}\n\n",
    "{\"type\":\"Person\",\"data\":{\"slug\":\"bob\",\"name\":\"Bob\"}}\r\n",
    "{\"edge\":\"Knows\",\"from\":\"ada\",\"to\":\"bob\"}",
);

fn ask(on: &str) -> LoadAsk {
    LoadAsk {
        branch: branch(on),
        from: None,
        mode: LoadMode::Merge,
        expected: None,
        message: String::new(),
        limits: Limits::default(),
    }
}

async fn begin(house: &House, ask: LoadAsk) -> Result<Loading, GraphError> {
    house.engine.begin_load(&house.graph, ask, owner()).await
}

fn kept<T: Send + 'static>(_: &T) {}

#[tokio::test]
async fn wherever_it_is_cut_it_is_the_same_commit() {
    let mut commits = Vec::new();
    for size in [1, 7, 64, DATA.len()] {
        let house = House::new().await;
        let mut loading = begin(&house, ask("main")).await.unwrap();
        kept(&loading);
        for chunk in DATA.as_bytes().chunks(size) {
            loading.push(chunk).await.unwrap();
        }
        assert_eq!(loading.lines(), 2, "the last line has no end yet");
        let prepared = loading.finish().await.unwrap();
        assert!(house.people("main").await.is_empty(), "nothing before it is made durable");
        commits.push(house.made(prepared).unwrap().commit);
        assert_eq!(house.people("main").await, "ada 36, bob null");
        assert_eq!(house.knows("main").await, "ada bob");
    }
    commits.dedup();
    assert_eq!(commits.len(), 1);
}

#[tokio::test]
async fn a_branch_is_nobodys_while_lines_come() {
    let house = House::new().await;
    let mut loading = begin(&house, ask("main")).await.unwrap();
    loading.push(DATA.as_bytes()).await.unwrap();
    // Another goes first, and what it wrote is seen.
    house.mutate("main", &add("eve", 1)).await.unwrap();
    house.mutate("main", &add("ada", 99)).await.unwrap();
    let done = house.made(loading.finish().await.unwrap()).unwrap();
    assert_eq!((done.counts.nodes_inserted, done.counts.nodes_updated), (1, 1));
    assert_eq!(house.people("main").await, "ada 36, bob null, eve 1");
    // One that is let go was never there.
    let mut dropped = begin(&house, ask("main")).await.unwrap();
    dropped.push(b"{\"type\":\"Company\",\"data\":{\"slug\":\"x\"}}\n").await.unwrap();
    drop(dropped);
    house.mutate("main", &add("zoe", 1)).await.unwrap();
}

#[tokio::test]
async fn what_moved_meanwhile_is_said() {
    let house = House::new().await;
    let head = house.mutate("main", &add("eve", 1)).await.unwrap().commit;
    let expecting = LoadAsk { expected: head, ..ask("main") };
    let loading = begin(&house, expecting.clone()).await.unwrap();
    house.mutate("main", &add("zoe", 1)).await.unwrap();
    assert!(matches!(loading.finish().await, Err(GraphError::HeadMoved { .. })));
    assert!(matches!(begin(&house, expecting).await, Err(GraphError::HeadMoved { .. })));
    // Lines that were read under another schema are not written under this one.
    let mut loading = begin(&house, ask("main")).await.unwrap();
    loading.push(DATA.as_bytes()).await.unwrap();
    house
        .schema("main", &SCHEMA.replace("name: String @index", "name: String"), false)
        .await
        .unwrap();
    assert!(matches!(loading.finish().await, Err(GraphError::HeadMoved { .. })));
    assert_eq!(house.people("main").await, "eve 1, zoe 1");
    let from = LoadAsk { from: Some(narthex_store::At::Branch(branch("main"))), ..ask("main") };
    assert!(matches!(begin(&house, from).await, Err(GraphError::BranchExists(_))));
    assert!(matches!(begin(&house, ask("nowhere")).await, Err(GraphError::NoBranch { .. })));
}
