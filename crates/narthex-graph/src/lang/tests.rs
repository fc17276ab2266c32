//! Whatever comes in: never a panic, never more than a moment, never without an end.

use std::time::{Duration, Instant};

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use crate::lang::Bounds;
use crate::query;
use crate::schema::Schema;
use crate::schema::tests::PEOPLE;

const QUERY: &str = r#"
query friends($slug: String, $min: I32 = 18, $v: Vector(3)?) @description("…") {
    match {
        $p: Person { slug: $slug }  $p $k:knows $f  $p <knows {1,3} $g
        $f.age >= $min + 1 and ($f.bio is not null or "x" in $f.tags)
        not { $f worksAt $_ }  optional { $f worksAt $c }
        { $f knows $h } or { $h knows $f }
        search($f.bio, "a \u{e9} b")
    }
    return { distinct $f.slug, $f.name as name, count(distinct $k) as n, -1.5e3 as x }
    having { n > 3 }  order { n desc, $f.slug }  limit 10
}
query change($a: String) {
    insert Person { slug: $a, name: 'n', stage: "lead", tags: ["a"] };
    insert Knows { from: $a, to: "b", since: date("2026-01-31") }
    update Person set { age: age * 2 % 7 } where slug = $a  delete Knows where from = $a and to.age < 3
}
"#;

/// Reads a text as both languages, against a schema and after one.
fn everything(text: &str) {
    let people = Schema::read(PEOPLE, None).unwrap();
    let problems = [
        Schema::read(text, None).err(),
        Schema::read(text, Some(&people)).err(),
        query::read(text, &people).err(),
        query::parse_only(text).err(),
        query::read_reading(text, None, &people).err(),
        query::read_writing(text, Some("change"), &people).err(),
    ];
    for found in problems.into_iter().flatten() {
        assert!((1..=Bounds::PROBLEMS).contains(&found.len()));
        for problem in found {
            assert!(problem.message.len() < 2_000 && problem.text.chars().count() <= 60);
            assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len());
        }
    }
    if let Ok(schema) = Schema::read(text, Some(&people)) {
        assert_eq!(Schema::from_stored(&schema.stored()).unwrap(), schema);
    }
}

#[test]
fn the_texts_that_are_mutated_are_good_ones() {
    let people = Schema::read(PEOPLE, None).unwrap();
    let friends = query::read_one(QUERY, Some("friends"), &people).unwrap_err();
    assert_eq!(friends.len(), 1, "{friends:?}");
    assert_eq!(friends[0].message, "the parameter `$v` is not used");
    query::read_one(QUERY, Some("change"), &people).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..120)) {
        everything(&words.join(" "));
        everything(&format!("match {{ $a: Person {} }} return {{ $a }}", words.join(" ")));
    }

    #[test]
    fn pieces_of_what_is_good(from in 0_usize..1_200, length in 0_usize..60, to in 0_usize..1_200, schema in any::<bool>()) {
        let text = if schema { PEOPLE } else { QUERY };
        let at = |at: usize| text.char_indices().map(|(at, _)| at).nth(at % text.chars().count()).unwrap();
        let (from, to) = (at(from), at(to));
        let piece: String = text[from..].chars().take(length).collect();
        everything(&format!("{}{piece}{}", &text[..to], &text[to..]));
        everything(&text.replacen(&piece, "", 1));
    }
}

/// A loop that is the same each time: characters taken out, doubled, and exchanged.
#[test]
fn what_is_good_with_errors_in_it() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % (below as u64)).unwrap()
    };
    for round in 0..1_500 {
        let mut text: Vec<char> = if round % 2 == 0 { PEOPLE } else { QUERY }.chars().collect();
        for _ in 0..=next(4) {
            let at = next(text.len());
            match next(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, SIGNS[next(SIGNS.len())]),
                2 => text[at] = SIGNS[next(SIGNS.len())],
                _ => {
                    let other = next(text.len());
                    text.swap(at, other);
                }
            }
        }
        everything(&text.into_iter().collect::<String>());
    }
}

