//! Graphs: founded, branched, committed to, taken away.

use narthex_core::{CommitId, Digest, GraphId};
use serde_json::json;

use super::Backend;
use super::house::{at, refusal, slug};
use super::net::{
    EDGE, NODE, Net, bodies, edge, edges, first_commit, fresh_id, gone, indexed, info, named,
    new_line, node,
};
use crate::{
    At, GraphCommit, GraphWrite, IndexRange, Layer, LineNo, Refused, RowNo, Side, fresh_uuid,
};

pub async fn a_graph_reads_back_as_founded(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let store = &net.house.store;
    let graph = info(net.house.b, "second");
    let commit = first_commit();
    let (expected, id) = (graph.clone(), commit.id);
    let write = GraphWrite::Found { graph, commit, schema: "schema".to_owned() };
    let done = net.write(write).await.unwrap();
    assert_eq!((done.seq, done.commit), (1, Some(id)));
    assert_eq!(store.graph(&slug("second")).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.graph(&slug("third")).await.unwrap(), None);
    let there = store.graphs(Some(net.house.b)).await.unwrap();
    assert_eq!(there, std::slice::from_ref(&expected));
    let all = store.graphs(None).await.unwrap();
    assert_eq!(all.iter().map(|graph| graph.slug.as_str()).collect::<Vec<_>>(), ["net", "second"]);

    let main = store.branch(expected.id, &named("main")).await.unwrap().unwrap();
    assert_eq!((main.line, main.head, main.commit, main.fork), (done.line, 1, id, None));
    assert!(main.protected && main.owner.is_none());
    let commit = store.graph_commit(expected.id, id).await.unwrap().unwrap();
    assert_eq!((commit.line, commit.seq), (done.line, 1));
    assert_eq!(commit.seen, [(done.line, 1)].into());
    assert!(commit.taint.private && !commit.taint.untrusted);
    let text = store.graph_schema(expected.id, Digest::of(b"schema")).await.unwrap();
    assert_eq!(text.as_deref(), Some("schema"));
    assert_eq!(store.graph_schema(expected.id, Digest::of(b"other")).await.unwrap(), None);
}

pub async fn a_taken_name_is_refused(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let found = |graph| GraphWrite::Found { graph, commit: first_commit(), schema: String::new() };
    let twice = net.write(found(info(net.house.b, "net"))).await;
    assert_eq!(refusal(twice), Refused::GraphExists);
    let nowhere = info(narthex_core::SpaceId::from_uuid(fresh_uuid()), "other");
    assert_eq!(refusal(net.write(found(nowhere)).await), Refused::NotFound("space"));
    let twice = GraphWrite::Branch(new_line(net.graph, "main", (net.main, 1)));
    assert_eq!(refusal(net.write(twice).await), Refused::BranchExists);
}

pub async fn a_commit_reads_back_with_its_rows(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let next = net.next("main", vec![node(2, "two"), node(-1, "minus one")]).await;
    let expected = next.commit.clone();
    net.write(GraphWrite::Commit(next)).await.unwrap();
    assert_eq!(net.commit_of(expected.id).await, expected);
    assert_eq!(net.branch("main").await.commit, expected.id);
    let both = [(-1, "minus one".to_owned()), (2, "two".to_owned())];
    assert_eq!(net.bodies("main", &[-1, 2, 3]).await, both);
    let mut view = net.on("main").await;
    assert_eq!(view.placed().commit, expected);
    assert_eq!(view.placed().layers, [Layer { line: net.main, upto: 2 }]);
    let row = view.rows(NODE, &[RowNo(2)]).await.unwrap().remove(0);
    assert_eq!((row.tag, row.line, row.seq, row.ends), (NODE, net.main, 2, None));
    assert!(view.rows(EDGE, &[RowNo(2)]).await.unwrap().is_empty(), "of another type");
}

