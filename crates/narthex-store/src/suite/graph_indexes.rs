//! Edges, indexes and texts of graphs, on branches whose parents have moved on.

use serde_json::{Value, json};

use super::Backend;
use super::net::{
    BY_TEXT, BY_VALUE, EDGE, NODE, Net, edge, edges, gone, indexed, instead, node, plain,
};
use crate::{GraphView, IndexBuild, IndexRange, RowNo, Side, Tag};

pub async fn edges_are_followed_from_both_sides(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let all = [edge(10, 1, 2), edge(11, 1, 3), edge(12, 2, 3), edge(13, 3, 3)];
    net.commit("main", all.to_vec()).await;
    net.fork("side", "main").await;
    net.commit("main", vec![gone(edge(10, 1, 2)), edge(11, 1, 3), edge(14, 1, 4)]).await;
    net.commit("side", vec![gone(edge(12, 2, 3)), edge(13, 3, 3), edge(15, 5, 3)]).await;
    for (branch, side, of, expected) in [
        ("main", Side::From, &[1][..], &[11, 14][..]),
        ("main", Side::To, &[2], &[]),
        ("main", Side::To, &[3, 3, 99], &[11, 12, 13]),
        ("main", Side::From, &[], &[]),
        ("side", Side::From, &[1], &[10, 11]),
        ("side", Side::To, &[2], &[10]),
        ("side", Side::To, &[3], &[11, 13, 15]),
        ("side", Side::From, &[2, 3, 5], &[13, 15]),
        ("side", Side::To, &[4], &[]),
    ] {
        let found = edges(&mut *net.on(branch).await, side, of).await;
        assert_eq!(found, expected, "{branch} {side:?} {of:?}");
    }
    let mut view = net.on("side").await;
    let two = view.scan_edges(EDGE, Some(RowNo(10)), 2).await.unwrap();
    let numbers: Vec<i64> = two.iter().map(|edge| edge.row.0).collect();
    assert_eq!(numbers, [11, 13]);
    assert_eq!(two[1].ends, Some((RowNo(3), RowNo(3))));
    assert!(view.scan_edges(Tag(77), None, 9).await.unwrap().is_empty());
}

pub async fn an_edge_that_comes_back_is_there_once(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    net.commit("main", vec![edge(10, 1, 2)]).await;
    net.fork("before", "main").await;
    // One that goes need not say its ends again.
    let mut silent = gone(edge(10, 1, 2));
    silent.ends = None;
    net.commit("main", vec![silent]).await;
    net.fork("between", "main").await;
    net.commit("main", vec![edge(10, 1, 2)]).await;
    for (branch, expected) in [("before", &[10][..]), ("between", &[]), ("main", &[10])] {
        for (side, of) in [(Side::From, 1), (Side::To, 2)] {
            let found = edges(&mut *net.on(branch).await, side, &[of]).await;
            assert_eq!(found, expected, "{branch} {side:?}");
        }
    }
}

pub async fn rows_are_scanned_in_order_and_in_steps(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let some = |from: i64, to: i64, body: &str| {
        (from..to).map(|row| node(row * 7 % 101 - 50, body)).collect::<Vec<_>>()
    };
    net.commit("main", some(0, 101, "old")).await;
    net.fork("side", "main").await;
    net.commit("main", some(0, 40, "new")).await;
    net.commit("main", some(30, 60, "newer").into_iter().map(gone).collect()).await;
    net.commit("side", some(50, 70, "own")).await;
    net.commit("side", some(65, 75, "gone").into_iter().map(gone).collect()).await;
    for (branch, count) in [("main", 71), ("side", 91)] {
        let mut view = net.on(branch).await;
        let all = view.scan(NODE, None, 1_000).await.unwrap();
        assert_eq!(all.len(), count, "{branch}");
        assert!(all.is_sorted_by_key(|row| row.row));
        let (mut after, mut steps) = (None, Vec::new());
        loop {
            let some = view.scan(NODE, after, 13).await.unwrap();
            assert!(some.len() <= 13);
            let Some(last) = some.last() else { break };
            after = Some(last.row);
            steps.extend(some);
        }
        assert_eq!(steps, all, "{branch}");
        let numbers: Vec<RowNo> = (-60..60).map(RowNo).collect();
        let by_number = view.rows(NODE, &numbers).await.unwrap();
        assert_eq!(plain(by_number), plain(all), "{branch}");
    }
    let mut view = net.on("main").await;
    assert!(view.scan(NODE, Some(RowNo(i64::MAX)), 9).await.unwrap().is_empty());
    assert!(view.scan(NODE, None, 0).await.unwrap().is_empty());
}

