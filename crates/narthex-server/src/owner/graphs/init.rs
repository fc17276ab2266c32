//! Graphs themselves: made, listed, taken away.

use narthex_core::{BranchName, GraphId, Slug, Space, Subject};
use narthex_graph::GraphError;
use narthex_graph::engine::SchemaChange;
use narthex_graph::schema::Schema;
use narthex_store::{At, Effect, GraphInfo, GraphWrite, fresh_uuid};

use super::super::desk::{conflict, invalid};
use super::super::{Desk, GraphGone, GraphReply, GraphShown, OwnerError, Trouble};
use super::owner;
use super::trouble::Stop;

impl Desk {
    /// A graph is made empty, and its schema is a second commit. What is wrong with that is found
    /// before anything is made.
    pub(super) async fn graph_init(
        &self,
        space: &str,
        slug: &str,
        schema: Option<&str>,
    ) -> Result<GraphReply, Stop> {
        let space = self.space_named(space).await?;
        let slug: Slug = slug.parse().map_err(invalid)?;
        let graphs = self.graphs.engine().graphs();
        if graphs.graph(&slug).await?.is_some() {
            let message = format!("there is a graph {slug} already: take another name");
            return Err(conflict(message).into());
        }
        let id = GraphId::from_uuid(fresh_uuid());
        let graph =
            GraphInfo { id, slug, space: space.id, salt: fresh_salt()?, created: self.now() };
        if let Some(source) = schema {
            let read = Schema::read(source, Some(&Schema::default())).map_err(GraphError::Text)?;
            self.graphs.check(&graph, &read)?;
        }
        let found = || async {
            let engine = self.graphs.engine();
            Ok(engine.found(graph.slug.clone(), graph.space, graph.id, graph.salt, &owner()))
        };
        self.make("graph.init", &graph, found).await?;
        if let Some(source) = schema
            && let Err(stop) = self.first_schema(&graph, source).await
        {
            self.drop_graph(&graph).await?;
            return Err(stop);
        }
        let made = graphs.graph(&graph.slug).await?.unwrap_or(graph);
        Ok(GraphReply::Graph(Box::new(self.graph_shown(made, &space).await?)))
    }

    async fn first_schema(&self, graph: &GraphInfo, source: &str) -> Result<(), Stop> {
        let (limits, main) = (self.owner_limits(), BranchName::main());
        let ask = SchemaChange {
            source,
            branch: &main,
            expected: None,
            allow_data_loss: false,
            message: "",
            limits: &limits,
        };
        let apply = || async { self.graphs.engine().apply_schema(graph, &ask, &owner()).await };
        self.make("graph.apply", graph, apply).await?;
        Ok(())
    }

    pub(super) async fn graph_list(&self, space: Option<&str>) -> Result<GraphReply, Stop> {
        let only = match space {
            Some(name) => Some(self.space_named(name).await?.id),
            None => None,
        };
        let spaces = self.store().spaces().await?;
        let mut shown = Vec::new();
        for graph in self.graphs.engine().graphs().graphs(only).await? {
            if let Some(space) = spaces.iter().find(|space| space.id == graph.space) {
                shown.push(self.graph_shown(graph, space).await?);
            }
        }
        Ok(GraphReply::Graphs(shown))
    }

    async fn graph_shown(&self, graph: GraphInfo, space: &Space) -> Result<GraphShown, Stop> {
        let (engine, main) = (self.graphs.engine(), At::Branch(BranchName::main()));
        let schema = engine.schema_at(&graph, &main).await?;
        // What is wrong with them is told by `graph stored`.
        let stored = self.graphs.catalogue(&graph).await.ok();
        Ok(GraphShown {
            commit: engine.commit_at(&graph, &main).await?.id,
            branches: engine.graphs().branches(graph.id).await?.len(),
            node_types: schema.nodes.len(),
            edge_types: schema.edges.len(),
            stored: stored.map(|catalogue| catalogue.all().count()),
            id: graph.id,
            slug: graph.slug,
            space: space.slug.clone(),
            created: graph.created,
        })
    }

    pub(super) async fn graph_remove(&self, name: &str, typed: &str) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(name).await?;
        if typed != graph.slug.as_str() {
            let message = format!(
                "what was typed is not the name of the graph, so nothing was removed: it is {}",
                graph.slug
            );
            return Err(OwnerError { kind: Trouble::Denied, message }.into());
        }
        self.drop_graph(&graph).await?;
        Ok(GraphReply::Removed(GraphGone { id: graph.id, slug: graph.slug }))
    }

    async fn drop_graph(&self, graph: &GraphInfo) -> Result<(), Stop> {
        let effect = Effect::Graph(Box::new(GraphWrite::Remove { graph: graph.id }));
        let subject = Subject::one("graph", graph.id);
        self.change("graph.remove", Some(graph.space), subject, effect).await?;
        Ok(())
    }
}

fn fresh_salt() -> Result<[u8; 16], OwnerError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| OwnerError {
        kind: Trouble::Unavailable,
        message: format!("the system gives no random numbers: {error}"),
    })?;
    Ok(salt)
}
