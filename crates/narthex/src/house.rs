//! A house that this process holds: data directory, store, policy, put together.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use narthex_graph_surface::GraphConfig;
use narthex_mcp::EdgeConfig;
use narthex_server::{DataDir, DataDirError, Door, DoorConfig, DoorError, Held, House, HouseParts};
use narthex_store::{Clock, RowKey, Store, StoreError, SystemClock};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};

use crate::{Context, Exit, Failure, code, demo, servers};

/// A house that is ours until it is closed.
#[derive(Debug)]
pub struct OpenHouse {
    /// Where it lives.
    pub dir: DataDir,
    /// The lock.
    pub held: Held,
    /// The house itself.
    pub house: House,
    store: Arc<SqliteStore>,
}

impl OpenHouse {
    /// Takes hold of the data directory and opens what is in it.
    pub async fn hold(context: &Context, what: &str) -> Result<Self, Failure> {
        let dir = DataDir::at(&context.data_dir);
        if !dir.has_house() {
            return Err(no_house(&dir));
        }
        let held = dir.hold(what)?;
        let keys = dir.keys()?;
        let policy = context.config.policy_files(&context.data_dir)?.engine()?;
        let egress = context.config.egress.policy().map_err(|error| {
            Failure::new(Exit::Usage, format!("[egress] in the settings: {error}"))
                .hint("each entry of egress.allow is a host, or a host:port, as a URL names it")
        })?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let rows = RowKey::of(&keys.ledger);
        let now = Arc::clone(&clock);
        let (database, head_file) = (dir.database(), dir.head_file());
        let mut sqlite = SqliteConfig::new(database, head_file, keys.ledger, keys.seal, now);
        sqlite.readers = context.config.store.readers;
        let store =
            Arc::new(Box::pin(SqliteStore::open(sqlite)).await.map_err(|error| unopened(&error))?);
        let house = Box::pin(House::open(HouseParts {
            store: Arc::clone(&store) as Arc<dyn Store>,
            policy,
            clock,
            token_key: keys.token,
            rows,
            gate: context.config.gate(),
            workspace: context.config.workspace(),
            graphs: graphs(context, &dir)?,
            servers: servers::hall(context, &dir, egress, Arc::clone(&store) as Arc<dyn Store>)?,
            code: code::config(context)?,
            edge: edge(context),
            holder: what.to_owned(),
            stop_file: dir.stop_file(),
        }))
        .await
        .map_err(|fault| Failure::new(Exit::Failed, fault.to_string()))?;
        Ok(Self { dir, held, house, store })
    }

    /// Binds the door, as the settings say.
    pub async fn door(
        &self,
        context: &Context,
        listen: Option<std::net::SocketAddr>,
    ) -> Result<Door, Failure> {
        let settings = &context.config.listen;
        let tls = settings.tls_certificate.clone().zip(settings.tls_key.clone());
        let config = DoorConfig {
            address: listen.unwrap_or(settings.address),
            hosts: settings.hosts.clone(),
            origins: settings.origins.clone(),
            reachable_from_outside: settings.reachable_from_outside,
            tls,
            behind_tls_proxy: settings.behind_tls_proxy,
            edge: edge(context),
        };
        Door::bind(self.house.clone(), config).await.map_err(|error| unbound(&error))
    }

    /// Lets go: everything written, the log folded into the database, the lock released.
    pub async fn close(self) -> Result<(), Failure> {
        self.house.end_all().await;
        let closed = self.store.close().await;
        drop(self.held);
        closed.map_err(|error| unopened(&error))
    }
}

/// What is declared for graphs: by the settings, and in a demo by the demo itself.
fn graphs(context: &Context, dir: &DataDir) -> Result<GraphConfig, Failure> {
    let beside = context.config_file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let mut declared = context.config.declarations(beside)?;
    if demo::is_one(dir)
        && let Some((slug, declaration)) = demo::graph::declaration()
    {
        declared.entry(slug).or_insert(declaration);
    }
    let limits = &context.config.limits;
    Ok(GraphConfig {
        declared,
        load_bytes: limits.graph_load_bytes,
        open_proposals: limits.open_proposals,
        ..GraphConfig::default()
    })
}

fn edge(context: &Context) -> EdgeConfig {
    let limits = &context.config.limits;
    EdgeConfig {
        body_bytes: limits.body_bytes,
        body_deadline: Duration::from_secs(limits.body_seconds),
        body_memory: EdgeConfig::default().body_memory.max(limits.body_bytes),
        header_deadline: Duration::from_secs(limits.header_seconds),
        connections: limits.connections,
        drain_deadline: Duration::from_secs(limits.drain_seconds),
        early_headers_after: Duration::from_millis(limits.early_headers_ms),
        ..EdgeConfig::default()
    }
}

/// There is nothing to open.
pub fn no_house(dir: &DataDir) -> Failure {
    let shown = dir.root().display();
    Failure::new(Exit::NotFound, format!("there is no house in {shown}")).hint(format!(
        "narthex init --data-dir {shown}, or narthex serve --demo for one with pages in it"
    ))
}

fn unopened(error: &StoreError) -> Failure {
    match error {
        StoreError::Damaged(_) => {
            Failure::new(Exit::LedgerBroken, error.to_string()).hint("narthex ledger verify")
        }
        _ => Failure::new(Exit::Unavailable, error.to_string()).hint("narthex doctor"),
    }
}

fn unbound(error: &DoorError) -> Failure {
    let failure = |exit| Failure::new(exit, error.to_string());
    match error {
        DoorError::Bind { .. } => {
            failure(Exit::Unavailable).hint("narthex serve --listen 127.0.0.1:0 takes a free port")
        }
        _ => failure(Exit::Usage),
    }
}

impl From<DataDirError> for Failure {
    fn from(error: DataDirError) -> Self {
        match &error {
            DataDirError::HeldBy { .. } => Self::new(Exit::Unavailable, error.to_string())
                .hint("stop it first, or use another --data-dir; other commands go through it by themselves"),
            DataDirError::Missing(dir) => {
                Self::new(Exit::NotFound, error.to_string()).hint(format!("narthex init --data-dir {dir}"))
            }
            DataDirError::Exposed { .. } | DataDirError::BadKey(_) | DataDirError::Io { .. } => {
                Self::new(Exit::Failed, error.to_string())
            }
        }
    }
}
