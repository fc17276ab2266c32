//! The public internet, played: what is sent where, without a network.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, LOCATION};
use http::{Method, StatusCode};

use super::EgressClient;
use crate::config::{EgressConfig, LoopbackHttp};
use crate::error::{EgressError, RedirectFault};
use crate::line::LineTerms;
use crate::message::{Fetched, Request};
use crate::policy::{Admitted, EgressPolicy};
use crate::redirect::Hop;
use crate::resolve::{Answer, Resolve, ResolveError};
use crate::wire::{Kept, Wire};

type Sent = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// Each host redirects to what is written down for it; who is not written down answers 200.
struct Internet {
    redirects: HashMap<&'static str, &'static str>,
    sent: Sent,
}

#[async_trait]
impl Wire for Internet {
    async fn exchange(&self, to: &Admitted, hop: &Hop) -> Result<Fetched, EgressError> {
        let host = to.target().host().to_string();
        let names = hop.headers.keys().map(ToString::to_string).collect();
        self.sent.lock().expect("a lock").push((host.clone(), names));
        let (mut status, mut headers) = (StatusCode::OK, HeaderMap::new());
        if let Some(location) = self.redirects.get(host.as_str()) {
            status = StatusCode::FOUND;
            headers.insert(LOCATION, HeaderValue::from_static(location));
        }
        if host == "slow.example" {
            std::future::pending::<()>().await;
        }
        Ok(Fetched { status, headers, body: Bytes::new() })
    }

    fn keep(&self, _: Admitted, _: &LineTerms) -> Result<Box<dyn Kept>, EgressError> {
        Err(EgressError::Busy)
    }
}

#[derive(Debug)]
struct Names;

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> Result<Answer, ResolveError> {
        let address: IpAddr = match name {
            "keys.corp" | "led-inside.example" => [10, 0, 0, 1].into(),
            "gone.example" => return Err(ResolveError::NoAnswer),
            "broken.example" => return Err(ResolveError::Failed("SERVFAIL".into())),
            _ => [8, 8, 8, 8].into(),
        };
        Ok(Answer::from_addresses([address]))
    }
}

fn client(
    redirects: &[(&'static str, &'static str)],
    change: fn(&mut EgressConfig),
) -> (EgressClient, Sent) {
    let mut config = EgressConfig { allow: vec!["keys.corp".into()], ..EgressConfig::default() };
    change(&mut config);
    let (redirects, sent) = (redirects.iter().copied().collect(), Sent::default());
    let wire = Box::new(Internet { redirects, sent: Arc::clone(&sent) });
    let policy = EgressPolicy::new(config).expect("a policy");
    (EgressClient::with_wire(policy, Arc::new(Names), wire), sent)
}

fn hosts(sent: &Sent) -> Vec<String> {
    sent.lock().expect("a lock").iter().map(|(host, _)| host.clone()).collect()
}

#[tokio::test]
async fn g04_a_redirect_from_outside_does_not_lead_inside() {
    for to in [
        "https://10.0.0.1/",
        "https://led-inside.example/",
        "https://169.254.169.254/latest/",
        "https://metadata.google.internal/",
        "https://keys.corp/",
        "https://127.0.0.1:8443/",
        "https://localhost/",
        "http://localhost/",
        "http://other.example/",
    ] {
        let (client, sent) =
            client(&[("a.example", to)], |config| config.loopback_http = LoopbackHttp::Allowed);
        let error = client.fetch(Request::get("https://a.example/")).await.expect_err(to);
        assert!(error.is_refusal(), "{to}: {error}");
        assert!(matches!(error, EgressError::Redirect { .. }), "{to}: {error}");
        assert_eq!(hosts(&sent), ["a.example"], "{to}");
    }
    // Who is named by the caller is reached; only the detour is refused.
    let (client, sent) = client(&[("keys.corp", "https://a.example/")], |_| {});
    client.fetch(Request::get("https://keys.corp/")).await.expect("fetched");
    assert_eq!(hosts(&sent), ["keys.corp", "a.example"]);
}

#[tokio::test]
async fn g16_what_was_dropped_on_the_way_does_not_come_back() {
    let there_and_back = [("a.example", "https://b.example/"), ("b.example", "https://c.example/")];
    let (client, sent) = client(&there_and_back, |_| {});
    let mut request = Request::get("https://a.example/");
    request.headers.insert("x-api-key", HeaderValue::from_static("s3cret"));
    request.headers.insert("accept", HeaderValue::from_static("*/*"));
    client.fetch(request).await.expect("fetched");
    let names: Vec<usize> =
        sent.lock().expect("a lock").iter().map(|(_, names)| names.len()).collect();
    assert_eq!((hosts(&sent).len(), names), (3, vec![2, 1, 1]));
}

#[tokio::test]
async fn no_answer_is_a_refusal() {
    let (client, sent) = client(&[], |_| {});
    for host in ["gone.example", "broken.example"] {
        let error = client.fetch(Request::get(format!("https://{host}/"))).await;
        assert!(matches!(error, Err(EgressError::Unresolved { .. })), "{host}");
    }
    assert!(hosts(&sent).is_empty());
}

#[tokio::test]
async fn a_loop_ends() {
    let (client, sent) = client(&[("a.example", "https://a.example/")], |_| {});
    let error = client.fetch(Request::get("https://a.example/")).await.expect_err("a loop");
    let (from, fault) = ("https://a.example:443".to_owned(), RedirectFault::TooMany(5));
    assert_eq!(error, EgressError::Redirect { from, fault });
    assert_eq!(hosts(&sent).len(), 6);
}

#[tokio::test]
async fn who_waits_is_bounded_in_number_and_time() {
    let (client, sent) = client(&[], |config| {
        (config.concurrent, config.waiting) = (1, 1);
        config.deadline = Duration::from_millis(100);
    });
    let fetch = || client.fetch(Request::get("https://slow.example/"));
    let begun = std::time::Instant::now();
    let (first, second, third) = tokio::join!(fetch(), fetch(), fetch());
    let late = EgressError::Deadline(Duration::from_millis(100));
    assert_eq!((first.err(), second.err()), (Some(late.clone()), Some(late)));
    assert_eq!(third.err(), Some(EgressError::Busy));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(hosts(&sent).len(), 1, "who waits sends nothing");
}

#[tokio::test]
async fn headers_about_the_connection_are_the_clients() {
    let (client, sent) = client(&[], |_| {});
    for name in ["host", "proxy-authorization", "accept-encoding", "transfer-encoding"] {
        let mut request = Request::get("https://a.example/");
        request.method = Method::POST;
        request.headers.insert(name, HeaderValue::from_static("s3cret"));
        let error = client.fetch(request).await.expect_err(name);
        assert_eq!(error, EgressError::Header(name.to_owned()));
    }
    assert!(hosts(&sent).is_empty());
}
