//! The owner signs in to a server that wants OAuth, and out again.

use std::time::Duration;

use narthex_gate::upstream::UpstreamFault;
use secrecy::SecretString;

use super::start::Ready;
use super::{HallFault, HallInner, ServerHall, TokensFor, View};
use crate::config::{Auth, OAuthGrant, Reach, Resolved, ResolvedAuth, ServerName};

/// A sign-in that was begun.
#[derive(Debug, Clone)]
pub struct SignInAsked {
    /// Where the owner's browser goes. Of no use to anyone but who waits at the way back.
    pub url: String,
    /// Who will ask the owner.
    pub issuer: String,
}

/// What a browser brought back.
#[derive(Debug)]
pub struct Brought {
    /// What it was given on its way out.
    pub state: SecretString,
    /// What is exchanged for tokens.
    pub code: Option<SecretString>,
    /// Who says so.
    pub issuer: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// A sign-in that was made.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// By whom.
    pub issuer: String,
    /// Whether it can be renewed without the owner.
    pub renews: bool,
}

impl ServerHall {
    /// The port that the owner's browser comes back to, if the file says one.
    pub fn redirect_port(&self, view: &View) -> Option<u16> {
        match &view.config.reach {
            Reach::Http(http) => match &http.auth {
                Some(Auth::OAuth(oauth)) => oauth.redirect_port,
                _ => None,
            },
            Reach::Process(_) => None,
        }
    }

    /// Begins a sign-in to a server whose start is approved.
    pub async fn sign_in(&self, view: &View, redirect: &str) -> Result<SignInAsked, HallFault> {
        let ready = self.ready_to_sign_in(view).await?;
        let wanted = ready.tokens_for(view).ok_or_else(|| wants_none(view))?;
        self.0.parts.config.tokens.begin(wanted, redirect).await.map_err(HallFault::SignIn)
    }

    /// Ends it. What failed for want of it is tried anew.
    pub async fn signed_in(&self, view: &View, brought: Brought) -> Result<SignedIn, HallFault> {
        let ready = self.ready_to_sign_in(view).await?;
        let wanted = ready.tokens_for(view).ok_or_else(|| wants_none(view))?;
        let done = self.0.parts.config.tokens.finish(wanted, brought).await;
        let done = done.map_err(HallFault::SignIn)?;
        self.end(&view.config.name).await;
        Ok(done)
    }

    /// Forgets a sign-in and ends what was open by it. Whether there was one.
    pub async fn sign_out(&self, server: &ServerName) -> Result<bool, HallFault> {
        let was = self.0.parts.config.tokens.forget(server).await.map_err(HallFault::SignIn)?;
        self.end(server).await;
        Ok(was)
    }

    async fn ready_to_sign_in(&self, view: &View) -> Result<Ready, HallFault> {
        if !view.signs_in() {
            return Err(wants_none(view));
        }
        let ready = self.ready(view).await?;
        ready.check(&view.standing)?;
        Ok(ready)
    }
}

impl HallInner {
    /// A server that no longer believes us is in error, for everyone, until the owner signs in
    /// again: all of its connections show the same token.
    pub(super) async fn turned_away(&self, view: &View) {
        if !view.signs_in() {
            return;
        }
        for slot in self.slots_of(&view.config.name) {
            let Some((link, _)) = slot.take() else { continue };
            link.close().await;
            slot.failed(sign_in_again(&view.config.name), Duration::ZERO);
        }
    }
}

impl View {
    /// Whether it is the owner who signs in.
    fn signs_in(&self) -> bool {
        let Reach::Http(http) = &self.config.reach else { return false };
        matches!(&http.auth, Some(Auth::OAuth(oauth)) if oauth.grant == OAuthGrant::AuthorizationCode)
    }

    /// What is wrong, with what the owner can do about it.
    pub(super) fn told(&self, fault: UpstreamFault) -> HallFault {
        match fault {
            UpstreamFault::Unauthorized { .. } if self.signs_in() => {
                HallFault::SignIn(sign_in_again(&self.config.name))
            }
            other => other.into(),
        }
    }
}

impl Ready {
    /// What it takes to ask for tokens, if the server wants OAuth.
    pub(super) fn tokens_for<'a>(&'a self, view: &'a View) -> Option<TokensFor<'a>> {
        let Resolved::Http { url, auth, .. } = &self.resolved else { return None };
        let Some(ResolvedAuth::OAuth { client_id, client_secret, settings }) = auth else {
            return None;
        };
        Some(TokensFor {
            server: &view.config.name,
            url,
            client_id: client_id.as_ref(),
            client_secret: client_secret.as_ref(),
            settings,
        })
    }
}

fn sign_in_again(server: &ServerName) -> String {
    format!("{server} wants you to sign in: narthex mcp login {server}")
}

fn wants_none(view: &View) -> HallFault {
    HallFault::SignIn(format!(
        "nobody signs in to {}: its `auth` is not `oauth` with `grant` authorization_code",
        view.config.name
    ))
}
