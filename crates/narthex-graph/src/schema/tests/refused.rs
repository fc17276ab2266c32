//! What is wrong with a text, and what is said about it.

use crate::schema::Schema;

/// A text; of its first problem the message, the line and column, and the help.
type Case = (&'static str, &'static str, (usize, usize), Option<&'static str>);

const KEY: &str = "node N { k: String @key }\n";

const CASES: &[Case] = &[
    (
        "nod N { k: String @key }",
        "`node`, `edge` or `interface` is expected here",
        (1, 1),
        Some("did you mean `node`?"),
    ),
    (
        "node n { k: String @key }",
        "the name of a type begins upper case",
        (1, 6),
        Some("write `N`"),
    ),
    ("node N k: String @key }", "`{` is expected here", (1, 8), None),
    ("node N { k: String @key", "a property, or `}` is missing at the end", (1, 24), None),
    (
        "node N { k String @key }",
        "`:` is expected here",
        (1, 12),
        Some("a property is `name: Kind`"),
    ),
    (
        "node N { K: String @key }",
        "the name of a property begins lower case",
        (1, 10),
        Some("write `k`"),
    ),
    (
        "node N { and: String @key }",
        "`and` means something else and cannot be a property",
        (1, 10),
        None,
    ),
    (
        "node N { k: Strin @key }",
        "there is no kind `Strin`",
        (1, 13),
        Some("did you mean `String`?"),
    ),
    ("node N { k: Text @key }", "there is no kind `Text`", (1, 13), Some("here it is `String`")),
    (
        "node N { k: Integer @key }",
        "there is no kind `Integer`",
        (1, 13),
        Some("here it is `I32` or `I64`"),
    ),
    (
        "node N { k: Wibble @key }",
        "there is no kind `Wibble`",
        (1, 13),
        Some(
            "there are String, Blob, Bool, I32, I64, U32, U64, F32, F64, Date, DateTime, Vector(n), enum(…) and lists `[…]`",
        ),
    ),
    (
        "node N { k: String @kee }",
        "there is no annotation `@kee`",
        (1, 20),
        Some("did you mean `@key`?"),
    ),
    (
        "node N { k: String @key v: Vector }",
        "`(` is expected here",
        (1, 35),
        Some("a vector has a length: `Vector(384)`"),
    ),
    ("node N { k: String @key v: Vector(0) }", "a vector has 1 to 8192 numbers", (1, 35), None),
    ("node N { k: String @key v: Vector(99999) }", "a vector has 1 to 8192 numbers", (1, 35), None),
    ("node N { k: String @key v: [Vector(3)] }", "there are no lists of vectors", (1, 29), None),
    ("node N { k: String @key v: [[String]] }", "there are no lists of lists", (1, 29), None),
    (
        "node N { k: String @key v: [String?] }",
        "what is in a list cannot be null",
        (1, 35),
        Some("write `[…]?`"),
    ),
    ("node N { k: String @key e: enum() }", "an enum has at least one word", (1, 28), None),
    ("node N { k: String @key e: enum(a, b, a) }", "`a` is in this enum twice", (1, 39), None),
    (
        "node N { k: String @key e: enum(in-progress) }",
        "a word with a `-` in it goes in quotes",
        (1, 35),
        None,
    ),
    ("node N { a: String }", "`N` has no key", (1, 6), Some("mark one of its properties `@key`")),
    (
        "node N { a: String @key b: String @key }",
        "`N` has several keys",
        (1, 6),
        Some("keep one `@key`; others together are `@unique(a, b)`"),
    ),
    ("node N { a: String? @key }", "a key cannot be null, and `a` may be", (1, 21), None),
    (
        "node N { a: F64 @key }",
        "a key cannot be F64",
        (1, 17),
        Some("keys are String, whole numbers, Date or enums"),
    ),
    (
        "node N { a: [String] @key }",
        "a key cannot be [String]",
        (1, 22),
        Some("keys are String, whole numbers, Date or enums"),
    ),
    ("node N { a: String @key @key }", "`@key` is said twice", (1, 25), None),
    ("node N { a: String @key a: I32 }", "there are two properties `a`", (1, 25), None),
    ("KEY node N { a: String @key }", "there are two types `N`", (2, 6), None),
    ("KEY edge E: N -> M", "there is no node `M`", (2, 14), None),
    ("KEY edge E: N -> E", "`E` is an edge, and no end of one", (2, 14), None),
    (
        "KEY edge E N -> N",
        "`:` is expected here",
        (2, 8),
        Some("an edge is `edge Knows: Person -> Person`"),
    ),
    (
        "KEY edge E: N - N",
        "`->` is expected here",
        (2, 11),
        Some("an edge is `edge Knows: Person -> Person`"),
    ),
    ("KEY edge e: N -> N", "the name of a type begins upper case", (2, 6), Some("write `E`")),
    ("KEY edge In: N -> N", "an edge cannot be called `In`: `in` is a word", (2, 6), None),
    ("KEY edge E: N -> N { from: String }", "`from` is where an edge ends", (2, 18), None),
    (
        "node N implements Nmed { k: String @key } interface Named { x: Bool }",
        "there is no interface `Nmed`",
        (1, 19),
        Some("did you mean `Named`?"),
    ),
    (
        "interface I { x: Bool } node N implements I { k: String @key x: I32 }",
        "`x` is I32 here, but Bool in `I`",
        (1, 62),
        None,
    ),
    (
        "interface I { x: Bool } node N implements I { k: String @key x: Bool? }",
        "`x` may be null here, but not in `I`",
        (1, 62),
        None,
    ),
    (
        "interface I { x: Bool } interface J { x: I32 } node N implements I, J { k: String @key }",
        "two interfaces of `N` differ about `x`",
        (1, 53),
        None,
    ),
    (
        "interface I { x: Bool } node N implements I, I { k: String @key }",
        "`I` is named twice",
        (1, 46),
        None,
    ),
    (
        "node N { k: String @key a: String @range(0..1) }",
        "`@range` is for numbers, Date and DateTime; this is String",
        (1, 35),
        None,
    ),
    (
        "node N { k: String @key a: I32 @range(5..1) }",
        "the range ends before it begins",
        (1, 32),
        None,
    ),
    (
        "node N { k: String @key a: I32 @range(..) }",
        "a range has at least one end",
        (1, 39),
        Some("write it like `@range(0..150)`"),
    ),
    (
        "node N { k: String @key a: I32 @range(0, 1) }",
        "`..` is expected here",
        (1, 40),
        Some("write it like `@range(0..150)`"),
    ),
    (
        "node N { k: String @key a: I32 @range(0..1.5) }",
        "`a` is I32: 1.5 is not whole, but I32 is",
        (1, 42),
        None,
    ),
    (
        "node N { k: String @key a: U32 @range(-1..) }",
        "`a` is U32: -1 does not fit U32, which is 0 to 4294967295",
        (1, 39),
        None,
    ),
    (
        "node N { k: String @key a: Date @range(\"yesterday\"..) }",
        "`a` is Date: \"yesterday\" is no Date",
        (1, 40),
        Some("write `date(\"2026-01-31\")`"),
    ),
    (
        "node N { k: String @key a: I32 @range(now()..) }",
        "`now` has no place in a check",
        (1, 39),
        None,
    ),
    (
        "node N { k: String @key a: I32 @range }",
        "`(` is expected here",
        (1, 39),
        Some("write it like `@range(0..150)`"),
    ),
    ("node N { k: String @key } @range(0..1)", "`@range` goes on a property", (1, 27), None),
    ("node N { k: String @key @card(1) }", "`@card` goes on an edge", (1, 25), None),
    (
        "KEY edge E: N -> N @card(2..1)",
        "2 is more than 1",
        (2, 22),
        Some("write it like `@card(0..1)`"),
    ),
    (
        "KEY edge E: N -> N @card(0)",
        "there could be no such edge at all",
        (2, 22),
        Some("write it like `@card(0..1)`"),
    ),
    (
        "KEY edge E: N -> N @card(0..)",
        "this says nothing: leave it out",
        (2, 22),
        Some("write it like `@card(0..1)`"),
    ),
    (
        "KEY edge E: N -> N @card(x)",
        "a number is expected here",
        (2, 22),
        Some("write it like `@card(0..1)`"),
    ),
    (
        "node N { k: String @key v: Vector(3) @index }",
        "a vector needs no index",
        (1, 38),
        Some("leave `@index` out: `nearest` works without"),
    ),
    ("node N { k: String @key v: [String] @index }", "there is no index over lists", (1, 37), None),
    (
        "node N { k: String @key v: [String] @unique }",
        "`v` is [String] and cannot be unique",
        (1, 37),
        None,
    ),
    ("node N { k: String @key @unique(k, x) }", "there is no property `x`", (1, 36), None),
    ("node N { k: String @key @unique(k, k) }", "`k` is named twice", (1, 25), None),
    (
        "node N { k: String @key @unique() }",
        "name the properties, or leave the brackets out",
        (1, 33),
        None,
    ),
    ("node N @unique { k: String @key }", "say which property: `@unique(…)`", (1, 8), None),
    (
        "node N { k: String @key v: Vector(3) @embed(bio) }",
        "there is no property `bio`",
        (1, 45),
        None,
    ),
    (
        "node N { k: String @key n: I32 v: Vector(3) @embed(n) }",
        "vectors are made of a String, and `n` is I32",
        (1, 52),
        None,
    ),
    (
        "node N { k: String @key n: String @embed(k) }",
        "`@embed` goes on a vector, and `n` is String",
        (1, 35),
        None,
    ),
    (
        "node N { k: String @key @check(k) }",
        "a condition is Bool, and this is String",
        (1, 32),
        None,
    ),
    (
        "node N { k: String @key @check(kk = \"x\") }",
        "N has no property `kk`",
        (1, 32),
        Some("did you mean `k`?"),
    ),
    (
        "node N { k: String @key @check(\"k = 3\") }",
        "`=` compares with String: 3 is no String",
        (1, 37),
        Some("a text goes in quotes"),
    ),
    (
        "node N { k: String @key @check(\"k = \\\"a\\\" +\") }",
        "a value is missing at the end",
        (1, 45),
        Some("write it like `@check(age > 3)`"),
    ),
    (
        "node N { k: String @key @check(\"k = \") }",
        "a value is missing at the end",
        (1, 36),
        Some("write it like `@check(age > 3)`"),
    ),
    (
        "node N { k: String @key @check($k = \"x\") }",
        "a check knows no variables",
        (1, 32),
        Some("write a property's name alone"),
    ),
    (
        "node N { k: String @key @check(now() > now()) }",
        "`now` has no place in a check",
        (1, 32),
        None,
    ),
    (
        "node N { k: String @key @check(count(k) > 1) }",
        "the aggregate `count` has no place in a check",
        (1, 32),
        Some("aggregates go in `return` and `having`"),
    ),
    (
        "node N { k: String @key @description(x) }",
        "a text in quotes is expected here",
        (1, 38),
        Some("write it like `@description(\"…\")`"),
    ),
    (
        "node N { k: String @key @description(\"a\") @description(\"b\") }",
        "`@description` is said twice",
        (1, 43),
        None,
    ),
    (
        "interface I @rename_from(J) { x: Bool }",
        "an interface has no rows: it is renamed by its name alone",
        (1, 13),
        None,
    ),
    (
        "node N { k: String @key } node M { k: Strin @key } edge E: N -> X",
        "there is no kind `Strin`",
        (1, 39),
        Some("did you mean `String`?"),
    ),
    ("node N { k: String @key, \"x\" }", "a property, or `}` is expected here", (1, 26), None),
    ("node N { k: String @key } /* no end", "this comment does not end", (1, 27), None),
    (
        "node N { k: String @key @description(\"no end) }",
        "this text does not end",
        (1, 38),
        Some("a text is in quotes, on one line; `\\n` breaks it"),
    ),
    (
        "node N { k: String @key @description(\"\\q\") }",
        "this is no escape",
        (1, 39),
        Some("there are \\n \\t \\r \\0 \\\" \\' \\\\ \\/ \\u00e9 \\u{1f600}"),
    ),
    (
        "node Ñ { k: String @key }",
        "`Ñ` means nothing here",
        (1, 6),
        Some("names are made of a-z, A-Z, 0-9 and _"),
    ),
    ("node N { k: String @key ; # }", "`#` means nothing here", (1, 27), None),
    ("node N { k: String @key @$ }", "an annotation is `@` and a name", (1, 25), None),
    (
        "node N { k: I64 @key @range(99999999999999999999999999999999999999999..) }",
        "this is no number, or too big a one",
        (1, 29),
        None,
    ),
    ("node N { k: I64 @key @range(1x..) }", "a number ends where its digits do", (1, 29), None),
];

#[test]
fn every_problem_is_told_well() {
    for (text, message, place, help) in CASES {
        let source = text.replace("KEY ", KEY);
        let found = Schema::read(&source, None).expect_err(text);
        let first = &found[0];
        let got = (first.message.as_str(), (first.line, first.column), first.help.as_deref());
        assert_eq!(got, (*message, *place, *help), "{text}");
    }
}
