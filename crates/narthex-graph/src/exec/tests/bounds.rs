//! Limits, errors, and reading page by page.

use std::task::{Context, Waker};

use serde_json::json;

use super::people::{people, rows};
use crate::exec::{Bound, Cursor, CursorError, ExecError, Page, run_read};
use crate::query::{Body, Expr};
use crate::value::Value;

const PAIRS: &str = "match { $a: Person  $b: Person } return { $a.slug, $b.slug }";

#[test]
fn limits_are_hit_and_not_exceeded() {
    let hit = |world: &mut super::world::World, query: &str, bound: Bound| {
        let error = world.ask(query).unwrap_err();
        let right = matches!(&error, ExecError::Limit { bound: of, .. } if *of == bound);
        assert!(right, "{query}: {error}");
        // Every one tells the way out.
        assert!(error.to_string().contains(bound.way_out()), "{error}");
    };
    let mut world = people();
    world.limits.bindings = 99;
    hit(&mut world, PAIRS, Bound::Bindings);
    world.limits.bindings = 100;
    assert!(world.ask(PAIRS).is_ok());

    let mut world = people();
    world.limits.scanned = 9;
    hit(&mut world, "match { $p: Person } return { $p.slug }", Bound::Scanned);
    hit(&mut world, "match { $a knows $b } return { count() as n }", Bound::Scanned);
    hit(&mut world, "match { $p: Person  $p.age > 0 } return { $p.slug }", Bound::Scanned);
    world.limits.scanned = 10;
    assert!(world.ask("match { $p: Person } return { $p.slug }").is_ok());
    assert!(world.ask("match { $a knows $b } return { count() as n }").is_ok());

    let mut world = people();
    world.limits.hops = 2;
    let path = r#"match { $p: Person { slug: "ada" }  $p knows {1,3} $f } return { $f.slug }"#;
    hit(&mut world, path, Bound::Hops);
    world.limits.hops = 3;
    assert!(world.ask(path).is_ok());

    let mut world = people();
    world.limits.bindings = 5;
    let ways = r#"match { $p: Person { slug: "ada" }  $p <knows> {2,4} $f } return { $f.slug }"#;
    hit(&mut world, ways, Bound::Bindings);

    let mut world = people();
    world.limits.answer_bytes = 49;
    let all = "match { $p: Person } return { $p.slug }";
    hit(&mut world, all, Bound::AnswerBytes);
    world.limits.answer_bytes = 50;
    assert!(world.ask(all).is_ok());
}

#[test]
fn an_answer_has_no_more_rows_than_allowed_and_says_where_it_goes_on() {
    let mut world = people();
    world.limits.answer_rows = 4;
    let query = "match { $p: Person } return { $p.slug } order { $p.slug }";
    let (answer, _) = world.ask_with(query, &json!(null), &Page::default()).unwrap();
    assert_eq!(answer.rows.len(), 4);
    assert!(answer.next.is_some());
}

#[test]
fn nobody_waits_for_what_was_called_off() {
    let mut world = people();
    world.limits.deadline = Some(std::time::Instant::now());
    assert!(matches!(world.ask(PAIRS), Err(ExecError::TimedOut)));
    assert!(matches!(world.try_change("delete Person where age > 3"), Err(ExecError::TimedOut)));
}

/// Whoever lets go of a query ends it, since it gives way all the time.
#[test]
fn a_query_gives_way_between_its_steps_and_within_them() {
    let mut world = people();
    let Body::Read(read) = world.plan(PAIRS).unwrap().body else { panic!() };
    let turns = |world: &super::world::World| {
        let (mut view, context) = (world.view(), world.context());
        let page = Page::default();
        let mut running = Box::pin(run_read(&mut view, &context, &read, &page));
        let mut waiting = Context::from_waker(Waker::noop());
        let mut turns = 1;
        while running.as_mut().poll(&mut waiting).is_pending() {
            turns += 1;
        }
        turns
    };
    let few = turns(&world);
    assert!(few > 2, "{few}");
    for n in 0..300 {
        world
            .change(&format!(
                "insert Person {{ slug: \"x{n}\", name: \"X{n}\", tags: [], stage: \"lead\" }}"
            ))
            .unwrap();
    }
    let many = turns(&world);
    assert!(many > few + 5, "{many} after {few}");
}

#[test]
fn numbers_never_wrap() {
    let mut world = people();
    for (query, expected) in [
        ("match { $c: Company } return { $c.worth + 1 as n }", "too large a number: `n`"),
        ("match { $p: Person } return { $p.age * 100000000 as n }", "too large a number: `n`"),
        (
            "match { $c: Company  $d: Company } return { sum($c.worth) as n }",
            "too large a number: `n`",
        ),
        ("match { $p: Person } return { 1 / ($p.age - 36) as n }", "division by zero"),
        ("match { $p: Person } return { 1 % ($p.age - 36) as n }", "division by zero"),
        ("match { $p: Person  1.5 / ($p.age - 36) > 0.0 } return { $p.slug }", "division by zero"),
        (
            "match { $c: Company  $c.worth * $c.worth * $c.worth > 0 } return { $c.slug }",
            "too large a number",
        ),
    ] {
        let error = world.ask(query).map(|(rows, _)| rows.to_string());
        let error = error.map_err(|error| error.to_string());
        assert!(error.as_ref().is_err_and(|text| text.contains(expected)), "{query}: {error:?}");
    }
    // What is left out by another condition is never divided by.
    let guarded =
        "match { $p: Person  1 / ($p.age - 36) >= 0  $p.age != 36 } return { count() as n }";
    assert_eq!(world.ask(guarded).unwrap().0, json!([["7"]]));
}

