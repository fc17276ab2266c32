//! Branches: listed, made, protected, taken away.

use narthex_core::Agent;
use narthex_graph::engine::{NewBranch, Unmerged};
use narthex_store::Branch;

use super::super::desk::invalid;
use super::super::graph_request::BranchRequest;
use super::super::{BranchShown, Desk, GraphReply};
use super::trouble::Stop;
use super::{changed, owner};

impl Desk {
    pub(super) async fn graph_branch(&self, request: BranchRequest) -> Result<GraphReply, Stop> {
        match request {
            BranchRequest::List { graph } => self.branch_list(&graph).await,
            BranchRequest::Create { graph, name, from, protected } => {
                self.branch_create(&graph, &name, from.as_deref(), protected).await
            }
            BranchRequest::Delete { graph, name, force } => {
                self.branch_delete(&graph, &name, force).await
            }
            BranchRequest::Protect { graph, name, protected } => {
                self.branch_protect(&graph, &name, protected).await
            }
        }
    }

    async fn branch_list(&self, graph: &str) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let agents = self.store().agents().await?;
        let branches = self.graphs.engine().graphs().branches(graph.id).await?;
        let shown = branches.into_iter().map(|branch| shown(branch, &agents));
        Ok(GraphReply::Branches(shown.collect()))
    }

    async fn branch_create(
        &self,
        graph: &str,
        name: &str,
        from: Option<&str>,
        protected: bool,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let name = name.parse().map_err(invalid)?;
        let new = NewBranch { name, from: self.place(&graph, from).await?, protected };
        let (engine, maker) = (self.graphs.engine(), owner());
        let create = || engine.create_branch(&graph, &new, &maker);
        let done = self.make("graph.branch.create", &graph, create).await?;
        Ok(changed(&graph, done))
    }

    async fn branch_delete(
        &self,
        graph: &str,
        name: &str,
        force: bool,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let name = name.parse().map_err(invalid)?;
        let engine = self.graphs.engine();
        let unmerged = if force { Unmerged::Lost } else { Unmerged::Kept };
        let delete = || engine.delete_branch(&graph, &name, unmerged);
        let done = self.make("graph.branch.delete", &graph, delete).await?;
        Ok(changed(&graph, done))
    }

    async fn branch_protect(
        &self,
        graph: &str,
        name: &str,
        protected: bool,
    ) -> Result<GraphReply, Stop> {
        let graph = self.graph_named(graph).await?;
        let name = name.parse().map_err(invalid)?;
        let engine = self.graphs.engine();
        let action = if protected { "graph.branch.protect" } else { "graph.branch.unprotect" };
        let protect = || engine.protect_branch(&graph, &name, protected);
        let done = self.make(action, &graph, protect).await?;
        Ok(changed(&graph, done))
    }
}

fn shown(branch: Branch, agents: &[Agent]) -> BranchShown {
    let slug = |id| agents.iter().find(|agent| agent.id == id).map(|agent| agent.slug.to_string());
    BranchShown {
        name: branch.name,
        commit: branch.commit,
        own_commits: branch.head,
        agent: branch.owner.map(|id| slug(id).unwrap_or_else(|| id.to_string())),
        protected: branch.protected,
        created: branch.created,
    }
}
