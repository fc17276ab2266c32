//! The engine over graphs in memory: what people do with a graph, from end to end.

mod house;
mod loads;
mod merging;
mod moving;
mod reverting;
mod rules;

use narthex_store::At;
use serde_json::json;

use self::house::{House, add, branch, grow, line, link, unlink};
use super::{GraphError, LoadMode, Unmerged};
use crate::merge::{Asked, ConflictKind, MergeError};

#[tokio::test]
async fn a_change_is_a_commit_and_no_change_is_none() {
    let house = House::new().await;
    let first =
        house.mutate("main", &format!("{}\n{}", add("ada", 36), add("bob", 20))).await.unwrap();
    assert!(first.committed && first.counts.nodes_inserted == 2);
    let second = house.mutate("main", &grow("ada", 37)).await.unwrap();
    let same = house.mutate("main", &grow("ada", 37)).await.unwrap();
    assert_eq!((same.committed, same.commit), (false, second.commit));
    let nobody = house.mutate("main", &grow("nobody", 1)).await.unwrap();
    assert!(!nobody.committed);
    assert_eq!(house.people("main").await, "ada 37, bob 20");
    let then = house
        .ask_at(
            At::Commit(first.commit.unwrap()),
            "match { $p: Person } return { $p.age } order { $p.slug }",
            json!({}),
        )
        .await
        .unwrap();
    assert_eq!(line(&then), "36, 20");
    let log = house.engine.log(&house.graph, &branch("main"), None, 10).await.unwrap();
    assert_eq!(log.len(), 4);
    assert_eq!(log.first().map(|commit| commit.id), second.commit);
}

/// Regressions 1, 11 and 12: what is wrong is said, and nothing is done.
#[tokio::test]
async fn what_is_wrong_is_refused_whole() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 36)).await.unwrap();
    let find =
        "query find($slug: String) { match { $p: Person { slug: $slug } } return { $p.slug } }";
    let main = || At::Branch(branch("main"));
    for (params, says) in [
        (json!({}), "slug"),
        (json!({"slug": null}), "slug"),
        (json!({"slug": "ada", "sluk": 1}), "sluk"),
        (json!({"slug": 1}), "slug"),
    ] {
        let error = house.ask_at(main(), find, params.clone()).await.unwrap_err();
        assert!(error.to_string().contains(says), "{params}: {error}");
    }
    let error = house.ask_at(At::Branch(branch("mian")), find, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no branch `mian`; did you mean `main`?");
    let error = house.ask_at(main(), &add("eve", 1), json!({})).await.unwrap_err();
    assert!(matches!(error, GraphError::Text(_)), "{error}");
    let error = house.mutate("main", "match { $p: Person } return { $p.slug }").await.unwrap_err();
    assert!(matches!(error, GraphError::Text(_)), "{error}");
    // A second statement that fails takes the first with it.
    let two = format!("{}\n{}", add("eve", 1), add("ada", 1));
    assert!(house.mutate("main", &two).await.is_err());
    for data in [
        r#"{"type":"Person","data":{"slug":"eve","name":"e","agee":1}}"#,
        r#"{"type":"Persn","data":{"slug":"eve","name":"e"}}"#,
        "{\"type\":\"Person\",\"data\":{\"slug\":\"eve\",\"name\":\"e\"}}\n{\"edge\":\"Knows\",\"from\":\"eve\",\"to\":\"nobody\"}",
        "{\"type\":\"Person\",\"data\":{\"slug\":\"eve\",\"name\":\"e\"}}\n{\"type\":\"Person\",\"data\":{\"slug\":\"eve\",\"name\":\"f\"}}",
        r#"{"type":"Person","data":{"slug":"eve","name":"e","age":151}}"#,
    ] {
        assert!(house.load("main", None, LoadMode::Merge, data).await.is_err(), "{data}");
    }
    assert_eq!(house.people("main").await, "ada 36");
}