#[test]
fn a_parameter_without_a_value_is_an_error_and_never_a_filter_less() {
    let mut world = people();
    let query =
        "query q($slug: String) { match { $p: Person { slug: $slug } } return { $p.slug } }";
    let Body::Read(read) = world.plan(query).unwrap().body else { panic!() };
    assert!(matches!(world.read(&read), Err(ExecError::MissingParam(0))));
    // Even where no row would ever ask for it.
    let query = r#"query q($age: I32) {
        match { $p: Person { slug: "zoe" }  $p.age = $age } return { $p.slug }
    }"#;
    let Body::Read(read) = world.plan(query).unwrap().body else { panic!() };
    assert!(matches!(world.read(&read), Err(ExecError::MissingParam(0))));
    let query = "query q($age: I32) { delete Person where age = $age }";
    let Body::Write(write) = world.plan(query).unwrap().body else { panic!() };
    assert!(matches!(world.changes(&write), Err(ExecError::MissingParam(0))));
    // One that is null is equal to nothing.
    let query = "query q($age: I32?) { match { $p: Person { age: $age } } return { $p.slug } }";
    let (answer, _) = world.ask_with(query, &json!({}), &Page::default()).unwrap();
    assert!(answer.rows.is_empty());
    // A limit that is nothing is not none.
    let limit = |value| Some(Expr::Const(value));
    let Body::Read(mut read) = world.plan(PAIRS).unwrap().body else { panic!() };
    read.limit = limit(Value::Null);
    assert!(world.read(&read).is_err());
    read.limit = limit(Value::Int(-1));
    assert!(world.read(&read).is_err());
}

const PAGED: &str = "query q($age: I32) {
    match { $p: Person  $p.age > $age } return { $p.slug, now() as at } order { $p.age desc } limit 7
}";

#[test]
fn pages_are_read_one_after_the_other() {
    let mut world = people();
    let all = world.ask_with(PAGED, &json!({"age": 8}), &Page::default()).unwrap().0;
    assert_eq!((all.rows.len(), all.next), (7, None));
    let (mut found, mut sizes, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let page = Page { size: 3, cursor };
        let (answer, _) = world.ask_with(PAGED, &json!({"age": 8}), &page).unwrap();
        sizes.push(answer.rows.len());
        found.extend(answer.rows);
        cursor = answer.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [3, 3, 1]);
    assert_eq!(found, all.rows);
}

#[test]
fn a_cursor_is_good_for_its_own_query_alone() {
    let mut world = people();
    let first = Page { size: 3, cursor: None };
    let next = world.ask_with(PAGED, &json!({"age": 8}), &first).unwrap().0.next.unwrap();
    let page = |token: &str| Page { size: 3, cursor: Some(token.to_owned()) };
    assert!(world.ask_with(PAGED, &json!({"age": 8}), &page(&next)).is_ok());
    let refused = |result: Result<_, ExecError>| match result {
        Err(ExecError::Cursor(error)) => error,
        other => panic!("{:?}", other.map(|(answer, _): (_, Vec<&str>)| rows(&answer))),
    };
    let other = world.ask_with(PAGED, &json!({"age": 9}), &page(&next));
    assert_eq!(refused(other), CursorError::Elsewhere);
    let query = PAGED.replace("desc", "");
    let other = world.ask_with(&query, &json!({"age": 8}), &page(&next));
    assert_eq!(refused(other), CursorError::Elsewhere);
    for token in ["", "x", "e30", &next[1..], &"a".repeat(9999)] {
        let other = world.ask_with(PAGED, &json!({"age": 8}), &page(token));
        assert_eq!(refused(other), CursorError::Unreadable, "{token}");
    }
    // One that somebody made up: the place is another, the seal is not.
    let forged = forged(&next);
    let other = world.ask_with(PAGED, &json!({"age": 8}), &page(&forged));
    assert_eq!(refused(other), CursorError::Elsewhere);
    // After a change, the pages of before must be read where they were.
    assert_eq!(
        Cursor::parse(&next).unwrap().commit(),
        narthex_store::GraphView::placed(&world.view()).commit.id
    );
    world.change(r#"delete Person where slug = "ada""#).unwrap();
    let other = world.ask_with(PAGED, &json!({"age": 8}), &page(&next));
    assert_eq!(refused(other), CursorError::OtherCommit);
}

fn forged(token: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap();
    assert!(text.contains(r#""o":3"#), "{text}");
    URL_SAFE_NO_PAD.encode(text.replace(r#""o":3"#, r#""o":0"#))
}

#[test]
fn nearest_comes_after_every_filter() {
    // Ten people nearer than all that the filter leaves: five must come all the same.
    let mut world = people();
    for number in 0..10 {
        let near = 1.0 - f64::from(number) / 1000.0;
        world
            .change(&format!(
                r#"insert Person {{ slug: "near{number}", name: "N{number}", age: 1, tags: [],
                    stage: "lead", place: [{near}, 0.0] }}"#
            ))
            .unwrap();
    }
    let query = "match { $p: Person  $p.age > 20 } return { $p.slug } \
                 order { nearest($p.place, [1.0, 0.0]) } limit 5";
    let found = world.ask(query).unwrap().0;
    assert_eq!(found, json!([["ada"], ["bob"], ["fay"], ["gus"], ["ivy"]]));
}
