//! What the model itself promises.

use narthex_core::{Actor, CommitId, Digest, GraphId, SpaceId, Taint, Timestamp};
use narthex_store::{
    At, Commit, CommitKind, GraphCommit, GraphInfo, GraphView, GraphWrite, IndexBuild, IndexRange,
    Layer, LineNo, NewLine, Refused, RowNo, RowWrite, Side, StoreError, Tag, TextEntry,
};
use serde_json::{Value as Json, json};

use super::{MemoryGraph, MemoryView};

const TYPE: Tag = Tag(1);
const EDGE: Tag = Tag(2);
const INDEX: Tag = Tag(10);

#[test]
fn a_branch_sees_what_was_there_at_its_fork_and_what_it_made_of_it() {
    let mut graph = graph();
    commit(&mut graph, "main", vec![put(1, "a"), put(2, "b"), put(3, "c")]).unwrap();
    fork(&mut graph, "main", "side").unwrap();
    let before = view(&graph, "side");
    commit(&mut graph, "side", vec![put(1, "side"), gone(2), put(4, "d")]).unwrap();
    commit(&mut graph, "main", vec![put(3, "later"), put(5, "e"), put(2, "again")]).unwrap();
    assert_eq!(all(&mut view(&graph, "side")), [(1, "side"), (3, "c"), (4, "d")].map(owned));
    assert_eq!(
        all(&mut view(&graph, "main")),
        [(1, "a"), (2, "again"), (3, "later"), (5, "e")].map(owned)
    );
    // A view shows one moment, whatever comes after it.
    assert_eq!(all(&mut before.clone()), [(1, "a"), (2, "b"), (3, "c")].map(owned));
    // A branch of the branch, made where that stood.
    fork(&mut graph, "side", "deep").unwrap();
    commit(&mut graph, "side", vec![gone(1)]).unwrap();
    assert_eq!(all(&mut view(&graph, "deep")), [(1, "side"), (3, "c"), (4, "d")].map(owned));
    // As it was after a commit, and at a time.
    let first = graph.log(&"main".parse().unwrap(), None, 9).unwrap()[1].clone();
    let mut then = graph.view(&At::Commit(first.id)).unwrap();
    assert_eq!(all(&mut then), [(1, "a"), (2, "b"), (3, "c")].map(owned));
    let mut then = graph.view(&At::Time("side".parse().unwrap(), first.at)).unwrap();
    assert_eq!(all(&mut then), [(1, "a"), (2, "b"), (3, "c")].map(owned));
    let never = Timestamp::from_millis(-1);
    assert!(graph.view(&At::Time("main".parse().unwrap(), never)).is_none());
    assert!(graph.view(&At::Branch("nowhere".parse().unwrap())).is_none());
}

#[test]
fn a_change_is_made_onto_its_head_or_not_at_all() {
    let mut graph = graph();
    let stale = made(&graph, "main", vec![put(1, "a")]);
    commit(&mut graph, "main", vec![put(1, "b")]).unwrap();
    assert!(matches!(
        graph.apply(GraphWrite::Commit(stale)),
        Err(StoreError::Refused(Refused::HeadMoved { head: 2 }))
    ));
    let twice = made(&graph, "main", vec![put(2, "x"), put(2, "y")]);
    assert!(graph.apply(GraphWrite::Commit(twice)).is_err());
    let mut unindexed = made(&graph, "main", vec![put(1, "x")]);
    let never = vec![(INDEX, json!("never"))];
    unindexed.rows = vec![RowWrite { unindex: never, ..put(1, "x") }].into();
    assert!(graph.apply(GraphWrite::Commit(unindexed)).is_err());
    assert_eq!(all(&mut view(&graph, "main")), [(1, "b")].map(owned));
    fork(&mut graph, "main", "side").unwrap();
    assert!(matches!(
        fork(&mut graph, "main", "side"),
        Err(StoreError::Refused(Refused::BranchExists))
    ));
    let drop = |line, head| GraphWrite::DropBranch { graph: id(), line: LineNo(line), head };
    assert!(matches!(graph.apply(drop(1, 2)), Err(StoreError::Refused(Refused::RootBranch))));
    graph.apply(drop(2, 0)).unwrap();
    assert!(matches!(graph.apply(drop(2, 0)), Err(StoreError::Refused(Refused::NoSuchBranch))));
    // Its name is free again.
    fork(&mut graph, "main", "side").unwrap();
}

#[test]
fn a_commit_can_make_its_own_line() {
    let mut graph = graph();
    commit(&mut graph, "main", vec![put(1, "a")]).unwrap();
    let mut write = made(&graph, "main", vec![put(2, "b")]);
    write.new_line = Some(new_line("side", (LineNo(1), 2)));
    write.head = 0;
    write.commit.seq = 1;
    write.commit.line = LineNo(0);
    write.commit.seen = [(LineNo(1), 2), (LineNo(0), 1)].into();
    let done = graph.apply(GraphWrite::Commit(write)).unwrap();
    assert_eq!((done.line, done.seq), (LineNo(2), 1));
    let mut side = view(&graph, "side");
    assert_eq!(all(&mut side), [(1, "a"), (2, "b")].map(owned));
    assert_eq!(side.placed().commit.seen, [(LineNo(1), 2), (LineNo(2), 1)].into());
    assert_eq!(now(side.seen(&[(LineNo(2), 1)])).unwrap(), [side.placed().commit.seen.clone()]);
}

