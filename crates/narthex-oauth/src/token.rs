//! Asking for a token, and what comes back.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::discover::Authority;
use crate::fault::{Fault, wrong};
use crate::wire::{Answer, Wire};

/// Who we are to an authorization server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) id: SecretString,
    pub(crate) secret: Option<SecretString>,
}

/// For what a token is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Grant<'a> {
    /// For being who we are.
    Machine { scopes: &'a [String] },
    /// For what the owner's browser brought.
    Code { code: &'a SecretString, verifier: &'a SecretString, redirect: &'a str },
    /// For what we were given before.
    Refresh(&'a SecretString),
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) access: SecretString,
    pub(crate) lasts: Duration,
    pub(crate) refresh: Option<SecretString>,
}

#[derive(Deserialize)]
struct Said {
    access_token: String,
    token_type: String,
    expires_in: Option<Value>,
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
struct SaidNo {
    error: String,
}

/// How we prove who we are.
enum ClientProof {
    Basic,
    Post,
    Nothing,
}

impl Wire {
    /// Asks for a token.
    pub(crate) async fn token(
        &self,
        authority: &Authority,
        resource: &str,
        client: &Client,
        grant: Grant<'_>,
    ) -> Result<Tokens, Fault> {
        let (form, basic) = form(resource, client, grant, authority.methods.as_deref())?;
        let answer = self.form(authority.token.as_str(), form, basic.as_ref()).await?;
        read(&answer)
    }
}

/// What is sent, and what goes into `Authorization`.
fn form(
    resource: &str,
    client: &Client,
    grant: Grant<'_>,
    methods: Option<&[String]>,
) -> Result<(String, Option<SecretString>), Fault> {
    let proof = proof(client, methods)?;
    let mut form = Serializer::new(String::new());
    match grant {
        Grant::Machine { scopes } => {
            form.append_pair("grant_type", "client_credentials");
            if !scopes.is_empty() {
                form.append_pair("scope", &scopes.join(" "));
            }
        }
        Grant::Code { code, verifier, redirect } => {
            form.append_pair("grant_type", "authorization_code");
            form.append_pair("code", code.expose_secret());
            form.append_pair("code_verifier", verifier.expose_secret());
            form.append_pair("redirect_uri", redirect);
        }
        Grant::Refresh(token) => {
            form.append_pair("grant_type", "refresh_token");
            form.append_pair("refresh_token", token.expose_secret());
        }
    }
    form.append_pair("resource", resource);
    let secret = client.secret.as_ref();
    let basic = match proof {
        ClientProof::Basic => secret.map(|secret| basic(&client.id, secret)),
        ClientProof::Post | ClientProof::Nothing => {
            form.append_pair("client_id", client.id.expose_secret());
            None
        }
    };
    if let (ClientProof::Post, Some(secret)) = (&proof, secret) {
        form.append_pair("client_secret", secret.expose_secret());
    }
    Ok((form.finish(), basic))
}

fn proof(client: &Client, methods: Option<&[String]>) -> Result<ClientProof, Fault> {
    if client.secret.is_none() {
        return Ok(ClientProof::Nothing);
    }
    let takes = |wanted: &str| methods.is_some_and(|all| all.iter().any(|one| one == wanted));
    // RFC 8414: who says nothing takes Basic.
    if methods.is_none() || takes("client_secret_basic") {
        Ok(ClientProof::Basic)
    } else if takes("client_secret_post") {
        Ok(ClientProof::Post)
    } else {
        Err(wrong("the authorization server does not take a client's secret"))
    }
}

/// RFC 6749, section 2.3.1: each is a form's value first.
fn basic(id: &SecretString, secret: &SecretString) -> SecretString {
    let encoded = |text: &SecretString| -> String {
        byte_serialize(text.expose_secret().as_bytes()).collect()
    };
    BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret))).into()
}

fn read(answer: &Answer) -> Result<Tokens, Fault> {
    let status = answer.status;
    if status != StatusCode::OK {
        return Err(refused(answer));
    }
    let said: Said = serde_json::from_slice(&answer.body)
        .map_err(|_| wrong("the token endpoint did not answer with a token"))?;
    if !said.token_type.eq_ignore_ascii_case("bearer") {
        return Err(wrong("the token endpoint gives tokens of another type than Bearer"));
    }
    let refresh = said.refresh_token.filter(|token| !token.is_empty());
    let refresh = refresh.map(|token| opaque(token, "a refresh token")).transpose()?;
    let lasts = lasts(said.expires_in.as_ref())?;
    Ok(Tokens { access: opaque(said.access_token, "a token")?, lasts, refresh })
}

/// Why there is none: a code of OAuth's own, or nothing of what was said.
pub(crate) fn refused(answer: &Answer) -> Fault {
    let code = serde_json::from_slice::<SaidNo>(&answer.body).ok().map(|said| said.error);
    let plain = |code: &String| {
        (1..=40).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let code = code.filter(plain);
    let status = answer.status;
    let passes = matches!(code.as_deref(), Some("temporarily_unavailable" | "server_error"));
    if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && !passes {
        return Fault::Denied(code.unwrap_or_else(|| status.as_u16().to_string()));
    }
    Fault::Unreachable(format!("the authorization server answered with {}", status.as_u16()))
}

/// What goes into a header, or a form, as it is.
pub(crate) fn opaque(text: String, what: &str) -> Result<SecretString, Fault> {
    let text = SecretString::from(text);
    let good = |text: &str| {
        (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(|b| (0x21..=0x7e).contains(&b))
    };
    if good(text.expose_secret()) {
        return Ok(text);
    }
    Err(wrong(format!("{what} of the authorization server is none")))
}

/// How long it lasts. Who does not say is believed for a while; nobody is believed for longer than
/// a day.
fn lasts(said: Option<&Value>) -> Result<Duration, Fault> {
    let seconds = match said {
        None | Some(Value::Null) => return Ok(UNSAID),
        Some(Value::Number(number)) => {
            number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 1e18).map(|_| u64::MAX))
        }
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let seconds =
        seconds.ok_or_else(|| wrong("the token endpoint gives a token that lasts for no time"))?;
    Ok(Duration::from_secs(seconds).min(LONGEST))
}

const UNSAID: Duration = Duration::from_hours(1);
const LONGEST: Duration = Duration::from_hours(24);
const MAX_TOKEN: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::{LONGEST, UNSAID, basic, lasts};
    use serde_json::{Value, json};
    use std::time::Duration;

    #[test]
    fn how_long_a_token_lasts_is_bounded() {
        for (said, is) in [
            (None, Some(UNSAID)),
            (Some(json!(60)), Some(Duration::from_mins(1))),
            (Some(json!("60")), Some(Duration::from_mins(1))),
            (Some(json!(0)), Some(Duration::ZERO)),
            (Some(json!(u64::MAX)), Some(LONGEST)),
            (Some(json!(1e300)), Some(LONGEST)),
            (Some(json!(-1)), None),
            (Some(json!(-1e300)), None),
            (Some(json!("-1")), None),
            (Some(json!(1.5)), None),
            (Some(json!([60])), None),
            (Some(Value::Null), Some(UNSAID)),
        ] {
            assert_eq!(lasts(said.as_ref()).ok(), is, "{said:?}");
        }
    }

    #[test]
    fn each_half_of_basic_is_a_value_of_a_form() {
        use secrecy::ExposeSecret as _;
        let basic = basic(&"a:b".to_owned().into(), &"c d+".to_owned().into());
        assert_eq!(basic.expose_secret(), "YSUzQWI6YytkJTJC");
    }
}