#[tokio::test]
async fn a_branch_moves_only_from_where_it_was_seen() {
    let house = House::new().await;
    let first = house.mutate("main", &add("ada", 36)).await.unwrap().commit;
    house.mutate("main", &grow("ada", 37)).await.unwrap();
    let error = house.mutate_with("main", &grow("ada", 38), json!({}), first).await.unwrap_err();
    assert!(matches!(error, GraphError::HeadMoved { .. }), "{error}");
    assert_eq!(house.people("main").await, "ada 37");
}

/// Regression 5: a key once, an edge once, however often a file is loaded.
#[tokio::test]
async fn loading_twice_changes_nothing() {
    let house = House::new().await;
    let data = concat!(
        "{\"type\":\"Person\",\"data\":{\"slug\":\"ada\",\"name\":\"Ada\",\"age\":36}}\n",
        "{\"type\":\"Person\",\"data\":{\"slug\":\"bob\",\"name\":\"Bob\",\"big\":\"9007199254740993\"}}\n\n",
        "{\"edge\":\"Knows\",\"from\":\"ada\",\"to\":\"bob\",\"data\":{\"since\":\"2026-01-31\"}}\n",
    );
    let first = house.load("main", None, LoadMode::Merge, data).await.unwrap();
    assert_eq!((first.counts.nodes_inserted, first.counts.edges_inserted), (2, 1));
    let again = house.load("main", None, LoadMode::Merge, data).await.unwrap();
    assert_eq!((again.committed, again.commit), (false, first.commit));
    let error = house.load("main", None, LoadMode::Append, data).await.unwrap_err();
    assert!(error.to_string().starts_with("line "), "{error}");
    let only = "{\"type\":\"Person\",\"data\":{\"slug\":\"bob\",\"name\":\"Bob\"}}";
    let over = house.load("main", None, LoadMode::Overwrite, only).await.unwrap();
    assert_eq!(
        (over.counts.nodes_deleted, over.counts.edges_deleted, over.counts.nodes_updated),
        (1, 1, 1)
    );
    assert_eq!(house.people("main").await, "bob null");
    assert!(house.load("new", None, LoadMode::Merge, data).await.is_err());
    let made = house.load("new", Some("main"), LoadMode::Merge, data).await.unwrap();
    assert!(made.committed);
    assert_eq!(
        (house.people("new").await.as_str(), house.people("main").await.as_str()),
        ("ada 36, bob null", "bob null")
    );
    assert!(matches!(
        house.load("new", Some("main"), LoadMode::Merge, data).await,
        Err(GraphError::BranchExists(_))
    ));
}

/// Regression 2: merged to and fro, nobody's update is lost.
#[tokio::test]
async fn to_and_fro_keeps_both() {
    let house = House::new().await;
    house.mutate("main", &format!("{}\n{}", add("ada", 36), add("bob", 20))).await.unwrap();
    house.fork("feature", "main").await.unwrap();
    house.mutate("feature", &grow("ada", 40)).await.unwrap();
    house.merge("feature", "main").await.unwrap();
    house.mutate("main", &grow("bob", 21)).await.unwrap();
    house.merge("main", "feature").await.unwrap();
    house.mutate("feature", &add("eve", 1)).await.unwrap();
    house.merge("feature", "main").await.unwrap();
    for on in ["main", "feature"] {
        assert_eq!(house.people(on).await, "ada 40, bob 21, eve 1", "{on}");
    }
    let again = house.merge("feature", "main").await.unwrap();
    assert!(!again.committed);
}

