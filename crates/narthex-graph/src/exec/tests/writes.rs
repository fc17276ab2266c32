//! Queries that change something.

use serde_json::{Value as Json, json};

use super::people::people;
use super::world::World;
use crate::exec::{Counts, ExecError};
use crate::schema::Schema;

fn names(world: &mut World, query: &str) -> Json {
    world.ask(query).unwrap().0
}

/// Where an edge can end at nodes of several types, one of them by name.
#[test]
fn an_end_is_named_with_its_type() {
    for (which, left) in [
        (r#"to = Person("ada")"#, json!([["bob", "Company"]])),
        (r#"to = Company("ada")"#, json!([["bob", "Person"]])),
        (r#"from = Person("bob") and to != Person("ada")"#, json!([["bob", "Person"]])),
        (r#"to != Company("ada")"#, json!([["bob", "Company"]])),
        (r#"to = "ada""#, json!([])),
    ] {
        for without_indexes in [false, true] {
            let mut world = people();
            world.without_indexes = without_indexes;
            let both = r#"delete Likes where true
                insert Company { slug: "ada", name: "Ada & sons" }
                insert Likes { from: "bob", to: Person("ada"), much: 1 }
                insert Likes { from: "bob", to: Company("ada"), much: 2 }"#;
            world.change(both).unwrap();
            world.change(&format!("delete Likes where {which}")).unwrap();
            let at = |to: &str| {
                format!("match {{ $p: Person  $p likes $c  $c: {to} }} return {{ $p.slug }}")
            };
            let mut found = Vec::new();
            for to in ["Company", "Person"] {
                let rows = names(&mut world, &at(to));
                found.extend(rows.as_array().unwrap().iter().map(|row| json!([row[0], to])));
            }
            assert_eq!(Json::Array(found), left, "{which}");
        }
    }
}

#[test]
fn statements_change_what_they_say() {
    let none = Counts::default();
    for (change, counts, query, expected) in [
        (
            r#"insert Person { slug: "kim", name: "Kim", age: 1, tags: ["new"], stage: "lead" }"#,
            Counts { nodes_inserted: 1, ..none },
            r#"match { $p: Person { slug: "kim" } } return { $p }"#,
            json!([[{"type":"Person","slug":"kim","name":"Kim","age":1,"bio":null,"tags":["new"],
                "stage":"lead","place":null}]]),
        ),
        (
            r#"insert Knows { from: "jon", to: "ada", since: date("2026-01-31") }"#,
            Counts { edges_inserted: 1, ..none },
            r#"match { $p: Person { slug: "jon" }  $p $k:knows $f } return { $f.slug, $k.since }"#,
            json!([["ada", "2026-01-31"]]),
        ),
        (
            r#"update Person set { age: $p.age + 1 } where stage = "lead" and age > 18"#,
            none,
            "",
            json!(null),
        ),
        (
            r#"update Person set { age: age + 1, bio: null } where stage = "lead" and age > 18"#,
            Counts { nodes_updated: 3, ..none },
            r#"match { $p: Person  $p.stage = "lead" } return { $p.age, $p.bio } order { $p.age }"#,
            json!([[20, null], [31, null], [37, null]]),
        ),
        (
            r#"update Person set { age: 36 } where slug in ["ada", "bob"]"#,
            Counts { nodes_updated: 1, ..none },
            r"match { $p: Person  $p.age = 36 } return { $p.slug } order { $p.slug }",
            json!([["ada"], ["bob"], ["fay"]]),
        ),
        (
            r#"update Knows set { since: date("2000-01-01") } where from = "ada" and to = "bob""#,
            Counts { edges_updated: 1, ..none },
            r#"match { $p: Person { slug: "ada" }  $p $k:knows $f } return { $k.since } order { $k.since }"#,
            json!([["2000-01-01"], ["2021-05-05"]]),
        ),
        (
            r#"delete Person where slug = "ada""#,
            Counts { nodes_deleted: 1, edges_deleted: 6, ..none },
            "match { $a knows $b } return { count() as n }",
            json!([["7"]]),
        ),
        (
            r#"delete Company where name = "Acme""#,
            Counts { nodes_deleted: 1, edges_deleted: 3, ..none },
            "match { $a worksAt $b } return { count() as n }",
            json!([["3"]]),
        ),
        (
            r"delete Knows where since = null",
            Counts { edges_deleted: 6, ..none },
            "match { $a $k:knows $b } return { count($k.since) as n }",
            json!([["4"]]),
        ),
        (
            r#"delete WorksAt where to = "bolt""#,
            Counts { edges_deleted: 2, ..none },
            "match { $a worksAt $b } return { $a.slug } order { $a.slug }",
            json!([["ada"], ["bob"], ["gus"]]),
        ),
        (
            r#"delete Person where slug = "zoe""#,
            none,
            "match { $p: Person } return { count() as n }",
            json!([["10"]]),
        ),
    ] {
        for without_indexes in [false, true] {
            let mut world = people();
            world.without_indexes = without_indexes;
            if query.is_empty() {
                // A variable has no place here: the row's own properties are spoken of by name.
                assert!(world.change(change).is_err(), "{change}");
                continue;
            }
            assert_eq!(world.change(change).unwrap(), counts, "{change}");
            assert_eq!(names(&mut world, query), expected, "{change}");
        }
    }
}

#[test]
fn later_statements_see_earlier_ones() {
    let mut world = people();
    let counts = world
        .change(
            r#"
            insert Person { slug: "kim", name: "Kim", age: 1, tags: [], stage: "lead" }
            insert Knows { from: "kim", to: "ada" }
            update Person set { age: age + 1 } where name = "Kim"
            update Person set { age: age * 10 } where age = 2
            update Knows set { since: date("2026-02-02") } where from = "kim"
            delete Person where slug = "bob"
            insert Person { slug: "bob", name: "Bobby", age: 2, tags: [], stage: "member" }
            "#,
        )
        .unwrap();
    let expected = Counts {
        nodes_inserted: 1,
        nodes_updated: 1,
        edges_inserted: 1,
        edges_deleted: 4,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
    let found = names(
        &mut world,
        r#"match { $p: Person { slug: "kim" }  $p $k:knows $f } return { $p.age, $k.since, $f.slug }"#,
    );
    assert_eq!(found, json!([[20, "2026-02-02", "ada"]]));
    let bob = names(&mut world, r#"match { $p: Person { name: "Bobby" } } return { $p.slug }"#);
    assert_eq!(bob, json!([["bob"]]));
}

#[test]
fn what_changes_nothing_is_no_change() {
    let mut world = people();
    for change in [
        r#"update Person set { age: 36 } where slug = "ada""#,
        r#"insert Knows { from: "jon", to: "ivy" }  delete Knows where from = "jon""#,
        r#"delete Knows where from = "ada" and to = "bob"
           insert Knows { from: "ada", to: "bob", since: date("2020-01-01") }"#,
    ] {
        assert!(world.try_change(change).unwrap().is_empty(), "{change}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut world = people();
    for (change, expected) in [
        (
            r#"insert Person { slug: "ada", name: "A", tags: [], stage: "lead" }"#,
            "Person `ada` is there already; `update` changes it",
        ),
        (
            r#"insert Knows { from: "ada", to: "bob" }"#,
            "Knows `ada -> bob` is there already; `update` changes it",
        ),
        (
            r#"insert Knows { from: "zoe", to: "bob" }"#,
            "Knows cannot begin at Person `zoe`, which is not there",
        ),
        (
            r#"insert WorksAt { from: "dan", to: "zoo" }"#,
            "WorksAt cannot end at Company `zoo`, which is not there",
        ),
        (
            r#"insert WorksAt { from: "ada", to: "core" }"#,
            "Person `ada`: 2 WorksAt would begin here, and there must be from 0 to 1",
        ),
        (
            r#"insert Person { slug: "bo2", name: "Bob", tags: [], stage: "member" }"#,
            "Person `bo2`: `name, stage` must be unique, and `bob` has it",
        ),
        (
            r#"insert Person { slug: "x", name: "X", tags: [], stage: "lead" }
               insert Person { slug: "y", name: "X", tags: [], stage: "lead" }"#,
            "`name, stage` must be unique",
        ),
        (
            r#"update Person set { name: "Ada", stage: "lead" } where slug = "bob""#,
            "Person `bob`: `name, stage` must be unique, and `ada` has it",
        ),
        (
            r#"update Person set { age: age + 100 } where slug = "gus""#,
            "Person `gus`: `age`: it is above 150, where its range ends",
        ),
        (r#"update Person set { age: age * 1000000000 } where slug = "gus""#, "Person.age: "),
        (r#"update Person set { age: 1 / (age - 36) } where slug = "ada""#, "division by zero"),
    ] {
        for without_indexes in [false, true] {
            world.without_indexes = without_indexes;
            let error = world.try_change(change).unwrap_err().to_string();
            assert!(error.contains(expected), "{change}\n  is {error}\n not {expected}");
        }
    }
}

const RULES: &str = r"
node Team {
    slug: String @key
    low: I32?
    high: I32?
    code: I64? @unique
    @check(low <= high)
    @check(10 / high > 0)
}
node Player { slug: String @key }
edge Captain: Team -> Player @card(1..1)
edge Turn: Team -> Player { day: Date @key  points: I32 @range(0..9) }
";

fn teams() -> World {
    let mut world = World::new(Schema::read(RULES, None).unwrap());
    world
        .change(
            r#"insert Player { slug: "p" }  insert Player { slug: "q" }
               insert Team { slug: "a", low: 1, high: 2, code: 7 }
               insert Captain { from: "a", to: "p" }
               insert Turn { from: "a", to: "p", day: date("2026-01-01"), points: 3 }"#,
        )
        .unwrap();
    world
}

#[test]
fn rules_of_the_schema_hold_for_the_whole_change() {
    for (change, expected) in [
        // A broken rule in between is none in the end.
        (
            r#"update Team set { low: 9 } where slug = "a"
               update Team set { high: 9 } where slug = "a""#,
            None,
        ),
        (r#"delete Captain where from = "a"  insert Captain { from: "a", to: "q" }"#, None),
        (
            r#"update Team set { low: 9 } where slug = "a""#,
            Some("`@check(low <= high)` does not hold"),
        ),
        (r#"update Team set { high: null } where slug = "a""#, None),
        (
            r#"update Team set { high: 0, low: 0 } where slug = "a""#,
            Some("`@check(10 / high > 0)` cannot be told: division by zero"),
        ),
        (
            r#"insert Team { slug: "b" }"#,
            Some("Team `b`: 0 Captain would begin here, and there must be from 1 to 1"),
        ),
        (r#"delete Captain where to = "p""#, Some("0 Captain would begin here")),
        (r#"delete Player where slug = "p""#, Some("Team `a`: 0 Captain would begin here")),
        (r#"delete Team where slug = "a""#, None),
        (r#"insert Captain { from: "a", to: "q" }"#, Some("2 Captain would begin here")),
        (
            r#"insert Team { slug: "b", code: 7 }  insert Captain { from: "b", to: "p" }"#,
            Some("Team `b`: `code` must be unique, and `a` has it"),
        ),
        (
            r#"insert Team { slug: "b" }  insert Captain { from: "b", to: "p" }
               insert Team { slug: "c" }  insert Captain { from: "c", to: "p" }"#,
            None,
        ),
        (
            r#"update Team set { code: 8 } where slug = "a"
               insert Team { slug: "b", code: 7 }  insert Captain { from: "b", to: "p" }"#,
            None,
        ),
        // Edges with a key of their own may be many between two nodes.
        (r#"insert Turn { from: "a", to: "p", day: date("2026-01-02"), points: 3 }"#, None),
        (
            r#"insert Turn { from: "a", to: "p", day: date("2026-01-01"), points: 4 }"#,
            Some("Turn `a -> p` is there already"),
        ),
        (
            r#"update Turn set { points: 10 } where from = "a""#,
            Some("Turn `a -> p`: `points`: it is above 9"),
        ),
    ] {
        for without_indexes in [false, true] {
            let mut world = teams();
            world.without_indexes = without_indexes;
            match (world.change(change), expected) {
                (Ok(_), None) => {}
                (Ok(_), Some(expected)) => panic!("{change}\n  is fine, not {expected}"),
                (Err(error), expected) => {
                    let error = error.to_string();
                    let right = expected.is_some_and(|expected| error.contains(expected));
                    assert!(right, "{change}\n  is {error}\n not {expected:?}");
                }
            }
        }
    }
}

#[test]
fn an_edge_left_behind_is_a_violation() {
    // Whoever makes changes without cascading, as a merge does, is told.
    let mut world = people();
    let mut changes = world.try_change(r#"delete Person where slug = "cyd""#).unwrap();
    changes.rows.retain(|_, change| matches!(change.kind, crate::exec::RowKind::Node(_)));
    let found = super::world::wait(crate::exec::constraints::check(
        &mut world.view(),
        &world.context(),
        &changes,
    ))
    .unwrap();
    let mut found: Vec<String> = found.iter().map(ToString::to_string).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "Knows `ada -> cyd`: it would end at Person `cyd`, which is not there",
            "Knows `bob -> cyd`: it would end at Person `cyd`, which is not there",
            "Knows `cyd -> dan`: it would begin at Person `cyd`, which is not there",
            "WorksAt `cyd -> bolt`: it would begin at Person `cyd`, which is not there",
        ]
    );
    world.change(r#"delete Person where slug = "dan""#).unwrap();
    let (key, edge) = world.edge(
        super::world::KNOWS,
        (super::world::PERSON, "ada"),
        (super::world::PERSON, "dan"),
        &[crate::value::Value::Null],
    );
    let mut changes = crate::exec::Changes::default();
    changes.put(key, edge);
    let found = super::world::wait(crate::exec::constraints::check(
        &mut world.view(),
        &world.context(),
        &changes,
    ))
    .unwrap();
    assert_eq!(
        found[0].to_string(),
        "Knows `ada -> dan`: it would end at Person `dan`, which is not there"
    );
}

#[test]
fn too_many_changes_are_refused() {
    let mut world = people();
    world.limits.changes = 3;
    assert!(matches!(
        world.try_change("update Person set { age: 1 } where age > 0"),
        Err(ExecError::Limit { bound: crate::exec::Bound::Changes, most: 3 })
    ));
    world.limits.changes = 9;
    assert!(world.try_change("update Person set { age: 1 } where age > 0").is_ok());
}
