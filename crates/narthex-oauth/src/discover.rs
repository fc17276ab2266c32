//! Whom to ask for tokens: from the server to its authorization server.

use serde::Deserialize;
use url::Url;

use crate::challenge::Challenge;
use crate::fault::{Fault, wrong};
use crate::place::{self, covers, is_here, same_origin, well_known};
use crate::wire::Wire;

/// Who is to be asked, and for what.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) authority: Authority,
    /// What tokens are for (RFC 8707).
    pub(crate) resource: String,
    /// What the server wants, if it says so.
    pub(crate) scopes: Vec<String>,
}

/// An authorization server whose metadata was checked.
#[derive(Debug, Clone)]
pub(crate) struct Authority {
    pub(crate) issuer: String,
    pub(crate) token: Url,
    pub(crate) authorize: Option<Url>,
    pub(crate) register: Option<Url>,
    pub(crate) methods: Option<Vec<String>>,
    /// Whether it takes S256.
    pub(crate) pkce: bool,
    /// Whether it says who it is on the way back (RFC 9207).
    pub(crate) says_issuer: bool,
}

#[derive(Deserialize)]
struct ResourceSaid {
    resource: String,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct AuthoritySaid {
    issuer: String,
    token_endpoint: Option<String>,
    authorization_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

impl Wire {
    /// Finds whom to ask for tokens for a server. `pinned` is the issuer that the owner wrote down.
    pub(crate) async fn discover(
        &self,
        server: &Url,
        pinned: Option<&str>,
        challenge: Option<&str>,
    ) -> Result<Found, Fault> {
        let probed;
        let said = if let Some(said) = challenge.filter(|said| !said.is_empty()) {
            Some(said)
        } else {
            probed = self.challenge(server.as_str()).await?;
            probed.as_deref()
        };
        let challenge = said.map(Challenge::read).unwrap_or_default();
        let resource = place::resource(server);
        let metadata = self.resource_metadata(&resource, &challenge).await?;
        let scopes: Vec<String> = match (&challenge.scope, &metadata) {
            (Some(scope), _) => scope.split(' ').map(str::to_owned).collect(),
            (None, Some(metadata)) => metadata.scopes_supported.clone().unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        let scopes = scopes.into_iter().filter(|scope| is_scope(scope)).take(MAX_SCOPES).collect();
        let issuer = issuer(&resource, metadata.as_ref(), pinned)?;
        let authority = self.authority(&resource, &issuer, pinned).await?;
        let named = metadata.map_or_else(|| resource.to_string(), |metadata| metadata.resource);
        Ok(Found { authority, resource: named, scopes })
    }

    /// RFC 9728: where the server says it is, else at its well-known place.
    async fn resource_metadata(
        &self,
        resource: &Url,
        challenge: &Challenge,
    ) -> Result<Option<ResourceSaid>, Fault> {
        let policy = self.egress.policy();
        let what = "the metadata of the server";
        let mut places = vec![well_known(resource, PROTECTED)];
        places.push(format!("{}/.well-known/{PROTECTED}", place::origin(resource)));
        if let Some(named) = &challenge.resource_metadata {
            let named = place::read(policy, named, what)?;
            if !same_origin(&named, resource) {
                return Err(wrong("the server names metadata at another origin"));
            }
            places = vec![named.into()];
        }
        places.dedup();
        for at in places {
            let Some(said) = self.metadata::<ResourceSaid>(&at, what).await? else { continue };
            let of = place::read(policy, &said.resource, what)?;
            if !covers(&of, resource) {
                return Err(wrong("the metadata of the server is about another one"));
            }
            return Ok(Some(said));
        }
        Ok(None)
    }

    /// RFC 8414, or OpenID Connect's discovery: what this issuer says of itself.
    pub(crate) async fn authority(
        &self,
        resource: &Url,
        issuer: &str,
        pinned: Option<&str>,
    ) -> Result<Authority, Fault> {
        let what = "the authorization server";
        let at = place::read(self.egress.policy(), issuer, what)?;
        if at.query().is_some() {
            return Err(wrong("an issuer has no query"));
        }
        if pinned.is_none() && !same_origin(&at, resource) {
            self.not_inside(resource, &at).await?;
        }
        let path = at.path().trim_end_matches('/');
        let mut places = vec![well_known(&at, AUTHORITY), well_known(&at, OPENID)];
        places.push(format!("{}{path}/.well-known/{OPENID}", place::origin(&at)));
        places.dedup();
        for place in places {
            if let Some(said) = self.metadata::<AuthoritySaid>(&place, what).await? {
                return self.checked(&at, issuer, said, pinned.is_some());
            }
        }
        Err(wrong(format!(
            "{} says nothing of itself as an authorization server",
            place::origin(&at)
        )))
    }

    /// Whoever is outside does not get to send us inside.
    async fn not_inside(&self, from: &Url, to: &Url) -> Result<(), Fault> {
        if self.egress.leads_inside(to.as_str()).await?
            && !self.egress.leads_inside(from.as_str()).await?
        {
            return Err(wrong(
                "the server names an authorization server of the inside; write it down as `issuer` if it is yours",
            ));
        }
        Ok(())
    }

    fn checked(
        &self,
        at: &Url,
        issuer: &str,
        said: AuthoritySaid,
        pinned: bool,
    ) -> Result<Authority, Fault> {
        if !same_issuer(&said.issuer, issuer) {
            return Err(wrong("the authorization server says that it is another one"));
        }
        let endpoint = |text: &str, what: &str| -> Result<Url, Fault> {
            let url = place::read(self.egress.policy(), text, what)?;
            // Elsewhere only if the owner chose this issuer, and never on this machine or in clear.
            let elsewhere = pinned && url.scheme() == "https" && !is_here(&url);
            if same_origin(&url, at) || elsewhere {
                return Ok(url);
            }
            Err(wrong(format!(
                "{what} lies at another origin than its issuer; write the issuer down as `issuer` if that is right"
            )))
        };
        let optional = |text: &Option<String>, what: &str| {
            text.as_deref().map(|text| endpoint(text, what)).transpose()
        };
        let token = optional(&said.token_endpoint, "the token endpoint")?;
        let methods = said.code_challenge_methods_supported.unwrap_or_default();
        Ok(Authority {
            token: token.ok_or_else(|| wrong("the authorization server gives no tokens"))?,
            authorize: optional(&said.authorization_endpoint, "the authorization endpoint")?,
            register: optional(&said.registration_endpoint, "the registration endpoint")?,
            methods: said.token_endpoint_auth_methods_supported,
            pkce: methods.iter().any(|method| method == "S256"),
            says_issuer: said.authorization_response_iss_parameter_supported.unwrap_or(false),
            issuer: said.issuer,
        })
    }
}

fn issuer(
    resource: &Url,
    metadata: Option<&ResourceSaid>,
    pinned: Option<&str>,
) -> Result<String, Fault> {
    let named = metadata.and_then(|metadata| metadata.authorization_servers.as_deref());
    match (named.filter(|named| !named.is_empty()), pinned) {
        (Some(named), Some(pinned)) if !named.iter().any(|one| same_issuer(one, pinned)) => {
            Err(wrong("the server names another issuer than `issuer` says"))
        }
        (_, Some(pinned)) => Ok(pinned.to_owned()),
        (Some([first, ..]), None) => Ok(first.clone()),
        // Before RFC 9728 a server was its own authorization server.
        (_, None) => Ok(place::origin(resource)),
    }
}

/// The same text, but for a slash at the end.
pub(crate) fn same_issuer(a: &str, b: &str) -> bool {
    a.strip_suffix('/').unwrap_or(a) == b.strip_suffix('/').unwrap_or(b)
}

fn is_scope(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

const PROTECTED: &str = "oauth-protected-resource";
const AUTHORITY: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";
const MAX_SCOPES: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use narthex_egress::{
        Answer, EgressClient, EgressConfig, EgressPolicy, LoopbackHttp, Resolve, ResolveError,
    };
    use url::Url;

    use crate::wire::Wire;

    #[derive(Debug)]
    struct Names;

    #[async_trait::async_trait]
    impl Resolve for Names {
        async fn resolve(&self, name: &str) -> Result<Answer, ResolveError> {
            let address = if name == "wiki.corp.example" { [10, 0, 0, 1] } else { [9, 9, 9, 9] };
            Ok(Answer::from_addresses([address.into()]))
        }
    }

    #[tokio::test]
    async fn whoever_is_outside_does_not_send_us_to_what_the_owner_alone_may_name() {
        let config = EgressConfig {
            loopback_http: LoopbackHttp::Allowed,
            allow: vec!["wiki.corp.example".to_owned()],
            ..EgressConfig::default()
        };
        let policy = EgressPolicy::new(config).unwrap();
        let wire = Wire { egress: EgressClient::new(policy, Arc::new(Names)).unwrap() };
        let url = |text: &str| Url::parse(text).unwrap();
        for (from, to, may) in [
            ("https://a.example/mcp", "https://as.example", true),
            ("https://a.example/mcp", "https://wiki.corp.example", false),
            ("https://a.example/mcp", "http://127.0.0.1:9", false),
            ("https://a.example/mcp", "https://localhost", false),
            ("https://wiki.corp.example/mcp", "https://as.example", true),
            ("https://wiki.corp.example/mcp", "http://127.0.0.1:9", true),
        ] {
            assert_eq!(wire.not_inside(&url(from), &url(to)).await.is_ok(), may, "{from} {to}");
        }
        let asked = wire.authority(&url("https://a.example/mcp"), "http://127.0.0.1:9", None).await;
        assert!(asked.unwrap_err().to_string().contains("of the inside"));
    }
}
