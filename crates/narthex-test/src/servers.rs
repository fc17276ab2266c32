//! What a house of the tests' own process needs to start and reach servers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use narthex_egress::{
    Answer, EgressClient, EgressConfig, EgressPolicy, LoopbackHttp, Resolve, ResolveError,
};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use narthex_oauth::{KeepKey, OAuthDesk, OAuthParts};
use narthex_server::DataDir;
use narthex_servers::config::Lookup;
use narthex_servers::hall::{HallConfig, Order, Started, Starter, WalledStarter};
use narthex_store::Store;
use secrecy::SecretString;

use crate::upstream;

/// The values of variables, as a test sets them.
#[derive(Debug, Clone, Default)]
pub struct Variables(Arc<Mutex<BTreeMap<String, String>>>);

impl Variables {
    /// Sets one.
    pub fn set(&self, name: &str, value: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(name.to_owned(), value.to_owned());
    }
}

impl Lookup for Variables {
    fn variable(&self, name: &str) -> Option<SecretString> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map(|value| value.clone().into())
    }

    fn file(&self, path: &str) -> Result<SecretString, String> {
        std::fs::read_to_string(path).map(Into::into).map_err(|error| error.to_string())
    }
}

/// What the hall of a house in this folder is told: servers in `mcp.json`, loopback allowed.
pub(crate) fn hall(
    dir: &DataDir,
    variables: &Variables,
    started: usize,
    store: Arc<dyn Store>,
) -> anyhow::Result<HallConfig> {
    let loopback_http = LoopbackHttp::Allowed;
    let policy = EgressPolicy::new(EgressConfig { loopback_http, ..EgressConfig::default() })?;
    let egress = EgressClient::new(policy, Arc::new(NoNames))?;
    let root = dir.root();
    let tokens = OAuthDesk::new(OAuthParts {
        egress: egress.clone(),
        folder: dir.sign_ins(),
        key: KeepKey::new(dir.sign_in_key()?),
        store,
    });
    Ok(HallConfig {
        connector: Arc::new(UpstreamConnector::new(egress, UpstreamConfig::default())),
        starter: Arc::new(LateStarter(root.to_owned())),
        lookup: Arc::new(variables.clone()),
        tokens: Arc::new(tokens),
        file: root.join("mcp.json"),
        most: 20,
        started,
        path: "/usr/bin:/bin".to_owned(),
        folders: vec![root.display().to_string()],
    })
}

/// Finds the keeper when something is started, and not before: most tests start nothing.
#[derive(Debug)]
struct LateStarter(std::path::PathBuf);

impl Starter for LateStarter {
    fn start(&self, order: &Order) -> Result<Started, String> {
        let keeper = upstream::program().map_err(|error| format!("{error:#}"))?;
        let root = self.0.canonicalize().map_err(|error| error.to_string())?;
        let walled = WalledStarter {
            keeper,
            environment: narthex_walls::Environment::of(std::env::vars_os()),
            scratch: root.join("servers"),
            shut: vec![root],
        };
        walled.start(order)
    }
}

#[derive(Debug)]
struct NoNames;

#[async_trait::async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _name: &str) -> Result<Answer, ResolveError> {
        Err(ResolveError::NoAnswer)
    }
}
