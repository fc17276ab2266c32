//! The token of now for one server, and the next one: many ask, one renews.
//!
//! A renewal is a task of its own: whoever asked may leave, but what the authorization server has
//! answered is not lost, since it may have taken the old one back. Shortly before a token ends it is
//! renewed aside, while calls go on with it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use narthex_core::{Actor, CallId, Outcome, Phase, RecordDraft, Subject, Transport};
use narthex_gate::upstream::{Credentials, UpstreamFault};
use narthex_servers::config::{OAuth, OAuthGrant, ServerName};
use narthex_store::{Store, UnitOfWork, fresh_uuid};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::discover::{Authority, Found, same_issuer};
use crate::fault::Fault;
use crate::keep::{Keep, Kept};
use crate::place;
use crate::token::{Client, Grant, Tokens};
use crate::wire::Wire;

/// What one server's tokens are asked for with.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) server: ServerName,
    pub(crate) url: Url,
    /// Who the owner says we are.
    pub(crate) client: Option<Client>,
    pub(crate) settings: OAuth,
    pub(crate) wire: Wire,
    pub(crate) keep: Arc<Keep>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tasks: TaskTracker,
    live: Mutex<Option<Live>>,
    renewal: Arc<AsyncMutex<Renewal>>,
}

/// A token that is in use.
#[derive(Debug, Clone)]
struct Live {
    token: SecretString,
    /// Renewed from here on, and used on.
    fresh_until: Instant,
    /// Not used from here on.
    good_until: Instant,
    /// It was got because the one before was turned away.
    after_refusal: Option<Instant>,
}

/// What whoever renews has.
#[derive(Debug, Default)]
struct Renewal {
    found: Option<Found>,
    authority: Option<Authority>,
    kept: Option<Kept>,
    /// Got and not durable yet: used only once it is.
    unsaved: Option<(Kept, Live)>,
    failed: Option<(Instant, Fault)>,
}

/// What a connection holds.
#[derive(Debug)]
pub(crate) struct Bearer(pub(crate) Arc<Account>);

#[async_trait]
impl Credentials for Bearer {
    async fn bearer(
        &self,
        refused: Option<(&SecretString, &str)>,
    ) -> Result<Option<SecretString>, UpstreamFault> {
        let account = &self.0;
        let refused = refused.filter(|(token, _)| !token.expose_secret().is_empty());
        let refused = refused.map(|(token, said)| (token.clone(), said.to_owned()));
        let now = Instant::now();
        if let Some(live) = account.live().clone().filter(|live| live.serves(now, refused.as_ref()))
        {
            if now >= live.fresh_until
                && let Ok(renewal) = Arc::clone(&account.renewal).try_lock_owned()
            {
                let account = Arc::clone(account);
                let renewing = async move { account.renewed(renewal, None).await };
                self.0.tasks.spawn(renewing);
            }
            return Ok(Some(live.token));
        }
        let renewing = Arc::clone(account);
        let renewed = account.tasks.spawn(async move {
            let renewal = Arc::clone(&renewing.renewal).lock_owned().await;
            renewing.renewed(renewal, refused).await
        });
        let renewed =
            renewed.await.unwrap_or_else(|_| Err(Fault::Ours("no token: ended".to_owned())));
        Ok(Some(renewed?))
    }
}

impl Live {
    fn of(tokens: &Tokens, after_refusal: bool) -> Self {
        let now = Instant::now();
        let early = (tokens.lasts / 5).min(EARLY);
        Self {
            token: tokens.access.clone(),
            fresh_until: now + tokens.lasts.saturating_sub(early),
            good_until: now + tokens.lasts,
            after_refusal: after_refusal.then_some(now),
        }
    }

    fn is(&self, refused: Option<&(SecretString, String)>) -> bool {
        refused.is_some_and(|(token, _)| token.expose_secret() == self.token.expose_secret())
    }

    fn serves(&self, now: Instant, refused: Option<&(SecretString, String)>) -> bool {
        now < self.good_until && !self.is(refused)
    }
}

impl Account {
    pub(crate) fn new(
        server: ServerName,
        url: Url,
        client: Option<Client>,
        settings: OAuth,
        (wire, keep): (Wire, Arc<Keep>),
        (store, tasks): (Arc<dyn Store>, TaskTracker),
    ) -> Self {
        let (live, renewal) = (Mutex::default(), Arc::default());
        Self { server, url, client, settings, wire, keep, store, tasks, live, renewal }
    }

    pub(crate) fn pinned(&self) -> Option<&str> {
        self.settings.issuer.as_deref()
    }

    /// A token that is fresh. Whoever waited for the turn finds the one that was got meanwhile.
    async fn renewed(
        &self,
        mut renewal: OwnedMutexGuard<Renewal>,
        refused: Option<(SecretString, String)>,
    ) -> Result<SecretString, Fault> {
        let now = Instant::now();
        let live = self.live().clone();
        if let Some(live) = &live {
            if !live.is(refused.as_ref()) && now < live.fresh_until {
                return Ok(live.token.clone());
            }
            // What was got because of a refusal and is refused itself is not our token's fault.
            let again = live.after_refusal.is_some_and(|since| now < since + AGAIN);
            if live.is(refused.as_ref()) && again {
                return Err(Fault::Denied("refused".to_owned()));
            }
        }
        if let Some((at, fault)) = &renewal.failed
            && (now < *at + PAUSE || matches!(fault, Fault::SignedOut))
        {
            return Err(fault.clone());
        }
        let said = refused.as_ref().map(|(_, said)| said.as_str());
        let was_refused = refused.is_some();
        let renewed = match self.settings.grant {
            OAuthGrant::ClientCredentials => self.by_machine(&mut renewal, said, was_refused).await,
            OAuthGrant::AuthorizationCode => self.by_refresh(&mut renewal, was_refused).await,
        };
        renewal.failed = renewed.as_ref().err().map(|fault| (Instant::now(), fault.clone()));
        let live = renewed?;
        let token = live.token.clone();
        *self.live() = Some(live);
        Ok(token)
    }

