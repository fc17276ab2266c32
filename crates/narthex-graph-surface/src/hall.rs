//! The graphs of a house, with what is declared for them.

use std::sync::Arc;

use narthex_core::{BranchName, Digest, GraphId};
use narthex_graph::engine::Prepared;
use narthex_graph::exec::Limits;
use narthex_graph::schema::Schema;
use narthex_graph::stored::{Catalogue, Declaration, StoredFault};
use narthex_graph::{Engine, GraphError};
use narthex_store::{At, Clock, GraphInfo, GraphWrite, Graphs};

use crate::GraphConfig;
use crate::tools::builtin::Builtin;

/// The graphs of a house. One for all who look at or change them.
#[derive(Debug)]
pub struct GraphHall {
    engine: Engine,
    config: GraphConfig,
    catalogues: moka::sync::Cache<(GraphId, Digest), Arc<Catalogue>>,
}

/// Stored queries that do not fit their graph.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The graph cannot be looked at.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// What is declared for it is wrong.
    #[error("the stored queries of the graph {graph} do not hold:\n{}", lines(.faults))]
    Declared {
        /// Which.
        graph: String,
        /// What is wrong.
        faults: Vec<StoredFault>,
    },
}

impl GraphHall {
    /// Over a store.
    pub fn new(graphs: Arc<dyn Graphs>, clock: Arc<dyn Clock>, config: GraphConfig) -> Self {
        let catalogues = moka::sync::Cache::new(CATALOGUES);
        Self { engine: Engine::new(graphs, clock), config, catalogues }
    }

    /// The engine.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How much a query may take.
    pub const fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// What is declared for graphs, by their slugs.
    pub const fn config(&self) -> &GraphConfig {
        &self.config
    }

    /// The stored queries of a graph, as they are under the schema of `main`.
    pub async fn catalogue(&self, graph: &GraphInfo) -> Result<Arc<Catalogue>, CatalogueError> {
        let schema = self.engine.schema_at(graph, &At::Branch(BranchName::main())).await?;
        let key = (graph.id, schema.digest());
        if let Some(known) = self.catalogues.get(&key) {
            return Ok(known);
        }
        let catalogue = Arc::new(self.check(graph, &schema)?);
        self.catalogues.insert(key, Arc::clone(&catalogue));
        Ok(catalogue)
    }

    /// Checks what is declared for a graph against a schema.
    pub fn check(&self, graph: &GraphInfo, schema: &Schema) -> Result<Catalogue, CatalogueError> {
        let none = Declaration::default();
        let declared = self.config.declared.get(&graph.slug).unwrap_or(&none);
        Catalogue::check(declared, schema, &built_in_tools())
            .map_err(|faults| CatalogueError::Declared { graph: graph.slug.to_string(), faults })
    }

    /// Before a change is made that gives `main` another schema: do the stored queries hold to it?
    pub fn recheck(&self, graph: &GraphInfo, prepared: &Prepared) -> Result<(), CatalogueError> {
        let Some(GraphWrite::Commit(commit)) = &prepared.write else { return Ok(()) };
        let Some(stored) = &commit.schema else { return Ok(()) };
        if prepared.done.branch != BranchName::main() {
            return Ok(());
        }
        let schema = Schema::from_stored(stored)
            .map_err(|error| GraphError::Damaged(format!("a schema to be stored: {error}")))?;
        self.check(graph, &schema).map(drop)
    }
}

/// The names of the tools every graph has: no stored query may take one.
pub fn built_in_tools() -> Vec<&'static str> {
    Builtin::ALWAYS.into_iter().chain(Builtin::META).map(Builtin::name).collect()
}

fn lines(faults: &[StoredFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Catalogues that are kept at hand.
const CATALOGUES: u64 = 256;
