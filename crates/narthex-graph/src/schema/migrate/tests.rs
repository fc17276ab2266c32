//! Every change there can be, and what it asks for.

use std::collections::BTreeSet;

use super::{Change, Class, KindChange, Verify, kind_change, plan};
use crate::schema::{Kind, Schema};

/// A small schema with this inside its node, and this for the rest.
fn read(inside: &str, rest: &str, before: Option<&Schema>) -> Schema {
    let source = format!(
        "node P {{\n slug: String @key\n {inside}\n}}\nnode Q {{ k: String @key }}\n{rest}"
    );
    Schema::read(&source, before).unwrap_or_else(|wrong| panic!("{source}\n{wrong:?}"))
}

fn steps(before: (&str, &str), after: (&str, &str)) -> Vec<(Change, Class)> {
    let old = read(before.0, before.1, None);
    let new = read(after.0, after.1, Some(&old));
    let migration = plan(&old, &new);
    for step in &migration.steps {
        assert!(step.sentence.contains('`'), "{step:?}");
        assert_eq!(step.verify.is_some(), step.class == Class::NeedsCheck, "{step:?}");
        assert!(step.class != Class::Refused || step.advice.is_some(), "{step:?}");
    }
    let mut found: Vec<_> = migration.steps.iter().map(|step| (step.change, step.class)).collect();
    found.sort_unstable();
    found
}

/// Before, after, and the steps between.
type Line<'a> = ((&'a str, &'a str), (&'a str, &'a str), &'a [(Change, Class)]);

