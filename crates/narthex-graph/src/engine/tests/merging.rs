//! Merges in which the schemas differ: rules of one side meet rows of the other.

use serde_json::json;

use super::house::{House, SCHEMA, add, grow, line};
use crate::engine::{Done, GraphError, LoadMode};
use crate::merge::{Asked, Conflict, ConflictKind, Conflicts, Take};

/// What a merge has to be told, and that it can be told so: each conflict is resolved exactly as it
/// says itself, until none is left.
async fn resolved(house: &House, from: &str, into: &str) -> (Vec<Conflict>, Done) {
    let (mut first, mut said): (Option<Vec<Conflict>>, Vec<Asked>) = (None, Vec::new());
    for _ in 0..4 {
        match house.merge_with(from, into, &said).await {
            Ok(done) => return (first.unwrap_or_default(), done),
            Err(GraphError::Conflicts(found)) => {
                assert!(found.listed.iter().all(|one| !one.resolve.is_empty()), "{found}");
                said.extend(found.listed.iter().flat_map(|one| one.resolve.clone()));
                said.dedup();
                first.get_or_insert(found.listed);
            }
            Err(other) => panic!("{other} with {said:?}"),
        }
    }
    panic!("it never ends: {first:?} {said:?}");
}

async fn conflicts(house: &House, from: &str, into: &str) -> Conflicts {
    match house.merge(from, into).await {
        Err(GraphError::Conflicts(found)) => found,
        other => panic!("{other:?}"),
    }
}

fn code(slug: &str, code: u32) -> String {
    format!("insert Person {{ slug: \"{slug}\", name: \"{slug}\", code: {code} }}")
}

/// The index behind a rule that reads its property otherwise now has nothing of ours.
#[tokio::test]
async fn a_rule_that_reads_otherwise_is_asked_of_rows_that_stay() {
    let narrow = SCHEMA.replace("big: I64?", "code: I32? @unique");
    let again = [SCHEMA.replace("big: I64?", "code: I32?"), narrow.clone()];
    let wide = [SCHEMA.replace("big: I64?", "code: I64? @unique")];
    for steps in [&wide[..], &again[..]] {
        let house = House::new().await;
        house.schema("main", &narrow, true).await.unwrap();
        house.fork("side", "main").await.unwrap();
        for step in steps {
            house.schema("side", step, false).await.unwrap();
        }
        house.mutate("side", &code("x", 7)).await.unwrap();
        house.mutate("main", &code("y", 7)).await.unwrap();
        let (found, _) = resolved(&house, "side", "main").await;
        assert!(matches!(found[0].kind, ConflictKind::Uniqueness { .. }), "{found:?}");
        let alike = "match { $p: Person  $p.code = 7 } return { $p.slug }";
        assert_eq!(line(&house.ask("main", alike).await), "y");
        // And the index is whole afterwards.
        assert!(house.mutate("main", &code("z", 7)).await.is_err());
    }
}

/// The way that is advised: with `?`, filled in, and then without.
#[tokio::test]
async fn a_property_that_was_filled_in_on_a_branch_is_merged() {
    let house = House::new().await;
    house.mutate("main", &format!("{}\n{}", add("ada", 1), add("bob", 2))).await.unwrap();
    house.fork("side", "main").await.unwrap();
    let nick = |kind: &str| SCHEMA.replace("big: I64?", &format!("big: I64?  nick: {kind}"));
    house.schema("side", &nick("String?"), false).await.unwrap();
    house.mutate("side", "update Person set { nick: slug } where true").await.unwrap();
    house.schema("side", &nick("String"), false).await.unwrap();
    house.mutate("main", &grow("ada", 3)).await.unwrap();
    house.fork("late", "main").await.unwrap();
    house.merge("side", "main").await.unwrap();
    assert_eq!(house.people("main").await, "ada 3, bob 2");
    // Somebody who came meanwhile has none, and it can be said what it is.
    house.mutate("late", &add("eve", 5)).await.unwrap();
    let found = conflicts(&house, "side", "late").await;
    assert!(matches!(found.listed[0].kind, ConflictKind::ValueConstraint { .. }), "{found}");
    let given = json!({"row": {"type": "Person", "key": "eve"},
        "given": {"name": "Eve", "nick": "e"}});
    let given = [serde_json::from_value(given).unwrap()];
    house.merge_with("side", "late", &given).await.unwrap();
    let nicks = "match { $p: Person } return { $p.nick as n } order { n }";
    assert_eq!(line(&house.ask("late", nicks).await), "ada, bob, e");
}

