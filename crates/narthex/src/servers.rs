//! What it takes to reach other people's servers, from what this process knows.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use narthex_egress::{Answer, EgressClient, EgressPolicy, Resolve, ResolveError, SystemResolver};
use narthex_mcp::{UpstreamConfig, UpstreamConnector};
use narthex_oauth::{KeepKey, OAuthDesk, OAuthParts};
use narthex_server::DataDir;
use narthex_servers::config::Lookup;
use narthex_servers::hall::{HallConfig, Starter};
use narthex_store::Store;
use secrecy::SecretString;

use crate::config::env;
use crate::{Context, Exit, Failure};

/// What the hall of servers is told.
pub(crate) fn hall(
    context: &Context,
    dir: &DataDir,
    policy: EgressPolicy,
    store: Arc<dyn Store>,
) -> Result<HallConfig, Failure> {
    let egress = EgressClient::new(policy, Arc::new(LateResolver::default()))
        .map_err(|error| Failure::new(Exit::Failed, format!("the HTTP client: {error}")))?;
    let tokens = OAuthDesk::new(OAuthParts {
        egress: egress.clone(),
        folder: dir.sign_ins(),
        key: KeepKey::new(dir.sign_in_key()?),
        store,
    });
    let connector = UpstreamConnector::new(egress, UpstreamConfig::default());
    let home = env::home();
    let mut folders: Vec<String> = vec![dir.root().display().to_string()];
    folders.extend(home.iter().map(|home| home.display().to_string()));
    Ok(HallConfig {
        connector: Arc::new(connector),
        starter: starter(dir)?,
        lookup: Arc::new(Environment),
        tokens: Arc::new(tokens),
        file: file(context, dir),
        most: context.config.servers.most,
        started: context.config.servers.started,
        path: env::variable("PATH").unwrap_or_default(),
        folders,
    })
}

/// The file that names servers.
pub(crate) fn file(context: &Context, dir: &DataDir) -> PathBuf {
    let beside = context.config_file.as_deref().and_then(Path::parent);
    match &context.config.servers.file {
        Some(file) => beside.map_or_else(|| file.clone(), |folder| folder.join(file)),
        None => dir.root().join("mcp.json"),
    }
}

/// How many servers the file names, if it is there and can be read.
pub(crate) fn read(context: &Context, file: &Path) -> Result<Option<usize>, Failure> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file(file, &error)),
    };
    let read = narthex_servers::config::read(&text, context.config.servers.most);
    read.map(|read| Some(read.servers.len())).map_err(|error| {
        Failure::new(Exit::Usage, format!("{}:{error}", file.display()))
            .hint("no server is served before it reads; see docs/servers.md")
    })
}

#[cfg(target_os = "linux")]
fn starter(dir: &DataDir) -> Result<Arc<dyn Starter>, Failure> {
    use narthex_servers::hall::WalledStarter;
    let keeper = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Failed, format!("our own program: {error}")))?;
    let root = fs::canonicalize(dir.root()).unwrap_or_else(|_| dir.root().to_owned());
    Ok(Arc::new(WalledStarter {
        keeper,
        environment: narthex_walls::Environment::of(env::all()),
        scratch: root.join("servers"),
        shut: vec![root],
    }))
}

#[cfg(not(target_os = "linux"))]
fn starter(_dir: &DataDir) -> Result<Arc<dyn Starter>, Failure> {
    #[derive(Debug)]
    struct Nowhere;
    impl Starter for Nowhere {
        fn start(
            &self,
            _order: &narthex_servers::hall::Order,
        ) -> Result<narthex_servers::hall::Started, String> {
            Err("processes are started on Linux only; reach the server over HTTP".to_owned())
        }
    }
    Ok(Arc::new(Nowhere))
}

/// The environment and the files of this process.
#[derive(Debug)]
struct Environment;

impl Lookup for Environment {
    fn variable(&self, name: &str) -> Option<SecretString> {
        env::variable(name).map(SecretString::from)
    }

    fn file(&self, path: &str) -> Result<SecretString, String> {
        let mut text = String::new();
        let file = fs::File::open(path).map_err(|error| error.to_string())?;
        let read = file.take(MAX_FILE).read_to_string(&mut text);
        read.map_err(|error| error.to_string())?;
        Ok(text.into())
    }
}

/// The system's resolver, once somebody asks: a machine without one can do everything else.
#[derive(Debug, Default)]
struct LateResolver(OnceLock<Result<SystemResolver, ResolveError>>);

#[async_trait]
impl Resolve for LateResolver {
    async fn resolve(&self, name: &str) -> Result<Answer, ResolveError> {
        match self.0.get_or_init(SystemResolver::new) {
            Ok(resolver) => resolver.resolve(name).await,
            Err(error) => Err(error.clone()),
        }
    }
}

const MAX_FILE: u64 = 64 * 1024;
