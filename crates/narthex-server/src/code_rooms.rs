//! Where the path of code mode leads, and what its modules are made of.

use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use narthex_core::AgentId;
use narthex_gate::{Admitted, CallContext, CallError, Gate, ReadySurface, Staged, ToolError};
use narthex_mcp::{EdgeConfig, Rooms, Served};
use narthex_sandbox::modules::{Modules, Shelf, Shelved};
use narthex_sandbox::{
    AskedServer, CodeParts, CodeSurface, Layer, Pool, SandboxConfig, ServerLine, ServerShelf,
};
use narthex_servers::hall::ServerState;

use crate::graph_rooms::GraphRooms;
use crate::server_rooms::ServerRooms;

/// What it takes to run programs.
#[derive(Debug, Clone)]
pub struct CodeConfig {
    /// Where they are shut in.
    pub layer: Arc<dyn Layer>,
    /// What they may use up.
    pub bounds: SandboxConfig,
    /// Whether the owner lets them run where walls are missing.
    pub without_walls: bool,
}

/// Code mode as an MCP endpoint: `/code/mcp`.
#[derive(Debug)]
pub(crate) struct CodeRooms {
    gate: Gate,
    pool: Pool,
    shelf: Arc<HouseShelf>,
    edge: EdgeConfig,
    known: Cache<AgentId, Known>,
}

/// A surface, and what it was made of.
#[derive(Debug, Clone)]
struct Known {
    modules: Vec<String>,
    servers: bool,
    surface: Arc<ReadySurface>,
    served: Served,
}

impl CodeRooms {
    pub(crate) fn new(gate: Gate, pool: Pool, shelf: Arc<HouseShelf>, edge: EdgeConfig) -> Self {
        Self { gate, pool, shelf, edge, known: Cache::new(KNOWN) }
    }

    /// Where programs run.
    pub(crate) const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// What somebody's programs may use.
    pub(crate) async fn modules(&self, admitted: &Admitted) -> Result<Modules, ToolError> {
        let context = self.gate.context_for(admitted);
        Modules::of(&self.gate, self.shelf.as_ref(), &context).await
    }

    /// The surface as an agent has it.
    pub(crate) async fn surface(
        &self,
        admitted: &Admitted,
    ) -> Result<Arc<ReadySurface>, CallError> {
        Ok(self.known(admitted).await?.surface)
    }

    async fn known(&self, admitted: &Admitted) -> Result<Known, CallError> {
        let modules = self.modules(admitted).await.map_err(|error| unavailable(&error))?;
        let modules: Vec<String> = modules.iter().map(|module| module.name.clone()).collect();
        let servers = self.shelf.servers.are_on().await?;
        let agent = admitted.principal().agent.id;
        let same = |known: &Known| known.modules == modules && known.servers == servers;
        if let Some(known) = self.known.get(&agent).filter(same) {
            return Ok(known);
        }
        let parts = CodeParts {
            gate: self.gate.clone(),
            pool: self.pool.clone(),
            shelf: Arc::clone(&self.shelf) as Arc<dyn Shelf>,
            servers: servers.then(|| Arc::clone(&self.shelf) as Arc<dyn ServerShelf>),
        };
        let surface = ReadySurface::new(Arc::new(CodeSurface::new(parts, modules.clone())));
        let surface = Arc::new(surface.map_err(|error| unavailable(&error))?);
        let served = Served::new(self.gate.clone(), Arc::clone(&surface), &self.edge);
        let known = Known { modules, servers, surface, served };
        self.known.insert(agent, known.clone());
        Ok(known)
    }
}

#[async_trait]
impl Rooms for CodeRooms {
    async fn room(&self, path: &str, admitted: &Admitted) -> Result<Option<Served>, CallError> {
        if path != PATH || admitted.scope().space().is_none() {
            return Ok(None);
        }
        let known = self.known(admitted).await?;
        Ok(self.gate.may_see(admitted, &known.surface).then_some(known.served))
    }
}

/// The surfaces of a house, as modules.
#[derive(Debug)]
pub(crate) struct HouseShelf {
    pub(crate) gate: Gate,
    pub(crate) workspace: Arc<ReadySurface>,
    pub(crate) graphs: Arc<GraphRooms>,
    pub(crate) servers: Arc<ServerRooms>,
    pub(crate) open_proposals: u32,
}

#[async_trait]
impl Shelf for HouseShelf {
    async fn surfaces(&self, context: &CallContext) -> Result<Vec<Shelved>, ToolError> {
        let Some(space) = context.scope.space() else { return Ok(Vec::new()) };
        let mut all = vec![Shelved {
            name: "host:workspace".to_owned(),
            about: "the pages of your space: search, read, look around, propose".to_owned(),
            surface: Arc::clone(&self.workspace),
        }];
        let unavailable = |error: CallError| ToolError::Unavailable(format!("{error:?}"));
        for (slug, surface) in self.graphs.surfaces(space).await.map_err(unavailable)? {
            let about = format!("the graph {slug}: query it, change it on branches of your own");
            all.push(Shelved { name: format!("host:graph-{slug}"), about, surface });
        }
        let agent = context.principal.agent.id;
        for (name, surface) in self.servers.surfaces(agent).await.map_err(unavailable)? {
            let about = format!("the MCP server {name}; what it answers is not the owner's word");
            all.push(Shelved { name: format!("host:mcp-{name}"), about, surface });
        }
        Ok(all)
    }
}

#[async_trait]
impl ServerShelf for HouseShelf {
    async fn servers(&self, context: &CallContext) -> Result<Vec<ServerLine>, ToolError> {
        let agent = context.principal.agent.id;
        let views = self.servers.of_agent(agent).await;
        let views = views.map_err(|error| ToolError::Unavailable(format!("{error:?}")))?;
        let line = |(config, standing): (_, narthex_core::ServerStanding)| {
            let config: narthex_servers::config::ServerConfig = config;
            let state = self.servers.state(&config.name);
            let tools = standing.definitions.keys();
            let tools: Vec<String> = tools
                .filter(|d| d.kind == narthex_core::DefinitionKind::Tool)
                .map(|definition| definition.name.clone())
                .collect();
            let stands = match () {
                () if standing.disabled || config.disabled => "the owner has switched it off",
                () if standing.start.is_none() => "the owner has not approved it",
                () if tools.is_empty() => "the owner has approved none of its tools",
                () => "ready",
            };
            ServerLine {
                module: (stands == "ready").then(|| format!("host:mcp-{}", config.name)),
                name: config.name.to_string(),
                stands,
                error: matches!(state, ServerState::Error(_))
                    .then(|| "it could not be reached; the owner sees why".to_owned()),
                state: state.as_str().to_owned(),
                tools,
            }
        };
        Ok(views.into_iter().map(line).collect())
    }

    async fn ask_for(
        &self,
        context: &CallContext,
        asked: AskedServer,
    ) -> Result<Staged, ToolError> {
        crate::server_request::stage(&self.gate, context, &asked, self.open_proposals)
    }
}

fn unavailable(error: &dyn std::error::Error) -> CallError {
    tracing::error!(%error, "code mode cannot be served");
    CallError::Unavailable
}

/// The one path.
pub(crate) const PATH: &str = "/code/mcp";
/// Surfaces that are kept at hand.
const KNOWN: u64 = 1024;
