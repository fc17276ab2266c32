//! `[graphs.NAME]` in the settings.

use narthex::config::Config;
use narthex_graph::stored::{McpBlock, Mode};

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (text, message) in [
        (
            "[graphs.a]\nqueris = 'x'",
            "x:2:1: unknown key `graphs.a.queris`; did you mean `queries`?",
        ),
        ("[graphs.a.mcp]\nmodus = 'meta'", "x:2:1: unknown key `graphs.a.mcp.modus`"),
        ("[graphs.a.mcp]\nmode = 'some'", "x:2:8: unknown variant `some`"),
        ("[graphs.a.mcp]\nthreshold = 0", "x:2:13: graphs.a.mcp.threshold must be from 1 to 1000"),
        (
            "[graphs.a.mcp.queries.q]\nexposed = true",
            "x:2:1: unknown key `graphs.a.mcp.queries.q.exposed`; did you mean `expose`?",
        ),
        ("[graphs.a]\nqueries = 3", "x:2:11: queries is a folder, a list of .gq files"),
        ("[graphs.a.queries]\nq = 'x.gq'", "queries is a folder, a list of .gq files"),
        ("graphs = 1", "x:1:10: invalid type"),
    ] {
        let failure = Config::parse("x", text).expect_err(text);
        assert!(failure.message.contains(message), "{text}: {}", failure.message);
    }
    let config = Config::parse("x", "[graphs.'No Slug']").expect("read");
    let failure = config.declarations(std::path::Path::new("")).expect_err("no slug");
    assert!(failure.message.contains("[graphs.No Slug]"), "{failure}");
}

#[test]
fn the_keys_say_what_the_block_says() {
    let config = Config::parse("x", "[graphs.a]\n[graphs.b.mcp]\nmode = 'per_query'\nthreshold = 7\n[graphs.b.mcp.queries.q]\nexpose = false\ntool_name = 't'")
        .expect("read");
    assert_eq!(McpBlock::from(&config.graphs["a"].mcp), McpBlock::default());
    let block = McpBlock::from(&config.graphs["b"].mcp);
    assert_eq!((block.mode, block.threshold), (Mode::PerQuery, 7));
    let shown = &block.queries["q"];
    assert_eq!((shown.expose, shown.tool_name.as_deref()), (false, Some("t")));
    assert_eq!(config.limits.graph_load_bytes, 32 * 1024 * 1024);
}