/// How many rows one query may change is no bound on how many a rule is asked of.
#[tokio::test]
async fn a_rule_is_asked_of_more_rows_than_a_query_changes() {
    let mut house = House::new().await;
    let row = |n: u32| {
        format!("{{\"type\":\"Person\",\"data\":{{\"slug\":\"p{n}\",\"name\":\"p\",\"age\":1}}}}\n")
    };
    let file: String = (0..20).map(row).collect();
    house.load("main", None, LoadMode::Append, &file).await.unwrap();
    house.limits.changes = 10;
    house.limits.scanned = 10;
    house.fork("side", "main").await.unwrap();
    let ranged = SCHEMA.replace("@range(0..150)", "@range(0..9)");
    house.schema("side", &ranged, false).await.unwrap();
    house.merge("side", "main").await.unwrap();
    assert!(house.mutate("main", &add("zoe", 10)).await.is_err());
}

fn works(at: &str) -> String {
    format!("insert WorksAt {{ from: \"ada\", to: \"{at}\" }}")
}

async fn at_work() -> House {
    let house = House::new().await;
    let all = ["a", "b", "c"].map(|slug| format!("insert Company {{ slug: \"{slug}\" }}"));
    house.mutate("main", &format!("{}\n{}", add("ada", 1), all.join("\n"))).await.unwrap();
    house
}

const WORK: &str =
    "match { $p: Person  $p worksAt $c } return { $p.slug as p, $c.slug as c } order { p, c }";

#[tokio::test]
async fn too_many_edges_are_named_and_resolved_by_name() {
    let house = at_work().await;
    house.fork("side", "main").await.unwrap();
    house.mutate("side", &works("a")).await.unwrap();
    house.mutate("main", &works("b")).await.unwrap();
    let (found, _) = resolved(&house, "side", "main").await;
    let ConflictKind::Cardinality { edges, .. } = &found[0].kind else { panic!("{found:?}") };
    let named: Vec<String> = edges.iter().map(ToString::to_string).collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named[0].contains("Company `a`") && named[1].contains("Company `b`"), "{named:?}");
    assert_eq!(line(&house.ask("main", WORK).await), "ada b");
}

#[tokio::test]
async fn too_few_edges_are_named_and_resolved_by_name() {
    let house = at_work().await;
    let loose = SCHEMA.replace("@card(0..1)", "");
    house.schema("main", &loose, false).await.unwrap();
    house.mutate("main", &format!("{}\n{}", works("a"), works("b"))).await.unwrap();
    house.schema("main", &SCHEMA.replace("@card(0..1)", "@card(1..2)"), false).await.unwrap();
    house.fork("side", "main").await.unwrap();
    let leave = |at: &str| format!("delete WorksAt where from = \"ada\" and to = \"{at}\"");
    house.mutate("side", &leave("a")).await.unwrap();
    house.mutate("main", &leave("b")).await.unwrap();
    let (found, _) = resolved(&house, "side", "main").await;
    let ConflictKind::Cardinality { edges, found: 0, .. } = &found[0].kind else {
        panic!("{found:?}")
    };
    assert_eq!(edges.len(), 2, "{edges:?}");
    assert_eq!(line(&house.ask("main", WORK).await), "ada a");
}

/// Rules that theirs brings and rows of ours break, of every kind.
#[tokio::test]
async fn a_rule_of_theirs_and_rows_of_ours_are_a_conflict() {
    let twice = format!("{}\n{}", works("a"), works("b"));
    let text = "insert Person { slug: \"bob\", name: \"not a day\" }";
    let same = "insert Person { slug: \"bob\", name: \"ada\" }";
    for (rule, row, kind) in [
        (("@range(0..150)", "@range(0..9)"), add("bob", 10), "value_constraint"),
        (("big: I64?", "big: I64?  @check(age < 9)"), add("bob", 10), "value_constraint"),
        (("name: String @index", "name: String @index @unique"), same.to_owned(), "uniqueness"),
        (("name: String @index", "name: enum(ada)"), text.to_owned(), "value_constraint"),
        (("@card(0..9)", "@card(0..1)"), twice, "cardinality"),
    ] {
        let house = at_work().await;
        let loose = SCHEMA.replace("@card(0..1)", "@card(0..9)");
        house.schema("main", &loose, false).await.unwrap();
        house.fork("side", "main").await.unwrap();
        house.schema("side", &loose.replace(rule.0, rule.1), false).await.unwrap();
        house.mutate("main", &row).await.unwrap();
        let (found, done) = resolved(&house, "side", "main").await;
        let said = serde_json::to_value(&found[0]).unwrap();
        assert_eq!(said["conflict"], json!(kind), "{found:?}");
        assert!(done.committed, "{rule:?}");
        let takes_theirs = |one: &Asked| matches!(one, Asked::Take { take: Take::Theirs, .. });
        assert!(found[0].resolve.iter().all(takes_theirs), "{found:?}");
    }
}

