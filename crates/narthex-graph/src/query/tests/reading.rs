//! What a text comes to.

use crate::query::{Body, read, read_one};
use crate::schema::Schema;
use crate::schema::tests::PEOPLE;

/// The queries of the guide.
const GUIDE: &str = r#"
query friends($slug: String, $min: I32 = 18) @description("…") @instruction("…") {
    match {
        $p: Person { slug: $slug }
        $p $k:knows $f                    // an edge variable
        $f.age >= $min
        not { $f worksAt $_ }
    }
    return { $f.slug, $f.name as name, $k.since }
    order { $f.age desc, $f.slug }
    limit 10
}
query near($s: String)  { match { $p: Person { slug: $s }  $p knows {1,3} $f } return { distinct $f.slug } }
query either($s: String){ match { $p: Person { slug: $s }  $p <knows> $f } return { $f.slug } }      // both directions
query top()             { match { $p: Person  $p worksAt $c } return { $c.slug, count($p) as n } order { n desc } limit 5 }
query find($q: String)  { match { $p: Person  search($p.bio, $q) } return { $p.slug, bm25($p.bio, $q) as score } limit 5 }
query like($v: Vector(384)) { match { $p: Person  $p.age > 30 } return { $p.slug } order { nearest($p.embedding, $v) } limit 5 }

query add($slug: String, $name: String, $age: I32?) { insert Person { slug: $slug, name: $name, age: $age, stage: "lead" } }
query link($a: String, $b: String)  { insert Knows { from: $a, to: $b, since: date("2026-01-31") } }
query grow($slug: String, $age: I32){ update Person set { age: $age } where slug = $slug and stage != "alumni" }
query drop($slug: String)           { delete Person where slug = $slug }          // its edges go with it
"#;

#[test]
fn the_guide_reads() {
    let schema = Schema::read(PEOPLE, None).unwrap();
    let plans = read(GUIDE, &schema).unwrap_or_else(|e| panic!("{e:#?}"));
    let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    assert_eq!(
        names,
        ["friends", "near", "either", "top", "find", "like", "add", "link", "grow", "drop"]
    );
    let writes = plans.iter().filter(|plan| plan.is_write()).count();
    assert_eq!(writes, 4);
    for plan in &plans {
        if let Body::Read(read) = &plan.body {
            assert!(!read.columns.is_empty());
        }
    }
}

/// What texts come to, as plans are shown.
fn table(cases: &[(&str, &str)]) {
    let schema = super::schema();
    for (text, expected) in cases {
        let plan = read_one(text, None, &schema).unwrap_or_else(|e| panic!("{text}: {e:#?}"));
        assert_eq!(super::show::show(&plan, &schema), *expected, "{text}");
    }
}

