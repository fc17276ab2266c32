//! Commits taken back where a rule stands in the way by now: said as a merge says it, and resolved
//! as it says.

use super::house::{House, SCHEMA, add, grow};
use crate::engine::{Done, GraphError};
use crate::merge::{Conflict, ConflictKind};

fn mail(slug: &str, to: &str) -> String {
    format!("update Person set {{ email: \"{to}\" }} where slug = \"{slug}\"")
}

fn works(slug: &str, at: &str) -> String {
    format!("insert WorksAt {{ from: \"{slug}\", to: \"{at}\" }}")
}

/// What stands in the way of taking it back, resolved exactly as that says.
async fn resolved(house: &House, wrong: &Done) -> Vec<Conflict> {
    let before = house.people("main").await;
    let commit = wrong.commit.unwrap();
    let found = match house.revert("main", commit, &[]).await {
        Err(GraphError::Conflicts(found)) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(house.people("main").await, before);
    let ways: Vec<_> = found.listed.iter().flat_map(|one| one.resolve.clone()).collect();
    house.revert("main", commit, &ways).await.unwrap();
    found.listed
}

#[tokio::test]
async fn somebody_else_has_the_value_by_now() {
    let house = House::new().await;
    let all = [add("ada", 1), add("bob", 2), mail("ada", "a@x")];
    house.mutate("main", &all.join("\n")).await.unwrap();
    let wrong = [mail("ada", "b@x"), grow("bob", 9)].join("\n");
    let wrong = house.mutate("main", &wrong).await.unwrap();
    house.mutate("main", &mail("bob", "a@x")).await.unwrap();
    let found = resolved(&house, &wrong).await;
    let [Conflict { kind: ConflictKind::Uniqueness { properties, .. }, row, ours, theirs, .. }] =
        found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!(properties, &["email"]);
    assert_eq!(row.as_ref().unwrap().to_string(), "Person `ada`");
    assert_eq!(ours.as_ref().unwrap()["email"], "b@x");
    assert_eq!(theirs.as_ref().unwrap()["email"], "a@x");
    // The rest of it was taken back.
    assert_eq!(house.people("main").await, "ada 1, bob 2");
}

#[tokio::test]
async fn an_edge_took_the_place_of_the_one_that_went() {
    let house = House::new().await;
    let companies =
        ["a", "b"].map(|slug| format!("insert Company {{ slug: \"{slug}\" }}")).join("\n");
    house.mutate("main", &[add("ada", 1), companies, works("ada", "a")].join("\n")).await.unwrap();
    let wrong = house.mutate("main", "delete WorksAt where from = \"ada\"").await.unwrap();
    house.mutate("main", &works("ada", "b")).await.unwrap();
    let found = resolved(&house, &wrong).await;
    let [Conflict { kind: ConflictKind::Cardinality { found, max, edges, .. }, .. }] =
        found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!((*found, *max, edges.len()), (2, Some(1), 2));
    let at = "match { $p: Person  $p worksAt $c } return { $c.slug as c }";
    assert_eq!(super::house::line(&house.ask("main", at).await), "b");
}

#[tokio::test]
async fn the_value_is_no_longer_allowed() {
    let house = House::new().await;
    house.mutate("main", &add("ada", 140)).await.unwrap();
    let wrong = house.mutate("main", &grow("ada", 40)).await.unwrap();
    house.schema("main", &SCHEMA.replace("0..150", "0..120"), false).await.unwrap();
    let found = resolved(&house, &wrong).await;
    let [Conflict { kind: ConflictKind::ValueConstraint { constraint }, .. }] = found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert!(constraint.contains("120"), "{constraint}");
    assert_eq!(house.people("main").await, "ada 40");
}