#[test]
fn every_change_is_classed() {
    use Change as C;
    use Class::{Additive, Destructive, NeedsCheck, Refused};
    let table: &[Line<'_>] = &[
        (("a: I32?", ""), ("a: I32?", ""), &[]),
        (("", ""), ("a: I32?", ""), &[(C::AddProperty, Additive)]),
        (("", ""), ("a: I32", ""), &[(C::AddProperty, NeedsCheck)]),
        (("", ""), ("a: I32? @index", ""), &[(C::AddProperty, Additive), (C::AddIndex, Additive)]),
        (("a: I32?", ""), ("", ""), &[(C::DropProperty, Destructive)]),
        (("a: I32?", ""), ("b: I32? @rename_from(a)", ""), &[(C::RenameProperty, Additive)]),
        (
            ("a: I32?", ""),
            ("b: I32?", ""),
            &[(C::AddProperty, Additive), (C::DropProperty, Destructive)],
        ),
        (("a: I32?", ""), ("a: I64?", ""), &[(C::ChangeKind, Additive)]),
        (("a: I64?", ""), ("a: I32?", ""), &[(C::ChangeKind, NeedsCheck)]),
        (("a: I32?", ""), ("a: String?", ""), &[(C::ChangeKind, Refused)]),
        (("a: I32", ""), ("a: I32?", ""), &[(C::AllowNull, Additive)]),
        (("a: I32?", ""), ("a: I32", ""), &[(C::ForbidNull, NeedsCheck)]),
        (("a: I32?", ""), ("a: I32? @index", ""), &[(C::AddIndex, Additive)]),
        (("a: I32? @index", ""), ("a: I32?", ""), &[(C::DropIndex, Additive)]),
        (("a: I32?", ""), ("a: I32? @unique", ""), &[(C::AddUnique, NeedsCheck)]),
        (("a: I32? @unique", ""), ("a: I32?", ""), &[(C::DropUnique, Additive)]),
        (("a: I32? b: I32?\n @unique(a, b)", ""), ("a: I32? b: I32?\n @unique(b, a)", ""), &[]),
        (("a: I32?", ""), ("a: I32? @range(0..9)", ""), &[(C::AddRange, NeedsCheck)]),
        (("a: I32? @range(0..9)", ""), ("a: I32? @range(0..)", ""), &[(C::WidenRange, Additive)]),
        (("a: I32? @range(0..9)", ""), ("a: I32? @range(-1..9)", ""), &[(C::WidenRange, Additive)]),
        (
            ("a: I32? @range(0..9)", ""),
            ("a: I32? @range(1..99)", ""),
            &[(C::NarrowRange, NeedsCheck)],
        ),
        (
            ("a: I32? @range(0..)", ""),
            ("a: I32? @range(0..9)", ""),
            &[(C::NarrowRange, NeedsCheck)],
        ),
        (("a: I32? @range(0..9)", ""), ("a: I32?", ""), &[(C::DropRange, Additive)]),
        (("a: I32?", ""), ("a: I32?\n @check(a > 1)", ""), &[(C::AddCheck, NeedsCheck)]),
        (("a: I32?\n @check(a > 1)", ""), ("a: I32?", ""), &[(C::DropCheck, Additive)]),
        (
            ("a: I32?\n @check(a > 1)", ""),
            ("b: I32? @rename_from(a)\n @check(b > 1)", ""),
            &[(C::RenameProperty, Additive)],
        ),
        (
            ("a: String? v: Vector(2)?", ""),
            ("a: String? v: Vector(2)? @embed(a)", ""),
            &[(C::ChangeEmbed, Additive)],
        ),
        (
            ("a: String?", ""),
            ("a: String? @description(\"x\")\n @description(\"y\")", ""),
            &[(C::ChangeDescription, Additive), (C::ChangeDescription, Additive)],
        ),
        (("", ""), ("", "node N { k: String @key }"), &[(C::AddNode, Additive)]),
        (("", "node N { k: String @key }"), ("", ""), &[(C::DropNode, Destructive)]),
        (
            ("", "node N { k: String @key }"),
            ("", "node M @rename_from(N) { k: String @key }"),
            &[(C::RenameType, Additive)],
        ),
        (
            ("", "node N { k: String @key  l: String }"),
            ("", "node N { k: String  l: String @key }"),
            &[(C::ChangeKey, Refused)],
        ),
        (
            ("", "node N { k: I32 @key }"),
            ("", "node N { k: I64 @key }"),
            &[(C::ChangeKind, Additive)],
        ),
        (
            ("", "node N { k: Date @key }"),
            ("", "node N { k: String @key }"),
            &[(C::ChangeKind, Additive)],
        ),
        (
            ("", "node N { k: I32 @key }"),
            ("", "node N { k: String @key }"),
            &[(C::ChangeKey, Refused)],
        ),
        (("", ""), ("", "edge E: P -> Q"), &[(C::AddEdge, Additive)]),
        (("", ""), ("", "edge E: P -> Q @card(0..1)"), &[(C::AddEdge, Additive)]),
        (
            ("", ""),
            ("", "edge E: P -> Q @card(1..2)"),
            &[(C::AddEdge, Additive), (C::AddCard, NeedsCheck)],
        ),
        (("", "edge E: P -> Q"), ("", ""), &[(C::DropEdge, Destructive)]),
        (
            ("", "edge E: P -> Q"),
            ("", "edge F: P -> Q @rename_from(E)"),
            &[(C::RenameType, Additive)],
        ),
        (
            ("", "edge E: P -> Q { a: I32 }"),
            ("", "edge E: P -> Q { a: I32 @key }"),
            &[(C::ChangeKey, Refused)],
        ),
        (
            ("", "edge E: P -> Q { a: Date @key }"),
            ("", "edge E: P -> Q { a: String @key }"),
            &[(C::ChangeKey, Refused)],
        ),
        (("", "edge E: P -> Q"), ("", "edge E: P -> Q @card(0..1)"), &[(C::AddCard, NeedsCheck)]),
        (("", "edge E: P -> Q @card(0..1)"), ("", "edge E: P -> Q"), &[(C::DropCard, Additive)]),
        (
            ("", "edge E: P -> Q @card(0..1)"),
            ("", "edge E: P -> Q @card(0..2)"),
            &[(C::LoosenCard, Additive)],
        ),
        (
            ("", "edge E: P -> Q @card(0..2)"),
            ("", "edge E: P -> Q @card(1..9)"),
            &[(C::TightenCard, NeedsCheck)],
        ),
        (("", "edge E: P -> Q"), ("", "edge E: P -> P"), &[(C::ChangeEnds, NeedsCheck)]),
        (
            (
                "",
                "interface I { k: String }\nnode N implements I { k: String @key }\nedge E: P -> N",
            ),
            (
                "",
                "interface I { k: String }\nnode N implements I { k: String @key }\nedge E: P -> I",
            ),
            &[],
        ),
        (
            (
                "",
                "interface I { k: String }\nnode N implements I { k: String @key }\nedge E: P -> I",
            ),
            ("", "interface I { k: String }\nnode N { k: String @key }\nedge E: P -> I"),
            &[(C::ChangeEnds, NeedsCheck), (C::ChangeInterfaces, Additive)],
        ),
        (
            ("", "interface I { k: String }\nnode N { k: String @key }\nedge E: P -> I"),
            (
                "",
                "interface I { k: String }\nnode N implements I { k: String @key }\nedge E: P -> I",
            ),
            &[(C::ChangeEnds, Additive), (C::ChangeInterfaces, Additive)],
        ),
        (("", ""), ("", "interface I { k: String }"), &[(C::AddInterface, Additive)]),
        (("", "interface I { k: String }"), ("", ""), &[(C::DropInterface, Additive)]),
    ];
    let mut met = BTreeSet::new();
    for (before, after, expected) in table {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let found = steps(*before, *after);
        assert_eq!(found, expected, "{before:?}\n{after:?}");
        met.extend(found.into_iter().map(|(change, _)| format!("{change:?}")));
    }
    // A new one has to be counted here, and so comes into the table above.
    let last = Change::ChangeDescription as usize;
    assert_eq!(met.len(), last + 1);
}