#[test]
fn an_index_shows_what_is_in_sight() {
    let mut graph = graph();
    commit(&mut graph, "main", vec![of(1, 10), of(2, 20), of(3, 30)]).unwrap();
    fork(&mut graph, "main", "side").unwrap();
    let mut changed = of(2, 25);
    changed.unindex = Vec::new();
    commit(&mut graph, "side", vec![changed, gone(3)]).unwrap();
    let between = |low: i64, high: i64| IndexRange::Between {
        low: Some((json!(low), true)),
        high: Some((json!(high), false)),
    };
    for (branch, range, expected) in [
        ("main", IndexRange::Any(vec![json!(20), json!(10)]), vec![1, 2]),
        ("main", between(10, 30), vec![1, 2]),
        ("main", between(11, 31), vec![2, 3]),
        ("side", IndexRange::Any(vec![json!(20)]), vec![]),
        ("side", IndexRange::Any(vec![json!(25)]), vec![2]),
        ("side", between(0, 99), vec![1, 2]),
        ("side", IndexRange::Prefix("2".to_owned()), vec![]),
        ("side", IndexRange::Any(vec![]), vec![]),
    ] {
        let mut found = now(view(&graph, branch).index(INDEX, &range, 99)).unwrap().unwrap();
        found.sort();
        let expected: Vec<RowNo> = expected.into_iter().map(RowNo).collect();
        assert_eq!(found, expected, "{branch} {range:?}");
    }
}

#[test]
fn an_index_that_does_not_have_all_is_none() {
    let late = Tag(11);
    let build = |entries: Vec<(i64, i64)>| IndexBuild {
        index: late,
        of: TYPE,
        entries: entries.into_iter().map(|(row, value)| (RowNo(row), json!(value))).collect(),
        texts: Vec::new(),
    };
    let mut graph = graph();
    commit(&mut graph, "main", vec![put(1, "a"), put(2, "b")]).unwrap();
    fork(&mut graph, "main", "side").unwrap();
    let mut write = made(&graph, "main", vec![]);
    write.builds = vec![build(vec![(1, 10), (2, 20)])];
    graph.apply(GraphWrite::Commit(write)).unwrap();
    fork(&mut graph, "main", "after").unwrap();
    let all = IndexRange::Any(vec![json!(10), json!(20)]);
    let ask =
        |graph: &MemoryGraph, branch: &str| now(view(graph, branch).index(late, &all, 99)).unwrap();
    assert_eq!(ask(&graph, "main").unwrap().len(), 2);
    assert_eq!(ask(&graph, "after").unwrap().len(), 2);
    // What lies under the side was put there before the index was.
    assert_eq!(ask(&graph, "side"), None);
    let mut write = made(&graph, "side", vec![]);
    write.builds = vec![build(vec![])];
    graph.apply(GraphWrite::Commit(write)).unwrap();
    assert_eq!(ask(&graph, "side"), None);
}

#[test]
fn words_are_found() {
    let mut graph = graph();
    let text = |row: i64, words: &str| RowWrite {
        texts: vec![TextEntry { index: INDEX, words: words.to_owned() }],
        ..put(row, words)
    };
    let rows = vec![text(1, "tea and cake"), text(2, "tea"), text(3, "cake"), text(4, "teapot")];
    commit(&mut graph, "main", rows).unwrap();
    let ask = |words: &[&str], prefix: bool| -> Vec<i64> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = now(view(&graph, "main").search(INDEX, &words, prefix, 99)).unwrap().unwrap();
        found.into_iter().map(|row| row.0).collect()
    };
    assert_eq!(ask(&["tea"], false), [1, 2]);
    assert_eq!(ask(&["cake", "tea"], false), [1]);
    assert_eq!(ask(&["tea"], true).len(), 3);
    assert!(ask(&["milk"], false).is_empty());
    assert!(ask(&[], false).is_empty());
}

#[test]
fn what_was_written_is_told_line_by_line() {
    let mut graph = graph();
    commit(&mut graph, "main", vec![put(1, "a"), put(2, "b")]).unwrap();
    fork(&mut graph, "main", "side").unwrap();
    commit(&mut graph, "side", vec![gone(1)]).unwrap();
    commit(&mut graph, "main", vec![put(2, "c"), put(3, "d")]).unwrap();
    let mut view = view(&graph, "side");
    let touched = now(view.touched(&[(LineNo(1), 2, 3), (LineNo(2), 0, 1)])).unwrap();
    assert_eq!(touched, [1, 2, 3].map(|row| (TYPE, RowNo(row))));
    let layers = [Layer { line: LineNo(1), upto: 2 }, Layer { line: LineNo(2), upto: 9 }];
    let writes = now(view.writes(&layers, &touched)).unwrap();
    let told: Vec<(i64, i64, Option<&str>)> =
        writes.iter().map(|row| (row.line.0, row.row.0, row.body.as_deref())).collect();
    assert_eq!(told, [(1, 1, Some("a")), (1, 2, Some("b")), (2, 1, None)]);
}