    async fn by_machine(
        &self,
        renewal: &mut Renewal,
        said: Option<&str>,
        was_refused: bool,
    ) -> Result<Live, Fault> {
        let client = self.client.as_ref();
        let client = client.ok_or_else(|| Fault::Ours("it has no `clientId`".to_owned()))?;
        let found = match renewal.found.take() {
            Some(found) => found,
            None => self.wire.discover(&self.url, self.pinned(), said).await?,
        };
        let grant = Grant::Machine { scopes: &self.settings.scopes };
        let tokens = self.wire.token(&found.authority, &found.resource, client, grant).await;
        // Kept only as long as it serves: who moved is found anew.
        let tokens = tokens?;
        renewal.found = Some(found);
        Ok(Live::of(&tokens, was_refused))
    }

    async fn by_refresh(&self, renewal: &mut Renewal, was_refused: bool) -> Result<Live, Fault> {
        if let Some((kept, live)) = renewal.unsaved.take() {
            return self.durable(renewal, kept, live).await;
        }
        let kept = match renewal.kept.take() {
            Some(kept) => kept,
            None => self.load().await?,
        };
        let Some(refresh) = kept.refresh.clone() else {
            let access = kept.access.clone().filter(|_| !was_refused);
            renewal.kept = Some(kept);
            let Some(access) = access else {
                return Err(self.ended().await);
            };
            let tokens = Tokens { access, lasts: STANDING, refresh: None };
            return Ok(Live::of(&tokens, was_refused));
        };
        let authority = if let Some(authority) = renewal.authority.take() {
            Ok(authority)
        } else {
            let at = place::resource(&self.url);
            self.wire.authority(&at, &kept.issuer, self.pinned()).await
        };
        let asked = match &authority {
            Ok(authority) => {
                let grant = Grant::Refresh(&refresh);
                self.wire.token(authority, &kept.resource, &kept.client, grant).await
            }
            Err(fault) => Err(fault.clone()),
        };
        let tokens = match asked {
            Ok(tokens) => tokens,
            Err(Fault::Denied(code)) if code == "invalid_grant" => return Err(self.ended().await),
            Err(fault) => {
                renewal.kept = Some(kept);
                return Err(fault);
            }
        };
        renewal.authority = authority.ok();
        let live = Live::of(&tokens, was_refused);
        let next = Kept { refresh: tokens.refresh.clone().or(Some(refresh)), ..kept };
        if tokens.refresh.is_none() {
            renewal.kept = Some(next);
            return Ok(live);
        }
        self.durable(renewal, next, live).await
    }

    /// What was given anew is on disk before it is used: the old one may be worth nothing by now.
    async fn durable(&self, renewal: &mut Renewal, kept: Kept, live: Live) -> Result<Live, Fault> {
        if let Err(fault) = self.keep.save(&self.server, &kept).await {
            renewal.unsaved = Some((kept, live));
            return Err(fault);
        }
        renewal.kept = Some(kept);
        Ok(live)
    }

    /// What is kept, if it is for this server as it is now.
    async fn load(&self) -> Result<Kept, Fault> {
        let kept = self.keep.load(&self.server).await?.ok_or(Fault::SignedOut)?;
        let id = |client: &Client| client.id.expose_secret().to_owned();
        let fits = kept.server_at == place::resource(&self.url).as_str()
            && self.pinned().is_none_or(|pinned| same_issuer(pinned, &kept.issuer))
            && self.client.as_ref().is_none_or(|client| id(client) == id(&kept.client));
        if fits { Ok(kept) } else { Err(Fault::SignedOut) }
    }

    /// The sign-in is worth nothing any more. Said once, and in the ledger.
    async fn ended(&self) -> Fault {
        if let Err(error) = self.keep.remove(&self.server).await {
            tracing::warn!(server = %self.server, %error, "a sign-in that ended could not be removed");
        }
        *self.live() = None;
        let record = RecordDraft {
            subject: Subject::one("server", &self.server),
            outcome: Outcome::Error,
            ..RecordDraft::new(
                Phase::House,
                CallId::from_uuid(fresh_uuid()),
                Actor::House,
                Transport::Local,
                "server.refresh_failed",
            )
        };
        if let Err(error) = self.store.commit(UnitOfWork::records(vec![record])).await {
            tracing::error!(server = %self.server, %error, "the end of a sign-in was not recorded");
        }
        Fault::SignedOut
    }

    /// Takes a new sign-in, durable first.
    pub(crate) async fn sign_in(&self, kept: Kept, tokens: &Tokens) -> Result<(), Fault> {
        let mut renewal = self.renewal.lock().await;
        self.keep.save(&self.server, &kept).await?;
        *renewal = Renewal { kept: Some(kept), ..Renewal::default() };
        *self.live() = Some(Live::of(tokens, false));
        Ok(())
    }

    /// Forgets what it has in memory.
    pub(crate) async fn sign_out(&self) {
        let mut renewal = self.renewal.lock().await;
        *renewal = Renewal::default();
        *self.live() = None;
    }

    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long before its end a token is renewed, at most; a fifth of a short one.
const EARLY: Duration = Duration::from_secs(30);
/// How long a failure is told again before it is tried anew.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a token that replaced a refused one is not replaced for being refused.
const AGAIN: Duration = Duration::from_secs(10);
/// How long a token that stands is used before it is looked at again.
const STANDING: Duration = Duration::from_hours(24);
