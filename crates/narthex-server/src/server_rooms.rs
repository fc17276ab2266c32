//! Where the path of a server of somebody else's leads.

use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use narthex_core::{AgentId, ServerStanding, Slug};
use narthex_gate::{Admitted, CallError, Gate, ReadySurface};
use narthex_mcp::{EdgeConfig, Rooms, Served};
use narthex_servers::config::{ServerConfig, ServerName};
use narthex_servers::hall::{HallFault, Offered, ServerHall, ServerState, View};
use narthex_servers::surface::ServerSurface;

/// The servers of a house as MCP endpoints: `/servers/{name}/mcp`.
#[derive(Debug)]
pub(crate) struct ServerRooms {
    gate: Gate,
    hall: ServerHall,
    edge: EdgeConfig,
    known: Cache<(AgentId, Slug), Known>,
}

/// A surface, and what it was made of.
#[derive(Debug, Clone)]
struct Known {
    config: Arc<ServerConfig>,
    standing: Arc<ServerStanding>,
    seen: Option<Arc<Offered>>,
    surface: Arc<ReadySurface>,
    served: Served,
}

impl Known {
    fn is_of(&self, view: &View, seen: Option<&Arc<Offered>>) -> bool {
        let same_seen = match (&self.seen, seen) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_seen && self.standing == view.standing && self.config == view.config
    }
}

impl ServerRooms {
    pub(crate) fn new(gate: Gate, hall: ServerHall, edge: EdgeConfig) -> Self {
        Self { gate, hall, edge, known: Cache::new(KNOWN) }
    }

    /// Whether the owner has servers turned on.
    pub(crate) async fn are_on(&self) -> Result<bool, CallError> {
        Ok(self.hall.book().await.map_err(|fault| unavailable(&fault))?.on)
    }

    /// How a server is.
    pub(crate) fn state(&self, name: &ServerName) -> ServerState {
        self.hall.state(name)
    }

    /// The servers that profiles of an agent's have, with what was approved of each.
    pub(crate) async fn of_agent(
        &self,
        agent: AgentId,
    ) -> Result<Vec<(ServerConfig, ServerStanding)>, CallError> {
        let servers = match self.hall.servers_of(agent).await {
            Ok(servers) => servers,
            Err(fault @ HallFault::Store(_)) => return Err(unavailable(&fault)),
            // A file that cannot be used names no server.
            Err(_) => return Ok(Vec::new()),
        };
        let book = self.hall.book().await.map_err(|fault| unavailable(&fault))?;
        let standing = |name: &ServerName| {
            book.standings.get(name.slug()).map(|s| s.as_ref().clone()).unwrap_or_default()
        };
        Ok(servers.into_iter().map(|(name, config)| (config, standing(&name))).collect())
    }

    /// The surfaces of the servers an agent can use.
    pub(crate) async fn surfaces(
        &self,
        agent: AgentId,
    ) -> Result<Vec<(ServerName, Arc<ReadySurface>)>, CallError> {
        let mut surfaces = Vec::new();
        for (config, _) in self.of_agent(agent).await? {
            let slug = config.name.slug().clone();
            let view = self.hall.view(agent, &slug).await.map_err(|fault| unavailable(&fault))?;
            if let Some(view) = view {
                surfaces.push((config.name, self.known(agent, slug, view).await?.surface));
            }
        }
        Ok(surfaces)
    }

    /// The surface of a server as an agent has it, made again when any of it is another.
    async fn known(&self, agent: AgentId, name: Slug, view: View) -> Result<Known, CallError> {
        let seen = self.hall.seen(&view.config.name);
        let key = (agent, name);
        if let Some(known) = self.known.get(&key).filter(|known| known.is_of(&view, seen.as_ref()))
        {
            return Ok(known);
        }
        let approved = self.hall.approved(&view.standing).await.map_err(|f| unavailable(&f))?;
        let surface =
            ServerSurface::new(self.hall.clone(), &view.config, &approved, seen.as_deref());
        let surface = Arc::new(ReadySurface::new(Arc::new(surface)).map_err(|f| unavailable(&f))?);
        let served = Served::new(self.gate.clone(), Arc::clone(&surface), &self.edge);
        let (config, standing) = (view.config, view.standing);
        let known = Known { config, standing, seen, surface, served };
        self.known.insert(key, known.clone());
        Ok(known)
    }
}

#[async_trait]
impl Rooms for ServerRooms {
    async fn room(&self, path: &str, admitted: &Admitted) -> Result<Option<Served>, CallError> {
        let Some(name) = name_of(path) else { return Ok(None) };
        let agent = admitted.principal().agent.id;
        let view = match self.hall.view(agent, name.slug()).await {
            Ok(Some(view)) => view,
            Ok(None) => return Ok(None),
            Err(fault @ HallFault::Store(_)) => return Err(unavailable(&fault)),
            Err(fault) => {
                // A file that cannot be used names no server.
                tracing::error!(%fault, "no server is served");
                return Ok(None);
            }
        };
        let known = self.known(agent, name.slug().clone(), view).await?;
        Ok(self.gate.may_see(admitted, &known.surface).then_some(known.served))
    }
}

/// The server a path names; one spelling only, so nothing in it is decoded.
fn name_of(path: &str) -> Option<ServerName> {
    path.strip_prefix("/servers/")?.strip_suffix("/mcp")?.parse().ok()
}

fn unavailable(error: &dyn std::error::Error) -> CallError {
    tracing::error!(%error, "a server cannot be served");
    CallError::Unavailable
}

/// Surfaces that are kept at hand.
const KNOWN: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_path_names_a_server_in_one_spelling() {
        for (path, name) in [
            ("/servers/github/mcp", Some("github")),
            ("/servers/a-b/mcp", Some("a-b")),
            ("/servers//mcp", None),
            ("/servers/../mcp", None),
            ("/servers/a%2fb/mcp", None),
            ("/servers/GITHUB/mcp", None),
            ("/servers/github/x/mcp", None),
            ("/servers/github/mcp/", None),
            ("/servers/github", None),
            ("/mcp", None),
        ] {
            assert_eq!(name_of(path).map(|name| name.to_string()).as_deref(), name, "{path}");
        }
    }
}