/// Regressions 3 and 4: a merge that is refused leaves nothing, and what was deleted stays so.
#[tokio::test]
async fn what_meets_has_to_be_decided_on() {
    let house = House::new().await;
    let start = format!("{}\n{}\n{}", add("ada", 36), add("bob", 20), link("ada", "bob"));
    house.mutate("main", &start).await.unwrap();
    house.fork("left", "main").await.unwrap();
    house.mutate("left", &grow("ada", 1)).await.unwrap();
    house.mutate("main", &grow("ada", 2)).await.unwrap();
    let Err(GraphError::Conflicts(found)) = house.merge("left", "main").await else {
        panic!("no conflict");
    };
    assert_eq!(found.total, 1);
    let only = found.listed.first().unwrap();
    assert!(
        matches!(&only.kind, ConflictKind::DivergentUpdate { properties } if properties == &["age"])
    );
    house.mutate("main", &grow("bob", 21)).await.unwrap();
    assert_eq!(house.people("main").await, "ada 2, bob 21");
    let row = only.row.clone().unwrap();
    for (take, age) in
        [(json!("theirs"), "1"), (json!({"slug": "ada", "name": "Ada", "age": 3}), "3")]
    {
        house.fork(&format!("try-{age}"), "main").await.unwrap();
        let said: Asked = serde_json::from_value(
            json!({"row": row, if take.is_string() { "take" } else { "given" }: take}),
        )
        .unwrap();
        house.merge_with("left", &format!("try-{age}"), &[said]).await.unwrap();
        assert_eq!(house.people(&format!("try-{age}")).await, format!("ada {age}, bob 21"));
    }
    house.fork("one", "main").await.unwrap();
    house.fork("two", "main").await.unwrap();
    house.mutate("one", &unlink("ada", "bob")).await.unwrap();
    house
        .mutate("two", &format!("{}\n{}", unlink("ada", "bob"), link("ada", "bob")))
        .await
        .unwrap();
    house.merge("one", "main").await.unwrap();
    house.merge("two", "main").await.unwrap();
    assert_eq!(house.knows("main").await, "");
}

/// A node that is resolved away takes the edges with it that both sides have alike; no other row
/// that is the same on both sides can be resolved.
#[tokio::test]
async fn a_node_that_is_resolved_away_takes_its_edges_along() {
    let house = House::new().await;
    let start = format!("{}\n{}\n{}", add("ada", 36), add("bob", 20), link("ada", "bob"));
    house.mutate("main", &start).await.unwrap();
    house.fork("left", "main").await.unwrap();
    house.mutate("left", &grow("ada", 1)).await.unwrap();
    house.mutate("main", &grow("ada", 2)).await.unwrap();
    let said =
        |row| -> Asked { serde_json::from_value(json!({"row": row, "take": "gone"})).unwrap() };
    let ada = said(json!({"type": "Person", "key": "ada"}));
    let edge = said(json!({"type": "Knows", "from": ["Person", "ada"], "to": ["Person", "bob"]}));
    let bob = said(json!({"type": "Person", "key": "bob"}));
    let Err(GraphError::Conflicts(found)) =
        house.merge_with("left", "main", std::slice::from_ref(&ada)).await
    else {
        panic!("an edge would hang in the air");
    };
    assert!(matches!(found.listed.first().unwrap().kind, ConflictKind::OrphanedEdge { .. }));
    for needless in [
        &[edge.clone()][..],
        &[bob],
        &[ada.clone(), edge.clone(), said(json!({"type": "Person", "key": "bob"}))],
    ] {
        let refused = house.merge_with("left", "main", needless).await;
        assert!(matches!(refused, Err(GraphError::Merge(MergeError::Needless(_)))), "{refused:?}");
    }
    house.merge_with("left", "main", &[ada, edge]).await.unwrap();
    assert_eq!(
        (house.people("main").await, house.knows("main").await),
        ("bob 20".into(), String::new())
    );
}

