//! What a text comes to.

use super::PEOPLE;
use crate::schema::{Card, Kind, Range, Schema};
use crate::value::Value;

#[test]
fn the_guide_reads() {
    let schema = Schema::read(PEOPLE, None).unwrap();
    let person = schema.node("Person").unwrap();
    let kinds: Vec<String> = person
        .properties
        .iter()
        .map(|of| {
            format!("{} {}{} {:?}", of.name, of.kind, if of.nullable { "?" } else { "" }, of.index)
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "slug String None",
            "name String Some(1)",
            "age I32? None",
            "bio String? Some(1)",
            "tags [String] None",
            "stage enum(lead, member, alumni) None",
            "embedding Vector(384)? None",
        ]
    );
    assert_eq!(person.key, 0);
    assert_eq!(person.uniques, [vec![1, 5]]);
    assert_eq!(person.description.as_deref(), Some("someone we work with"));
    let age = person.property("age").unwrap();
    assert_eq!(age.range, Some(Range { low: Some(Value::Int(0)), high: Some(Value::Int(150)) }));
    let works_at = schema.edge("WorksAt").unwrap();
    assert_eq!(works_at.card, Some(Card { min: 0, max: Some(1) }));
    assert_eq!((works_at.from.as_str(), works_at.to.as_str()), ("Person", "Company"));
    assert_eq!(schema.nodes_of("Named").count(), 1);
    assert_eq!(schema.print(), PEOPLE);
}

/// The kind and nullability of `x` in a text, and its range, as they are shown.
#[test]
fn properties_read() {
    let table = [
        ("x: String", "String"),
        ("x : String ?", "String?"),
        ("x: Blob", "Blob"),
        ("x: [I64]", "[I64]"),
        ("x: [enum(a, \"b c\")]?", "[enum(a, \"b c\")]?"),
        ("x: Vector(3)", "Vector(3)"),
        ("x: F32 @range(-1.5..1.5)", "F32 -1.5..1.5"),
        ("x: I64 @range(-5..-1)", "I64 -5..-1"),
        ("x: U64 @range(..10)", "U64 ..10"),
        ("x: F64 @range(1..)", "F64 1.."),
        ("x: Date @range(\"2020-01-01\"..date(\"2030-12-31\"))", "Date 2020-01-01..2030-12-31"),
        (
            "x: DateTime? @range(\"2020-01-01T00:00:00+01:00\"..)",
            "DateTime? 2019-12-31T23:00:00.000000Z..",
        ),
        ("x: Bool;", "Bool"),
        ("x: Bool, y: Bool", "Bool"),
        ("x: Bool y: Bool", "Bool"),
        ("x: /* a */ Bool // b\n", "Bool"),
        ("from: String x: Bool to: String", "Bool"),
    ];
    for (text, expected) in table {
        let source = format!("node N {{ k: String @key {text} }}");
        let schema = Schema::read(&source, None).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let of = schema.node("N").unwrap().property("x").unwrap();
        let mut got = of.kind.to_string();
        if of.nullable {
            got.push('?');
        }
        if let Some(Range { low, high }) = &of.range {
            let end =
                |end: &Option<Value>| end.as_ref().map(crate::lang::shown).unwrap_or_default();
            got = format!("{got} {}..{}", end(low), end(high));
        }
        assert_eq!(got, expected, "{text}");
    }
}