#[test]
fn patterns() {
    table(&[
        ("match { $p: Person } return { $p }", "p:Person => p: row = p"),
        (
            "match { $p: Named, $p.name = \"x\"; } return { $p.name }",
            "p:Person|Company; (p.1/2 Equal \"x\") => p.name: String = p.1/2",
        ),
        (
            "match { $p: Person { slug: \"a\", age: 3 } } return { $p.slug }",
            "p:Person(0=\"a\",2=3) => p.slug: String = p.0",
        ),
        (
            "match { $a knows $b } return { $a.slug, $b.slug }",
            "a -knows-> b:Person => a.slug: String = a.0, b.slug: String = b.0",
        ),
        (
            "match { $a <knows $b } return { $a.slug }",
            "a <-knows- b:Person => a.slug: String = a.0",
        ),
        (
            "match { $a <worksAt> $b } return { $a.slug }",
            "a <-worksAt-> b:Person|Company => a.slug: String = a.0/0",
        ),
        (
            "match { $a <worksAt $b } return { $a.slug, $b.age }",
            "a <-worksAt- b:Person => a.slug: String = a.0, b.age: I32? = b.2",
        ),
        (
            "match { $a knows{2} $b  $b knows {1,3} $c $c <knows {1,2} $d $d <knows> {1,1} $e } return { $b.slug }",
            "a -knows->{2,2} b:Person; b -knows->{1,3} c:Person; c <-knows-{1,2} d:Person; d <-knows-> e:Person => b.slug: String = b.0",
        ),
        (
            "match { $a $k:knows $b $b $l:<knows $c $c <$m:knows> $d } return { $k, $l.since, $m.weight }",
            "a -knows->[k] b:Person; b <-knows-[l] c:Person; c <-knows->[m] d:Person => k: row = k, l.since: Date? = l.0, m.weight: F64? = m.1",
        ),
        (
            "match { $a knows { since: date(\"2020-01-01\") } $b  $a $k:knows{weight: 2} $c } return { $k }",
            "a -knows->[_4](0=2020-01-01) b:Person; a -knows->[k](1=2.0) c:Person => k: row = k",
        ),
        (
            "match { $a likes $x  $x: Company } return { $x.size }",
            "a -likes-> x:Company; x:Company => x.size: I64? = x.1",
        ),
        (
            "match { $a likes $x } return { $x.slug, $x.name }",
            "a -likes-> x:Person|Company => x.slug: String = x.0/0, x.name: String = x.1/2",
        ),
        (
            "match { $x tagged $e  $a likes $x  $x knows $_ } return { $x.age }",
            "x -tagged-> e:Event; a -likes-> x:Person; x -knows-> _3:Person => x.age: I32? = x.2",
        ),
        (
            "match { $a: Person  not { $a knows $b  $b worksAt $_ } } return { $a.slug }",
            "a:Person; not { a -knows-> b:Person; b -worksAt-> _2:Company } => a.slug: String = a.0",
        ),
        (
            "match { $a: Person  optional { $a worksAt $c } } return { $a.slug, $c.slug, $c }",
            "a:Person; optional { a -worksAt-> c:Company } => a.slug: String = a.0, c.slug: String? = c.0, c: row? = c",
        ),
        (
            "match { $a: Person } optional match { $a $k:knows $b  optional { $b worksAt $c } } return { $k.since, $c }",
            "a:Person; optional { a -knows->[k] b:Person; optional { b -worksAt-> c:Company } } => k.since: Date? = k.0, c: row? = c",
        ),
        (
            "match { $a: Person  optional match { $a worksAt $c } $c is null } return { $a }",
            "a:Person; optional { a -worksAt-> c:Company }; IsNull(c) => a: row = a",
        ),
        (
            "match { $a: Person { $a knows $b } or { $b knows $a } or { $a likes $b  $b: Person } } return { $b.slug }",
            "a:Person; { a -knows-> b:Person } or { b -knows-> a:Person } or { a -likes-> b:Person; b:Person } => b.slug: String = b.0",
        ),
        (
            "match { $a: Person { $a knows $b } or { $a worksAt $b } } return { $b.slug }",
            "a:Person; { a -knows-> b:Person|Company } or { a -worksAt-> b:Person|Company } => b.slug: String = b.0/0",
        ),
        (
            "match { $a: Person { $a knows $b } or { $a worksAt $c } } return { $a.slug }",
            "a:Person; { a -knows-> b:Person } or { a -worksAt-> c:Company } => a.slug: String = a.0",
        ),
        (
            "match { $a: Person not { { $a knows $b } or { $a worksAt $b } } } return { $a.slug }",
            "a:Person; not { { a -knows-> b:Person|Company } or { a -worksAt-> b:Person|Company } } => a.slug: String = a.0",
        ),
        (
            "match { $a: Person not { $a.age > 3 } } return { $a.slug }",
            "a:Person; not { (a.2 Greater 3) } => a.slug: String = a.0",
        ),
        (
            "match { $a knows $b  $a != $b  $b.slug <> $a.slug } return { $a }",
            "a -knows-> b:Person; (a NotEqual b); (b.0 NotEqual a.0) => a: row = a",
        ),
        (
            "match { $a: Person } match { $a knows $b } return { $a }",
            "a:Person; a -knows-> b:Person => a: row = a",
        ),
        (
            "match { $k: Person  $a $e:knows $k  { $k $f:knows $b } or { $b $f:knows $k } } return { $f.since }",
            "k:Person; a -knows->[e] k:Person; { k -knows->[f] b:Person } or { b -knows->[f] k:Person } => f.since: Date? = f.0",
        ),
    ]);
}

