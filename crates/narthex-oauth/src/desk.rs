//! The desk: one account a server, shared by all of its connections, and the sign-ins under way.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use narthex_core::Digest;
use narthex_egress::EgressClient;
use narthex_gate::upstream::Credentials;
use narthex_servers::config::ServerName;
use narthex_servers::hall::{Brought, SignInAsked, SignedIn, TokenDesk, TokensFor};
use narthex_store::Store;
use secrecy::ExposeSecret as _;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::account::{Account, Bearer};
use crate::fault::{Fault, wrong};
use crate::keep::{Keep, KeepKey};
use crate::login::Pending;
use crate::token::Client;
use crate::wire::Wire;

/// What a desk is built from.
#[derive(Debug)]
pub struct OAuthParts {
    /// The one way out.
    pub egress: EgressClient,
    /// Where sign-ins are kept.
    pub folder: PathBuf,
    /// What they are sealed with.
    pub key: KeepKey,
    /// Where it is recorded that one ended.
    pub store: Arc<dyn Store>,
}

/// Asks for tokens, and keeps sign-ins.
#[derive(Debug)]
pub struct OAuthDesk {
    wire: Wire,
    keep: Arc<Keep>,
    store: Arc<dyn Store>,
    tasks: TaskTracker,
    accounts: Mutex<HashMap<ServerName, Written>>,
    pending: Mutex<HashMap<ServerName, Pending>>,
}

/// The accounts of a server, by what is written of it.
type Written = Vec<(Digest, Arc<Account>)>;

impl OAuthDesk {
    /// Over these parts. Nobody is asked yet.
    pub fn new(parts: OAuthParts) -> Self {
        let OAuthParts { egress, folder, key, store } = parts;
        Self {
            wire: Wire { egress },
            keep: Arc::new(Keep { folder, key }),
            store,
            tasks: TaskTracker::new(),
            accounts: Mutex::default(),
            pending: Mutex::default(),
        }
    }

    /// The account for a server as it is written now.
    fn account(&self, wanted: TokensFor<'_>) -> Result<Arc<Account>, Fault> {
        let written = digest(wanted);
        let mut accounts = held(&self.accounts);
        let of_server = accounts.entry(wanted.server.clone()).or_default();
        if let Some((_, account)) = of_server.iter().find(|(known, _)| *known == written) {
            return Ok(Arc::clone(account));
        }
        let url = Url::parse(wanted.url.expose_secret()).map_err(|_| wrong("its URL is none"))?;
        let client = wanted
            .client_id
            .map(|id| Client { id: id.clone(), secret: wanted.client_secret.cloned() });
        let account = Arc::new(Account::new(
            wanted.server.clone(),
            url,
            client,
            wanted.settings.clone(),
            (self.wire.clone(), Arc::clone(&self.keep)),
            (Arc::clone(&self.store), self.tasks.clone()),
        ));
        if of_server.len() >= MAX_WRITTEN {
            of_server.remove(0);
        }
        of_server.push((written, Arc::clone(&account)));
        Ok(account)
    }
}

#[async_trait]
impl TokenDesk for OAuthDesk {
    fn credentials(&self, wanted: TokensFor<'_>) -> Result<Arc<dyn Credentials>, String> {
        let account = self.account(wanted).map_err(|fault| fault.to_string())?;
        Ok(Arc::new(Bearer(account)))
    }

    async fn begin(&self, wanted: TokensFor<'_>, redirect: &str) -> Result<SignInAsked, String> {
        let account = self.account(wanted).map_err(|fault| fault.to_string())?;
        let begun = Pending::begin(&account, redirect).await;
        let (pending, asked) = begun.map_err(|fault| fault.to_string())?;
        // One at a time: a second one makes the first worthless.
        held(&self.pending).insert(wanted.server.clone(), pending);
        Ok(asked)
    }

    async fn finish(&self, wanted: TokensFor<'_>, brought: Brought) -> Result<SignedIn, String> {
        // Taken out before anything is looked at: whatever comes next finds nothing.
        let pending = held(&self.pending).remove(wanted.server);
        let pending = pending.ok_or_else(|| "no sign-in is under way".to_owned())?;
        let account = self.account(wanted).map_err(|fault| fault.to_string())?;
        pending.finish(&account, &brought).await.map_err(|fault| fault.to_string())
    }

    async fn forget(&self, server: &ServerName) -> Result<bool, String> {
        held(&self.pending).remove(server);
        let accounts = held(&self.accounts).remove(server).unwrap_or_default();
        for (_, account) in &accounts {
            account.sign_out().await;
        }
        self.keep.remove(server).await.map_err(|fault| fault.to_string())
    }
}

/// What is written of a server. In memory only: it is over secrets.
fn digest(wanted: TokensFor<'_>) -> Digest {
    let said = |secret: Option<&secrecy::SecretString>| {
        secret.map(|secret| secret.expose_secret().to_owned())
    };
    let settings = wanted.settings;
    let all = (
        wanted.url.expose_secret(),
        said(wanted.client_id),
        said(wanted.client_secret),
        (&settings.scopes, &settings.issuer, format!("{:?}", settings.grant)),
    );
    Digest::of(format!("{all:?}").as_bytes())
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As many ways as one server can be written at once, under different profiles.
const MAX_WRITTEN: usize = 16;