pub async fn a_commit_needs_the_head_it_was_made_for(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let (one, other) =
        (net.next("main", vec![node(1, "a")]).await, net.next("main", vec![node(1, "b")]).await);
    net.write(GraphWrite::Commit(one)).await.unwrap();
    let late = net.write(GraphWrite::Commit(other)).await;
    assert_eq!(refusal(late), Refused::HeadMoved { head: 2 });
    assert_eq!(net.bodies("main", &[1]).await, [(1, "a".to_owned())]);

    let good = net.next("main", vec![]).await;
    let mut parents = good.clone();
    parents.commit.parents = vec![fresh_id()];
    let mut number = good.clone();
    number.commit.seq += 1;
    let mut seen = good.clone();
    seen.commit.seen.remove(&net.main);
    let mut schema = good.clone();
    schema.commit.schema = Digest::of(b"never heard of");
    let mut twice = good.clone();
    twice.rows = vec![node(1, "a"), node(2, "b"), node(1, "c")].into();
    for bad in [parents, number, seen, schema, twice] {
        let refused = refusal(net.write(GraphWrite::Commit(bad)).await);
        assert!(matches!(refused, Refused::UnfitCommit(_)), "{refused}");
    }
    let elsewhere = GraphCommit { graph: GraphId::from_uuid(fresh_uuid()), ..good.clone() };
    let refused = refusal(net.write(GraphWrite::Commit(elsewhere)).await);
    assert_eq!(refused, Refused::NotFound("graph"));
    net.write(GraphWrite::Commit(good)).await.unwrap();
}

pub async fn a_branch_sees_its_parent_as_it_was(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![node(1, "a"), node(2, "b"), node(3, "c")]).await;
    net.fork("side", "main").await;
    assert_eq!(net.branch("side").await.head, 0);
    assert_eq!(net.branch("side").await.commit, net.branch("main").await.commit);
    net.commit("main", vec![node(1, "a of main"), gone(node(2, "")), node(4, "d")]).await;
    let before = [(1, "a".to_owned()), (2, "b".to_owned()), (3, "c".to_owned())];
    assert_eq!(net.bodies("side", &[1, 2, 3, 4]).await, before);

    net.commit("side", vec![gone(node(3, "")), node(2, "b of side"), node(5, "e")]).await;
    let side = [(1, "a".to_owned()), (2, "b of side".to_owned()), (5, "e".to_owned())];
    assert_eq!(net.bodies("side", &[1, 2, 3, 4, 5]).await, side);
    let main = [(1, "a of main".to_owned()), (3, "c".to_owned()), (4, "d".to_owned())];
    assert_eq!(net.bodies("main", &[1, 2, 3, 4, 5]).await, main);

    // A branch of the branch, forked before the branch's own first commit and after it.
    let from = net.branch("side").await.line;
    for (name, upto, expected) in [("early", 0, &before[..]), ("late", 1, &side[..])] {
        let line = new_line(net.graph, name, (from, upto));
        net.write(GraphWrite::Branch(line)).await.unwrap();
        assert_eq!(net.bodies(name, &[1, 2, 3, 4, 5]).await, expected, "{name}");
    }
}

pub async fn a_commit_can_make_its_branch(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![node(1, "a")]).await;
    let mut next = net.next("main", vec![node(1, "b")]).await;
    let from = (net.main, next.head);
    next.head = 0;
    next.commit.line = LineNo(0);
    next.commit.seq = 1;
    next.commit.seen = [(net.main, 2), (LineNo(0), 1)].into();
    let mut line = new_line(net.graph, "agents/scout/1", from);
    line.owner = Some(net.house.agent.id);
    next.new_line = Some(line);
    let done = net.write(GraphWrite::Commit(next.clone())).await.unwrap();
    let branch = net.branch("agents/scout/1").await;
    assert_eq!((branch.line, branch.head, branch.owner), (done.line, 1, Some(net.house.agent.id)));
    let seen = net.commit_of(branch.commit).await.seen;
    assert_eq!(seen, [(net.main, 2), (done.line, 1)].into());
    assert_eq!(net.bodies("agents/scout/1", &[1]).await, [(1, "b".to_owned())]);
    assert_eq!(net.bodies("main", &[1]).await, [(1, "a".to_owned())]);

    let again = net.write(GraphWrite::Commit(next.clone())).await;
    assert_eq!(refusal(again), Refused::BranchExists);
    next.head = 1;
    next.new_line.as_mut().unwrap().name = named("other");
    let refused = refusal(net.write(GraphWrite::Commit(next)).await);
    assert!(matches!(refused, Refused::UnfitCommit(_)), "{refused}");
    let list = net.house.store.branches(net.graph).await.unwrap();
    let names: Vec<_> = list.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!(names, ["agents/scout/1", "main"], "what was refused made nothing");
}