#[test]
fn long_and_deep_texts_end_soon() {
    let long = |piece: &str| piece.repeat(Bounds::QUERY_BYTES / piece.len());
    let begin = "match { $p: Person ";
    let end = "} return { $p }";
    let mut texts = Vec::new();
    for piece in [
        "(",
        "[",
        "{",
        "{{",
        "not ",
        "not {",
        "-",
        "- -",
        "$",
        "@",
        "\"",
        "\\",
        "'",
        "/*",
        "//",
        "\n",
        "a ",
        "1 ",
        "1e",
        "..",
        "é",
        "\u{feff}",
        "$p ",
        "$p.age ",
        "$p:",
        "query a(",
        "query a() { match {",
        "node A {",
        "node ",
        "edge E: A -> ",
        "@unique(",
        "enum(",
        "a: [",
        "{ $p knows $p } or ",
        "$p knows $q ",
        "optional { ",
        "$p.age + ",
        "$p.age = 1 and ",
        "coalesce(",
        "insert ",
        "insert Person {",
    ] {
        let inner = long(piece);
        let room = Bounds::QUERY_BYTES - begin.len() - end.len();
        let cut: String = inner.chars().take(room / 4).collect();
        texts.push(format!("{begin}{cut}{end}"));
        texts.push(inner);
    }
    let properties = many(120, &|no| format!("p{no}: Strng @kee"), " ");
    let types = many(100, &|no| format!("node T{no} {{ {properties} }}"), " ");
    texts.push(types.chars().take(Bounds::SCHEMA_BYTES).collect());
    for text in texts {
        let begun = Instant::now();
        everything(&text);
        let shown: String = text.chars().take(60).collect();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {shown}", begun.elapsed());
    }
}

/// What is as deep as may be is read, and one deeper is refused: nothing runs out of stack.
#[test]
fn depth_has_a_bound() {
    let people = Schema::read(PEOPLE, None).unwrap();
    let read = |inner: &str| {
        let text = format!("match {{ $p: Person {inner} }} return {{ $p.slug }}");
        query::read(&text, &people).map_err(|found| found[0].message.clone())
    };
    let brackets = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
    let blocks = |n: usize| format!("{}$p knows $q{}", "not { ".repeat(n), "}".repeat(n));
    let chain = |n: usize| vec!["$p.age = 1"; n].join(" or ");
    let sum = |n: usize| format!("1 < {}", vec!["$p.age"; n].join(" + "));
    let nots = |n: usize| format!("{}true", "not ".repeat(n));
    let cases: [Deep<'_>; 5] = [
        (&brackets, 30, "this is nested more than 32 deep"),
        (&blocks, 31, "this is nested more than 32 deep"),
        (&nots, 30, "this is nested more than 32 deep"),
        (&chain, 126, "more than 128 operations hang on one another here"),
        (&sum, 126, "more than 128 operations hang on one another here"),
    ];
    for (text, most, message) in cases {
        read(&text(most)).unwrap_or_else(|e| panic!("{}: {e}", text(most)));
        assert_eq!(read(&text(most + 3)).unwrap_err(), message);
    }
    let list = format!("$p.age in [{}]", vec!["1"; 1_000].join(", "));
    read(&list).unwrap();
}