#[test]
fn conditions() {
    table(&[
        (
            "match { $p: Person  $p.age = 3 $p.age == 3 $p.age != 3 $p.age <> 3 $p.age < 3 $p.age <= 3 $p.age > 3 $p.age >= 3 } return { $p }",
            "p:Person; (p.2 Equal 3); (p.2 Equal 3); (p.2 NotEqual 3); (p.2 NotEqual 3); (p.2 Less 3); (p.2 LessOrEqual 3); (p.2 Greater 3); (p.2 GreaterOrEqual 3) => p: row = p",
        ),
        (
            "match { $p: Person  $p.age > -3  ($p.age > 18.5 or not $p.ok) and $p.score = 2 } return { $p }",
            "p:Person; (p.2 Greater -3); ((p.2 Greater 18.5) Or Not(p.11)); (p.9 Equal 2.0) => p: row = p",
        ),
        (
            "match { $p: Person  $p.age is null  $p.age is not null  $p.age = null  null != $p.age  not $p.age is null } return { $p }",
            "p:Person; IsNull(p.2); Not(IsNull(p.2)); IsNull(p.2); Not(IsNull(p.2)); Not(IsNull(p.2)) => p: row = p",
        ),
        (
            "match { $p: Person  $p.stage in [\"lead\", \"member\"]  $p.age not in [1, 2]  \"x\" in $p.tags } return { $p }",
            "p:Person; Contains([\"lead\", \"member\"], p.6); Not(Contains([1, 2], p.2)); Contains(p.5, \"x\") => p: row = p",
        ),
        (
            "query($s: String, $all: [String]) { match { $p: Person  $p.slug in [$s, \"b\"]  $p.slug in $all  $p.stage = $s } return { $p } }",
            "p:Person; Contains(list[$0, \"b\"], p.0); Contains($1, p.0); (p.6 Equal $0) => p: row = p",
        ),
        (
            "match { $p: Person  1 + 2 * 3 - 4 % 5 / 6 < -$p.age  $p.age - 1 > 0  $p.big * 2 > 1 } return { $p }",
            "p:Person; (((1 Add (2 Multiply 3)) Subtract ((4 Modulo 5) Divide 6)) Less Minus(p.2)); ((p.2 Subtract 1) Greater 0); ((p.8 Multiply 2) Greater 1) => p: row = p",
        ),
        (
            "match { $p: Person  $p.born > date(\"2000-02-29\")  $p.born is not null and $p.slug < \"m\" } return { $p }",
            "p:Person; (p.10 Greater 2000-02-29); Not(IsNull(p.10)); (p.0 Less \"m\") => p: row = p",
        ),
        (
            "match { $e: Event  $e.at < now()  $e.at >= datetime(\"2026-01-31T12:00:00+01:00\")  $e.no = -1 } return { $e }",
            "e:Event; (e.1 Less Now()); (e.1 GreaterOrEqual 2026-01-31T11:00:00.000000Z); (e.0 Equal -1) => e: row = e",
        ),
        (
            "match { $p: Person  starts_with($p.name, \"A\")  contains($p.name, 'b')  contains($p.tags, \"x\")  contains($p.stage, \"l\") } return { $p }",
            "p:Person; StartsWith(p.1, \"A\"); Contains(p.1, \"b\"); Contains(p.5, \"x\"); Contains(p.6, \"l\") => p: row = p",
        ),
        (
            "match { $p: Person  search($p.bio, \"a b\")  match_text($p.note, \"c\")  fuzzy($p.bio, \"d\")  not search($p.bio, \"e\") } return { $p }",
            "p:Person; search Words p \"a b\"; MatchText(p.4, \"c\"); search Fuzzy p \"d\"; Not(MatchText(p.3, \"e\")) => p: row = p",
        ),
        (
            "query($q: String) { match { $p: Person $x: Named  search($p.bio, $q) or $p.ok  search($x.name, $q)  match_text($p.bio, $x.name) } return { $p } }",
            "p:Person; x:Person|Company; (MatchText(p.3, $0) Or p.11); search Words x $0; MatchText(p.3, x.1/2) => p: row = p",
        ),
        (
            "match { $p: Person  lower($p.name) = upper(\"x\")  length($p.tags) > 0  length($p.name) > 1  coalesce($p.age, 0) > 3 } return { $p }",
            "p:Person; (Lower(p.1) Equal Upper(\"x\")); (Length(p.5) Greater 0); (Length(p.1) Greater 1); (Coalesce(p.2, 0) Greater 3) => p: row = p",
        ),
        (
            "match { $p: Person  $p.page = \"https://a.b/\"  $p.tags = [\"a\"]  $p.ok  $p.ok = false } return { $p }",
            "p:Person; (p.12 Equal \"https://a.b/\"); (p.5 Equal [\"a\"]); p.11; (p.11 Equal false) => p: row = p",
        ),
        (
            "match { $p: Person  $p.name = \"tab\\t nl\\n q\\\" u\\u00e9 \\u{1f600} \\\\\" } return { $p }",
            "p:Person; (p.1 Equal \"tab\t nl\n q\" ué 😀 \\\") => p: row = p",
        ),
        (
            "query($min: I32) { match { $p: Person  $min < length($p.name)  $min in [1, 2]  $min <= $p.age } return { $p } }",
            "p:Person; ($0 Less Length(p.1)); Contains([1, 2], $0); ($0 LessOrEqual p.2) => p: row = p",
        ),
        (
            "query($on: Bool) { match { $on  $p: Person  $on $q: Person  $on and $p.ok } return { $p, $q } }",
            "$0; p:Person; $0; q:Person; $0; p.11 => p: row = p, q: row = q",
        ),
        (
            "match { $p: Person /* a */ $p.age > 3 // b\n } return { $p }",
            "p:Person; (p.2 Greater 3) => p: row = p",
        ),
        (
            "match { $p: Person  nearest($p.embedding, [1, 0.5, -2]) < 0.3 } return { $p }",
            "p:Person; (Nearest(p.7, vector[1.0, 0.5, -2.0]) Less 0.3) => p: row = p",
        ),
    ]);
}

