//! What things are stored under, over several schemas.

use super::PEOPLE;
use crate::schema::{Schema, StoredSchemaError};

/// Each schema read after the one before it; of the last, every slot.
fn after(texts: &[&str]) -> Vec<String> {
    let mut schema = None;
    for text in texts {
        let next = Schema::read(text, schema.as_ref()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let back = Schema::from_stored(&next.stored()).unwrap();
        assert_eq!(back, next);
        assert_eq!(back.digest(), next.digest());
        schema = Some(next);
    }
    let schema = schema.unwrap();
    let nodes = schema.nodes.iter().map(|one| (&one.name, &one.slot, &one.properties));
    let edges = schema.edges.iter().map(|one| (&one.name, &one.slot, &one.properties));
    let mut all = Vec::new();
    for (name, slot, properties) in nodes.chain(edges) {
        all.push(format!("{name}={slot}"));
        for of in properties {
            let index = of.index.map(|no| format!("#{no}")).unwrap_or_default();
            all.push(format!("{}={}{index}", of.name, of.slot));
        }
    }
    all
}

#[test]
fn slots_stay() {
    let k = "k: String @key";
    let table: [(&[&str], &[&str]); 13] = [
        (&["node A { k: String @key @index }"], &["A=A", "k=k#1"]),
        (&["node A { K }", "node A { K n: I32 }"], &["A=A", "k=k", "n=n"]),
        // A property that went and came again is another one.
        (&["node A { K n: I32 }", "node A { K }", "node A { K n: I32 }"], &["A=A", "k=k", "n=n~2"]),
        (
            &[
                "node A { K n: I32 }",
                "node A { K }",
                "node A { K n: I32 }",
                "node A { K }",
                "node A { K n: I32 }",
            ],
            &["A=A", "k=k", "n=n~3"],
        ),
        // Renamed: the same under another name, and the old name is free for something else.
        (
            &["node A { K n: I32 }", "node A { K m: I32 @rename_from(\"n\") }"],
            &["A=A", "k=k", "m=n"],
        ),
        (
            &[
                "node A { K n: I32 }",
                "node A { K m: I32 @rename_from(n) }",
                "node A { K m: I32 @rename_from(n) n: Bool }",
            ],
            &["A=A", "k=k", "m=n", "n=n~2"],
        ),
        (
            &["node A { K n: I32 }", "node B @rename_from(A) { K m: I32 @rename_from(n) }"],
            &["B=A", "k=k", "m=n"],
        ),
        // A node that becomes an edge is a new thing.
        (&["node A { K } node B { K }", "node B { K } edge A: B -> B"], &["B=B", "k=k", "A=A~2"]),
        (&["node A { K }", "node B { K }", "node A { K }"], &["A=A~2", "k=k"]),
        // An index that went and came again is another one.
        (
            &["node A { K n: I32 @index }", "node A { K n: I32 }", "node A { K n: I32 @index }"],
            &["A=A", "k=k", "n=n#2"],
        ),
        (
            &["node A { K n: I32 @index }", "node A { K n: I32 @index @range(0..) }"],
            &["A=A", "k=k", "n=n#1"],
        ),
        (
            &["node A { K n: I32 @index }", "node A { K n: String @index }"],
            &["A=A", "k=k", "n=n#2"],
        ),
        (
            &["node A { K n: I32 @index }", "node A { K m: I32 @rename_from(n) @index }"],
            &["A=A", "k=k", "m=n#1"],
        ),
    ];
    for (texts, expected) in table {
        let texts: Vec<String> = texts.iter().map(|text| text.replace('K', k)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(after(&texts), expected, "{texts:?}");
    }
}

#[test]
fn a_rename_that_cannot_be() {
    let table = [
        (
            "node A { k: String @key  nn: I32 }",
            "node A { k: String @key m: I32 @rename_from(n) }",
            "there was no `n` that could be renamed",
        ),
        (
            "node A { k: String @key  n: I32 }",
            "node A { k: String @key n: I32 m: I32 @rename_from(n) }",
            "`n` is still there and cannot be `m` too",
        ),
        (
            "node A { k: String @key  n: I32 }",
            "node A { k: String @key a: I32 @rename_from(n) m: I32 @rename_from(n) }",
            "two are renamed from `n`",
        ),
        (
            "node A { k: String @key }",
            "node B @rename_from(A) { k: String @key } node C @rename_from(A) { k: String @key }",
            "two are renamed from `A`",
        ),
        (
            "node A { k: String @key }",
            "node A { k: String @key } node C @rename_from(A) { k: String @key }",
            "`A` is still there and cannot be `C` too",
        ),
    ];
    for (before, text, expected) in table {
        let before = Schema::read(before, None).unwrap();
        let found = Schema::read(text, Some(&before)).unwrap_err();
        assert_eq!(found[0].message, expected);
        // Without anything before, there is nothing to rename, and that is all right.
        let fresh = Schema::read(text, None).unwrap();
        assert!(fresh.slots.iter().all(|slot| !slot.contains('~')));
    }
}

#[test]
fn what_is_stored_is_read_strictly() {
    let stored = Schema::read(PEOPLE, None).unwrap().stored();
    assert!(Schema::from_stored("{}").is_err());
    let other = stored.replace("\"version\":1", "\"version\":2");
    assert!(matches!(Schema::from_stored(&other), Err(StoredSchemaError::Version(2))));
    let other = stored.replace("\"bio\":{", "\"boi\":{");
    let Err(StoredSchemaError::Slot(name)) = Schema::from_stored(&other) else { panic!() };
    assert_eq!(name, "Person.bio");
}

#[test]
fn the_same_text_on_two_branches_is_the_same_schema() {
    let before = Schema::read(PEOPLE, None).unwrap();
    let text = format!("{PEOPLE}\nnode Place {{ slug: String @key }}");
    let (ours, theirs) =
        (Schema::read(&text, Some(&before)).unwrap(), Schema::read(&text, Some(&before)).unwrap());
    assert_eq!(ours.digest(), theirs.digest());
    assert_ne!(ours.digest(), before.digest());
}
