//! A house in the test's own process.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use narthex_core::{Mode, PageView, Tier};
use narthex_gate::GateConfig;
use narthex_graph_surface::GraphConfig;
use narthex_mcp::EdgeConfig;
use narthex_policy::PolicyEngine;
use narthex_sandbox::SandboxConfig;
use narthex_server::owner::{OwnerError, Reply, Request, TokenCreated};
use narthex_server::{DataDir, Door, DoorConfig, Held, House, HouseParts, OwnerSocket};
use narthex_store::chain::Record;
use narthex_store::{Clock, RowKey, Store, SystemClock};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use narthex_verify::{HeadKey, Keys, Ledger, Report};
use narthex_workspace::WorkspaceConfig;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{Client, Faults, Persona, Variables, code, personas, servers};

/// What a test wants to be different.
#[derive(Debug, Clone)]
pub struct HouseOptions {
    /// The server's posture.
    pub mode: Mode,
    /// The gate's bounds.
    pub gate: GateConfig,
    /// The workspace's bounds.
    pub workspace: WorkspaceConfig,
    /// What is said about graphs.
    pub graphs: GraphConfig,
    /// The edge's bounds.
    pub edge: EdgeConfig,
    /// The owner's policy files.
    pub policies: Vec<(String, String)>,
    /// Browser origins that are answered.
    pub origins: Vec<String>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The values of variables that servers are given.
    pub variables: Variables,
    /// How many of their processes may run at once.
    pub started: usize,
    /// What programs may use up.
    pub code: SandboxConfig,
}

impl Default for HouseOptions {
    fn default() -> Self {
        // Tests are faster than agents.
        let gate = GateConfig {
            requests_per_minute: 1_000_000,
            failures_per_minute: 1_000_000,
            budget: narthex_core::Budget::default(),
            ..GateConfig::default()
        };
        Self {
            mode: Mode::default(),
            gate,
            workspace: WorkspaceConfig::default(),
            graphs: GraphConfig::default(),
            edge: EdgeConfig::default(),
            policies: Vec::new(),
            origins: Vec::new(),
            clock: Arc::new(SystemClock),
            variables: Variables::default(),
            started: 5,
            // Nothing is started that no test asks for.
            code: SandboxConfig { ready: 0, ..SandboxConfig::default() },
        }
    }
}

/// A house with its door open on loopback.
#[derive(Debug)]
pub struct TestHouse {
    folder: Option<TempDir>,
    dir: DataDir,
    store: Arc<SqliteStore>,
    faults: Arc<Faults>,
    house: House,
    url: String,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    tokens: BTreeMap<Persona, String>,
    _held: Held,
}

impl TestHouse {
    /// One as it comes.
    pub async fn start() -> anyhow::Result<Self> {
        Self::with(HouseOptions::default()).await
    }

