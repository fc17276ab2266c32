//! Who we are: shown to one origin, once more when it is not believed, and never in an error.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use narthex_egress::LoopbackHttp;
use narthex_gate::upstream::{Connector as _, Credentials, Line, RefusesAll, UpstreamFault};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::site::{Said, Site, result, status, status_with};
use crate::upstream::peer::modern_greeting;
use crate::upstream::{call, connect, reaching, terms};

/// Gives one token after the other; the last stays.
#[derive(Debug)]
struct Tokens {
    tokens: Vec<Option<&'static str>>,
    refused: Mutex<Vec<(String, String)>>,
}

impl Tokens {
    fn of(tokens: &[Option<&'static str>]) -> Arc<Self> {
        Arc::new(Self { tokens: tokens.to_vec(), refused: Mutex::default() })
    }
}

#[async_trait]
impl Credentials for Tokens {
    async fn bearer(
        &self,
        refused: Option<(&SecretString, &str)>,
    ) -> Result<Option<SecretString>, UpstreamFault> {
        let mut seen = self.refused.lock().expect("a lock");
        if let Some((token, said)) = refused {
            seen.push((token.expose_secret().to_owned(), said.to_owned()));
        }
        let token = self.tokens.get(seen.len()).or(self.tokens.last()).copied().flatten();
        Ok(token.map(|token| token.to_owned().into()))
    }
}

/// Believes one token.
async fn guarded() -> Site {
    Site::new(|came| {
        if came.header("authorization") != Some("Bearer s3cret-2") {
            let challenge = "www-authenticate: Bearer resource_metadata=\"https://a.example/\"\r\n";
            return status_with(401, challenge, "who are you");
        }
        match came.rpc() {
            "server/discover" => result(came, &modern_greeting()),
            _ => result(came, &json!({})),
        }
    })
    .await
}

fn line(site: &Site, tokens: Option<Arc<Tokens>>) -> Line {
    let credentials = tokens.map(|tokens| tokens as Arc<dyn Credentials>);
    Line::Http { url: site.url.clone(), headers: Vec::new(), credentials }
}

#[tokio::test]
async fn a_token_that_is_not_believed_is_replaced_once() {
    let tokens = Tokens::of(&[Some("s3cret-1"), Some("s3cret-2")]);
    let site = guarded().await;
    let connection = connect(line(&site, Some(Arc::clone(&tokens))), terms()).await;
    let connection = connection.expect("a connection");
    connection.ask(call("t")).await.expect("a result");
    let refused = tokens.refused.lock().expect("a lock").clone();
    let challenge = "Bearer resource_metadata=\"https://a.example/\"".to_owned();
    assert_eq!(refused, [("s3cret-1".to_owned(), challenge)]);
    assert_eq!(site.came().len(), 3);
}

#[tokio::test]
async fn no_third_token_is_tried_and_no_error_has_one() {
    for (tokens, requests) in [
        (None, 1),
        (Some(Tokens::of(&[None])), 1),
        (Some(Tokens::of(&[Some("s3cret-1")])), 1),
        (Some(Tokens::of(&[Some("s3cret-1"), None])), 1),
        (Some(Tokens::of(&[Some("s3cret-1"), Some("s3cret-9"), Some("s3cret-2")])), 2),
    ] {
        let site = guarded().await;
        let fault = connect(line(&site, tokens.clone()), terms()).await.expect_err("unknown");
        match &fault {
            UpstreamFault::Unauthorized { challenge: Some(challenge) } => {
                assert!(challenge.starts_with("Bearer resource_metadata"), "{challenge}");
            }
            other => panic!("{other:?}"),
        }
        assert!(!format!("{fault} {fault:?}").contains("s3cret"), "{fault:?}");
        assert_eq!(site.came().len(), requests, "{tokens:?}");
    }
}

#[tokio::test]
async fn g16_what_the_owner_sends_goes_to_that_origin_alone() {
    let other = Site::new(|came| result(came, &modern_greeting())).await;
    for code in [301, 302, 303, 307, 308] {
        let place = other.url.clone();
        let site =
            Site::new(move |_| status_with(code, &format!("location: {place}\r\n"), "")).await;
        let headers = vec![("x-api-key".to_owned(), "s3cret".to_owned().into())];
        let credentials = Some(Tokens::of(&[Some("s3cret-1")]) as Arc<dyn Credentials>);
        let line = Line::Http { url: site.url.clone(), headers, credentials };
        let fault = connect(line, terms()).await.expect_err("not followed");
        assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
        assert!(!format!("{fault:?}").contains("s3cret"), "{fault:?}");
        let came = site.came();
        assert_eq!(came[0].header("x-api-key"), Some("s3cret"), "the control: it was sent");
        assert_eq!(came[0].header("authorization"), Some("Bearer s3cret-1"));
    }
    assert!(other.came().is_empty());
}

#[tokio::test]
async fn f22_g09_what_the_filter_refuses_is_not_connected_to() {
    let site = Site::modern(|_| Said::Nothing).await;
    let connector = reaching(LoopbackHttp::Refused);
    for url in [
        site.url.clone(),
        site.url.replace("127.0.0.1", "localhost"),
        "https://169.254.169.254/mcp".to_owned(),
        "https://10.0.0.1/mcp".to_owned(),
        "http://a.example/mcp".to_owned(),
        "file:///etc/passwd".to_owned(),
        "https://user:s3cret@a.example/".to_owned(),
        String::new(),
    ] {
        let line = Line::Http { url: url.clone(), headers: Vec::new(), credentials: None };
        let fault = connector.connect(line, terms(), Arc::new(RefusesAll)).await;
        let fault = fault.expect_err(&url);
        assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{url}: {fault:?}");
        assert!(!format!("{fault:?}").contains("s3cret"), "{fault:?}");
    }
    assert!(site.came().is_empty());
}

#[tokio::test]
async fn a_server_that_forbids_says_so_and_nothing_is_repeated() {
    let site = Site::modern(|_| status(403, "insufficient_scope")).await;
    let connection = connect(site.line(), terms()).await.expect("a connection");
    let fault = connection.ask(call("t")).await.expect_err("forbidden");
    assert!(matches!(fault, UpstreamFault::Unauthorized { challenge: None }), "{fault:?}");
    assert_eq!(site.of("tools/call").len(), 1);
}
