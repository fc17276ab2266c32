//! Making ourselves known where nobody wrote down who we are (RFC 7591).

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::discover::Authority;
use crate::fault::{Fault, wrong};
use crate::token::{Client, opaque, refused};
use crate::wire::Wire;

#[derive(Deserialize)]
struct Said {
    client_id: String,
    client_secret: Option<String>,
}

impl Wire {
    /// Registers a client that comes back to `redirect`.
    pub(crate) async fn register(
        &self,
        authority: &Authority,
        redirect: &str,
        scopes: &[String],
    ) -> Result<Client, Fault> {
        let Some(at) = &authority.register else {
            return Err(wrong(
                "the authorization server registers nobody; get a client id there and write it down as `clientId`",
            ));
        };
        let mut asked = json!({
            "client_name": "Narthex",
            "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method(authority.methods.as_deref()),
        });
        if let (Some(asked), false) = (asked.as_object_mut(), scopes.is_empty()) {
            asked.insert("scope".to_owned(), scopes.join(" ").into());
        }
        let answer = self.json(at.as_str(), asked.to_string()).await?;
        if !matches!(answer.status, StatusCode::OK | StatusCode::CREATED) {
            return Err(refused(&answer));
        }
        let said: Said = serde_json::from_slice(&answer.body)
            .map_err(|_| wrong("the authorization server did not say who we are to it"))?;
        let secret = said.client_secret.filter(|secret| !secret.is_empty());
        Ok(Client {
            id: opaque(said.client_id, "a client id")?,
            secret: secret.map(|secret| opaque(secret, "a client secret")).transpose()?,
        })
    }
}

/// Without a secret if that is taken: PKCE proves more than one that anybody can ask for.
fn method(methods: Option<&[String]>) -> &'static str {
    let takes = |wanted: &str| methods.is_none_or(|all| all.iter().any(|one| one == wanted));
    ["none", "client_secret_basic", "client_secret_post"]
        .into_iter()
        .find(|method| takes(method))
        .unwrap_or("none")
}
