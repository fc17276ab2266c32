//! Rules that come, go and come back; types that go; and what shares a thread with a long query.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::house::{House, SCHEMA, add, line, link};
use crate::engine::{GraphError, LoadMode};

fn mail(slug: &str, to: &str) -> String {
    format!("update Person set {{ email: \"{to}\" }} where slug = \"{slug}\"")
}

/// What was written while there was no rule is in no index of it, on no branch.
#[tokio::test]
async fn a_rule_that_comes_back_knows_what_came_without_it() {
    let house = House::new().await;
    let free = SCHEMA.replace("email: String? @unique", "email: String?");
    for slug in ["ada", "bob", "eve", "zoe"] {
        house.mutate("main", &add(slug, 1)).await.unwrap();
    }
    house.mutate("main", &mail("ada", "a@x")).await.unwrap();
    house.schema("main", &free, false).await.unwrap();
    house.mutate("main", &mail("bob", "b@x")).await.unwrap();
    house.mutate("main", &mail("eve", "a@x")).await.unwrap();
    house.fork("side", "main").await.unwrap();
    // Two are alike: not while they are.
    assert!(house.schema("side", SCHEMA, false).await.is_err());
    house.mutate("side", &mail("eve", "e@x")).await.unwrap();
    house.schema("side", SCHEMA, false).await.unwrap();
    for (to, taken) in [("a@x", true), ("b@x", true), ("e@x", true), ("z@x", false)] {
        let error = house.mutate("side", &mail("zoe", to)).await.err();
        assert_eq!(error.is_some(), taken, "{to}: {error:?}");
    }
    // On the branch it went from as well, and once more.
    house.mutate("main", &mail("eve", "f@x")).await.unwrap();
    for _ in 0..2 {
        house.schema("main", SCHEMA, false).await.unwrap();
        assert!(house.mutate("main", &mail("zoe", "b@x")).await.is_err());
        house.schema("main", &free, false).await.unwrap();
    }
}

/// A rule over edges that are there already is a rule over them too.
#[tokio::test]
async fn a_new_cardinality_is_asked_of_what_is_there() {
    let house = House::new().await;
    let all = [add("ada", 1), add("bob", 1), add("eve", 1), link("ada", "bob"), link("ada", "eve")];
    house.mutate("main", &all.join("\n")).await.unwrap();
    let with = |card: &str| {
        SCHEMA.replace(
            "edge Knows: Person -> Person",
            &format!("edge Knows: Person -> Person @card({card})"),
        )
    };
    let error = house.schema("main", &with("0..1"), false).await.unwrap_err();
    assert!(error.to_string().contains("ada"), "{error}");
    let error = house.schema("main", &with("1..2"), false).await.unwrap_err();
    assert!(error.to_string().contains("bob"), "{error}");
    house.schema("main", &with("0..2"), false).await.unwrap();
    assert!(house.mutate("main", &link("ada", "ada")).await.is_err());
    house.mutate("main", &link("bob", "ada")).await.unwrap();
}

/// Rows of a type that the other side takes away: changed since, they are not lost without a word;
/// not changed, they go with it, and an older commit still shows them.
#[tokio::test]
async fn a_type_goes_while_its_rows_change() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 1)).await.unwrap();
    house.mutate("main", "insert Company { slug: \"a\", name: \"A\" }").await.unwrap();
    house.fork("side", "main").await.unwrap();
    let without = SCHEMA
        .replace("node Company { slug: String @key  name: String? }", "")
        .replace("edge WorksAt: Person -> Company @card(0..1)", "");
    assert!(matches!(house.schema("main", &without, false).await, Err(GraphError::Migration(_))));
    let gone = house.schema("main", &without, true).await.unwrap();
    let changed = house
        .mutate("side", "update Company set { name: \"B\" } where slug = \"a\"")
        .await
        .unwrap();
    house.mutate("side", &add("bob", 2)).await.unwrap();
    assert!(matches!(house.merge("side", "main").await, Err(GraphError::Migration(_))));
    assert_eq!(house.people("main").await, "ada 1");
    house.merge_as(("side", "main"), &[], true).await.unwrap();
    assert_eq!(house.people("main").await, "ada 1, bob 2");
    // Nothing of the type is on the branch that has it no longer, and all of
    // it on the one that has.
    let companies = "match { $c: Company } return { $c.slug, $c.name }";
    let at = |commit| narthex_store::At::Commit(commit);
    assert!(
        house.ask_at(at(gone.commit.unwrap()), companies, serde_json::json!({})).await.is_err()
    );
    let then = house.ask_at(at(changed.commit.unwrap()), companies, serde_json::json!({})).await;
    assert_eq!(line(&then.unwrap()), "a B");
}

/// The graphs in memory never wait: whatever turns others get, the query gives them.
#[tokio::test(flavor = "current_thread")]
async fn a_long_query_lets_others_have_their_turn() {
    let house = House::new().await;
    let row = |n: u32| {
        let age = n % 150;
        format!(
            "{{\"type\":\"Person\",\"data\":{{\"slug\":\"p{n}\",\"name\":\"p{n}\",\"age\":{age}}}}}\n"
        )
    };
    let file: String = (0..300).map(row).collect();
    house.load("main", None, LoadMode::Append, &file).await.unwrap();
    let turns = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&turns);
    #[expect(clippy::disallowed_methods, reason = "it is what shares the thread")]
    let other = tokio::spawn(async move {
        loop {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    let pairs = "match { $a: Person  $b: Person  $a.age < $b.age  $a.name != $b.name } return { count() as n }";
    let found = house.ask("main", pairs).await;
    other.abort();
    assert_ne!(line(&found), "0");
    // 90,000 bindings go through two conditions and into a number.
    assert!(turns.load(Ordering::Relaxed) >= 15, "{turns:?}");
}
