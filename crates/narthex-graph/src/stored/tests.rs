use super::{Catalogue, Declaration, McpBlock, Mode, QueryFile, Shown};
use crate::schema::Schema;

const SCHEMA: &str = "node Ship { slug: String @key  name: String  tons: I64 }";
const LOOK: &str = r#"
query ships() @description("every ship") @instruction("ask this first") {
    match { $s: Ship } return { $s.slug, $s.tons }
}
query ship($slug: String) { match { $s: Ship { slug: $slug } } return { $s.name } }
"#;
const CHANGE: &str = "query rename($slug: String, $name: String) { update Ship set { name: $name } where slug = $slug }";

fn declared(files: &[(&str, &str)], mcp: McpBlock) -> Declaration {
    let file = |(name, source): &(&str, &str)| QueryFile {
        name: (*name).to_owned(),
        source: (*source).to_owned(),
        only: None,
    };
    Declaration { files: files.iter().map(file).collect(), mcp }
}

fn check(declared: &Declaration) -> Result<Catalogue, String> {
    let schema = Schema::read(SCHEMA, None).expect("a schema");
    Catalogue::check(declared, &schema, &["graph_query", "branch_list"])
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn named(query: &str, shown: Shown) -> McpBlock {
    McpBlock { queries: [(query.to_owned(), shown)].into(), ..McpBlock::default() }
}

fn tool(name: &str) -> Shown {
    Shown { tool_name: Some(name.to_owned()), ..Shown::default() }
}

#[test]
fn a_catalogue_says_what_its_queries_take_and_give() {
    let all = declared(&[("look.gq", LOOK), ("change.gq", CHANGE)], McpBlock::default());
    let catalogue = check(&all).expect("good");
    let ships = catalogue.get("ships").expect("there");
    assert_eq!(ships.description(), "every ship\n\nask this first");
    let row = ships.row_schema().expect("it looks");
    assert_eq!(row["properties"]["s.tons"]["type"], "string", "64 bits travel as text: {row}");
    let ship = catalogue.get("ship").expect("there");
    assert_eq!(ship.params_schema()["required"][0], "slug");
    let rename = catalogue.get("rename").expect("there");
    assert!(rename.writes() && rename.row_schema().is_none());
}

#[test]
fn what_is_wrong_with_a_declaration_is_said_aloud() {
    let two = "query a() { match { $s: Ship } return { $s.slug } } query b() { match { $s: Ship } return { $s.slug } }";
    let rows: [(&str, Declaration, &str); 9] = [
        (
            "a tool of every graph",
            declared(
                &[("q", "query graph_query() { match { $s: Ship } return { $s.slug } }")],
                McpBlock::default(),
            ),
            "which is a tool of every graph",
        ),
        (
            "by its tool_name",
            declared(&[("q", two)], named("a", tool("branch_list"))),
            "which is a tool of every graph",
        ),
        (
            "two of one tool",
            declared(&[("q", two)], named("a", tool("b"))),
            "two stored queries would be the tool `b`",
        ),
        (
            "hidden ones count",
            declared(
                &[("q", two)],
                named("a", Shown { expose: false, tool_name: Some("b".to_owned()) }),
            ),
            "two stored queries",
        ),
        (
            "twice",
            declared(&[("one.gq", two), ("two.gq", two)], McpBlock::default()),
            "there is a stored query `a` in one.gq already",
        ),
        (
            "no such query",
            declared(&[("q", two)], named("c", tool("x"))),
            "mcp.queries.c: there is no stored query",
        ),
        ("no name", declared(&[("q", two)], named("a", tool("a b"))), "is no name for a tool"),
        (
            "a text that is wrong",
            declared(
                &[("q.gq", "query a() { match { $s: Shop } return { $s.slug } }")],
                McpBlock::default(),
            ),
            "Ship",
        ),
        ("an empty file", declared(&[("q.gq", "// nothing")], McpBlock::default()), "no query"),
    ];
    for (what, declaration, expected) in rows {
        let said = check(&declaration).err().unwrap_or_default();
        assert!(said.contains(expected), "{what}: {said}");
    }
    let zero = McpBlock { threshold: 0, ..McpBlock::default() };
    assert!(check(&declared(&[("q", two)], zero)).is_err());
}

#[test]
fn one_tool_each_until_they_are_many() {
    let many = |count: usize| {
        let one = |n| format!("query q{n}() {{ match {{ $s: Ship }} return {{ $s.slug }} }}");
        (0..count).map(one).collect::<Vec<String>>().join("\n")
    };
    for (count, mode, threshold, meta) in [
        (23, Mode::Auto, 24, false),
        (24, Mode::Auto, 24, true),
        (2, Mode::Auto, 2, true),
        (2, Mode::Auto, 3, false),
        (24, Mode::PerQuery, 24, false),
        (1, Mode::Meta, 24, true),
    ] {
        let source = many(count);
        let mcp = McpBlock { mode, threshold, ..McpBlock::default() };
        let catalogue = check(&declared(&[("q.gq", &source)], mcp)).expect("good");
        assert_eq!(catalogue.is_meta(), meta, "{count} {mode:?} {threshold}");
    }
    // Those that are not exposed do not count.
    let source = many(24);
    let hidden = Shown { expose: false, ..Shown::default() };
    let catalogue = check(&declared(&[("q.gq", &source)], named("q0", hidden))).expect("good");
    assert!(!catalogue.is_meta());
    assert_eq!((catalogue.all().count(), catalogue.exposed().count()), (24, 23));
}