#[tokio::test]
async fn a_merge_keeps_the_rules_that_span_rows() {
    let house = House::new().await;
    house.mutate("main", &format!("{}\n{}", add("ada", 36), add("bob", 20))).await.unwrap();
    house
        .mutate("main", "insert Company { slug: \"a\" }\ninsert Company { slug: \"b\" }")
        .await
        .unwrap();
    house.fork("left", "main").await.unwrap();
    let mail = |who: &str| format!("update Person set {{ email: \"x@y\" }} where slug = \"{who}\"");
    house.mutate("left", &mail("ada")).await.unwrap();
    house.mutate("main", &mail("bob")).await.unwrap();
    let works = |at: &str| format!("insert WorksAt {{ from: \"ada\", to: \"{at}\" }}");
    house.mutate("left", &works("a")).await.unwrap();
    house.mutate("main", &works("b")).await.unwrap();
    let Err(GraphError::Conflicts(found)) = house.merge("left", "main").await else {
        panic!("no conflict");
    };
    let has = |wanted: fn(&ConflictKind) -> bool| found.listed.iter().any(|one| wanted(&one.kind));
    assert!(has(|kind| matches!(kind, ConflictKind::Uniqueness { .. })), "{found}");
    assert!(has(|kind| matches!(kind, ConflictKind::Cardinality { .. })), "{found}");
}

/// Regression 10: a schema changes while branches are open, and each keeps its own until merged.
#[tokio::test]
async fn schemas_change_on_branches() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 36)).await.unwrap();
    house.fork("feature", "main").await.unwrap();
    let more = format!(
        "{}\nnode Pet {{ name: String @key }}",
        house::SCHEMA.replace("big: I64?", "big: I64?  nick: String? @index")
    );
    house.schema("feature", &more, false).await.unwrap();
    house.mutate("feature", "update Person set { nick: \"countess\" } where slug = \"ada\"\ninsert Pet { name: \"rex\" }").await.unwrap();
    assert!(house.mutate("main", "insert Pet { name: \"rex\" }").await.is_err());
    house.mutate("main", &grow("ada", 37)).await.unwrap();
    house.merge("feature", "main").await.unwrap();
    let found = house.ask("main", "match { $p: Person  $p.nick = \"countess\"  $x: Pet } return { $p.slug, $p.age, $x.name }").await;
    assert_eq!(line(&found), "ada 37 rex");
    // What would lose something is done only if that is allowed; what does not hold, never.
    let fewer = house::SCHEMA.replace("age: I32? @range(0..150)", "");
    assert!(matches!(house.schema("main", &fewer, false).await, Err(GraphError::Migration(_))));
    let stricter = more.replace("@range(0..150)", "@range(0..36)");
    let error = house.schema("main", &stricter, true).await.unwrap_err();
    assert!(error.to_string().contains("ada"), "{error}");
    house.schema("main", &fewer, true).await.unwrap();
    assert!(
        house
            .ask_at(At::Branch(branch("main")), "match { $p: Person } return { $p.age }", json!({}))
            .await
            .is_err()
    );
}

/// Of two branches that have only each other's commits one stays, however both are asked for.
#[tokio::test]
async fn branches_are_taken_away_one_at_a_time() {
    let house = House::new().await;
    house.fork("left", "main").await.unwrap();
    house.mutate("left", &add("ada", 1)).await.unwrap();
    house.fork("right", "left").await.unwrap();
    let delete = async |name: &str, unmerged| {
        let prepared = house.engine.delete_branch(&house.graph, &branch(name), unmerged).await?;
        // Others have their turn before it is durable.
        tokio::task::yield_now().await;
        house.made(prepared)
    };
    let (left, right) =
        tokio::join!(delete("left", Unmerged::Kept), delete("right", Unmerged::Kept));
    let kept = [left, right].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert!(matches!(kept.as_slice(), [GraphError::Unmerged(_)]), "{kept:?}");
    let GraphError::Unmerged(name) = &kept[0] else { panic!("{kept:?}") };
    assert_eq!(house.people(name.as_str()).await, "ada 1");
    delete(name.as_str(), Unmerged::Lost).await.unwrap();
}

#[tokio::test]
async fn a_commit_is_taken_back() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 36)).await.unwrap();
    let wrong =
        house.mutate("main", &format!("{}\n{}", grow("ada", 99), add("bob", 1))).await.unwrap();
    house.mutate("main", &add("eve", 5)).await.unwrap();
    house.revert("main", wrong.commit.unwrap(), &[]).await.unwrap();
    assert_eq!(house.people("main").await, "ada 36, eve 5");
    let diff = house
        .engine
        .diff(
            &house.graph,
            &At::Commit(wrong.commit.unwrap()),
            &At::Branch(branch("main")),
            None,
            10,
        )
        .await
        .unwrap();
    assert_eq!(diff.rows.len(), 3);
    assert!(!diff.more);
}

