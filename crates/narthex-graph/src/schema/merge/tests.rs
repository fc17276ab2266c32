//! Schemas merged, and printed.

use proptest::prelude::*;

use super::{Schema, SchemaConflict, merge};
use crate::merge::Side;
use crate::schema::merge::shape::Shape;
use crate::schema::tests::PEOPLE;

fn read(source: &str, before: Option<&Schema>) -> Schema {
    Schema::read(source, before).unwrap_or_else(|wrong| panic!("{source}\n{wrong:?}"))
}

const BASE: &str = "interface Named { name: String }
node P implements Named {
    slug: String @key
    name: String
    a: I32?
    b: String?
    @check(a > 1)
}
node Q { k: String @key }
edge E: P -> Q { since: Date? }
";

/// The base with some of it written otherwise.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(BASE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

fn merged(ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> Result<Schema, Vec<SchemaConflict>> {
    let base = read(BASE, None);
    let ours = read(&with(ours), Some(&base));
    let theirs = read(&with(theirs), Some(&base));
    let one = merge(std::slice::from_ref(&base), &ours, &theirs);
    let other = merge(&[base], &theirs, &ours);
    match (&one, &other) {
        (Ok(one), Ok(other)) => assert_eq!(Shape::of(one), Shape::of(other), "either way round"),
        (Err(one), Err(other)) => assert_eq!(one.len(), other.len()),
        _ => panic!("{one:?}\n{other:?}"),
    }
    one
}

#[test]
fn what_either_side_did_is_done() {
    for (ours, theirs, has, has_not) in [
        (
            vec![("a: I32?", "a: I64?")],
            vec![("b: String?", "b: String? @index")],
            vec!["a: I64?", "b: String? @index"],
            vec![],
        ),
        (
            vec![("a: I32?", "a: I32?\n c: Bool?")],
            vec![("a: I32?", "a: I32?\n d: Bool?")],
            vec!["c: Bool?", "d: Bool?"],
            vec![],
        ),
        (
            vec![("a: I32?", "a: I32?\n c: Bool?")],
            vec![("a: I32?", "a: I32?\n c: Bool?")],
            vec!["c: Bool?"],
            vec![],
        ),
        (
            vec![("    b: String?\n", "")],
            vec![("a: I32?", "a: I32?\n c: Bool?")],
            vec!["c: Bool?"],
            vec!["b: String?"],
        ),
        (
            // The condition speaks of the property by its new name.
            vec![("    a: I32?", "    z: I32? @rename_from(a)"), ("a > 1", "z > 1")],
            vec![("@check(a > 1)", "@check(a > 1)\n    @check(a < 9 or a is null)")],
            vec!["z: I32?", "@check(z > 1)", "@check((z < 9) or (z is null))"],
            vec![" a: I32?"],
        ),
        (
            vec![("node Q {", "node R @rename_from(Q) {"), ("P -> Q", "P -> R")],
            vec![("since: Date?", "since: Date?\n    much: F64?")],
            vec!["node R {", "edge E: P -> R {", "much: F64?"],
            vec!["node Q"],
        ),
        (
            vec![("node Q", "node N { k: String @key }\nnode Q")],
            vec![("edge E: P -> Q {", "edge F: Q -> P\nedge E: P -> Q @card(0..3) {")],
            vec!["node N {", "edge F: Q -> P", "@card(0..3)"],
            vec![],
        ),
        (
            vec![("@check(a > 1)", "")],
            vec![("b: String?", "b: String? @unique")],
            vec!["b: String? @unique"],
            vec!["@check"],
        ),
    ] {
        let merged = merged(&ours, &theirs).unwrap_or_else(|wrong| panic!("{ours:?} {wrong:?}"));
        for text in has {
            assert!(merged.source.contains(text), "{text} in\n{}", merged.source);
        }
        for text in has_not {
            assert!(!merged.source.contains(text), "{text} in\n{}", merged.source);
        }
        let again = Schema::from_stored(&merged.stored()).unwrap();
        assert_eq!(again, merged);
    }
}

#[test]
fn one_side_alone_is_taken_word_for_word() {
    let base = read(BASE, None);
    let ours = read(&with(&[("a: I32?", "a: I32? // years")]), Some(&base));
    let theirs = read(&with(&[("b: String?", "b: String? @index // text")]), Some(&base));
    let one = merge(std::slice::from_ref(&base), &ours, &theirs).unwrap();
    assert_eq!(one.source, theirs.source, "ours says the same as the base");
    let other = merge(std::slice::from_ref(&base), &theirs, &base).unwrap();
    assert_eq!(other.source, theirs.source);
    // What was used and given up on either side stays used.
    let twice = read(&with(&[("a: I32?", "a: I32?\n c: Bool?")]), Some(&base));
    let back = read(BASE, Some(&twice));
    let merged = merge(&[base], &theirs, &back).unwrap();
    assert!(merged.slots.contains("P.c") && merged.slots.contains("P.b#1"));
}

#[test]
fn what_an_interface_asks_for_reaches_nodes_that_got_it() {
    let merged = merged(
        &[("{ name: String }", "{ name: String  nick: String? @index }")],
        &[("node Q {", "node Q implements Named { name: String")],
    )
    .unwrap();
    let q = merged.node("Q").unwrap();
    let nick = q.property("nick").unwrap();
    assert_eq!((nick.slot.as_str(), nick.index), ("nick", Some(1)));
}

#[test]
fn what_both_did_unlike_is_a_conflict() {
    let (at, ours, theirs) = (|at: &str| at.to_owned(), "I64".to_owned(), "U32".to_owned());
    let cases = [
        (
            vec![("a: I32?", "a: I64?")],
            vec![("a: I32?", "a: U32?")],
            SchemaConflict::DivergentChange {
                at: at("P.a"),
                aspect: "kind",
                ours: ours.clone(),
                theirs: theirs.clone(),
            },
        ),
        (
            vec![("a: I32?", "a: I32?\n c: I64?")],
            vec![("a: I32?", "a: I32?\n c: U32?")],
            SchemaConflict::DivergentAdd { at: at("P.c"), aspect: "kind", ours, theirs },
        ),
        (
            vec![("    b: String?\n", "")],
            vec![("b: String?", "b: String? @index")],
            SchemaConflict::RemovedAgainstChanged { at: at("P.b"), removed_by: Side::Ours },
        ),
        (
            vec![("node Q { k: String @key }\n", ""), ("edge E: P -> Q { since: Date? }\n", "")],
            vec![("k: String @key", "k: String @key  l: I32?")],
            SchemaConflict::RemovedAgainstChanged { at: at("Q"), removed_by: Side::Ours },
        ),
        (
            vec![("b: String?", "x: String? @rename_from(b)")],
            vec![("b: String?", "y: String? @rename_from(b)")],
            SchemaConflict::TwoNames { ours: at("x"), theirs: at("y") },
        ),
        (
            vec![("b: String?", "x: String? @rename_from(b)")],
            vec![("b: String?", "b: String?\n x: I32?")],
            SchemaConflict::OneName { name: at("P.x") },
        ),
        (
            vec![("node Q {", "node R @rename_from(Q) {"), ("P -> Q", "P -> R")],
            vec![("node Q", "node R { k: String @key }\nnode Q")],
            SchemaConflict::OneName { name: at("R") },
        ),
        (
            vec![("node Q { k: String @key }\n", ""), ("edge E: P -> Q { since: Date? }\n", "")],
            vec![("edge E", "edge F: Q -> Q\nedge E")],
            SchemaConflict::Dangling { at: at("F"), needs: at("Q"), removed_by: Side::Ours },
        ),
        (
            vec![("    b: String?\n", "")],
            vec![("@check(a > 1)", "@check(a > 1)\n @unique(a, b)")],
            SchemaConflict::Dangling { at: at("P"), needs: at("P.b"), removed_by: Side::Ours },
        ),
        (
            vec![("since: Date?", "since: Date? @range(\"2026-01-01\"..)")],
            vec![("since: Date?", "since: Date? @range(\"2027-01-01\"..)")],
            SchemaConflict::DivergentChange {
                at: at("E.since"),
                aspect: "@range",
                ours: at("\"2026-01-01\".."),
                theirs: at("\"2027-01-01\".."),
            },
        ),
    ];
    for (ours, theirs, expected) in cases {
        let conflicts = merged(&ours, &theirs).expect_err(&format!("{ours:?} {theirs:?}"));
        assert_eq!(conflicts, [expected], "{ours:?} {theirs:?}");
    }
    // Each is right, and both are not.
    let both = merged(
        &[("a: I32?", "a: I32? @range(0..9)")],
        &[("    a: I32?", "    a: Bool?"), ("a > 1", "a")],
    );
    assert!(matches!(both.unwrap_err().as_slice(), [SchemaConflict::Invalid { .. }]));
}

#[test]
fn what_was_added_and_given_up_is_not_taken_for_another() {
    let base = read(BASE, None);
    let with_c = read(&with(&[("a: I32?", "a: I32?\n c: String?")]), Some(&base));
    let theirs = read(&with(&[("a: I32?", "a: I32?\n c: Bool?")]), Some(&base));
    // Whether ours has changed anything else since or not.
    for ours in [BASE.to_owned(), with(&[("b: String?", "b: String? @index")])] {
        let ours = read(&ours, Some(&with_c));
        let conflict =
            SchemaConflict::RemovedAgainstChanged { at: "P.c".to_owned(), removed_by: Side::Ours };
        let bases = std::slice::from_ref(&base);
        assert_eq!(merge(bases, &ours, &theirs).unwrap_err(), [conflict]);
    }
}

#[test]
fn an_index_that_was_given_up_is_never_taken_up_again() {
    let base = read(BASE, None);
    let edit = with(&[("b: String?", "b: String? @index")]);
    let theirs = read(&edit, Some(&base));
    // Ours had the same index, and has not kept it since.
    let had = read(&edit, Some(&base));
    let ours = read(&with(&[("a: I32?", "a: I64?")]), Some(&had));
    let index = |schema: &Schema| schema.node("P").unwrap().property("b").unwrap().index;
    assert_eq!((index(&theirs), index(&ours)), (Some(1), None));
    let back = read(BASE, Some(&had));
    for (one, other) in [(&ours, &theirs), (&theirs, &ours), (&back, &theirs), (&theirs, &back)] {
        let merged = merge(std::slice::from_ref(&base), one, other).unwrap();
        assert_eq!(index(&merged), Some(2));
        assert!(merged.slots.contains("P.b#2"));
        assert_eq!(crate::schema::migrate::plan(one, &merged).builds.len(), 1);
    }
}

#[test]
fn several_bases_must_agree() {
    let base = read(BASE, None);
    let one = read(&with(&[("b: String?", "b: String? @index")]), Some(&base));
    let other = read(&with(&[("a: I32?", "a: I64?")]), Some(&base));
    let both =
        read(&with(&[("a: I32?", "a: I64?"), ("b: String?", "b: String? @index")]), Some(&one));
    let bases = [one.clone(), other.clone()];
    let more = read(
        &with(&[("a: I32?", "a: I64?\n c: Bool?"), ("b: String?", "b: String? @index")]),
        Some(&both),
    );
    assert_eq!(Shape::of(&merge(&bases, &both, &more).unwrap()), Shape::of(&more));
    assert_eq!(Shape::of(&merge(&bases, &both, &both).unwrap()), Shape::of(&both));
    // One side is as one of the bases: from there the other is right, from here it is not.
    assert_eq!(merge(&bases, &one, &other).unwrap_err(), [SchemaConflict::Unclear]);
    assert_eq!(merge(&[], &one, &other).unwrap_err(), [SchemaConflict::Unclear]);
}

fn same(schema: &Schema) {
    let printed = Schema { source: schema.to_source(), ..schema.clone() };
    let again = Schema::from_stored(&printed.stored())
        .unwrap_or_else(|wrong| panic!("{wrong}\n{}", printed.source));
    assert_eq!(again, printed, "{}", printed.source);
    assert_eq!(again.to_source(), printed.source);
}

#[test]
fn a_printed_schema_reads_back_as_itself() {
    let people = read(PEOPLE, None);
    same(&people);
    same(&read(BASE, None));
    let odd = read(
        r#"
        interface A { x: I32 @index }
        interface B { y: String? }
        node N implements A, B @description("a \"quoted\"\nline \\ and \u{7f}") {
            day: Date @key
            f: F64? @range(-1.5..1e300) @description("é")
            u: U64? @range(..18446744073709551615)
            d: Date? @range("2020-01-01".."2020-12-31")
            t: DateTime? @range("2020-01-01T00:00:00+01:00"..)
            w: enum(a, b)? @unique
            n: [I64]
            v: Vector(3)? @embed(y)
            @unique(x, w)
            @unique(y)
            @check("x > 1 // more" )
            @check(starts_with(lower(y), "q") and not (f < -1.0) or d = date("2020-02-02"))
            @check(w in ["a", "b"])
        }
        edge E: A -> B @card(1..) @description("e") { b: I32 @key  a: String @key  c: I32? @unique }
        edge F: N -> N { p: I32  q: I32  @key(q, p) }
        edge G: N -> N
        "#,
        None,
    );
    same(&odd);
    // A condition that is written anew says the same.
    for check in &odd.node("N").unwrap().checks {
        let properties = &odd.node("N").unwrap().properties;
        let text = check.by_names(&|at| properties.get(at).map(|of| of.name.clone()));
        let source = odd.to_source();
        let anew = source.replace("\n}\n\nedge E", &format!("\n    @check({text})\n}}\n\nedge E"));
        assert_ne!(anew, source);
        let read = read(&anew, None);
        let last = read.node("N").unwrap().checks.last().unwrap().clone();
        assert_eq!(last.holds, check.holds, "{text}");
    }
}

/// A change to the base that stands on its own.
fn edit() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("a: I32?", "a: I64?"),
        ("a: I32?", "a: I32? @range(0..9)"),
        ("b: String?", "b: String? @index"),
        ("b: String?", "b: String? @unique"),
        ("b: String?", "b: String"),
        ("    b: String?\n", ""),
        ("name: String\n", "name: String @index\n"),
        ("@check(a > 1)", "@check(a > 2)"),
        ("@check(a > 1)", ""),
        ("k: String @key", "k: String @key  l: I32?"),
        ("k: String @key", "k: String @key  m: Bool?"),
        ("since: Date?", "since: DateTime?"),
        ("since: Date?", "since: Date?  much: F32?"),
        ("P -> Q", "P -> P"),
        ("P -> Q", "P -> Q @card(0..1)"),
        ("node Q", "node N { k: String @key }\nnode Q"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    /// Two sides with any edits: either both ways round come to the same, or both conflict; and
    /// what comes out reads back, and merging it with either side again is nothing new.
    #[test]
    fn merging_is_the_same_either_way(
        ours in prop::collection::vec(edit(), 0..3),
        theirs in prop::collection::vec(edit(), 0..3),
    ) {
        let apply = |edits: &[(&str, &str)]| {
            edits.iter().fold(BASE.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
        };
        let base = read(BASE, None);
        let (Ok(ours), Ok(theirs)) = (
            Schema::read(&apply(&ours), Some(&base)),
            Schema::read(&apply(&theirs), Some(&base)),
        ) else {
            return Ok(());
        };
        let bases = std::slice::from_ref(&base);
        match (merge(bases, &ours, &theirs), merge(bases, &theirs, &ours)) {
            (Ok(one), Ok(other)) => {
                prop_assert_eq!(Shape::of(&one), Shape::of(&other));
                same(&one);
                for side in [&ours, &theirs] {
                    let again = merge(std::slice::from_ref(side), &one, side).unwrap();
                    prop_assert_eq!(Shape::of(&again), Shape::of(&one));
                }
            }
            (Err(one), Err(other)) => prop_assert_eq!(one.len(), other.len()),
            (one, other) => prop_assert!(false, "{:?}\n{:?}", one, other),
        }
    }
}
