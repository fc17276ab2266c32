//! Where the path of a graph leads.

use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use narthex_core::{BranchName, CommitId, GraphId, Slug, SpaceId};
use narthex_gate::{Admitted, CallError, Gate, ReadySurface};
use narthex_graph_surface::{GraphHall, GraphSurface};
use narthex_mcp::{EdgeConfig, Rooms, Served};
use narthex_store::GraphInfo;

/// The graphs of a house as MCP endpoints: `/graphs/{graph}/mcp`.
#[derive(Debug)]
pub(crate) struct GraphRooms {
    gate: Gate,
    hall: Arc<GraphHall>,
    edge: EdgeConfig,
    /// A graph's surface, and the commit `main` stood at when it was looked whether it still holds.
    known: Cache<GraphId, Known>,
}

#[derive(Debug, Clone)]
struct Known {
    head: CommitId,
    catalogue: Arc<narthex_graph::stored::Catalogue>,
    surface: Arc<ReadySurface>,
    served: Served,
}

impl GraphRooms {
    pub(crate) fn new(gate: Gate, hall: Arc<GraphHall>, edge: EdgeConfig) -> Self {
        Self { gate, hall, edge, known: Cache::new(KNOWN) }
    }

    /// The surfaces of a space's graphs.
    pub(crate) async fn surfaces(
        &self,
        space: SpaceId,
    ) -> Result<Vec<(Slug, Arc<ReadySurface>)>, CallError> {
        let graphs = self.hall.engine().graphs().graphs(Some(space)).await;
        let mut surfaces = Vec::new();
        for graph in graphs.map_err(|error| unavailable(&error))? {
            surfaces.push((graph.slug.clone(), self.known(&graph).await?.surface));
        }
        Ok(surfaces)
    }

    /// The surface of a graph, made again when its stored queries are others.
    async fn known(&self, graph: &GraphInfo) -> Result<Known, CallError> {
        let main = self.hall.engine().branch(graph, &BranchName::main()).await;
        let head = main.map_err(|error| unavailable(&error))?.commit;
        let before = self.known.get(&graph.id);
        if let Some(known) = &before
            && known.head == head
        {
            return Ok(known.clone());
        }
        let catalogue = self.hall.catalogue(graph).await.map_err(|error| unavailable(&error))?;
        let known = match before {
            Some(known) if Arc::ptr_eq(&known.catalogue, &catalogue) => Known { head, ..known },
            _ => {
                let (hall, of) = (Arc::clone(&self.hall), Arc::clone(&catalogue));
                let surface = GraphSurface::new(hall, graph.clone(), of);
                let surface = ReadySurface::new(Arc::new(surface));
                let surface = Arc::new(surface.map_err(|error| unavailable(&error))?);
                let served = Served::new(self.gate.clone(), Arc::clone(&surface), &self.edge);
                Known { head, catalogue, surface, served }
            }
        };
        self.known.insert(graph.id, known.clone());
        Ok(known)
    }
}

#[async_trait]
impl Rooms for GraphRooms {
    async fn room(&self, path: &str, admitted: &Admitted) -> Result<Option<Served>, CallError> {
        let (Some(slug), Some(space)) = (slug_of(path), admitted.scope().space()) else {
            return Ok(None);
        };
        // Only what is in its space is looked through.
        let graphs = self.hall.engine().graphs().graphs(Some(space)).await;
        let graphs = graphs.map_err(|error| unavailable(&error))?;
        let Some(graph) = graphs.into_iter().find(|graph| graph.slug == slug) else {
            return Ok(None);
        };
        let known = self.known(&graph).await?;
        Ok(self.gate.may_see(admitted, &known.surface).then_some(known.served))
    }
}

/// The graph a path names; one spelling only, so nothing in it is decoded.
fn slug_of(path: &str) -> Option<Slug> {
    path.strip_prefix("/graphs/")?.strip_suffix("/mcp")?.parse().ok()
}

fn unavailable(error: &dyn std::error::Error) -> CallError {
    tracing::error!(%error, "a graph cannot be served");
    CallError::Unavailable
}

/// Graphs whose surfaces are kept at hand.
const KNOWN: u64 = 256;

#[cfg(test)]
mod tests {
    use super::slug_of;

    #[test]
    fn a_path_names_a_graph_in_one_spelling() {
        for (path, slug) in [
            ("/graphs/harbour/mcp", Some("harbour")),
            ("/graphs/a-b/mcp", Some("a-b")),
            ("/graphs//mcp", None),
            ("/graphs/../mcp", None),
            ("/graphs/a%2fb/mcp", None),
            ("/graphs/harbour%00/mcp", None),
            ("/graphs/HARBOUR/mcp", None),
            ("/graphs/harbour/x/mcp", None),
            ("/graphs/harbour/mcp/", None),
            ("/mcp", None),
        ] {
            assert_eq!(slug_of(path).map(|slug| slug.to_string()).as_deref(), slug, "{path}");
        }
    }
}
