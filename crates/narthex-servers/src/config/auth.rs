//! How we prove to an HTTP server who we are.

use super::error::ConfigFault;
use super::fields::{Field, Outcome};
use super::written::Written;

/// How.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// With a token that stands.
    Bearer(Written),
    /// With one that is asked for.
    OAuth(Box<OAuth>),
}

/// What it takes to ask for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth {
    /// In which way.
    pub grant: OAuthGrant,
    /// Who we are; without one we register ourselves, where the server allows it.
    pub client_id: Option<Written>,
    /// And how we prove it.
    pub client_secret: Option<Written>,
    /// What we ask for.
    pub scopes: Vec<String>,
    /// Who must have issued it, if the owner wants only that one.
    pub issuer: Option<String>,
    /// The port on this machine that the owner's browser comes back to.
    pub redirect_port: Option<u16>,
}

/// The ways of OAuth that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthGrant {
    /// Machine to machine.
    ClientCredentials,
    /// The owner says yes in a browser, once (with PKCE).
    AuthorizationCode,
}

impl Auth {
    pub(super) fn read(field: Field<'_>) -> Outcome<Self> {
        let whole = field.clone();
        let mut fields = field.fields()?;
        let bearer = fields.take("bearer");
        let oauth = fields.take("oauth");
        fields.finish()?;
        match (bearer, oauth) {
            (Some(bearer), None) => secret(&bearer).map(Self::Bearer),
            (None, Some(oauth)) => OAuth::read(oauth).map(Box::new).map(Self::OAuth),
            _ => whole.fault(ConfigFault::Conflict("`auth` is one of `bearer` and `oauth`")),
        }
    }
}

impl OAuth {
    fn read(field: Field<'_>) -> Outcome<Self> {
        let whole = field.clone();
        let mut fields = field.fields()?;
        let grants = [
            ("client_credentials", OAuthGrant::ClientCredentials),
            ("authorization_code", OAuthGrant::AuthorizationCode),
        ];
        let Some(grant) = fields.take("grant") else {
            return fields.fault(ConfigFault::Conflict(
                "`oauth` needs a `grant`: client_credentials or authorization_code",
            ));
        };
        let grant = grant.word(&grants, "client_credentials and authorization_code")?;
        let id = |field: Field<'_>| Written::read(&field, "a client's id", 2_048);
        let client_id = fields.take("clientId").map(id).transpose()?;
        let client_secret = fields.take("clientSecret").map(|field| secret(&field)).transpose()?;
        let scopes = fields.take("scopes").map(|field| scopes(&field)).transpose()?;
        let issuer = fields.take("issuer").map(|field| issuer(&field)).transpose()?;
        let port = fields.take("redirectPort").map(|field| field.number(1_024, 65_535));
        let redirect_port = port.transpose()?.and_then(|port| port.try_into().ok());
        fields.finish()?;
        let by_machine = grant == OAuthGrant::ClientCredentials;
        if by_machine && (client_id.is_none() || client_secret.is_none()) {
            return whole.fault(ConfigFault::Conflict(
                "client_credentials needs `clientId` and `clientSecret`",
            ));
        }
        let scopes = scopes.unwrap_or_default();
        Ok(Self { grant, client_id, client_secret, scopes, issuer, redirect_port })
    }
}

/// A secret is never in the file.
fn secret(field: &Field<'_>) -> Outcome<Written> {
    let written = Written::read(field, "a secret", 8_192)?;
    if written.is_literal() {
        return field.fault(ConfigFault::LiteralSecret);
    }
    Ok(written)
}

fn scopes(field: &Field<'_>) -> Outcome<Vec<String>> {
    let scope = |item: &Field<'_>| {
        let text = item.plain("a scope", 256)?;
        // RFC 6749, section 3.3.
        let good = text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
        if good {
            return Ok(text.to_owned());
        }
        item.fault(ConfigFault::Text { what: "a scope (one a list item)", most: 256 })
    };
    field.items("scopes", 64)?.iter().map(scope).collect()
}

fn issuer(field: &Field<'_>) -> Outcome<String> {
    let text = field.plain("an issuer", 2_048)?;
    match url::Url::parse(text) {
        Ok(url) if url.scheme() == "https" && url.username().is_empty() => Ok(text.to_owned()),
        _ => field.fault(ConfigFault::Url("an issuer is an https:// address")),
    }
}