pub async fn a_view_is_of_one_moment(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![node(1, "a"), edge(9, 1, 1)]).await;
    let mut view = net.on("main").await;
    net.commit("main", vec![node(1, "b"), node(2, "c"), gone(edge(9, 1, 1))]).await;
    assert_eq!(bodies(&mut *view, &[1, 2]).await, [(1, "a".to_owned())]);
    assert_eq!(edges(&mut *view, Side::From, &[1]).await, [9]);
    assert_eq!(view.placed().head, 2);
    drop(view);
    assert_eq!(net.bodies("main", &[1, 2]).await, [(1, "b".to_owned()), (2, "c".to_owned())]);
    // Views that are dropped give back what they held.
    for _ in 0..200 {
        drop(net.on("main").await);
    }
}

pub async fn a_look_back_at_a_commit_and_a_time(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mut commits: Vec<CommitId> = Vec::new();
    for body in ["a", "b", "c"] {
        commits.push(net.commit("main", vec![node(1, body)]).await);
    }
    net.fork("side", "main").await;
    let on_side = net.commit("side", vec![node(1, "d")]).await;
    net.commit("main", vec![gone(node(1, ""))]).await;
    let expect = async |at: At, expected: Option<&str>| {
        let mut view = net.look(&at).await.expect("a view");
        let found = bodies(&mut *view, &[1]).await;
        assert_eq!(found.first().map(|(_, body)| body.as_str()), expected, "{at:?}");
    };
    for (commit, body) in commits.iter().zip(["a", "b", "c"]) {
        expect(At::Commit(*commit), Some(body)).await;
    }
    expect(At::Commit(on_side), Some("d")).await;
    // Each commit came ten after the one it was made on; the first at 1000.
    for (branch, time, body) in [
        ("main", 1_005, None),
        ("main", 1_010, Some("a")),
        ("main", 1_029, Some("b")),
        ("main", 1_030, Some("c")),
        ("main", 1_040, None),
        ("side", 1_020, Some("b")),
        ("side", 1_035, Some("c")),
        ("side", 9_999, Some("d")),
    ] {
        expect(At::Time(named(branch), at(time)), body).await;
    }
    assert!(net.look(&At::Time(named("main"), at(999))).await.is_none());
    assert!(net.look(&At::Commit(fresh_id())).await.is_none());
    assert!(net.look(&At::Branch(named("nowhere"))).await.is_none());
}

pub async fn a_clock_that_was_set_back_takes_nothing_back(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    for (body, made) in [("a", 1_010), ("b", 1_050), ("c", 1_020)] {
        let mut next = net.next("main", vec![node(1, body)]).await;
        next.commit.at = at(made);
        net.write(GraphWrite::Commit(next)).await.unwrap();
    }
    for (time, body) in [(1_010, "a"), (1_019, "a"), (1_020, "c"), (1_049, "c"), (1_050, "c")] {
        let mut view = net.look(&At::Time(named("main"), at(time))).await.expect("a view");
        assert_eq!(bodies(&mut *view, &[1]).await, [(1, body.to_owned())], "{time}");
    }
}

