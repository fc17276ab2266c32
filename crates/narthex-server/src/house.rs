//! The house: the gate, its surfaces, and the owner's desk, over one store.

use std::sync::Arc;

use narthex_gate::{Gate, GateConfig, GateParts, ReadySurface, SecretKey, Stdio, TokenVerifier};
use narthex_graph_surface::{GraphConfig, GraphHall};
use narthex_mcp::{EdgeConfig, StdioServer};
use narthex_policy::PolicyEngine;
use narthex_servers::hall::{HallConfig, HallParts, ServerHall};
use narthex_store::{Clock, Graphs, RowKey, Store};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use narthex_workspace::{CompanionSurface, WorkspaceConfig, WorkspaceSurface};

use crate::StopFile;
use crate::owner::{Desk, StdioIdentity};

/// What a house is built from.
#[derive(Debug)]
pub struct HouseParts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What policy says.
    pub policy: PolicyEngine,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What token secrets are hashed with.
    pub token_key: SecretKey,
    /// What argument values and nonces are hashed with.
    pub rows: RowKey,
    /// The gate's bounds.
    pub gate: GateConfig,
    /// The workspace's bounds.
    pub workspace: WorkspaceConfig,
    /// What is said about graphs.
    pub graphs: GraphConfig,
    /// What it takes to reach other people's servers.
    pub servers: HallConfig,
    /// The edge's bounds.
    pub edge: EdgeConfig,
    /// What holds the data directory, for `status`.
    pub holder: String,
    /// The file that stops everything while it is there.
    pub stop_file: StopFile,
}

/// A house. Cheap to clone; all clones are one house.
#[derive(Debug, Clone)]
pub struct House {
    gate: Gate,
    workspace: Arc<ReadySurface>,
    companion: Arc<ReadySurface>,
    graphs: Arc<GraphHall>,
    servers: ServerHall,
    desk: Desk,
    edge: EdgeConfig,
    stop_file: StopFile,
}

impl House {
    /// Puts a house together.
    pub async fn open(parts: HouseParts) -> Result<Self, narthex_gate::SurfaceFault> {
        let store = Arc::clone(&parts.store);
        let workspace = WorkspaceSurface::new(Arc::clone(&store), parts.workspace);
        let companion = CompanionSurface::new(Arc::clone(&store), parts.workspace);
        let graphs = Arc::new(GraphHall::new(
            Arc::clone(&store) as Arc<dyn Graphs>,
            Arc::clone(&parts.clock),
            parts.graphs,
        ));
        let verifier = TokenVerifier::new(
            Arc::clone(&store),
            Arc::clone(&parts.clock),
            parts.token_key.clone(),
            parts.gate.remembered_tokens,
        );
        let gate = Gate::open(GateParts {
            store,
            verifier: Arc::new(verifier),
            policy: parts.policy,
            clock: parts.clock,
            rows: parts.rows,
            config: parts.gate,
        })
        .await;
        // Before anyone can call: what an operator stopped while nothing ran is stopped.
        parts.stop_file.heed(&gate).await;
        let workspace = Arc::new(ReadySurface::new(Arc::new(workspace))?);
        let companion = Arc::new(ReadySurface::new(Arc::new(companion))?);
        let own = [workspace.surface(), companion.surface()];
        let own = own.iter().flat_map(|s| s.tools().iter().map(|tool| tool.name.clone()));
        let graph = narthex_graph_surface::built_in_tools().into_iter().map(str::to_owned);
        let named = |who: &'static str| move |tool: String| (who.to_owned(), tool);
        let house_tools = own.map(named("workspace")).chain(graph.map(named("graph"))).collect();
        let servers = ServerHall::new(HallParts {
            store: Arc::clone(gate.store()),
            house_tools,
            config: parts.servers,
        });
        let stop_file = parts.stop_file;
        let desk = Desk::new(
            gate.clone(),
            [Arc::clone(&workspace), Arc::clone(&companion)],
            Arc::clone(&graphs),
            servers.clone(),
            parts.token_key,
            parts.holder,
            stop_file.clone(),
        );
        Ok(Self { gate, workspace, companion, graphs, servers, desk, edge: parts.edge, stop_file })
    }

    /// The one path every call takes.
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The surface for agents bound to one space.
    pub const fn workspace(&self) -> &Arc<ReadySurface> {
        &self.workspace
    }

    /// The surface for the owner's companion, on stdio only.
    pub const fn companion(&self) -> &Arc<ReadySurface> {
        &self.companion
    }

    /// The graphs, with what is declared for them.
    pub const fn graphs(&self) -> &Arc<GraphHall> {
        &self.graphs
    }

    /// Other people's servers.
    pub const fn servers(&self) -> &ServerHall {
        &self.servers
    }

    /// Serves an MCP client on lines, for whoever the owner started the process for, until the
    /// input ends.
    pub async fn serve_stdio<R, W>(
        &self,
        identity: StdioIdentity,
        input: R,
        output: W,
        stop: CancellationToken,
    ) where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let (surface, who) = if identity.companion {
            (&self.companion, Stdio::Companion { agent: identity.agent, space: identity.space })
        } else {
            (&self.workspace, Stdio::Agent(identity.agent))
        };
        let server =
            StdioServer::new(self.gate.clone(), Arc::clone(surface), who, self.edge.clone());
        if let Err(error) = server.run(input, output, stop).await {
            tracing::debug!(%error, "an MCP client on stdio went away");
        }
    }

    /// Looks for the stop file until told to stop: whoever serves agents runs this beside it.
    pub async fn watch_stop_file(&self, stop: CancellationToken) {
        self.stop_file.watch(&self.gate, stop).await;
    }

    /// Where the owner's requests are carried out.
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }
}
