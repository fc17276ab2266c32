//! The desk against a scripted authorization server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod discovery;
mod login;
mod machine;

use std::sync::Arc;

use narthex_egress::{
    Answer, EgressClient, EgressConfig, EgressPolicy, LoopbackHttp, Resolve, ResolveError,
};
use narthex_gate::upstream::{Credentials, UpstreamFault};
use narthex_oauth::testing::Authority;
use narthex_oauth::{KeepKey, OAuthDesk, OAuthParts};
use narthex_servers::config::{OAuth, OAuthGrant, ServerName};
use narthex_servers::hall::{TokenDesk as _, TokensFor};
use narthex_store::chain::{HeadKey, SealKey};
use narthex_store::{Store, SystemClock};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use secrecy::{ExposeSecret as _, SecretString};

#[derive(Debug)]
struct NoNames;

#[async_trait::async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _name: &str) -> Result<Answer, ResolveError> {
        Err(ResolveError::NoAnswer)
    }
}

/// A desk, an authorization server, and one server that wants tokens.
struct Rig {
    desk: Arc<OAuthDesk>,
    store: Arc<dyn Store>,
    authority: Authority,
    folder: tempfile::TempDir,
    server: ServerName,
    url: SecretString,
    id: Option<SecretString>,
    secret: Option<SecretString>,
    settings: OAuth,
}

impl Rig {
    async fn new(grant: OAuthGrant) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (head, seal) = (HeadKey::new([1; 32]), SealKey::from_seed(&[2; 32]));
        let clock = Arc::new(SystemClock);
        let config = SqliteConfig::new(at("db"), at("head"), head, seal, clock);
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(config).await.unwrap());
        let authority = Authority::start().await.unwrap();
        let machine = grant == OAuthGrant::ClientCredentials;
        Self {
            desk: Arc::new(desk(&folder, &store)),
            store,
            url: authority.server().into(),
            authority,
            folder,
            server: "up".parse().unwrap(),
            id: Some("us".to_owned().into()),
            secret: machine.then(|| "s3cret-client".to_owned().into()),
            settings: OAuth {
                grant,
                client_id: None,
                client_secret: None,
                scopes: Vec::new(),
                issuer: None,
                redirect_port: None,
            },
        }
    }

    /// The house is opened again.
    fn reopen(&mut self) {
        self.desk = Arc::new(desk(&self.folder, &self.store));
    }

    fn wanted(&self) -> TokensFor<'_> {
        TokensFor {
            server: &self.server,
            url: &self.url,
            client_id: self.id.as_ref(),
            client_secret: self.secret.as_ref(),
            settings: &self.settings,
        }
    }

    fn credentials(&self) -> Arc<dyn Credentials> {
        self.desk.credentials(self.wanted()).unwrap()
    }

    async fn bearer(&self) -> Result<String, UpstreamFault> {
        let bearer = self.credentials().bearer(None).await?;
        Ok(bearer.unwrap().expose_secret().to_owned())
    }

    async fn turned_away(&self, token: &str, said: &str) -> Result<String, UpstreamFault> {
        let token = token.to_owned().into();
        let bearer = self.credentials().bearer(Some((&token, said))).await?;
        Ok(bearer.unwrap().expose_secret().to_owned())
    }

    fn asked(&self) -> usize {
        self.authority.came("/token").len()
    }

    /// The actions in the ledger since the house was founded; none of it has a secret.
    async fn ledger(&self) -> Vec<String> {
        let mut actions = Vec::new();
        for record in self.store.records(2, 1000).await.unwrap() {
            let text = String::from_utf8(record.bytes).unwrap();
            is_clean(&text);
            let record: serde_json::Value = serde_json::from_str(&text).unwrap();
            actions.push(record["tool"].as_str().unwrap().to_owned());
        }
        actions
    }
}

fn desk(folder: &tempfile::TempDir, store: &Arc<dyn Store>) -> OAuthDesk {
    let loopback_http = LoopbackHttp::Allowed;
    let policy = EgressPolicy::new(EgressConfig { loopback_http, ..EgressConfig::default() });
    OAuthDesk::new(OAuthParts {
        egress: EgressClient::new(policy.unwrap(), Arc::new(NoNames)).unwrap(),
        folder: folder.path().join("sign-ins"),
        key: KeepKey::new([3; 32]),
        store: Arc::clone(store),
    })
}

/// No error says a secret, nor what an authorization server said in its own words.
fn is_clean(text: &str) {
    assert!(!text.contains("s3cret") && !text.contains("evil"), "{text}");
}