    /// One that is different.
    pub async fn with(options: HouseOptions) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("house");
        let mut house = Self::open(&path, options).await?;
        house.folder = Some(folder);
        house.tokens = personas::settle(&house).await?;
        Ok(house)
    }

    /// Opens what is in a folder, without filling it.
    pub async fn open(path: &Path, options: HouseOptions) -> anyhow::Result<Self> {
        let dir = DataDir::at(path);
        dir.create()?;
        let held = dir.hold("test")?;
        let keys = dir.keys()?;
        let mut config = SqliteConfig::new(
            dir.database(),
            dir.head_file(),
            keys.ledger,
            keys.seal,
            Arc::clone(&options.clock),
        );
        // With every batch: nothing a test does to a house it runs is another hand's.
        config.other_hands = Duration::ZERO;
        let store = Arc::new(Box::pin(SqliteStore::open(config)).await?);
        let faults = Arc::new(Faults::new(Arc::clone(&store) as Arc<dyn Store>));
        let house = Box::pin(House::open(HouseParts {
            store: Arc::clone(&faults) as Arc<dyn Store>,
            policy: PolicyEngine::with_files(&options.policies)?,
            clock: Arc::clone(&options.clock),
            token_key: keys.token,
            rows: RowKey::of(&dir.keys()?.ledger),
            gate: GateConfig { mode: options.mode, ..options.gate.clone() },
            workspace: options.workspace,
            graphs: options.graphs.clone(),
            servers: servers::hall(
                &dir,
                &options.variables,
                options.started,
                Arc::clone(&faults) as Arc<dyn Store>,
            )?,
            code: code::config(&options.code)?,
            edge: options.edge.clone(),
            holder: "test".to_owned(),
            stop_file: dir.stop_file(),
        }))
        .await?;
        let door = Door::bind(house.clone(), door_config(&options)).await?;
        let socket = OwnerSocket::bind(&dir, &held, house.clone())?;
        let url = door.mcp_url();
        house.desk().announce(&url);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(socket.serve(stop.clone()));
        let until = stop.clone();
        tasks.spawn(async move {
            let _ = door.serve(until).await;
        });
        Ok(Self {
            folder: None,
            dir,
            store,
            faults,
            house,
            url,
            stop,
            tasks,
            tokens: BTreeMap::new(),
            _held: held,
        })
    }

    /// Asks something as the owner.
    pub async fn owner(&self, request: Request) -> Result<Reply, OwnerError> {
        self.house.desk().handle(request).await
    }

    /// A client of somebody's.
    pub fn client(&self, persona: Persona) -> Client {
        Client::new(&self.url, self.tokens.get(&persona).cloned())
    }

    /// A client with any token at all.
    pub fn client_with(&self, token: Option<String>) -> Client {
        Client::new(&self.url, token)
    }

    /// A client of somebody's for a graph.
    pub fn graph_client(&self, persona: Persona, graph: &str) -> Client {
        self.graph_client_with(self.token(persona), graph)
    }

    /// A client with any token at all for a graph.
    pub fn graph_client_with(&self, token: Option<String>, graph: &str) -> Client {
        Client::new(format!("http://{}/graphs/{graph}/mcp", self.address()), token)
    }

    /// A client with any token at all for a server of somebody else's.
    pub fn server_client_with(&self, token: Option<String>, server: &str) -> Client {
        Client::new(format!("http://{}/servers/{server}/mcp", self.address()), token)
    }

    /// A client with any token at all for code mode.
    pub fn code_client_with(&self, token: Option<String>) -> Client {
        Client::new(format!("http://{}/code/mcp", self.address()), token)
    }

    /// Somebody's token.
    pub fn token(&self, persona: Persona) -> Option<String> {
        self.tokens.get(&persona).cloned()
    }

    /// The owner's token.
    pub fn owner_token(&self) -> String {
        self.house.desk().owner_token_in_clear()
    }

    /// Where agents connect.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address behind it, for raw bytes.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// What a gate of its own would hash values with.
    pub fn row_key(&self) -> anyhow::Result<RowKey> {
        Ok(RowKey::of(&self.dir.keys()?.ledger))
    }

    /// The data directory.
    pub const fn dir(&self) -> &DataDir {
        &self.dir
    }

    /// The house itself.
    pub const fn house(&self) -> &House {
        &self.house
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// What can be made to go wrong with the store.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Every record of the ledger so far.
    pub async fn records(&self) -> anyhow::Result<Vec<Record>> {
        self.records_after(0).await
    }

    /// The number of the newest record.
    pub async fn seq(&self) -> anyhow::Result<u64> {
        use narthex_store::LedgerReader;
        Ok(self.store.head().await?.map_or(0, |head| head.seq))
    }

    /// Every record since the one of this number.
    pub async fn records_after(&self, seq: u64) -> anyhow::Result<Vec<Record>> {
        use narthex_store::LedgerReader;
        let mut records = Vec::new();
        loop {
            let from = seq + records.len() as u64 + 1;
            let stored = self.store.records(from, 1_000).await?;
            if stored.is_empty() {
                return Ok(records);
            }
            for record in stored {
                records.push(record.read()?);
            }
        }
    }

    /// Registers an agent in a space and gives it a token.
    pub async fn agent(
        &self,
        slug: &str,
        space: &str,
        grants: &[&str],
        ceiling: Tier,
    ) -> anyhow::Result<Client> {
        let grants = Some(grants.iter().map(|&grant| grant.to_owned()).collect());
        let (name, model, space) = (None, None, Some(space.to_owned()));
        let ceiling = Some(ceiling);
        let slug = slug.to_owned();
        self.owner(Request::AgentAdd { slug: slug.clone(), name, space, model, grants, ceiling })
            .await?;
        Ok(self.client_with(Some(self.new_token(&slug, None, None).await?.token)))
    }

    /// Makes a token.
    pub async fn new_token(
        &self,
        agent: &str,
        label: Option<&str>,
        expires_in: Option<u64>,
    ) -> anyhow::Result<TokenCreated> {
        let (agent, label) = (agent.to_owned(), label.map(str::to_owned));
        match self.owner(Request::TokenCreate { agent, label, expires_in }).await? {
            Reply::TokenCreated(created) => Ok(created),
            other => anyhow::bail!("no token: {other:?}"),
        }
    }

    /// A page as the owner sees it.
    pub async fn page(&self, space: &str, page: &str) -> anyhow::Result<PageView> {
        let (space, page) = (space.to_owned(), page.to_owned());
        match self.owner(Request::PageShow { space, page }).await? {
            Reply::Page(view) => Ok(*view),
            other => anyhow::bail!("no page: {other:?}"),
        }
    }

    /// Writes a page as the owner.
    pub async fn write(&self, space: &str, slug: &str, body: &str) -> anyhow::Result<()> {
        let (space, body) = (space.to_owned(), body.to_owned());
        let (slug, title, tags) = (Some(slug.to_owned()), slug.to_owned(), Vec::new());
        self.owner(Request::PageAdd { space, slug, title, body, tags }).await?;
        Ok(())
    }

    /// Proves the ledger offline, beside the running house.
    pub async fn verify(&self) -> anyhow::Result<Report> {
        ledger_of(&self.dir)?.verify(|_| {}).await.context("the ledger")
    }

    /// Closes the door and waits; the folder stays until the returned value is dropped.
    pub async fn stop(mut self) -> anyhow::Result<Option<TempDir>> {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        self.house.end_all().await;
        self.store.close().await?;
        Ok(self.folder.take())
    }
}

/// The ledger of a house, as the verifier sees it.
pub fn ledger_of(dir: &DataDir) -> anyhow::Result<Ledger> {
    let public = std::fs::read_to_string(dir.public_key())?;
    Ok(Ledger {
        database: dir.database(),
        head_file: Some(dir.head_file()),
        keys: Keys { seal: Some(public.parse()?), head: dir.head_key_bytes()?.map(HeadKey::new) },
        anchors: Vec::new(),
    })
}

fn door_config(options: &HouseOptions) -> DoorConfig {
    DoorConfig {
        address: ([127, 0, 0, 1], 0).into(),
        hosts: Vec::new(),
        origins: options.origins.clone(),
        reachable_from_outside: false,
        tls: None,
        behind_tls_proxy: false,
        edge: options.edge.clone(),
    }
}