#[test]
fn edges_are_found_from_both_ends() {
    let mut graph = graph();
    let edge = |row: i64, from: i64, to: i64| RowWrite {
        tag: EDGE,
        ends: Some((RowNo(from), RowNo(to))),
        ..put(row, "{}")
    };
    commit(&mut graph, "main", vec![edge(7, 1, 2), edge(8, 2, 3), edge(9, 2, 2)]).unwrap();
    fork(&mut graph, "main", "side").unwrap();
    commit(&mut graph, "side", vec![RowWrite { tag: EDGE, ..gone(8) }]).unwrap();
    for (branch, side, of, expected) in [
        ("main", Side::From, 2, vec![8, 9]),
        ("main", Side::To, 2, vec![7, 9]),
        ("side", Side::From, 2, vec![9]),
        ("main", Side::From, 3, vec![]),
    ] {
        for bodies in [false, true] {
            let found = now(view(&graph, branch).edges(EDGE, side, &[RowNo(of)], bodies)).unwrap();
            assert!(
                found.iter().all(|row| row.body.as_deref() == Some(if bodies { "{}" } else { "" }))
            );
            let found: Vec<i64> = found.iter().map(|row| row.row.0).collect();
            assert_eq!(found, expected, "{branch} {side:?} {of}");
        }
    }
    let page = now(view(&graph, "main").scan_edges(EDGE, Some(RowNo(7)), 1)).unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!((page[0].row, page[0].ends), (RowNo(8), Some((RowNo(2), RowNo(3)))));
}

fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn all(view: &mut MemoryView) -> Vec<(i64, String)> {
    let rows = now(view.scan(TYPE, None, 99)).unwrap();
    rows.into_iter().map(|row| (row.row.0, row.body.unwrap())).collect()
}

fn owned((row, body): (i64, &str)) -> (i64, String) {
    (row, body.to_owned())
}

fn put(row: i64, body: &str) -> RowWrite {
    RowWrite {
        tag: TYPE,
        row: RowNo(row),
        ends: None,
        body: Some(body.to_owned()),
        unindex: Vec::new(),
        index: Vec::new(),
        texts: Vec::new(),
    }
}

fn of(row: i64, value: i64) -> RowWrite {
    RowWrite { index: vec![(INDEX, Json::from(value))], ..put(row, "x") }
}

fn gone(row: i64) -> RowWrite {
    RowWrite { body: None, ..put(row, "") }
}

fn id() -> GraphId {
    GraphId::from_bytes(&[1; 16]).unwrap()
}

fn graph() -> MemoryGraph {
    let info = GraphInfo {
        id: id(),
        slug: "g".parse().unwrap(),
        space: SpaceId::from_bytes(&[2; 16]).unwrap(),
        salt: [0; 16],
        created: Timestamp::from_millis(0),
    };
    MemoryGraph::found(info, bare(0, LineNo(1), 1), "schema".to_owned()).unwrap()
}

fn bare(number: usize, line: LineNo, seq: u64) -> Commit {
    Commit {
        id: CommitId::of(Digest::of(&number.to_be_bytes())),
        line,
        seq,
        parents: Vec::new(),
        seen: [(line, seq)].into(),
        schema: Digest::of(b"schema"),
        kind: CommitKind::Mutate,
        actor: Actor::Owner,
        taint: Taint::CLEAN,
        message: String::new(),
        at: Timestamp::from_millis(i64::try_from(number).unwrap()),
        rows: 0,
    }
}

fn view(graph: &MemoryGraph, branch: &str) -> MemoryView {
    graph.view(&At::Branch(branch.parse().unwrap())).unwrap()
}

fn made(graph: &MemoryGraph, branch: &str, rows: Vec<RowWrite>) -> GraphCommit {
    let view = view(graph, branch);
    let placed = view.placed();
    let commit = bare(graph.commits().count(), placed.line, placed.head + 1);
    GraphCommit {
        graph: id(),
        new_line: None,
        head: placed.head,
        commit: Commit { parents: vec![placed.commit.id], ..commit },
        schema: None,
        rows: rows.into(),
        builds: Vec::new(),
    }
}

fn commit(graph: &mut MemoryGraph, branch: &str, rows: Vec<RowWrite>) -> Result<(), StoreError> {
    let write = made(graph, branch, rows);
    graph.apply(GraphWrite::Commit(write)).map(|_| ())
}

fn new_line(name: &str, from: (LineNo, u64)) -> NewLine {
    NewLine {
        graph: id(),
        name: name.parse().unwrap(),
        from,
        owner: None,
        protected: false,
        created: Timestamp::from_millis(0),
    }
}

fn fork(graph: &mut MemoryGraph, from: &str, name: &str) -> Result<(), StoreError> {
    let at = view(graph, from).placed().clone();
    let own = at.layers[0];
    graph.apply(GraphWrite::Branch(new_line(name, (own.line, own.upto)))).map(|_| ())
}