#[test]
fn every_kind_to_every_kind() {
    use KindChange::{MayFit, Never, Same, Widens};
    let words = |words: &[&str]| Kind::Enum(words.iter().map(|word| (*word).to_owned()).collect());
    let kinds = [
        Kind::String,
        Kind::Blob,
        words(&["a"]),
        words(&["a", "b"]),
        Kind::Date,
        Kind::DateTime,
        Kind::Bool,
        Kind::I32,
        Kind::I64,
        Kind::U32,
        Kind::U64,
        Kind::F32,
        Kind::F64,
        Kind::Vector(2),
        Kind::Vector(3),
        Kind::List(Box::new(Kind::I32)),
        Kind::List(Box::new(Kind::I64)),
    ];
    // Rows are what it was, columns what it becomes, both in the order above.
    let table = "
        = ? ? ? ? ? . . . . . . . . . . .
        > = ? ? ? ? . . . . . . . . . . .
        > ? = > ? ? . . . . . . . . . . .
        > ? ? = ? ? . . . . . . . . . . .
        > ? ? ? = . . . . . . . . . . . .
        > ? ? ? . = . . . . . . . . . . .
        . . . . . . = . . . . . . . . . .
        . . . . . . . = > ? ? . . . . . .
        . . . . . . . ? = ? ? . . . . . .
        . . . . . . . ? > = > . . . . . .
        . . . . . . . ? ? ? = . . . . . .
        . . . . . . . . . . . = > . . . .
        . . . . . . . . . . . ? = . . . .
        . . . . . . . . . . . . . = . . .
        . . . . . . . . . . . . . . = . .
        . . . . . . . . . . . . . . . = >
        . . . . . . . . . . . . . . . ? =";
    let rows: Vec<Vec<&str>> =
        table.trim().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), kinds.len());
    for (from, row) in kinds.iter().zip(rows) {
        assert_eq!(row.len(), kinds.len());
        for (to, is) in kinds.iter().zip(row) {
            let expected = match is {
                "=" => Same,
                ">" => Widens,
                "?" => MayFit,
                _ => Never,
            };
            assert_eq!(kind_change(from, to), expected, "{from} to {to}");
        }
    }
    // A new kind must be put into the table.
    for kind in &kinds {
        match kind {
            Kind::String
            | Kind::Blob
            | Kind::Bool
            | Kind::I32
            | Kind::I64
            | Kind::U32
            | Kind::U64
            | Kind::F32
            | Kind::F64
            | Kind::Date
            | Kind::DateTime
            | Kind::Vector(_)
            | Kind::Enum(_)
            | Kind::List(_) => {}
        }
    }
}

#[test]
fn what_must_hold_and_be_built_is_said() {
    let old = read("a: I64? b: Date? c: String? @index", "", None);
    let new = read(
        "a: I32 @range(0..9) @index b: String? @unique c: String?\n @check(a > 1)",
        "edge E: P -> Q @card(1..)",
        Some(&old),
    );
    let migration = plan(&old, &new);
    let p = || "P".to_owned();
    let verify: Vec<Verify> = migration.verify().map(|(_, verify)| verify.clone()).collect();
    assert_eq!(
        verify,
        [
            Verify::Fits { type_slot: p(), slot: "a".to_owned(), kind: Kind::I32 },
            Verify::NotNull { type_slot: p(), slot: "a".to_owned() },
            Verify::InRange { type_slot: p(), slot: "a".to_owned() },
            Verify::Unique { type_slot: p(), slots: vec!["b".to_owned()] },
            Verify::Holds { type_slot: p(), check: "a > 1".to_owned() },
            Verify::Cardinality { edge_slot: "E".to_owned() },
        ]
    );
    let builds: Vec<_> =
        migration.builds.iter().map(|of| (of.slots.join(","), of.unique)).collect();
    assert_eq!(builds, [("a".to_owned(), false), ("b".to_owned(), true)]);
    assert_eq!(migration.builds[0].index, new.nodes[0].properties[1].index_tag("P").unwrap());
    assert!(!migration.is_destructive() && migration.refused().next().is_none());
    assert!(plan(&new, &old).is_destructive(), "the edge goes");
    assert!(plan(&new, &new).is_empty());
    // A kind that is indexed otherwise is indexed anew, and what was unique by day is by text.
    let next = read("a: I32? b: Date? @unique @index", "", None);
    let last = read("a: I32? b: String? @unique @index", "", Some(&next));
    let builds: Vec<_> = plan(&next, &last).builds.iter().map(|of| of.unique).collect();
    assert_eq!(builds, [false, true]);
}
