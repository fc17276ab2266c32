//! The door to the network: what it takes to open it, and what stands behind it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use narthex_gate::{Admitted, CallError};
use narthex_graph_surface::LOAD;
use narthex_mcp::{
    EdgeConfig, HostPolicy, HostPolicyError, LargeCall, Listening, Rooms, Served, Tls, TlsError,
    error_response, mcp_rooms, mcp_service, owner_only,
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::House;

/// How the door is to be opened.
#[derive(Debug, Clone)]
pub struct DoorConfig {
    /// Where to listen.
    pub address: SocketAddr,
    /// Names it is reached by, besides loopback's own.
    pub hosts: Vec<String>,
    /// Browser origins that are answered.
    pub origins: Vec<String>,
    /// The owner knows that it can be reached from outside.
    pub reachable_from_outside: bool,
    /// The certificate and its key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// A proxy in front ends TLS.
    pub behind_tls_proxy: bool,
    /// The edge's bounds.
    pub edge: EdgeConfig,
}

/// A door that cannot be opened as asked.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Leaving loopback was not acknowledged.
    #[error(
        "{0} can be reached from outside this machine; to allow that, set reachable_from_outside = true in [listen], and give TLS (tls_certificate, tls_key) or declare a proxy that ends it (behind_tls_proxy = true)"
    )]
    NotAcknowledged(SocketAddr),
    /// Leaving loopback without encryption.
    #[error(
        "{0} would take agents' tokens in clear; set tls_certificate and tls_key in [listen], or behind_tls_proxy = true if a proxy ends TLS in front"
    )]
    NoTls(SocketAddr),
    /// The host policy cannot be built.
    #[error(transparent)]
    Hosts(#[from] HostPolicyError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// A door that is ready to be opened: everything checked, the address ours.
#[derive(Debug)]
pub struct Door {
    listening: Listening,
    address: SocketAddr,
    edge: EdgeConfig,
    house: House,
    secure: bool,
}

impl Door {
    /// Checks the three decisions it takes to leave loopback, then binds.
    pub async fn bind(house: House, config: DoorConfig) -> Result<Self, DoorError> {
        check(&config)?;
        let policy = HostPolicy::from_bind(config.address.ip(), &config.hosts, &config.origins)?;
        let tls = match &config.tls {
            Some((certificate, key)) => Some(Tls::from_pem_files(certificate, key)?),
            None => None,
        };
        let failed = |source| DoorError::Bind { address: config.address, source };
        let listener = TcpListener::bind(config.address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let secure = tls.is_some();
        let listening = Listening { listener, tls, policy, gate: house.gate().clone() };
        Ok(Self { listening, address, edge: config.edge, house, secure })
    }

    /// Where agents connect.
    pub fn mcp_url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}/mcp", self.address)
    }

    /// Serves until told to stop, then lets calls under way finish.
    pub async fn serve(self, stop: CancellationToken) -> io::Result<()> {
        let Self { listening, edge, house, .. } = self;
        let settling = settle(house.clone(), stop.clone());
        let watching = house.watch_stop_file(stop.clone());
        let tending = house.servers().tend(stop.clone());
        let serving = narthex_mcp::serve(listening, router(&house, &edge), &edge, stop);
        let (served, (), (), ()) = tokio::join!(serving, settling, watching, tending);
        house.gate().drain().await;
        house.end_all().await;
        served
    }
}

/// Every route there is. `tests` compare this with the authorization table. All that lies under
/// `/graphs/` is one, and all under `/servers/` and `/code/`: a path that leads nowhere is told like one that is not
/// theirs.
pub const ROUTES: &[&str] =
    &["/mcp", "/graphs/{*path}", "/graphs", "/servers/{*path}", "/code/{*path}", "/healthz"];

fn router(house: &House, edge: &EdgeConfig) -> Router {
    let endpoint = mcp_service(house.gate().clone(), house.workspace().clone(), edge.clone());
    let large = LargeCall { tool: LOAD, bytes: house.graphs().config().load_bytes };
    let (gate, rooms) = (house.gate(), house.rooms());
    let rooms_at =
        |rooms: Arc<dyn Rooms>, large| mcp_rooms(gate.clone(), rooms, edge.clone(), large);
    let graphs = rooms_at(Arc::clone(&rooms.graphs) as Arc<dyn Rooms>, Some(large));
    let servers = rooms_at(Arc::clone(&rooms.servers) as Arc<dyn Rooms>, None);
    let code: Arc<dyn Rooms> = match &rooms.code {
        Some(code) => Arc::clone(code) as Arc<dyn Rooms>,
        None => Arc::new(NoRoom),
    };
    let code = rooms_at(code, None);
    Router::new()
        .route_service("/mcp", endpoint)
        .route_service("/servers/{*path}", servers)
        .route_service("/graphs/{*path}", graphs)
        .route_service("/code/{*path}", code)
        .route("/graphs", get(graph_list).fallback(only_get))
        .route("/healthz", get(health).fallback(only_get))
        .fallback(nothing_here)
        .with_state(house.clone())
}

