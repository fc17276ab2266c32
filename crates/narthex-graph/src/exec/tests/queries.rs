//! Queries over the ten people, with their answers written down.

use serde_json::Value as Json;

use super::people::people;

/// What is asked, and the rows that come.
#[rustfmt::skip]
const QUERIES: &[(&str, &str)] = &[
    // One node, by its key.
    (r#"match { $p: Person { slug: "ada" } } return { $p.name, $p.age }"#, r#"[["Ada",36]]"#),
    (r#"match { $p: Person { slug: "zoe" } } return { $p.name }"#, "[]"),
    (r#"match { $p: Person { slug: "ada", age: 25 } } return { $p.name }"#, "[]"),
    (r#"match { $p: Person  $p.slug in ["bob", "zoe", "ada", "bob"] } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"]]"#),
    (r#"match { $c: Company { slug: "acme" } } return { $c }"#, r#"[[{"type":"Company","slug":"acme","name":"Acme","worth":"1000"}]]"#),
    // Conditions.
    (r"match { $p: Person  $p.age > 30 } return { $p.slug } order { $p.slug }", r#"[["ada"],["cyd"],["fay"],["gus"]]"#),
    (r"match { $p: Person  30 <= $p.age } return { $p.slug } order { $p.slug }", r#"[["ada"],["cyd"],["fay"],["gus"],["ivy"],["jon"]]"#),
    (r"match { $p: Person  $p.age < 30 } return { $p.slug } order { $p.slug }", r#"[["bob"],["eve"],["hal"]]"#),
    (r"match { $p: Person  $p.age >= 20 and $p.age <= 30 } return { $p.slug } order { $p.slug }", r#"[["bob"],["ivy"],["jon"]]"#),
    (r"match { $p: Person  $p.age > 20  $p.age < 30 } return { $p.slug }", r#"[["bob"]]"#),
    (r"match { $p: Person  $p.age != 36 } return { $p.slug } order { $p.slug }", r#"[["bob"],["cyd"],["eve"],["gus"],["hal"],["ivy"],["jon"]]"#),
    (r"match { $p: Person  not ($p.age = 36) } return { $p.slug } order { $p.slug }", r#"[["bob"],["cyd"],["eve"],["gus"],["hal"],["ivy"],["jon"]]"#),
    (r"match { $p: Person  $p.age = null } return { $p.slug }", r#"[["dan"]]"#),
    (r"match { $p: Person  $p.age != null  $p.bio = null } return { $p.slug }", r#"[["hal"]]"#),
    (r"match { $p: Person  $p.age = 36 or $p.age = null } return { $p.slug } order { $p.slug }", r#"[["ada"],["dan"],["fay"]]"#),
    (r"match { $p: Person  $p.age + 1 = 37 } return { $p.slug } order { $p.slug }", r#"[["ada"],["fay"]]"#),
    (r"match { $p: Person  $p.age > -1  $p.age % 2 = 1 } return { $p.slug } order { $p.slug }", r#"[["bob"],["cyd"],["eve"],["hal"]]"#),
    (r#"match { $p: Person  $p.name = "Fay" } return { $p.slug }"#, r#"[["fay"]]"#),
    (r#"match { $p: Person  $p.stage = "alumni" } return { $p.slug } order { $p.slug }"#, r#"[["cyd"],["fay"]]"#),
    (r#"match { $p: Person  starts_with($p.name, "I") } return { $p.slug }"#, r#"[["ivy"]]"#),
    (r#"match { $p: Person  contains($p.name, "a") } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["dan"],["fay"],["hal"]]"#),
    (r#"match { $p: Person  contains($p.tags, "tea") } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"],["eve"]]"#),
    (r#"match { $p: Person  "green" in $p.tags } return { $p.slug } order { $p.slug }"#, r#"[["ivy"],["jon"]]"#),
    (r"match { $p: Person  length($p.tags) = 0 } return { $p.slug } order { $p.slug }", r#"[["cyd"],["hal"]]"#),
    (r#"match { $p: Person  lower($p.name) = "gus" } return { upper($p.name) as n, length($p.name) as l }"#, r#"[["GUS","3"]]"#),
    (r"match { $p: Person  $p.age = null } return { $p.slug, coalesce($p.age, 0) as age }", r#"[["dan",0]]"#),
    // Edges.
    (r#"match { $p: Person { slug: "ada" }  $p knows $f  $f knows $g } return { $g.slug } order { $g.slug }"#, r#"[["cyd"],["dan"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $f knows $p } return { $f.slug }"#, r#"[["eve"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p <knows $f } return { $f.slug }"#, r#"[["eve"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p <knows> $f } return { $f.slug } order { $f.slug }"#, r#"[["bob"],["cyd"],["eve"]]"#),
    (r#"match { $p: Person { slug: "hal" }  $p <knows> $f } return { $f.slug }"#, r#"[["hal"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p $k:knows $f } return { $f.slug, $k.since } order { $f.slug }"#, r#"[["bob","2020-01-01"],["cyd","2021-05-05"]]"#),
    (r#"match { $p $k:knows $f  $k.since > date("2020-06-01") } return { $p.slug, $f.slug } order { $p.slug }"#, r#"[["ada","cyd"],["eve","ada"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p $k:knows $f  $f.slug = "bob" } return { $k }"#, r#"[[{"type":"Knows","from":"ada","to":"bob","since":"2020-01-01"}]]"#),
    (r"match { $p: Person  $p knows $p } return { $p.slug }", r#"[["hal"]]"#),
    (r"match { $a knows $b  $b knows $a  $a != $b } return { $a.slug, $b.slug } order { $a.slug }", r#"[["fay","gus"],["gus","fay"]]"#),
    (r"match { $a knows $c  $b knows $c  $a != $b } return { $a.slug, $b.slug, $c.slug } order { $a.slug }", r#"[["ada","bob","cyd"],["bob","ada","cyd"]]"#),
    (r#"match { $p worksAt $c  $c.name = "Acme" } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"]]"#),
    (r"match { $a: Person  $b: Person  $a.age = $b.age  $a.slug < $b.slug } return { $a.slug, $b.slug } order { $a.slug }", r#"[["ada","fay"],["ivy","jon"]]"#),
    (r"match { $a worksAt $c  $b worksAt $c  $a.slug < $b.slug } return { $c.slug, $a.slug, $b.slug } order { $c.slug }", r#"[["acme","ada","bob"],["bolt","cyd","eve"]]"#),
    // Several edges in a row.
    (r#"match { $p: Person { slug: "ada" }  $p knows {1,3} $f } return { $f.slug } order { $f.slug }"#, r#"[["bob"],["cyd"],["dan"],["eve"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p knows {2,2} $f } return { $f.slug } order { $f.slug }"#, r#"[["cyd"],["dan"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p knows {1,1} $f } return { $f.slug } order { $f.slug }"#, r#"[["bob"],["cyd"]]"#),
    (r#"match { $p: Person { slug: "ada" }  $p knows {1,4} $f } return { $f.slug } order { $f.slug }"#, r#"[["ada"],["bob"],["cyd"],["dan"],["eve"]]"#),
    (r#"match { $p: Person { slug: "hal" }  $p knows {1,3} $f } return { $f.slug }"#, r#"[["hal"]]"#),
    (r#"match { $p: Person { slug: "hal" }  $p knows {2,3} $f } return { $f.slug }"#, "[]"),
    (r#"match { $p: Person { slug: "fay" }  $p <knows> {1,2} $f } return { $f.slug } order { $f.slug }"#, r#"[["fay"],["gus"]]"#),
    (r#"match { $p: Person { slug: "ivy" }  $p <knows> {1,2} $f } return { $f.slug }"#, r#"[["jon"]]"#),
    (r#"match { $p: Person  $q: Person { slug: "eve" }  $p knows {2,3} $q } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"],["cyd"]]"#),
    // Not, perhaps, either.
    (r"match { $p: Person  not { $p worksAt $_ } } return { $p.slug } order { $p.slug }", r#"[["dan"],["fay"],["hal"],["ivy"],["jon"]]"#),
    (r#"match { $p: Person  not { $p worksAt $c  $c.slug = "acme" }  $p.stage = "lead" } return { $p.slug } order { $p.slug }"#, r#"[["eve"],["ivy"]]"#),
    (r#"match { $p: Person  $p.stage = "lead"  optional { $p worksAt $c } } return { $p.slug, $c.slug } order { $p.slug }"#, r#"[["ada","acme"],["eve","bolt"],["ivy",null]]"#),
    (r#"match { $p: Person  $p.stage = "lead"  optional { $p worksAt $c  $c.worth > 5000 } } return { $p.slug, $c } order { $p.slug }"#, r#"[["ada",null],["eve",{"type":"Company","slug":"bolt","name":"Bolt","worth":"9223372036854775807"}],["ivy",null]]"#),
    (r"match { $p: Person  optional { $p worksAt $c }  $c.slug = null  $p.age > 10 } return { $p.slug } order { $p.slug }", r#"[["fay"],["ivy"],["jon"]]"#),
    (r#"match { $p: Person  { $p.age > 50 } or { $p worksAt $c  $c.slug = "acme" } } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"],["gus"]]"#),
    (r#"match { $p: Person  { $p.age > 30 } or { $p.stage = "lead" } } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["cyd"],["eve"],["fay"],["gus"],["ivy"]]"#),
    (r#"match { { $p: Person { slug: "ada" } } or { $p: Person { slug: "ivy" } }  $p knows $f } return { $f.slug } order { $f.slug }"#, r#"[["bob"],["cyd"],["jon"]]"#),
    (r"match { $p: Person  not { { $p knows $_ } or { $_ knows $p } } } return { count() as n }", r#"[["0"]]"#),
    // Interfaces.
    (r#"match { $n: Named { name: "Core" } } return { $n }"#, r#"[[{"type":"Company","slug":"core","name":"Core","worth":null}]]"#),
    (r"match { $n: Named } return { count() as n }", r#"[["13"]]"#),
    (r"match { $p likes $n } return { $p.slug, $n.name } order { $p.slug, $n.name }", r#"[["ada","Acme"],["ada","Bob"],["eve","Eve"],["ivy","Core"]]"#),
    (r"match { $p likes $c  $c: Company } return { $c.slug } order { $c.slug }", r#"[["acme"],["core"]]"#),
    (r"match { $p $l:likes $n  $l.much > 2  $n: Person } return { $p.slug, $n.slug, $l.much } order { $l.much }", r#"[["ada","bob",3],["eve","eve",9]]"#),
    // Aggregates.
    (r"match { $p: Person } return { count() as n }", r#"[["10"]]"#),
    (r"match { $a knows $b } return { count() as n }", r#"[["10"]]"#),
    (r#"match { $p: Person { slug: "zoe" } } return { count() as n, sum($p.age) as s, max($p.age) as m }"#, r#"[["0",null,null]]"#),
    (r#"match { $p: Person { slug: "zoe" } } return { $p.stage, count() as n }"#, "[]"),
    (r"match { $p: Person } return { count($p.age) as n, sum($p.age) as s, min($p.age) as a, max($p.age) as z }", r#"[["9","276",7,52]]"#),
    (r#"match { $p: Person  $p.stage = "alumni" } return { avg($p.age) as mean }"#, "[[38.5]]"),
    (r"match { $p: Person } return { count(distinct $p.age) as n }", r#"[["7"]]"#),
    (r"match { $p: Person  $p worksAt $c } return { $c.slug, count($p) as n } order { n desc, $c.slug }", r#"[["acme","2"],["bolt","2"],["core","1"]]"#),
    (r"match { $p: Person } return { $p.stage, count() as n } order { $p.stage }", r#"[["alumni","2"],["lead","3"],["member","5"]]"#),
    (r"match { $p: Person } return { $p.stage, count() as n } having { n > 2 } order { n }", r#"[["lead","3"],["member","5"]]"#),
    (r"match { $p: Person } return { $p.stage, max($p.age) - min($p.age) as span } order { span desc }", r#"[["member",45],["lead",17],["alumni",5]]"#),
    (r"match { $p: Person } return { distinct $p.stage } order { $p.stage }", r#"[["alumni"],["lead"],["member"]]"#),
    (r"match { $p: Person  optional { $p worksAt $c } } return { $c, count() as n } order { n desc } limit 1", r#"[[null,"5"]]"#),
    // Order and limit.
    (r"match { $p: Person } return { $p.slug } order { $p.age desc, $p.slug } limit 3", r#"[["gus"],["cyd"],["ada"]]"#),
    (r"match { $p: Person } return { $p.slug } order { $p.age }", r#"[["hal"],["eve"],["bob"],["ivy"],["jon"],["ada"],["fay"],["cyd"],["gus"],["dan"]]"#),
    (r"match { $p: Person } return { $p.slug } order { $p.age desc }", r#"[["gus"],["cyd"],["ada"],["fay"],["ivy"],["jon"],["bob"],["eve"],["hal"],["dan"]]"#),
    // Text.
    (r#"match { $p: Person  search($p.bio, "TEA") } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["bob"],["eve"],["gus"]]"#),
    (r#"match { $p: Person  search($p.bio, "tea, engines!") } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["gus"]]"#),
    (r#"match { $p: Person  search($p.bio, "grune") } return { $p.slug }"#, r#"[["jon"]]"#),
    (r#"match { $p: Person  search($p.bio, "…") } return { $p.slug }"#, "[]"),
    (r#"match { $p: Person  fuzzy($p.bio, "enginse") } return { $p.slug } order { $p.slug }"#, r#"[["ada"],["cyd"],["gus"]]"#),
    (r#"match { $p: Person  search($p.bio, "tea") } return { $p.slug } order { bm25($p.bio, "tea") desc } limit 1"#, r#"[["eve"]]"#),
    (r#"match { $p: Person  $p.slug in ["cyd", "dan"] } return { $p.slug, bm25($p.bio, "tea") as score } order { $p.slug }"#, r#"[["cyd",null],["dan",null]]"#),
    (r#"match { $p: Person } return { $p.slug } order { bm25($p.bio, "tea steam") desc, $p.slug } limit 2"#, r#"[["gus"],["ada"]]"#),
    // Vectors.
    (r#"match { $p: Person { slug: "cyd" } } return { nearest($p.place, [1.0, 0.0]) as d }"#, "[[1.0]]"),
    (r"match { $p: Person } return { $p.slug } order { nearest($p.place, [1.0, 0.0]) } limit 3", r#"[["ada"],["bob"],["fay"]]"#),
    (r"match { $p: Person  $p.age > 29 } return { $p.slug } order { nearest($p.place, [-1.0, 0.0]) } limit 5", r#"[["cyd"],["jon"],["ivy"],["fay"],["gus"]]"#),
    (r#"match { $p: Person  $p.age > 20 } return { $p.slug } order { rrf(nearest($p.place, [1.0, 0.0]), bm25($p.bio, "engines")) desc } limit 2"#, r#"[["ada"],["gus"]]"#),
    // Numbers of 64 bits are text, always.
    (r"match { $c: Company } return { $c.slug, $c.worth } order { $c.worth, $c.slug }", r#"[["acme","1000"],["bolt","9223372036854775807"],["core",null]]"#),
    (r"match { $c: Company  $c.worth > 9223372036854775806 } return { $c.slug }", r#"[["bolt"]]"#),
    (r"match { $c: Company  $c.worth != 0 and 5000 / $c.worth = 5 } return { $c.slug }", r#"[["acme"]]"#),
    // `now()` is one moment.
    (r#"match { $c: Company { slug: "acme" }  now() = now()  now() > datetime("2026-01-31T11:59:59Z") } return { now() as at }"#, r#"[["2026-01-31T12:00:00.000000Z"]]"#),
];

#[test]
fn scores_are_the_same_with_and_without_an_index() {
    for words in ["tea", "tea engines", "engines"] {
        let query = format!(
            "match {{ $p: Person }} return {{ $p.slug, bm25($p.bio, \"{words}\") as score }} order {{ $p.slug }}"
        );
        let mut world = people();
        let (with, asked) = world.ask(&query).unwrap();
        assert!(asked.contains(&"search"), "{asked:?}");
        world.without_indexes = true;
        assert_eq!(world.ask(&query).unwrap().0, with);
        let scores = with.as_array().unwrap().iter().filter(|row| row[1].is_f64());
        assert!(scores.count() > 1, "{with}");
    }
}

#[test]
fn answers_are_as_written_down() {
    let mut wrong = Vec::new();
    for without_indexes in [false, true] {
        let mut world = people();
        world.without_indexes = without_indexes;
        for (query, expected) in QUERIES {
            let expected: Json = serde_json::from_str(expected).unwrap();
            match world.ask(query) {
                Ok((found, _)) if found == expected => {}
                Ok((found, _)) => wrong.push(format!("{query}\n  is {found}\n not {expected}")),
                Err(error) => wrong.push(format!("{query}\n  is {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_query_asks_for_no_more_than_it_needs() {
    let mut world = people();
    for (query, expected) in [
        (r#"match { $p: Person { slug: "ada" } } return { $p.name }"#, "rows"),
        (
            r#"match { $p: Person { slug: "ada" }  $p knows $f  $f knows $g } return { $g.name }"#,
            "rows edges edges rows",
        ),
        (
            r#"match { $p: Person { slug: "ada" }  $p $k:knows $f } return { $k.since }"#,
            "rows edges",
        ),
        (
            r#"match { $p: Person { slug: "ada" }  $p knows {1,3} $f } return { count($f) as n }"#,
            "rows edges edges edges",
        ),
        ("match { $a knows $b } return { count() as n }", "scan_edges scan_edges"),
        ("match { $p: Person  $p knows $b } return { count() as n }", "scan_edges scan_edges"),
        (r#"match { $p: Person  $p.name = "Fay" } return { $p.slug }"#, "index rows"),
        (r#"match { $p: Person  search($p.bio, "tea") } return { $p.slug }"#, "search rows"),
        ("match { $p: Person  $p.age > 3 } return { $p.slug }", "index rows"),
        ("match { $p: Person } return { $p.slug } limit 3", "scan"),
        ("match { $p: Person  1 < 2 } return { $p.slug } limit 3", "scan"),
        ("match { $p: Person  1 > 2 } return { $p.slug }", ""),
        (r#"match { $p: Person  $p.stage = "lead" } return { $p.slug }"#, "scan scan"),
        (
            r#"match { $p: Person  $p worksAt $c  $c: Company { slug: "acme" } } return { $p.slug }"#,
            "rows edges rows",
        ),
    ] {
        let (_, asked) = world.ask(query).unwrap();
        assert_eq!(asked.join(" "), expected, "{query}");
    }
}
