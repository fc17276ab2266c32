//! The house: the gate, its surfaces, and the owner's desk, over one store.

use std::sync::Arc;

use narthex_core::{Actor, CallId, Phase, Reason, RecordDraft, Subject, Transport};
use narthex_gate::{Gate, GateConfig, GateParts, ReadySurface, SecretKey, Stdio, TokenVerifier};
use narthex_graph_surface::{GraphConfig, GraphHall};
use narthex_mcp::{EdgeConfig, StdioServer};
use narthex_policy::PolicyEngine;
use narthex_sandbox::{Pool, ProcessLayer};
use narthex_servers::hall::{HallConfig, HallParts, ServerHall};
use narthex_store::{Clock, Graphs, RowKey, Store, UnitOfWork};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use narthex_workspace::{CompanionSurface, WorkspaceConfig, WorkspaceSurface};

use crate::StopFile;
use crate::code_rooms::{CodeConfig, CodeRooms, HouseShelf};
use crate::graph_rooms::GraphRooms;
use crate::owner::{Desk, StdioIdentity};
use crate::server_rooms::ServerRooms;

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
    /// What it takes to run programs; none where they cannot be shut in.
    pub code: Option<CodeConfig>,
    /// The edge's bounds.
    pub edge: EdgeConfig,
    /// What holds the data directory, for `status`.
    pub holder: String,
    /// The file that stops everything while it is there.
    pub stop_file: StopFile,
}

/// The rooms of a house, but for the workspace.
#[derive(Debug)]
pub(crate) struct HouseRooms {
    pub(crate) graphs: Arc<GraphRooms>,
    pub(crate) servers: Arc<ServerRooms>,
    pub(crate) code: Option<Arc<CodeRooms>>,
    without_walls: bool,
}

impl HouseRooms {
    fn new(
        gate: &Gate,
        workspace: &Arc<ReadySurface>,
        graphs: &Arc<GraphHall>,
        servers: &ServerHall,
        edge: &EdgeConfig,
        code: Option<CodeConfig>,
    ) -> Self {
        let open_proposals = graphs.config().open_proposals;
        let graphs = Arc::new(GraphRooms::new(gate.clone(), Arc::clone(graphs), edge.clone()));
        let servers = Arc::new(ServerRooms::new(gate.clone(), servers.clone(), edge.clone()));
        let without_walls = code.as_ref().is_some_and(|code| code.without_walls);
        let code = code.map(|code| {
            let shelf = HouseShelf {
                gate: gate.clone(),
                workspace: Arc::clone(workspace),
                graphs: Arc::clone(&graphs),
                servers: Arc::clone(&servers),
                open_proposals,
            };
            let pool = Pool::new(code.layer, code.bounds);
            Arc::new(CodeRooms::new(gate.clone(), pool, Arc::new(shelf), edge.clone()))
        });
        Self { graphs, servers, code, without_walls }
    }
}

/// Notes in the ledger that programs run without walls, as the owner's settings say, and which is missing.
/// Whether that could be done.
async fn note_missing_walls(gate: &Gate) -> bool {
    let call = CallId::from_uuid(narthex_store::fresh_uuid());
    let missing = ProcessLayer::standing().missing;
    let missing = missing.map_or_else(|| "none".to_owned(), |wall| wall.to_string());
    let record = RecordDraft {
        reason: Reason::OwnerAction,
        subject: Subject::one("missing", &missing),
        ..RecordDraft::new(Phase::House, call, Actor::House, Transport::Local, "code.without_walls")
    };
    let noted = gate.store().commit(UnitOfWork::records(vec![record])).await;
    if let Err(error) = &noted {
        tracing::error!(%error, "that programs run without walls could not be recorded, so none is run");
    }
    noted.is_ok()
}

/// A house. Cheap to clone; all clones are one house.
#[derive(Debug, Clone)]
pub struct House {
    gate: Gate,
    workspace: Arc<ReadySurface>,
    companion: Arc<ReadySurface>,
    graphs: Arc<GraphHall>,
    servers: ServerHall,
    rooms: Arc<HouseRooms>,
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
        let mut rooms =
            HouseRooms::new(&gate, &workspace, &graphs, &servers, &parts.edge, parts.code);
        if rooms.without_walls && !note_missing_walls(&gate).await {
            rooms.code = None;
        }
        let rooms = Arc::new(rooms);
        let desk = Desk::new(
            gate.clone(),
            [Arc::clone(&workspace), Arc::clone(&companion)],
            Arc::clone(&graphs),
            servers.clone(),
            rooms.code.clone(),
            parts.token_key,
            parts.holder,
            stop_file.clone(),
        );
        let edge = parts.edge;
        Ok(Self { gate, workspace, companion, graphs, servers, rooms, desk, edge, stop_file })
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

    /// Where paths lead.
    pub(crate) const fn rooms(&self) -> &Arc<HouseRooms> {
        &self.rooms
    }

    /// Ends what was started for others: their servers, and workers that wait.
    pub async fn end_all(&self) {
        self.servers.end_all().await;
        if let Some(code) = &self.rooms.code {
            code.pool().close().await;
        }
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