/// And what cannot be read as it is now, as well.
#[tokio::test]
async fn a_value_that_is_no_longer_of_its_kind_is_a_conflict() {
    let house = House::new().await;
    let text = SCHEMA.replace("big: I64?", "born: String?");
    house.schema("main", &text, true).await.unwrap();
    house.fork("side", "main").await.unwrap();
    let day = text.replace("born: String?", "born: Date? @unique");
    house.schema("side", &day, false).await.unwrap();
    house
        .mutate("main", "insert Person { slug: \"bob\", name: \"b\", born: \"today\" }")
        .await
        .unwrap();
    let error = house.schema("main", &day, false).await.unwrap_err().to_string();
    assert!(error.contains("Person `bob`: `born`: it is no Date"), "{error}");
    let (found, _) = resolved(&house, "side", "main").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(house.people("main").await, "");
}

/// What a branch wrote of a type or property that ours gave up is not gone without a word.
#[tokio::test]
async fn rows_of_a_type_that_ours_gave_up_are_a_question() {
    let without = SCHEMA
        .replace("node Company { slug: String @key  name: String? }", "")
        .replace("edge WorksAt: Person -> Company @card(0..1)", "");
    let property = SCHEMA.replace("big: I64?", "");
    let set = "update Person set { big: 5 } where slug = \"ada\"";
    let row = "insert Company { slug: \"z\" }";
    let update = "update Company set { name: \"A\" } where slug = \"a\"";
    for (schema, written, says) in [
        (&without, row, "node `Company` is removed with all its rows"),
        (&without, update, "node `Company` is removed with all its rows"),
        (&property, set, "`Person.big` is removed with all its values"),
    ] {
        let house = at_work().await;
        house.fork("side", "main").await.unwrap();
        house.fork("bare", "main").await.unwrap();
        house.schema("main", schema, true).await.unwrap();
        house.mutate("bare", &grow("ada", 9)).await.unwrap();
        house.mutate("side", written).await.unwrap();
        let stopped = house.merge("side", "main").await;
        let Err(GraphError::Migration(steps)) = &stopped else { panic!("{written}: {stopped:?}") };
        assert_eq!((steps.len(), steps[0].sentence.as_str()), (1, says));
        // What only stays as it was is no loss, and what may be lost is.
        house.merge("bare", "main").await.unwrap();
        house.merge_as(("side", "main"), &[], true).await.unwrap();
        assert_eq!(house.people("main").await, "ada 9");
    }
}

/// A list that must be there and is left out has nothing in it, whichever way a row comes.
#[tokio::test]
async fn a_list_that_is_left_out_is_empty_wherever_it_is() {
    let house = House::new().await;
    let schema = SCHEMA.replace("big: I64?", "tags: [String]  maybe: [String]?");
    house.schema("main", &schema, true).await.unwrap();
    house.mutate("main", "insert Person { slug: \"a\", name: \"A\" }").await.unwrap();
    let line = |data: &str| format!("{{\"type\":\"Person\",\"data\":{data}}}");
    let left_out = line(r#"{"slug":"b","name":"B"}"#);
    house.load("main", None, LoadMode::Merge, &left_out).await.unwrap();
    let null = line(r#"{"slug":"c","name":"C","tags":null}"#);
    let error = house.load("main", None, LoadMode::Merge, &null).await.unwrap_err();
    assert!(error.to_string().contains("it is required"), "{error}");
    house.fork("side", "main").await.unwrap();
    house.mutate("side", &grow("a", 1)).await.unwrap();
    house.mutate("main", &grow("a", 2)).await.unwrap();
    let given = json!({"row": {"type": "Person", "key": "a"}, "given": {"name": "A"}});
    let given = [serde_json::from_value(given).unwrap()];
    house.merge_with("side", "main", &given).await.unwrap();
    let tags =
        "match { $p: Person } return { $p.slug as s, $p.tags as t, $p.maybe as m } order { s }";
    assert_eq!(super::house::line(&house.ask("main", tags).await), "a [] null, b [] null");
}