pub async fn commits_are_listed_newest_first(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mut expected = vec![net.branch("main").await.commit];
    for n in 0..3 {
        expected.push(net.commit("main", vec![node(n, "x")]).await);
    }
    net.fork("side", "main").await;
    for n in 0..3 {
        expected.push(net.commit("side", vec![node(n, "y")]).await);
    }
    net.commit("main", vec![node(1, "z")]).await;
    expected.reverse();
    let list = async |before, limit| {
        let side = named("side");
        let commits = net.house.store.graph_commits(net.graph, &side, before, limit).await.unwrap();
        commits.into_iter().map(|commit| commit.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, 100).await, expected);
    assert_eq!(list(None, 4).await, expected[..4]);
    assert_eq!(list(Some(expected[1]), 3).await, expected[2..5]);
    assert_eq!(list(Some(expected[6]), 3).await, []);
    let main = net.branch("main").await.commit;
    let strange = net.house.store.graph_commits(net.graph, &named("side"), Some(main), 3).await;
    assert_eq!(refusal(strange), Refused::NotFound("commit"));
}

pub async fn a_dropped_branch_frees_its_name_and_keeps_its_rows(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.fork("side", "main").await;
    let commit = net.commit("side", vec![node(1, "a")]).await;
    net.fork("child", "side").await;
    let side = net.branch("side").await;
    let drop_it = |head| GraphWrite::DropBranch { graph: net.graph, line: side.line, head };
    assert_eq!(refusal(net.write(drop_it(0)).await), Refused::HeadMoved { head: 1 });
    net.write(drop_it(1)).await.unwrap();
    assert_eq!(refusal(net.write(drop_it(1)).await), Refused::NoSuchBranch);
    // Whose commits they were is known all the same.
    let was = net.house.store.branch_of(net.graph, side.line).await.unwrap();
    assert_eq!(was.as_ref(), Some(&side));
    assert!(net.look(&At::Branch(named("side"))).await.is_none());
    assert_eq!(net.bodies("child", &[1]).await, [(1, "a".to_owned())]);
    let mut view = net.look(&At::Commit(commit)).await.unwrap();
    assert_eq!(bodies(&mut *view, &[1]).await, [(1, "a".to_owned())]);
    drop(view);

    let again = net.fork("side", "main").await;
    assert_ne!(again, side.line);
    let store = &net.house.store;
    assert_eq!(store.branch_of(net.graph, side.line).await.unwrap(), was);
    let now = Some(net.branch("side").await);
    assert_eq!(store.branch_of(net.graph, again).await.unwrap(), now);
    let elsewhere = GraphId::from_uuid(fresh_uuid());
    assert_eq!(store.branch_of(elsewhere, again).await.unwrap(), None);
    assert!(net.bodies("side", &[1]).await.is_empty());
    let mut late = net.next("side", vec![node(2, "b")]).await;
    late.commit.line = side.line;
    late.head = 1;
    assert_eq!(refusal(net.write(GraphWrite::Commit(late)).await), Refused::NoSuchBranch);
    let main = net.branch("main").await;
    let root = GraphWrite::DropBranch { graph: net.graph, line: main.line, head: main.head };
    assert_eq!(refusal(net.write(root).await), Refused::RootBranch);
}

pub async fn protection_is_kept(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let line = net.fork("side", "main").await;
    for protected in [true, false, true] {
        let protect = GraphWrite::Protect { graph: net.graph, line, protected };
        net.write(protect).await.unwrap();
        assert_eq!(net.branch("side").await.protected, protected);
    }
    net.commit("side", vec![node(1, "a")]).await;
    assert!(net.branch("side").await.protected);
}