#[test]
fn what_an_annotation_belongs_to() {
    let schema = Schema::read(
        "node N @description(\"head\") {
            k: String @key @description(\"of k\")
            n: I32
              @index
              @range(0..9) @check(n > 0) @check(\"n < 9 and k != \\\"x\\\"\")
            m: String @unique(k, m) @unique
            v: Vector(2) @embed(m)
         } @check(length(k) > 2)
         edge E: N -> N { a: I32 @key b: String  @key(b) @check(a > 1) } @card(1..)
         edge F: N -> N @card(2)",
        None,
    )
    .unwrap();
    let n = schema.node("N").unwrap();
    let described: Vec<_> = n.properties.iter().map(|of| of.description.as_deref()).collect();
    assert_eq!(described, [Some("of k"), None, None, None]);
    assert_eq!(n.description.as_deref(), Some("head"));
    assert_eq!(n.property("n").unwrap().index, Some(1));
    assert!(n.property("n").unwrap().range.is_some());
    assert_eq!(n.uniques, [vec![2], vec![0, 2]]);
    assert_eq!(n.property("v").unwrap().embed.as_deref(), Some("m"));
    let checks: Vec<_> = n.checks.iter().map(|check| check.source.as_str()).collect();
    assert_eq!(checks, ["n > 0", "n < 9 and k != \"x\"", "length(k) > 2"]);
    let e = schema.edge("E").unwrap();
    assert_eq!((e.key.as_slice(), e.card), (&[0, 1][..], Some(Card { min: 1, max: None })));
    assert_eq!(schema.edge("F").unwrap().card, Some(Card { min: 2, max: Some(2) }));
}

#[test]
fn interfaces_are_inherited() {
    let schema = Schema::read(
        "interface Keyed { slug: String @key @index @description(\"its name\") note: String? @check(length(slug) > 1) }
         interface Dated { at: Date @index @unique(at) }
         node A implements Keyed, Dated { x: Bool  note: String }
         edge E: Keyed -> Dated",
        None,
    )
    .unwrap();
    let a = schema.node("A").unwrap();
    let names: Vec<_> = a.properties.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["x", "note", "slug", "at"]);
    assert_eq!(a.key, 2);
    assert!(!a.property("note").unwrap().nullable);
    assert_eq!(a.property("slug").unwrap().index, Some(1));
    assert_eq!(a.property("at").unwrap().kind, Kind::Date);
    assert_eq!(a.uniques, [vec![3]]);
    assert_eq!(a.checks.len(), 1);
}

/// What is printed from the structure alone is read as the same structure.
#[test]
fn a_printed_schema_reads_the_same() {
    let rich = r#"
interface Named { name: String @index @description("a \"name\"\n\\ é") @check(length(name) > 1) }
interface Dated { at: DateTime? @range("2020-01-01T00:00:00.5Z"..) }
node A implements Named, Dated {
    k: enum(a, "b c", "d-e", "1", "q\"\\\u{7}") @key
    i: I64? @range(-5..-1)   f: F32? @range(-1.5..2.5)   g: F64 @range(0..1e300)   u: U64 @range(..18446744073709551615)
    d: Date @range("2020-01-01".."2030-01-01") @unique @index   t: [I32]   s: [enum(x, y)]?   b: Blob?
    bio: String? @index   v: Vector(3)? @embed(bio) @description("of bio")   yes: Bool
    @unique(name, i)
    @check(i + 1 < -2 * (i - 3) or not (yes and i is not null) and k in ["a", "b c"])
    @check("bio = null or starts_with(lower(bio), 'x\"\\\\y') and coalesce(i, 0) % 2 = 0")
    @check(d > date("2021-02-03") and at < datetime("2030-01-01T00:00:00Z") and "x" in s)
    @check(f >= 1.5 and g != 1e21 and contains(t, 3) and k != "a" and -i > 1 and -(i + 1) > 2)
}
node B { no: U32 @key }
edge E: Named -> B @card(0..3) @description("e") { w: String @key  since: Date? @check(w != "") @index }
edge F: B -> B @card(1..)
edge G: A -> Dated
"#;
    for text in [PEOPLE, rich] {
        let schema = Schema::read(text, None).unwrap_or_else(|e| panic!("{e:#?}"));
        let printed = schema.to_source();
        let again = Schema::read(&printed, None).unwrap_or_else(|e| panic!("{printed}\n{e:#?}"));
        let bare = |schema: &Schema| {
            let mut schema = Schema { source: String::new(), ..schema.clone() };
            let checks = schema.nodes.iter_mut().map(|one| &mut one.checks);
            for check in checks.chain(schema.edges.iter_mut().map(|one| &mut one.checks)).flatten()
            {
                check.source = String::new();
            }
            schema
        };
        assert_eq!(bare(&again), bare(&schema), "{printed}");
        assert_eq!(again.to_source(), printed);
    }
}