#[test]
fn answers() {
    table(&[
        (
            "match { $p: Person } return { $p.slug, $p.age as years, $p.age + 1 as next, 1 as one, \"x\" as x, 1.5 as f, true as t, now(), [1, 2] as l }",
            "p:Person => p.slug: String = p.0, years: I32? = p.2, next: I32? = (p.2 Add 1), one: I64 = 1, x: String = \"x\", f: F64 = 1.5, t: Bool = true, now(): DateTime = Now(), l: [I64] = [1, 2]",
        ),
        (
            "match { $p: Person } return { $p.big + $p.age as a, $p.score * 2 as b, $p.score * 2.5 as c, $p.age * 2.5 as d, -$p.big as e, $p.age / 2 as f, $p.big + 1 as g }",
            "p:Person => a: I64? = (p.8 Add p.2), b: F32? = (p.9 Multiply 2), c: F32? = (p.9 Multiply 2.5), d: F64? = (p.2 Multiply 2.5), e: I64? = Minus(p.8), f: I32? = (p.2 Divide 2), g: U64? = (p.8 Add 1)",
        ),
        (
            "match { $p: Person } return { distinct $p.slug, $p.age } order { $p.slug, $p.age + 1 desc }",
            "p:Person => distinct p.slug: String = p.0, p.age: I32? = p.2 by #0 by (#1 Add 1) desc",
        ),
        (
            "match { $p: Person } return distinct { $p.slug } limit 3",
            "p:Person => distinct p.slug: String = p.0 limit 3",
        ),
        (
            "match { $p: Person $p worksAt $c } return { $c.slug, count($p) as n, count(), count(*) as m, count(distinct $p.age) as ages } order { n desc, count($p), $c.slug asc }",
            "p:Person; p -worksAt-> c:Company => c.slug: String = c.0, n: I64 = Count<p>, count(): I64 = Count<>, m: I64 = Count<>, ages: I64 = Count<distinct p.2> by #1 desc by #1 by #0",
        ),
        (
            "match { $p: Person } return { sum($p.age), avg($p.age), min($p.born), max($p.name), sum($p.big) as b, sum($p.score) as s } ",
            "p:Person => sum(p.age): I64? = Sum<p.2>, avg(p.age): F64? = Avg<p.2>, min(p.born): Date? = Min<p.10>, max(p.name): String? = Max<p.1>, b: U64? = Sum<p.8>, s: F64? = Sum<p.9>",
        ),
        (
            "match { $p: Person } return { $p.stage, sum($p.age) / count() as mean, count($p) as n } having { n > 3, max($p.age) < 90 and $p.stage != \"lead\" }",
            "p:Person => p.stage: enum(lead, member, alumni) = p.6, mean: I64? = (Sum<p.2> Divide Count<>), n: I64 = Count<p> having ((#2 Greater 3) And ((Max<p.2> Less 90) And (#0 NotEqual \"lead\")))",
        ),
        (
            "match { $p: Person } return { $p.slug } having { count() > 1 }",
            "p:Person => p.slug: String = p.0 having (Count<> Greater 1)",
        ),
        (
            "match { $p: Person } return { $p.age, $p.age * count() as n }",
            "p:Person => p.age: I32? = p.2, n: I64? = (p.2 Multiply Count<>)",
        ),
        (
            "query($v: Vector(3), $q: String, $n: U32) { match { $p: Person } return { $p.slug, bm25($p.bio, $q) as score } order { rrf(nearest($p.embedding, $v), bm25($p.bio, $q)) desc, score desc } limit $n }",
            "p:Person => p.slug: String = p.0, score: F64? = Bm25(p.3, $1) by Rrf(Nearest(p.7, $0), Bm25(p.3, $1)) desc by #1 desc limit $2",
        ),
        (
            "query($v: Vector(3)) { match { $p: Person } return { $p.slug, nearest($p.embedding, $v) as d } order { d } limit 5 }",
            "p:Person => p.slug: String = p.0, d: F64? = Nearest(p.7, $0) by #1 limit 5",
        ),
        (
            "query($v: Vector(3)) { match { $p: Person } return { rrf(nearest($p.embedding, $v), bm25($p.bio, \"x\")) as r } order { r desc } }",
            "p:Person => r: F64 = Rrf(Nearest(p.7, $0), Bm25(p.3, \"x\")) by #0 desc",
        ),
        (
            "match { $p: Person $p $k:knows $f } limit 2 order { $k.since desc } return { $k, $f, $k.since }",
            "p:Person; p -knows->[k] f:Person => k: row = k, f: row = f, k.since: Date? = k.0 by k.0 desc limit 2",
        ),
        (
            "match { $p: Person } return { $p.slug as order } order { order desc }",
            "p:Person => order: String = p.0 by #0 desc",
        ),
        (
            "match { $x: Named } return { $x.name, $x.slug, coalesce($x.name, \"x\") as c }",
            "x:Person|Company => x.name: String = x.1/2, x.slug: String = x.0/0, c: String = Coalesce(x.1/2, \"x\")",
        ),
        (
            "match { $p: Person } return { lower($p.name), coalesce($p.note, $p.name, \"z\") as c, coalesce(null, $p.age) as d }",
            "p:Person => lower(p.name): String = Lower(p.1), c: String = Coalesce(p.4, p.1, \"z\"), d: I32? = Coalesce(null, p.2)",
        ),
    ]);
}

