//! A spy, servers, and a name server that says what it is told.

mod names;
mod server;
mod spy;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use narthex_egress::{EgressClient, EgressConfig, EgressPolicy, LoopbackHttp};

pub(crate) use names::Names;
pub(crate) use server::{Server, answer, redirect};
pub(crate) use spy::Spy;

pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates").join(name)
}

/// A client as an owner would have it who decided nothing.
pub(crate) fn strict(names: &Arc<Names>) -> EgressClient {
    client(EgressConfig::default(), names)
}

/// The same, with this machine allowed.
pub(crate) fn with_loopback(names: &Arc<Names>) -> EgressClient {
    let loopback_http = LoopbackHttp::Allowed;
    client(EgressConfig { loopback_http, ..EgressConfig::default() }, names)
}

/// One that reaches these servers under these names, and believes their certificate. They stand
/// for the outside: each is listed by name and by address.
pub(crate) fn reaching(servers: &[(&str, &Server)]) -> EgressConfig {
    let entries = servers
        .iter()
        .flat_map(|(name, server)| [format!("{name}:{}", server.port), server.address()]);
    let pem = std::fs::read(file("cert.pem")).expect("a certificate");
    EgressConfig { allow: entries.collect(), extra_roots: Some(pem), ..EgressConfig::default() }
}

pub(crate) fn client(config: EgressConfig, names: &Arc<Names>) -> EgressClient {
    let policy = EgressPolicy::new(config).expect("a policy");
    EgressClient::new(policy, Arc::clone(names) as _).expect("a client")
}