#[test]
fn everything_has_a_bound() {
    let people = Schema::read(PEOPLE, None).unwrap();
    let queries = [
        (" ".repeat(Bounds::QUERY_BYTES + 1), "65537 bytes long; 65536 is the most"),
        (many(65, &|_| "$p: Person".to_owned(), " "), "at most 64 clauses"),
        (many(33, &|no| format!("$a{no} knows $b{no}"), " "), "at most 64 variables"),
        (format!("$p.age in [{}]", many(1_100, &|_| "1".to_owned(), ",")), "at most 1024 items"),
        (format!("$p.age in [{}]", many(8_193, &|_| "1".to_owned(), ",")), "more than 8192 items"),
        (format!("coalesce({}) = 1", many(17, &|_| "1".to_owned(), ",")), "more than 16 arguments"),
        (format!("$p.{} = 1", "a".repeat(65)), "a name has at most 64 letters"),
    ];
    for (inner, message) in queries {
        let text = format!("match {{ $p: Person {inner} }} return {{ $p.slug }}");
        let text = if inner.trim().is_empty() { inner } else { text };
        let found = query::read(&text, &people).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0].message);
    }
    let columns = many(65, &|no| format!("$p.age as a{no}"), ", ");
    let params = many(65, &|no| format!("$p{no}: I32"), ", ");
    let all = many(257, &|no| format!("query q{no}() {{ delete Person where true }}"), "\n");
    let statements = many(65, &|_| "delete Person where true".to_owned(), "\n");
    for (text, message) in [
        (format!("match {{ $p: Person }} return {{ {columns} }}"), "more than 64 columns"),
        (format!("query a({params}) {{ delete Person where true }}"), "more than 64 parameters"),
        (all, "at most 256 queries"),
        (statements, "at most 64 statements"),
    ] {
        let found = query::read(&text, &people).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0].message);
    }
    let types = many(257, &|no| format!("node T{no} {{ k: String @key }}"), "\n");
    let properties = many(129, &|no| format!("p{no}: Bool"), "\n");
    let words = many(257, &|no| format!("w{no}"), ", ");
    for (text, message) in [
        (" ".repeat(Bounds::SCHEMA_BYTES + 1), "262144 is the most"),
        (types, "at most 256 types"),
        (format!("node T {{ {properties} }}"), "at most 128 properties"),
        (format!("node T {{ k: enum({words}) @key }}"), "more than 256 words"),
        (format!("node T {{ k: String {} }}", "@unique ".repeat(65)), "more than 64 annotations"),
    ] {
        let found = Schema::read(&text, None).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0].message);
    }
}

/// So many pieces with something between them.
fn many(so_many: usize, piece: &dyn Fn(usize) -> String, with: &str) -> String {
    (0..so_many).map(piece).collect::<Vec<_>>().join(with)
}

/// A text of a size, the most it can be, and what is said beyond.
type Deep<'a> = (&'a dyn Fn(usize) -> String, usize, &'a str);

const SIGNS: [char; 26] = [
    '{', '}', '(', ')', '[', ']', '$', '@', '"', '\'', '\\', '/', '*', '.', ',', ':', '<', '>',
    '=', '-', '0', '9', 'a', 'Z', 'é', '\n',
];

const WORDS: &[&str] = &[
    "match",
    "return",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "$p",
    "$q",
    "$_",
    ":",
    "Person",
    "Company",
    "Named",
    "knows",
    "worksAt",
    "<",
    ">",
    "<=",
    "=",
    "!=",
    "and",
    "or",
    "not",
    "in",
    "is",
    "null",
    "true",
    "1",
    "-",
    "+",
    "*",
    "/",
    "\"x\"",
    ",",
    ";",
    ".",
    "age",
    "slug",
    "order",
    "desc",
    "limit",
    "having",
    "count",
    "distinct",
    "as",
    "optional",
    "insert",
    "update",
    "set",
    "where",
    "delete",
    "from",
    "to",
    "query",
    "node",
    "edge",
    "interface",
    "implements",
    "->",
    "@key",
    "@index",
    "@range",
    "..",
    "String",
    "I32",
    "?",
    "enum",
    "Vector",
    "search",
    "nearest",
    "bm25",
    "rrf",
    "date",
    "now",
    "coalesce",
    "1.5",
    "3",
    "#",
    "@check",
];

/// What begins a comment does not end it.
#[test]
fn a_comment_ends_after_it_began() {
    let node = |comment: &str| Schema::read(&format!("{comment} node P {{ k: I32 @key }}"), None);
    for whole in ["/**/", "/***/", "/*/ node */", "/* / * */", "/*/*/"] {
        assert_eq!(node(whole).unwrap().nodes.len(), 1, "{whole}");
    }
    for open in ["/*/", "/*", "/* *"] {
        let error = node(open).unwrap_err();
        assert_eq!(error[0].message, "this comment does not end", "{open}");
    }
}