pub async fn branches_of_branches_end_somewhere(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mut last = "main".to_owned();
    let mut refused = None;
    for n in 0..20 {
        net.commit(&last, vec![node(n, "x")]).await;
        let from = net.branch(&last).await;
        let name = format!("b{n}");
        let line = new_line(net.graph, &name, (from.line, from.head));
        match net.write(GraphWrite::Branch(line)).await {
            Ok(_) => last = name,
            other => {
                refused = Some((n, refusal(other)));
                break;
            }
        }
    }
    let (n, refused) = refused.expect("it ends");
    assert!(n >= 10, "{n}");
    assert!(matches!(refused, Refused::TooDeep { .. }), "{refused}");
    let all: Vec<i64> = (0..20).collect();
    assert_eq!(net.bodies(&last, &all).await.len(), usize::try_from(n).unwrap() + 1);
    // Branches without commits of their own lie no deeper than what they were forked from.
    for n in 0..30 {
        let from = if n == 0 { "main".to_owned() } else { format!("flat{}", n - 1) };
        net.fork(&format!("flat{n}"), &from).await;
    }
}

pub async fn what_lines_wrote_and_had_seen(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![node(1, "a"), node(2, "b")]).await;
    let side = net.fork("side", "main").await;
    net.commit("side", vec![node(2, "c"), edge(7, 1, 2)]).await;
    net.commit("side", vec![gone(node(2, ""))]).await;
    net.commit("main", vec![node(3, "d")]).await;
    let mut view = net.on("side").await;
    let touched = view.touched(&[(side, 0, 2), (net.main, 2, 3)]).await.unwrap();
    assert_eq!(touched, [(EDGE, RowNo(7)), (NODE, RowNo(2)), (NODE, RowNo(3))]);
    assert_eq!(view.touched(&[(side, 1, 2)]).await.unwrap(), [(NODE, RowNo(2))]);
    assert!(view.touched(&[(net.main, 3, 3)]).await.unwrap().is_empty());

    let rows: Vec<_> = [1, 2, 3].into_iter().map(|row| (NODE, RowNo(row))).collect();
    let at = |line, upto| Layer { line, upto };
    for (layer, expected) in [
        (at(net.main, 1), &[][..]),
        (at(net.main, 2), &[(1, 2, Some("a")), (2, 2, Some("b"))]),
        (at(net.main, 3), &[(1, 2, Some("a")), (2, 2, Some("b")), (3, 3, Some("d"))]),
        (at(side, 0), &[]),
        (at(side, 1), &[(2, 1, Some("c"))]),
        (at(side, 2), &[(2, 2, None)]),
    ] {
        let mut writes = view.writes(&[layer], &rows).await.unwrap();
        writes.sort_by_key(|write| write.row);
        assert!(writes.iter().all(|write| write.line == layer.line));
        let found: Vec<_> =
            writes.iter().map(|row| (row.row.0, row.seq, row.body.as_deref())).collect();
        assert_eq!(found, expected, "{layer:?}");
    }
    let seen = view.seen(&[(side, 2), (net.main, 1), (side, 1)]).await.unwrap();
    assert_eq!(seen[0], [(net.main, 2), (side, 2)].into());
    assert_eq!(seen[1], [(net.main, 1)].into());
    assert_eq!(seen[2], [(net.main, 2), (side, 1)].into());
    assert_eq!(refusal(view.seen(&[(side, 9)]).await), Refused::NotFound("commit"));
    let schemas = view.schemas(&[(side, 2), (net.main, 1)]).await.unwrap();
    assert_eq!(schemas, [view.placed().commit.schema; 2]);
    assert_eq!(refusal(view.schemas(&[(side, 9)]).await), Refused::NotFound("commit"));
}