#[test]
fn changes() {
    table(&[
        (
            "insert Person { slug: \"a\", name: \"b\", stage: \"lead\" }",
            "insert Person 0=\"a\", 1=\"b\", 6=\"lead\", 5=[]",
        ),
        (
            "insert Person { slug: \"a\", name: \"b\", stage: \"lead\", tags: [\"x\"], age: null, big: 18446744073709551615, score: 1, born: date(\"2000-01-01\"), embedding: [1, 2, 3], page: \"https://a.b/\" }",
            "insert Person 0=\"a\", 1=\"b\", 6=\"lead\", 5=[\"x\"], 2=null, 8=18446744073709551615, 9=1.0, 10=2000-01-01, 7=vector[1.0, 2.0, 3.0], 12=\"https://a.b/\"",
        ),
        (
            "query($t: String, $s: String, $a: U32) { insert Person { slug: $s, name: $t, stage: $s, tags: [$t, \"b\"] } update Company set { size: $a } where true }",
            "insert Person 0=$1, 1=$0, 6=$1, 5=list[$0, \"b\"]; update Company 1=$2 where true",
        ),
        (
            "query($l: [String]) { update Person set { tags: $l, age: age + 1, score: null, name: coalesce(note, \"none\") } where slug = \"a\" and age is not null }",
            "update Person 5=$0, 2=(_0.2 Add 1), 9=null, 1=Coalesce(_0.4, \"none\") where ((_0.0 Equal \"a\") And Not(IsNull(_0.2)))",
        ),
        (
            "insert Event { no: -1, at: now() }; insert Knows { from: \"a\", to: \"b\" }",
            "insert Event 0=-1, 1=Now(); insert Knows Person(\"a\") -> Person(\"b\") ",
        ),
        (
            "insert Likes { from: \"a\", to: Company(\"b\") } insert Tagged { from: Person(\"a\"), to: 3, word: \"w\" }",
            "insert Likes Person(\"a\") -> Company(\"b\") ; insert Tagged Person(\"a\") -> Event(3) 0=\"w\"",
        ),
        (
            "update Knows set { since: null, weight: weight * 2 } where from = \"a\" and to = \"b\" or from.age > 3 and weight < 1",
            "update Knows 0=null, 1=(_0.1 Multiply 2) where (((_1.0 Equal \"a\") And (_2.0 Equal \"b\")) Or ((_1.2 Greater 3) And (_0.1 Less 1.0)))",
        ),
        (
            "delete Knows where from in [\"a\", \"b\"] and to.name = \"x\"",
            "delete Knows where (Contains([\"a\", \"b\"], _1.0) And (_2.1 Equal \"x\"))",
        ),
        (
            "delete Person where stage = \"lead\" and contains(tags, \"x\") or search(bio, \"gone\")",
            "delete Person where (((_0.6 Equal \"lead\") And Contains(_0.5, \"x\")) Or MatchText(_0.3, \"gone\"))",
        ),
        ("delete Event where at < now()", "delete Event where (_0.1 Less Now())"),
        (
            "delete Tagged where from.name = \"x\" and from = \"k\" and to = 3",
            "delete Tagged where (((_1.1/2 Equal \"x\") And (_1.0/0 Equal \"k\")) And (_2.0 Equal 3))",
        ),
        (
            "delete Likes where from = Person(\"k\") and to = Company(\"c\") and to != Person(\"d\")",
            "delete Likes where (((_1.0 Equal \"k\") And (_2.-/0 Equal \"c\")) And (IsNull(_2.0/-) Or (_2.0/- NotEqual \"d\")))",
        ),
        (
            "delete Company where true delete Person where not (slug != \"a\")",
            "delete Company where true; delete Person where Not((_0.0 NotEqual \"a\"))",
        ),
    ]);
}