#[tokio::test]
async fn branches_come_and_go() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 36)).await.unwrap();
    house.fork("feature", "main").await.unwrap();
    assert!(matches!(house.fork("feature", "main").await, Err(GraphError::BranchExists(_))));
    assert!(!house.engine.has_unmerged(&house.graph, &branch("feature")).await.unwrap());
    house.mutate("feature", &add("bob", 1)).await.unwrap();
    assert!(house.engine.has_unmerged(&house.graph, &branch("feature")).await.unwrap());
    house.merge("feature", "main").await.unwrap();
    assert!(!house.engine.has_unmerged(&house.graph, &branch("feature")).await.unwrap());
    let delete = async |name: &str| {
        house.engine.delete_branch(&house.graph, &branch(name), Unmerged::Lost).await
    };
    let gone = delete("feature").await.unwrap();
    house.made(gone).unwrap();
    assert!(matches!(
        house.mutate("feature", &add("x", 1)).await,
        Err(GraphError::NoBranch { .. })
    ));
    assert!(matches!(delete("main").await, Err(GraphError::Protected(_))));
    assert_eq!(house.people("main").await, "ada 36, bob 1");
}

/// What docs/graph.md shows is read by what reads schemas, queries and files; its table is the
/// one that merges go by. With `UPDATE=1` the table is written anew.
#[tokio::test]
async fn the_page_on_graphs_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/graph.md");
    let page = std::fs::read_to_string(path).unwrap();
    let fences = |kind: &str| -> Vec<String> {
        let open = format!("```{kind}\n");
        page.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    };
    let schema = crate::schema::Schema::read(&fences("pg").concat(), None).unwrap();
    let plans = crate::query::read(&fences("gq").concat(), &schema).unwrap();
    assert!(plans.len() >= 15);
    // Whatever the language has, the page has an example of.
    let shown = fences("gq").concat();
    for word in SHOWN {
        assert!(shown.contains(word), "no example of `{word}`");
    }
    let rows = fences("ndjson").concat();
    for (n, text) in (1..).zip(rows.lines()) {
        crate::load::parse(&schema, n, text).unwrap();
    }
    let table = crate::merge::truth_table_markdown();
    let (before, rest) = page.split_once("had seen.\n\n").unwrap();
    let (shown, after) = rest.split_once("\n\nThen, over all rows").unwrap();
    #[expect(clippy::disallowed_methods, reason = "asked for by whoever runs the test")]
    let update = std::env::var_os("UPDATE").is_some();
    if update {
        let table = table.trim();
        let page = format!("{before}had seen.\n\n{table}\n\nThen, over all rows{after}");
        std::fs::write(path, page).unwrap();
    } else {
        assert_eq!(shown, table.trim(), "run again with UPDATE=1");
    }
}

/// What the page on graphs shows by example.
const SHOWN: &[&str] = &[
    "optional {",
    "} or {",
    "not {",
    "<knows ",
    "<knows>",
    "{1,3}",
    "$k:knows",
    "distinct",
    "having {",
    "order {",
    "limit ",
    "count(",
    "sum(",
    "avg(",
    "min(",
    "max(",
    " in ",
    "is null",
    "is not null",
    "starts_with(",
    "contains(",
    "fuzzy(",
    "match_text(",
    "search(",
    "bm25(",
    "nearest(",
    "rrf(",
    "now()",
    "date(",
    "datetime(",
    "lower(",
    "upper(",
    "length(",
    "coalesce(",
    " * ",
    " % ",
    " - ",
    "return { $p }",
    "insert ",
    "update ",
    "delete ",
    "@description(",
];
