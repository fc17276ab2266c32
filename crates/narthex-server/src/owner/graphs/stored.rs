//! The stored queries of a graph, and how they are shown to agents.

use narthex_graph::stored::{McpBlock, StoredQuery};

use super::super::{Desk, GraphReply, ParamShown, StoredQueryShown, StoredShown};
use super::schema::word;
use super::trouble::Stop;

impl Desk {
    pub(super) async fn graph_stored(&self, graph: &str) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let catalogue = self.graphs.catalogue(&graph).await?;
        let declared = self.graphs.config().declared.get(&graph.slug);
        let mcp = declared.map_or_else(McpBlock::default, |declared| declared.mcp.clone());
        Ok(GraphReply::Stored(StoredShown {
            graph: graph.slug,
            declared: word(mcp.mode),
            mode: if catalogue.is_meta() { "meta" } else { "per_query" }.to_owned(),
            threshold: mcp.threshold,
            exposed: catalogue.exposed().count(),
            queries: catalogue.all().map(StoredQueryShown::from).collect(),
        }))
    }
}

impl From<&StoredQuery> for StoredQueryShown {
    fn from(query: &StoredQuery) -> Self {
        let params = query.plan.params.iter().map(|param| ParamShown {
            name: param.name.clone(),
            kind: param.kind.to_string(),
            required: !param.nullable && param.default.is_none(),
        });
        Self {
            name: query.name.clone(),
            tool: query.tool.clone(),
            exposed: query.expose,
            writes: query.writes(),
            file: query.file.clone(),
            description: query.description(),
            params: params.collect(),
        }
    }
}
