//! A small house: one surface, two agents, everything in memory.

mod graphs;
mod nothing;
mod store;
mod surface;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use futures::FutureExt as _;
use narthex_core::{
    Agent, AgentId, AgentKind, Capability, Grant, Grants, RecordDraft, SpaceId, Tier, Timestamp,
    Title,
};
use narthex_gate::{Gate, GateConfig, GateParts, ReadySurface, SessionConfig};
use narthex_mcp::{EdgeConfig, HostPolicy, Listening, Tls, mcp_service, serve};
use narthex_policy::PolicyEngine;
use narthex_store::chain::HeadKey;
use narthex_store::{RowKey, SystemClock};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) use store::MemoryStore;
pub(crate) use surface::Trivial;
pub(crate) use tokens::Tokens;

/// May look and suggest.
pub(crate) const TA: &str = "nx_agent_a";
/// May only look.
pub(crate) const TB: &str = "nx_agent_b";
/// TA's agent again, with another token.
pub(crate) const TA_TOO: &str = "nx_agent_a_too";
/// May do what needs an approval.
pub(crate) const TC: &str = "nx_agent_c";
/// The same, but another agent.
pub(crate) const TD: &str = "nx_agent_d";
/// Bound to no space.
pub(crate) const NOWHERE: &str = "nx_nowhere";
/// The owner's.
pub(crate) const OWN: &str = "nxo_owner";

pub(crate) struct House {
    pub(crate) gate: Gate,
    pub(crate) surface: Arc<ReadySurface>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) trivial: Arc<Trivial>,
    pub(crate) edge: EdgeConfig,
    pub(crate) origins: Vec<String>,
    pub(crate) tls: Option<Tls>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut GateConfig)) -> Self {
        let mut config = GateConfig {
            requests_per_minute: 1_000_000,
            failures_per_minute: 1_000_000,
            ..GateConfig::default()
        };
        change(&mut config);
        let higher = |n| Agent { ceiling: Tier::T2, ..agent(n, true, true) };
        let agents = [
            agent(1, true, true),
            agent(2, true, false),
            agent(3, false, true),
            higher(4),
            higher(5),
        ];
        let store = Arc::new(MemoryStore::new(&agents));
        let tokens = Arc::new(Tokens::new(&[
            (TA, &agents[0]),
            (TB, &agents[1]),
            (NOWHERE, &agents[2]),
            (TC, &agents[3]),
            (TD, &agents[4]),
            (TA_TOO, &agents[0]),
        ]));
        let trivial = Arc::new(Trivial::default());
        let gate = Gate::open(GateParts {
            store: Arc::clone(&store) as _,
            verifier: Arc::clone(&tokens) as _,
            policy: PolicyEngine::standard().expect("the standard policy"),
            clock: Arc::new(SystemClock),
            rows: RowKey::of(&HeadKey::new([5; 32])),
            config,
        });
        // The store of this house never waits.
        let gate = gate.now_or_never().expect("a gate");
        let surface = ReadySurface::new(Arc::clone(&trivial) as _).expect("a good surface");
        let edge = EdgeConfig { drain_deadline: Duration::from_secs(20), ..EdgeConfig::default() };
        Self {
            gate,
            surface: Arc::new(surface),
            store,
            tokens,
            trivial,
            edge,
            origins: vec!["https://app.ok.com".to_owned()],
            tls: None,
        }
    }

    /// One that keeps sessions.
    pub(crate) fn with_sessions() -> Self {
        Self::with(|gate| gate.sessions = Some(SessionConfig::default()))
    }

    pub(crate) fn edge(mut self, change: impl FnOnce(&mut EdgeConfig)) -> Self {
        change(&mut self.edge);
        self
    }

    /// Opens the door on a port of its own.
    pub(crate) async fn open(self) -> Open {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let policy = HostPolicy::from_bind(bind, &[], &self.origins).expect("a policy");
        let endpoint = mcp_service(self.gate.clone(), Arc::clone(&self.surface), self.edge.clone());
        let router = Router::new()
            .route_service("/mcp", endpoint)
            .route("/healthz", axum::routing::get(|| async { "ok" }))
            .route("/panic", axum::routing::get(panics));
        let listening =
            Listening { listener, tls: self.tls.clone(), policy, gate: self.gate.clone() };
        let stop = CancellationToken::new();
        let (config, stopped) = (self.edge.clone(), stop.clone());
        #[expect(clippy::disallowed_methods, reason = "joined when the house closes")]
        let serving = tokio::spawn(async move { serve(listening, router, &config, stopped).await });
        Open { house: self, addr, stop, serving }
    }

    /// How often a tool ran.
    pub(crate) fn ran(&self) -> usize {
        self.trivial.ran.load(Ordering::SeqCst)
    }

    pub(crate) fn records(&self) -> Vec<RecordDraft> {
        self.store.records()
    }
}

async fn panics() -> &'static str {
    panic!("on purpose")
}

/// A house whose door is open.
pub(crate) struct Open {
    pub(crate) house: House,
    pub(crate) addr: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) serving: JoinHandle<std::io::Result<()>>,
}

impl std::ops::Deref for Open {
    type Target = House;
    fn deref(&self) -> &House {
        &self.house
    }
}

fn agent(n: u128, bound: bool, suggests: bool) -> Agent {
    let read = Grant::whole(Capability::Read);
    let grants: Grants = if suggests { Grants::standard() } else { [read].into_iter().collect() };
    Agent {
        id: agent_id(n),
        slug: format!("agent-{n}").parse().expect("a slug"),
        name: Title::parse("An agent").expect("a title"),
        kind: AgentKind::External,
        model: None,
        grants,
        ceiling: Tier::T1,
        space: bound.then(|| SpaceId::from_uuid(Uuid::from_u128(100))),
        budget: None,
        tiers: narthex_core::ToolTiers::default(),
        disabled: false,
        created: Timestamp::from_millis(0),
    }
}

pub(crate) fn agent_id(n: u128) -> AgentId {
    AgentId::from_uuid(Uuid::from_u128(n))
}