pub async fn values_are_found_in_ranges(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let big = json!(u64::MAX);
    let values = [
        json!("apple"),
        json!("apricot"),
        json!("banana"),
        json!(""),
        json!(-3),
        json!(2),
        json!(2.5),
        json!(u64::MAX - 1),
        big.clone(),
        json!(true),
        json!(["a", 1]),
    ];
    let rows = (0..).zip(&values).map(|(row, value)| indexed(row, value, "")).collect();
    net.commit("main", rows).await;
    let mut view = net.on("main").await;
    let low = |value: Value, inside| IndexRange::Between { low: Some((value, inside)), high: None };
    let high =
        |value: Value, inside| IndexRange::Between { low: None, high: Some((value, inside)) };
    let both = |low: Value, high: Value| IndexRange::Between {
        low: Some((low, true)),
        high: Some((high, true)),
    };
    let prefix = |text: &str| IndexRange::Prefix(text.to_owned());
    for (range, expected) in [
        (IndexRange::Any(vec![json!("apple")]), &[0][..]),
        (IndexRange::Any(vec![json!("apple"), json!("banana"), json!("apple")]), &[0, 2]),
        (IndexRange::Any(vec![json!(2.0)]), &[5]),
        (IndexRange::Any(vec![big]), &[8]),
        (IndexRange::Any(vec![json!(true), json!(["a", 1])]), &[9, 10]),
        (IndexRange::Any(vec![json!("2"), json!(false)]), &[]),
        (IndexRange::Any(vec![]), &[]),
        (low(json!(2), true), &[5, 6, 7, 8]),
        (low(json!(2), false), &[6, 7, 8]),
        (high(json!(2), true), &[4, 5]),
        (high(json!(2), false), &[4]),
        (low(json!("apple"), false), &[1, 2]),
        (high(json!("apple"), false), &[3]),
        (both(json!("apricot"), json!("banana")), &[1, 2]),
        (both(json!(5), json!("a")), &[]),
        (IndexRange::Between { low: None, high: None }, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (prefix("ap"), &[0, 1]),
        (prefix("apx"), &[]),
        (prefix(""), &[0, 1, 2, 3]),
    ] {
        assert_eq!(in_range(&mut *view, &range).await, expected, "{range:?}");
    }
    let all = IndexRange::Between { low: None, high: None };
    let some = view.index(BY_VALUE, &all, 4).await.unwrap().unwrap();
    assert_eq!(some.len(), 4);
}

pub async fn indexes_follow_every_change_on_every_branch(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let (x, y, z) = (json!("x"), json!("y"), json!("z"));
    let rows = vec![
        indexed(1, &x, "red ship"),
        indexed(2, &x, "red house"),
        indexed(3, &y, "green ship"),
        indexed(4, &y, "blue"),
    ];
    net.commit("main", rows).await;
    net.fork("side", "main").await;
    let change = vec![
        instead(indexed(1, &y, "green ship"), &x),
        gone(instead(indexed(2, &x, ""), &x)),
        instead(indexed(3, &y, "yellow ship"), &y),
        indexed(5, &x, "red ship"),
    ];
    net.commit("main", change).await;
    net.commit("side", vec![indexed(3, &z, "red boat"), gone(indexed(4, &y, ""))]).await;
    net.fork("child", "side").await;
    net.commit("side", vec![instead(indexed(3, &x, "boat"), &z)]).await;
    for (branch, value, expected) in [
        ("main", &x, &[5][..]),
        ("main", &y, &[1, 3, 4]),
        ("main", &z, &[]),
        ("side", &x, &[1, 2, 3]),
        ("side", &y, &[]),
        ("side", &z, &[]),
        ("child", &x, &[1, 2]),
        ("child", &y, &[]),
        ("child", &z, &[3]),
    ] {
        let mut view = net.on(branch).await;
        let any = IndexRange::Any(vec![value.clone()]);
        assert_eq!(in_range(&mut *view, &any).await, expected, "{branch} {value}");
        let text = value.as_str().unwrap().to_owned();
        let range = IndexRange::Between {
            low: Some((value.clone(), true)),
            high: Some((value.clone(), true)),
        };
        for range in [range, IndexRange::Prefix(text)] {
            assert_eq!(in_range(&mut *view, &range).await, expected, "{branch} {range:?}");
        }
    }
    for (branch, words, expected) in [
        ("main", &["ship"][..], &[1, 3, 5][..]),
        ("main", &["red"], &[5]),
        ("main", &["house"], &[]),
        ("main", &["ship", "green"], &[1]),
        ("side", &["red"], &[1, 2]),
        ("side", &["ship"], &[1]),
        ("side", &["boat"], &[3]),
        ("side", &["blue"], &[]),
        ("child", &["red"], &[1, 2, 3]),
        ("child", &["yellow"], &[]),
        ("child", &["green"], &[]),
    ] {
        assert_eq!(
            found(&mut *net.on(branch).await, words, false).await,
            expected,
            "{branch} {words:?}"
        );
    }
}

pub async fn words_are_parted_by_spaces_only(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let texts =
        ["c++ rust", "caf\u{e9} na\u{ef}ve", "cafe", "\u{4e2d}\u{6587} e-mail", "x \"y\" *"];
    let rows = (0..).zip(texts).map(|(row, text)| indexed(row, &json!(row), text)).collect();
    net.commit("main", rows).await;
    let mut view = net.on("main").await;
    for (words, prefix, expected) in [
        (&["c++"][..], false, &[0][..]),
        (&["c"], false, &[]),
        (&["c"], true, &[0, 1, 2]),
        (&["caf\u{e9}"], false, &[1]),
        (&["cafe"], false, &[2]),
        (&["\u{4e2d}\u{6587}"], false, &[3]),
        (&["\u{4e2d}"], true, &[3]),
        (&["e-mail"], false, &[3]),
        (&["\"y\""], false, &[4]),
        (&["*"], false, &[4]),
        (&["rust", "c++"], false, &[0]),
        (&["rust", "cafe"], false, &[]),
        (&["na", "ca"], true, &[1]),
        (&["NEAR(a b)"], false, &[]),
        (&["\u{0}", "\n"], false, &[]),
        (&[], false, &[]),
    ] {
        assert_eq!(found(&mut *view, words, prefix).await, expected, "{words:?}");
    }
    let many: Vec<String> = (0..1_000).map(|n| format!("w{n}")).collect();
    let nothing = view.search(BY_TEXT, &many, false, 10).await.unwrap().unwrap();
    assert!(nothing.is_empty());
}

pub async fn words_are_found_in_order_whatever_is_said_elsewhere(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let rows = vec![
        indexed(1, &json!(1), "zebra and many other words that are about something else"),
        indexed(2, &json!(2), "zebra zebra zebra"),
        indexed(3, &json!(3), "nothing of the kind"),
        indexed(4, &json!(4), "zebra"),
    ];
    net.commit("main", rows).await;
    let hits = async |limit: u32| {
        let words = ["zebra".to_owned()];
        let found = net.on("main").await.search(BY_TEXT, &words, false, limit).await;
        found.unwrap().unwrap().into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    assert_eq!(hits(10).await, [1, 2, 4]);
    let other = net.beside("other").await;
    let rows = (0..50).map(|row| indexed(row, &json!(row), "zebra crossing")).collect();
    other.commit("main", rows).await;
    net.fork("aside", "main").await;
    let rows = (1..50).map(|row| indexed(row, &json!(row), "zebra zebra zebra zebra")).collect();
    net.commit("aside", rows).await;
    net.commit("main", vec![indexed(3, &json!(3), "zebra for a while")]).await;
    net.commit("main", vec![indexed(3, &json!(3), "nothing of the kind")]).await;
    assert_eq!(hits(10).await, [1, 2, 4]);
    assert_eq!(hits(2).await, [1, 2]);
}

pub async fn an_index_counts_from_when_it_was_built(backend: &dyn Backend) {
    let net = Net::open(backend).await;
    let any = IndexRange::Any(vec![json!("x")]);
    let words = ["word".to_owned()];
    net.commit("main", vec![node(1, "a"), node(2, "b")]).await;
    net.fork("before", "main").await;
    let build = |rows: &[i64]| IndexBuild {
        index: BY_VALUE,
        of: NODE,
        entries: rows.iter().map(|row| (RowNo(*row), json!("x"))).collect(),
        texts: Vec::new(),
    };
    let texts = |rows: &[i64]| IndexBuild {
        index: BY_TEXT,
        of: NODE,
        entries: Vec::new(),
        texts: rows.iter().map(|row| (RowNo(*row), "word".to_owned())).collect(),
    };
    net.build("main", vec![indexed(3, &json!("x"), "word")], vec![build(&[1, 2]), texts(&[1])])
        .await;
    net.fork("after", "main").await;
    net.commit("after", vec![indexed(4, &json!("x"), "word")]).await;
    for (branch, by_value, by_text) in
        [("main", vec![1, 2, 3], vec![1, 3]), ("after", vec![1, 2, 3, 4], vec![1, 3, 4])]
    {
        let mut view = net.on(branch).await;
        assert_eq!(in_range(&mut *view, &any).await, by_value, "{branch}");
        assert_eq!(found(&mut *view, &["word"], false).await, by_text, "{branch}");
    }
    let unindexed = async |branch: &str| {
        let mut view = net.on(branch).await;
        assert_eq!(view.index(BY_VALUE, &any, 9).await.unwrap(), None, "{branch}");
        assert_eq!(view.search(BY_TEXT, &words, false, 9).await.unwrap(), None, "{branch}");
    };
    unindexed("before").await;
    // On a branch, it holds what lies on the branch, and not what lies under it.
    net.build("before", vec![indexed(5, &json!("x"), "word")], vec![build(&[]), texts(&[])]).await;
    unindexed("before").await;
    // Unless there is nothing of that type.
    let own = Tag(50);
    let fresh = IndexBuild { index: own, of: Tag(51), entries: vec![], texts: vec![] };
    let mut first = node(1, "of a new type");
    first.tag = Tag(51);
    first.index = vec![(own, json!("x"))];
    net.build("before", vec![first], vec![fresh]).await;
    let mut view = net.on("before").await;
    assert_eq!(view.index(own, &any, 9).await.unwrap(), Some(vec![RowNo(1)]));
    drop(view);
    // Built again, it holds what it is given then, and nothing from before.
    net.build("main", vec![], vec![build(&[2]), texts(&[3])]).await;
    let mut view = net.on("main").await;
    assert_eq!(in_range(&mut *view, &any).await, [2]);
    assert_eq!(found(&mut *view, &["word"], false).await, [3]);
    drop(view);
    unindexed("after").await;
}

async fn in_range(view: &mut dyn GraphView, range: &IndexRange) -> Vec<i64> {
    let rows = view.index(BY_VALUE, range, 1_000).await.expect("reads").expect("it is indexed");
    let mut rows: Vec<i64> = rows.into_iter().map(|row| row.0).collect();
    rows.sort_unstable();
    rows
}

async fn found(view: &mut dyn GraphView, words: &[&str], prefix: bool) -> Vec<i64> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let hits = view.search(BY_TEXT, &words, prefix, 1_000).await.expect("reads");
    let mut rows: Vec<i64> = hits.expect("it is indexed").into_iter().map(|row| row.0).collect();
    rows.sort_unstable();
    rows
}
