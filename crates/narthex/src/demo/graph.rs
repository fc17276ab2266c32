//! The graph of the demo: who keeps which instrument, where it stands, what happened to it.

use narthex_core::Slug;
use narthex_graph::engine::LoadMode;
use narthex_graph::stored::{Declaration, McpBlock, QueryFile, Shown};
use narthex_server::owner::{
    Bytes, GraphChange, GraphReply, GraphRequest, LoadRequest, Reply, Request,
};

use super::{ask, odd, unless_there};
use crate::Failure;
use crate::house::OpenHouse;

/// What is declared for it: a demo has no settings to say so.
pub fn declaration() -> Option<(Slug, Declaration)> {
    let file = |name: &str, source: &str| QueryFile {
        name: name.to_owned(),
        source: source.to_owned(),
        only: None,
    };
    let hidden = Shown { expose: false, tool_name: None };
    let mcp =
        McpBlock { queries: [(HIDDEN_QUERY.to_owned(), hidden)].into(), ..McpBlock::default() };
    let files = vec![file("looking.gq", LOOKING), file("changing.gq", CHANGING)];
    Some((GRAPH.parse().ok()?, Declaration { files, mcp }))
}

/// Makes it, as far as it is not there: a start that was killed half way is gone on with, and what
/// somebody changed since stays.
pub(super) async fn settle(open: &OpenHouse, space: &str) -> Result<(), Failure> {
    let (graph, space) = (GRAPH.to_owned(), space.to_owned());
    let schema = Some(SCHEMA.to_owned());
    unless_there(graph_ask(open, GraphRequest::Init { space, graph, schema }).await)?;
    let change = || GraphChange {
        graph: GRAPH.to_owned(),
        message: "the demo".to_owned(),
        ..GraphChange::default()
    };
    let shown = GraphRequest::Schema { graph: GRAPH.to_owned(), at: None };
    let Reply::Graph(GraphReply::Schema(shown)) = graph_ask(open, shown).await? else {
        return Err(odd());
    };
    if shown.source.trim().is_empty() {
        let schema = SCHEMA.to_owned();
        let apply = GraphRequest::Apply { change: change(), schema, allow_data_loss: false };
        graph_ask(open, apply).await?;
    }
    let rows = GraphRequest::Export { graph: GRAPH.to_owned(), at: None, after: None };
    let Reply::Graph(GraphReply::Lines(rows)) = graph_ask(open, rows).await? else {
        return Err(odd());
    };
    if rows.lines.is_empty() {
        let begin = LoadRequest::Begin { change: change(), from: None, mode: LoadMode::Merge };
        let part = LoadRequest::Part { bytes: Bytes(ROWS.as_bytes().to_vec()) };
        for request in [begin, part, LoadRequest::End] {
            graph_ask(open, GraphRequest::Load(request)).await?;
        }
    }
    Ok(())
}

async fn graph_ask(
    open: &OpenHouse,
    request: GraphRequest,
) -> Result<Reply, narthex_server::owner::OwnerError> {
    ask(open, Request::Graph(request)).await
}

/// Its slug.
pub(super) const GRAPH: &str = "harbour";
const HIDDEN_QUERY: &str = "unkept";
const SCHEMA: &str = include_str!("graph/harbour.pg");
const LOOKING: &str = include_str!("graph/looking.gq");
const CHANGING: &str = include_str!("graph/changing.gq");
const ROWS: &str = include_str!("graph/rows.ndjson");

#[cfg(test)]
mod tests {
    use narthex_graph::schema::Schema;
    use narthex_graph::stored::Catalogue;
    use narthex_graph_surface::built_in_tools;

    use super::{HIDDEN_QUERY, SCHEMA, declaration};

    #[test]
    fn its_queries_hold_to_its_schema() {
        let schema = Schema::read(SCHEMA, None).expect("a schema");
        let (slug, declared) = declaration().expect("a slug");
        assert_eq!(slug.as_str(), super::GRAPH);
        let catalogue =
            Catalogue::check(&declared, &schema, &built_in_tools()).expect("queries that hold");
        assert!(!catalogue.get(HIDDEN_QUERY).expect("there").expose);
        assert!(catalogue.exposed().any(narthex_graph::stored::StoredQuery::writes));
    }
}