/// Where programs cannot be shut in there is no code mode.
#[derive(Debug)]
struct NoRoom;

#[async_trait]
impl Rooms for NoRoom {
    async fn room(&self, _path: &str, _admitted: &Admitted) -> Result<Option<Served>, CallError> {
        Ok(None)
    }
}

/// How the parts are: no names, no secrets, no numbers.
async fn health(State(house): State<House>) -> Response {
    let health = house.gate().health().await;
    let word = |good: bool| if good { "ok" } else { "failing" };
    let status = if health.is_good() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "status": word(health.is_good()),
        "version": env!("CARGO_PKG_VERSION"),
        "store": word(health.store),
        "ledger": word(health.ledger),
        "policy": word(health.policy),
        // What the owner stopped is no fault, so it turns nothing red.
        "stopped": !health.running,
    });
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, body.to_string()).into_response()
}

/// Which graphs there are: for the owner, by the owner's token.
async fn graph_list(State(house): State<House>, request: axum::extract::Request) -> Response {
    let (parts, _) = request.into_parts();
    if let Err(refused) = owner_only(house.gate(), &parts).await {
        return *refused;
    }
    match listed(&house).await {
        Ok(graphs) => {
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (headers, json!({ "graphs": graphs }).to_string()).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the graphs cannot be listed");
            let reason = narthex_core::Reason::Unavailable;
            error_response(StatusCode::SERVICE_UNAVAILABLE, reason.code(), reason.message())
        }
    }
}

async fn listed(house: &House) -> Result<Vec<serde_json::Value>, narthex_store::StoreError> {
    let store = house.gate().store();
    let mut graphs = Vec::new();
    for graph in house.graphs().engine().graphs().graphs(None).await? {
        let space = store.space(graph.space).await?;
        graphs.push(json!({
            "graph_id": graph.slug,
            "id": graph.id,
            "space": space.map(|space| space.slug),
            "uri": format!("/graphs/{}/mcp", graph.slug),
            "created": graph.created,
        }));
    }
    Ok(graphs)
}

async fn only_get() -> Response {
    let mut response =
        error_response(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path takes GET");
    response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET"));
    response
}

async fn nothing_here() -> Response {
    error_response(
        StatusCode::NOT_FOUND,
        "not_found",
        "nothing is served here; agents connect to /mcp",
    )
}

/// Leaving loopback takes an address, an acknowledgement, and TLS or a declared proxy.
fn check(config: &DoorConfig) -> Result<(), DoorError> {
    if config.address.ip().is_loopback() {
        return Ok(());
    }
    if !config.reachable_from_outside {
        return Err(DoorError::NotAcknowledged(config.address));
    }
    if config.tls.is_none() && !config.behind_tls_proxy {
        return Err(DoorError::NoTls(config.address));
    }
    Ok(())
}

/// Writes down, now and then, the refusals that were only counted, and ends old sessions.
async fn settle(house: House, stop: CancellationToken) {
    let mut tick = tokio::time::interval(SETTLE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {
                house.gate().settle_refusals().await;
                house.gate().expire_sessions().await;
                house.gate().expire_asides().await;
            }
        }
    }
}

const SETTLE_EVERY: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::{DoorConfig, DoorError, check};
    use narthex_mcp::{EdgeConfig, HostPolicy};

    #[test]
    fn leaving_loopback_takes_three_decisions() {
        let tls = Some(("c.pem".into(), "k.pem".into()));
        // address, acknowledged, TLS files, proxy, hosts named → opens
        let rows = [
            ("127.0.0.1:0", false, false, false, false, true),
            ("[::1]:0", false, false, false, false, true),
            ("0.0.0.0:0", false, false, false, false, false),
            ("0.0.0.0:0", true, false, false, true, false),
            ("0.0.0.0:0", false, true, false, true, false),
            ("0.0.0.0:0", false, false, true, true, false),
            ("0.0.0.0:0", true, true, false, false, false),
            ("0.0.0.0:0", true, true, false, true, true),
            ("0.0.0.0:0", true, false, true, true, true),
            ("[::]:0", true, false, true, false, false),
            ("192.0.2.7:443", true, true, false, true, true),
            ("192.0.2.7:443", true, false, false, true, false),
        ];
        for (address, acknowledged, certificate, proxy, named, opens) in rows {
            let config = DoorConfig {
                address: address.parse().expect("address"),
                hosts: if named { vec!["door.example".to_owned()] } else { Vec::new() },
                origins: Vec::new(),
                reachable_from_outside: acknowledged,
                tls: tls.clone().filter(|_| certificate),
                behind_tls_proxy: proxy,
                edge: EdgeConfig::default(),
            };
            let policy = HostPolicy::from_bind(config.address.ip(), &config.hosts, &[]);
            let allowed = check(&config).is_ok() && policy.is_ok();
            assert_eq!(
                allowed, opens,
                "{address} ack={acknowledged} tls={certificate} proxy={proxy} hosts={named}"
            );
            if !acknowledged && !config.address.ip().is_loopback() {
                assert!(matches!(check(&config), Err(DoorError::NotAcknowledged(_))));
            }
        }
    }
}