pub async fn nothing_of_another_graph_is_seen(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let mine = net.commit("main", vec![indexed(1, &json!("x"), "common"), edge(9, 1, 1)]).await;
    let Net { graph: other, main: line, .. } = net.beside("other").await;
    let store = &net.house.store;
    let rows = [(NODE, RowNo(1)), (EDGE, RowNo(9))];
    let mut view = store.view(other, &At::Branch(named("main"))).await.unwrap().unwrap();
    assert_eq!(view.placed().line, line);
    assert!(view.rows(NODE, &[RowNo(1)]).await.unwrap().is_empty());
    assert!(view.scan(NODE, None, 10).await.unwrap().is_empty());
    assert!(view.scan_edges(EDGE, None, 10).await.unwrap().is_empty());
    for side in [Side::From, Side::To] {
        assert!(edges(&mut *view, side, &[1]).await.is_empty());
    }
    let any = IndexRange::Any(vec![json!("x")]);
    let found = view.index(super::net::BY_VALUE, &any, 10).await.unwrap();
    assert_eq!(found, Some(Vec::new()));
    let words = ["common".to_owned()];
    let found = view.search(super::net::BY_TEXT, &words, false, 10).await.unwrap();
    assert_eq!(found, Some(Vec::new()));
    assert!(view.touched(&[(net.main, 0, 9)]).await.unwrap().is_empty());
    let layer = Layer { line: net.main, upto: 9 };
    assert!(view.writes(&[layer], &rows).await.unwrap().is_empty());
    assert_eq!(refusal(view.seen(&[(net.main, 1)]).await), Refused::NotFound("commit"));
    drop(view);
    assert!(store.view(other, &At::Commit(mine)).await.unwrap().is_none());
    assert!(store.graph_commit(other, mine).await.unwrap().is_none());

    // Nor can it be written to, or forked from.
    let mut strange = net.next("main", vec![node(1, "mine now")]).await;
    strange.graph = other;
    assert_eq!(refusal(net.write(GraphWrite::Commit(strange)).await), Refused::NoSuchBranch);
    let fork = GraphWrite::Branch(new_line(other, "side", (net.main, 1)));
    assert_eq!(refusal(net.write(fork).await), Refused::NotFound("commit"));
    let drop_it = GraphWrite::DropBranch { graph: other, line: net.main, head: 2 };
    assert_eq!(refusal(net.write(drop_it).await), Refused::NoSuchBranch);
    let protect = GraphWrite::Protect { graph: other, line: net.main, protected: false };
    assert_eq!(refusal(net.write(protect).await), Refused::NoSuchBranch);
}

pub async fn a_removed_graph_is_gone_and_others_are_not(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![indexed(1, &json!("x"), "word"), edge(9, 1, 1)]).await;
    net.fork("side", "main").await;
    net.commit("side", vec![indexed(1, &json!("y"), "other"), gone(edge(9, 1, 1))]).await;
    net.fork("child", "side").await;
    let Net { graph: other, .. } = net.beside("other").await;
    let mut held = net.on("side").await;
    net.write(GraphWrite::Remove { graph: other }).await.unwrap();
    assert_eq!(net.bodies("main", &[1]).await.len(), 1);
    net.write(GraphWrite::Remove { graph: net.graph }).await.unwrap();
    let again = net.write(GraphWrite::Remove { graph: net.graph }).await;
    assert_eq!(refusal(again), Refused::NotFound("graph"));
    assert!(net.look(&At::Branch(named("main"))).await.is_none());
    assert!(net.house.store.graphs(None).await.unwrap().is_empty());
    assert!(net.house.store.branches(net.graph).await.unwrap().is_empty());
    // A view from before still shows what it showed.
    assert_eq!(bodies(&mut *held, &[1]).await.len(), 1);
    drop(held);
    let found = net.beside("net").await;
    let at_main = At::Branch(named("main"));
    let mut view = net.house.store.view(found.graph, &at_main).await.unwrap().unwrap();
    assert!(view.scan(NODE, None, 10).await.unwrap().is_empty());
}

pub async fn graphs_outlive_a_restart(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![node(1, "a")]).await;
    net.fork("side", "main").await;
    let commit = net.commit("side", vec![node(1, "b")]).await;
    let Net { house, graph, .. } = net;
    drop(house);
    let store = backend.reopen().await;
    for (at_place, body) in [
        (At::Branch(named("main")), "a"),
        (At::Branch(named("side")), "b"),
        (At::Commit(commit), "b"),
    ] {
        let mut view = store.view(graph, &at_place).await.unwrap().unwrap();
        assert_eq!(bodies(&mut *view, &[1]).await, [(1, body.to_owned())]);
    }
}
