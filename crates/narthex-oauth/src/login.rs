//! A sign-in, from where the browser is sent to what it brings back.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use narthex_servers::hall::{Brought, SignInAsked, SignedIn};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

use crate::account::Account;
use crate::discover::Found;
use crate::fault::{Fault, wrong};
use crate::keep::Kept;
use crate::place;
use crate::token::{Client, Grant};

/// A sign-in under way: good for one way back, and for a while.
#[derive(Debug)]
pub(crate) struct Pending {
    found: Found,
    client: Client,
    state: SecretString,
    verifier: SecretString,
    redirect: String,
    until: Instant,
}

impl Pending {
    pub(crate) async fn begin(
        account: &Account,
        redirect: &str,
    ) -> Result<(Self, SignInAsked), Fault> {
        let wire = &account.wire;
        let found = wire.discover(&account.url, account.pinned(), None).await?;
        let authority = &found.authority;
        let Some(authorize) = authority.authorize.clone() else {
            return Err(wrong("the authorization server has no place to sign in at"));
        };
        if !authority.pkce {
            return Err(wrong("the authorization server does not take PKCE with S256"));
        }
        let chosen = &account.settings.scopes;
        let scopes = if chosen.is_empty() { &found.scopes } else { chosen };
        let client = match &account.client {
            Some(client) => client.clone(),
            None => wire.register(authority, redirect, scopes).await?,
        };
        let (state, verifier) = (random()?, random()?);
        let mut url = authorize;
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code");
            query.append_pair("client_id", client.id.expose_secret());
            query.append_pair("redirect_uri", redirect);
            query.append_pair("state", state.expose_secret());
            query.append_pair("code_challenge", &challenge(&verifier));
            query.append_pair("code_challenge_method", "S256");
            query.append_pair("resource", &found.resource);
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
        }
        let asked = SignInAsked { url: url.into(), issuer: authority.issuer.clone() };
        let (redirect, until) = (redirect.to_owned(), Instant::now() + PATIENCE);
        Ok((Self { found, client, state, verifier, redirect, until }, asked))
    }

    /// Checks who sent the browser back, and only then shows the code to anyone.
    pub(crate) async fn finish(
        self,
        account: &Account,
        brought: &Brought,
    ) -> Result<SignedIn, Fault> {
        let authority = &self.found.authority;
        if Instant::now() > self.until {
            return Err(wrong("the sign-in took too long; begin it anew"));
        }
        let (state, expected) = (brought.state.expose_secret(), self.state.expose_secret());
        if !bool::from(state.as_bytes().ct_eq(expected.as_bytes())) {
            return Err(wrong("what came back is not of this sign-in; begin it anew"));
        }
        match &brought.issuer {
            Some(issuer) if *issuer != authority.issuer => {
                return Err(wrong("somebody else than the issuer sent the browser back"));
            }
            None if authority.says_issuer => {
                return Err(wrong("what came back does not say who sent it"));
            }
            _ => {}
        }
        let Some(code) = brought.code.as_ref().filter(|_| brought.error.is_none()) else {
            return Err(Fault::Denied(known(brought.error.as_deref()).to_owned()));
        };
        let grant =
            Grant::Code { code, verifier: &self.verifier, redirect: self.redirect.as_str() };
        let wire = &account.wire;
        let tokens = wire.token(authority, &self.found.resource, &self.client, grant).await?;
        let access = tokens.refresh.is_none().then(|| tokens.access.clone());
        let kept = Kept {
            issuer: authority.issuer.clone(),
            server_at: place::resource(&account.url).into(),
            resource: self.found.resource.clone(),
            client: self.client,
            refresh: tokens.refresh.clone(),
            access,
        };
        account.sign_in(kept, &tokens).await?;
        Ok(SignedIn { issuer: authority.issuer.clone(), renews: tokens.refresh.is_some() })
    }
}

/// RFC 6749, section 4.1.2.1. Whatever else is said is not repeated.
fn known(error: Option<&str>) -> &str {
    let codes = [
        "access_denied",
        "invalid_request",
        "invalid_scope",
        "invalid_target",
        "server_error",
        "temporarily_unavailable",
        "unauthorized_client",
        "unsupported_response_type",
    ];
    error.filter(|error| codes.contains(error)).unwrap_or("no code")
}

/// 256 bits that nobody guesses.
fn random() -> Result<SecretString, Fault> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| Fault::Ours(error.to_string()))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes).into())
}

/// RFC 7636, section 4.2.
fn challenge(verifier: &SecretString) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose_secret().as_bytes()))
}

/// How long a sign-in may take.
const PATIENCE: Duration = Duration::from_mins(10);

#[cfg(test)]
mod tests {
    #[test]
    fn the_challenge_is_as_in_the_appendix_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned().into();
        assert_eq!(super::challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
