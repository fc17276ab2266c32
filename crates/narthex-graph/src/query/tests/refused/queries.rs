//! Queries as a whole, and their parameters.

use super::Case;

pub(super) const CASES: &[Case] = &[
    ("match { $p: Person }", "`return { … }` is missing at the end", (1, 21), None),
    ("return { $p }", "a query begins with `match`", (1, 1), Some("`match { $p: Person }`")),
    (
        "match { $p: Person } retrun { $p }",
        "`retrun` means nothing here",
        (1, 22),
        Some("did you mean `return`?"),
    ),
    (
        "match { $p: Person } return { $p } delete Person where true",
        "a query looks or changes, never both",
        (1, 36),
        Some("make two queries of it"),
    ),
    ("match { $p: Person return { $p }", "`}` is expected here", (1, 20), None),
    (
        "match { $p: Person } return { $p.slug $p.age }",
        "`,` or `}` is expected here",
        (1, 39),
        None,
    ),
    (
        "match { $p: Person $p.name = 'x } return { $p }",
        "this text does not end",
        (1, 30),
        Some("a text is in quotes, on one line; `\\n` breaks it"),
    ),
    (
        "query a($x: String) { match { $p: Person } return { $p } }",
        "the parameter `$x` is not used",
        (1, 9),
        None,
    ),
    (
        "query a($x: String, $x: I32) { match { $p: Person { slug: $x } } return { $p } }",
        "there are two parameters `$x`",
        (1, 21),
        None,
    ),
    (
        "query a($x: Strng) { match { $p: Person { slug: $x } } return { $p } }",
        "there is no kind `Strng`",
        (1, 13),
        Some("did you mean `String`?"),
    ),
    (
        "query a($x) { match { $p: Person { slug: $x } } return { $p } }",
        "`:` is expected here",
        (1, 11),
        Some("a parameter has a kind: `$slug: String`"),
    ),
    (
        "query a($x: I32 = \"a\") { match { $p: Person { age: $x } } return { $p } }",
        "`$x` is I32: \"a\" is no I32",
        (1, 19),
        None,
    ),
    (
        "query a($x: I32 = null) { match { $p: Person { age: $x } } return { $p } }",
        "this parameter cannot be null",
        (1, 19),
        Some("write `I32?`"),
    ),
    (
        "query a($x: DateTime = now()) { match { $p: Event { at: $x } } return { $p } }",
        "a default is a value, not something to be worked out",
        (1, 24),
        None,
    ),
    (
        "query a($x: I32) { match { $p: Person { slug: $x } } return { $p } }",
        "`=` cannot compare String with I32",
        (1, 41),
        None,
    ),
    (
        "query a() { match { $p: Person { slug: $y } } return { $p } }",
        "there is no `$y` here",
        (1, 40),
        Some(
            "a variable is bound in `match`, a parameter by the query: `query name($x: String) { … }`",
        ),
    ),
    (
        "query a() @descripton(\"x\") { match { $p: Person } return { $p } }",
        "there is no annotation `@descripton` for queries",
        (1, 11),
        Some("did you mean `@description`?"),
    ),
    (
        "query a() { match { $p: Person $p.x = $x.y } return { $p.z } }",
        "Person has no property `x`",
        (1, 35),
        None,
    ),
    (
        "query a() { match { $p: Person } return { $p } } query a() { match { $p: Person } return { $p } }",
        "there are two queries `a`",
        (1, 56),
        None,
    ),
];
