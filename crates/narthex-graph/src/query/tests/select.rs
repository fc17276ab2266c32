//! Which of several, and what is accepted where.

use crate::query::{parse_only, read, read_one, read_reading, read_writing};

const FILE: &str = r#"
query look($min: I32 = 3, $max: I32?) @description("looks") @instruction("often") {
    match { $p: Person  $p.age > $min  $p.age < $max } return { $p.slug }
}
query change($slug: String) { delete Person where slug = $slug }
query broken() { match { $p: Persn } return { $p } }
"#;

#[test]
fn one_of_several() {
    let schema = super::schema();
    let message = |name: Option<&str>| {
        let found = read_one(FILE, name, &schema).unwrap_err();
        (found[0].message.clone(), found[0].help.clone().unwrap_or_default())
    };
    // What is wrong with another query is no matter here.
    let look = read_one(FILE, Some("look"), &schema).unwrap();
    assert_eq!((look.name.as_str(), look.is_write()), ("look", false));
    assert_eq!(look.description.as_deref(), Some("looks"));
    assert_eq!(look.instruction.as_deref(), Some("often"));
    assert!(read_one(FILE, Some("change"), &schema).unwrap().is_write());
    assert_eq!(
        message(None),
        (
            "there are 3 queries here: say which".to_owned(),
            "there are `look`, `change`, `broken`".to_owned()
        )
    );
    assert_eq!(
        message(Some("lok")),
        ("there is no query `lok` here".to_owned(), "did you mean `look`?".to_owned())
    );
    assert_eq!(message(Some("broken")).0, "there is no node type `Persn`");
    assert_eq!(read(FILE, &schema).unwrap_err().len(), 1);
}

#[test]
fn a_query_without_a_name() {
    let schema = super::schema();
    for text in [
        "match { $p: Person } return { $p }",
        "query { match { $p: Person } return { $p } }",
        "query($s: String) { match { $p: Person { slug: $s } } return { $p } }",
        "delete Person where true",
    ] {
        assert_eq!(read_one(text, None, &schema).unwrap().name, "query");
        assert_eq!(read_one(text, Some("query"), &schema).unwrap().name, "query");
    }
}

#[test]
fn a_change_is_not_a_look() {
    let schema = super::schema();
    for (text, name) in [
        (FILE, Some("change")),
        ("delete Person where true", None),
        ("/* match { $p: Person } return { $p } */ insert Event { no: 1, at: now() }", None),
        // Even one that would be wrong otherwise.
        ("update Nothing set { a: 1 } where true", None),
    ] {
        let found = read_reading(text, name, &schema).unwrap_err();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "this query changes the graph, and only looking is allowed here"
        );
        assert_eq!(found[0].help.as_deref(), Some("use graph_mutate for it"));
    }
    let reading = read_reading(FILE, Some("look"), &schema).unwrap();
    assert_eq!(reading.params.len(), 2);
    assert!(!crate::query::Plan::from(reading).is_write());
    let found = read_writing(FILE, Some("look"), &schema).unwrap_err();
    assert_eq!(found[0].help.as_deref(), Some("use graph_query for it"));
    let writing = read_writing(FILE, Some("change"), &schema).unwrap();
    assert_eq!(writing.statements.len(), 1);
    assert!(crate::query::Plan::from(writing).is_write());
}

#[test]
fn an_outline_needs_no_schema() {
    let all = parse_only(FILE).unwrap();
    let shown: Vec<String> = all
        .iter()
        .map(|one| {
            let params = one.params.iter().map(|(name, kind, optional)| {
                format!("{name}: {kind}{}", if *optional { " (optional)" } else { "" })
            });
            let params = params.collect::<Vec<_>>().join(", ");
            format!("{}({params}) {}", one.name, if one.writes { "writes" } else { "reads" })
        })
        .collect();
    assert_eq!(
        shown,
        [
            "look(min: I32 (optional), max: I32 (optional)) reads",
            "change(slug: String) writes",
            "broken() reads",
        ]
    );
}

/// Every query that is wrong says so, not only the first.
#[test]
fn several_problems_at_once() {
    let schema = super::schema();
    let text = "
        query a() { match { $p: Persn } return { $p } }
        query b( { match { $p: Person } return { $p } }
        query c() { insert Person { slug: 3, nme: \"x\" } }
        query d() { match { $p: Person } retrun { $p } }";
    let lines = |text: &str| {
        let found = read(text, &schema).unwrap_err();
        found.iter().map(|problem| problem.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(text), [3, 5]);
    let mended = text.replace("query b( ", "query b() ").replace("retrun", "return");
    assert_eq!(lines(&mended), [2, 4, 4, 4, 4]);
}
