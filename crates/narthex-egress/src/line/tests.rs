//! The public internet, played: what a kept line looks up, keeps, and refuses.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, LOCATION};
use http::{Method, StatusCode};

use super::{EgressLine, LineRequest, LineTerms};
use crate::client::EgressClient;
use crate::config::EgressConfig;
use crate::error::{EgressError, RedirectFault};
use crate::message::Fetched;
use crate::parse::Target;
use crate::policy::{Admitted, EgressPolicy};
use crate::redirect::Hop;
use crate::resolve::{Answer, Resolve, ResolveError};
use crate::wire::{Chunks, Kept, Opened, Wire};

/// What was kept, and what was sent over it: generation, path, header names.
#[derive(Debug, Default)]
struct Seen {
    kept: AtomicUsize,
    sent: Mutex<Vec<(usize, String, Vec<String>)>>,
}

/// Answers by the path: `/to?…` redirects, `/drip` never ends, `/gone` breaks off.
struct Internet(Arc<Seen>);

struct Way {
    to: Admitted,
    generation: usize,
    seen: Arc<Seen>,
}

#[async_trait]
impl Wire for Internet {
    async fn exchange(&self, _: &Admitted, _: &Hop) -> Result<Fetched, EgressError> {
        Err(EgressError::Busy)
    }

    fn keep(&self, to: Admitted, _: &LineTerms) -> Result<Box<dyn Kept>, EgressError> {
        let generation = self.0.kept.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Way { to, generation, seen: Arc::clone(&self.0) }))
    }
}

#[async_trait]
impl Kept for Way {
    fn to(&self) -> &Admitted {
        &self.to
    }

    async fn send(&self, url: &Target, hop: &Hop) -> Result<Opened, EgressError> {
        let names = hop.headers.keys().map(ToString::to_string).collect();
        let path = url.url().path().to_owned();
        self.seen.sent.lock().expect("a lock").push((self.generation, path.clone(), names));
        let (mut status, mut headers) = (StatusCode::OK, HeaderMap::new());
        if let Some(query) = url.url().query() {
            let (code, to) = query.split_once(',').expect("a status and a place");
            status = code.parse().expect("a status");
            headers.insert(LOCATION, HeaderValue::from_str(to).expect("a header"));
        }
        if path == "/gone" {
            let origin = url.origin();
            return Err(EgressError::Unreachable { origin, detail: "gone".into() });
        }
        let pieces = VecDeque::from(["a".repeat(10), "b".repeat(10)].map(Bytes::from));
        Ok(Opened { status, headers, body: Box::new(Said { pieces, drips: path == "/drip" }) })
    }
}

struct Said {
    pieces: VecDeque<Bytes>,
    drips: bool,
}

#[async_trait]
impl Chunks for Said {
    async fn next(&mut self) -> Result<Option<Bytes>, EgressError> {
        if self.drips {
            tokio::time::sleep(Duration::from_millis(20)).await;
            return Ok(Some("x".into()));
        }
        Ok(self.pieces.pop_front())
    }
}

/// One answer after the other; the last stays.
#[derive(Debug)]
struct Names(Mutex<VecDeque<&'static [&'static str]>>);

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, _: &str) -> Result<Answer, ResolveError> {
        let mut answers = self.0.lock().expect("a lock");
        let now = if answers.len() > 1 { answers.pop_front() } else { answers.front().copied() };
        let parse = |text: &&str| text.parse::<IpAddr>().expect("an address");
        Ok(Answer::from_addresses(now.unwrap_or_default().iter().map(parse)))
    }
}

fn line(
    url: &str,
    answers: &[&'static [&'static str]],
    change: impl Fn(&mut LineTerms),
) -> (EgressLine, Arc<Seen>) {
    let config = EgressConfig { allow: vec!["keys.corp".into()], ..EgressConfig::default() };
    let seen = Arc::new(Seen::default());
    let names = Names(Mutex::new(answers.iter().copied().collect()));
    let policy = EgressPolicy::new(config).expect("a policy");
    let wire = Box::new(Internet(Arc::clone(&seen)));
    let client = EgressClient::with_wire(policy, Arc::new(names), wire);
    let mut terms = LineTerms::default();
    change(&mut terms);
    (client.line(url, terms).expect("a line"), seen)
}

fn post() -> LineRequest {
    LineRequest {
        method: Method::POST,
        headers: HeaderMap::new(),
        body: "{}".into(),
        deadline: Duration::from_secs(5),
        body_bytes: 100,
    }
}

const PUBLIC: &[&str] = &["8.8.8.8"];

#[tokio::test]
async fn what_was_checked_is_used_again_for_a_while_and_then_checked_anew() {
    let (line, seen) = line("https://a.example/mcp", &[PUBLIC], |_| {});
    for _ in 0..5 {
        assert_eq!(
            line.send(post()).await.expect("sent").whole(100).await.expect("read").len(),
            20
        );
    }
    assert_eq!(seen.kept.load(Ordering::SeqCst), 1);
    let (line, seen) = self::line("https://a.example/mcp", &[PUBLIC], |terms| {
        terms.checked_for = Duration::ZERO;
    });
    for _ in 0..5 {
        line.send(post()).await.expect("sent");
    }
    assert_eq!(seen.kept.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn g06_g09_a_name_that_leads_inside_later_is_refused_and_what_was_kept_is_let_go() {
    for flip in [&["10.0.0.1"][..], &["127.0.0.1"], &["8.8.8.8", "169.254.169.254"], &[]] {
        let (line, seen) = line("https://flip.example/", &[PUBLIC, flip], |terms| {
            terms.checked_for = Duration::from_millis(30);
        });
        line.send(post()).await.expect("public");
        tokio::time::sleep(Duration::from_millis(50)).await;
        for _ in 0..3 {
            let error = line.send(post()).await.expect_err("now it is seen");
            assert!(error.is_refusal(), "{error}");
        }
        assert_eq!(seen.sent.lock().expect("a lock").len(), 1, "{flip:?}");
    }
}

#[tokio::test]
async fn who_cannot_be_reached_is_looked_up_anew() {
    let (line, seen) = line("https://a.example/gone", &[PUBLIC, &["10.0.0.1"]], |_| {});
    assert!(matches!(line.send(post()).await, Err(EgressError::Unreachable { .. })));
    assert!(matches!(line.send(post()).await, Err(EgressError::Address { .. })));
    assert_eq!(seen.sent.lock().expect("a lock").len(), 1);
}

#[tokio::test]
async fn g04_g16_a_line_never_leaves_its_origin() {
    for (code, to) in [
        (307, "https://b.example/"),
        (308, "https://a.example:8443/"),
        (307, "http://a.example/"),
        (307, "https://10.0.0.1/"),
        (307, "https://keys.corp/"),
        (307, "//b.example/"),
        (307, "https://u:p@a.example/"),
        (301, "/mcp/"),
        (302, "/mcp/"),
        (303, "/mcp/"),
    ] {
        let (line, seen) = line(&format!("https://a.example/to?{code},{to}"), &[PUBLIC], |_| {});
        let mut request = post();
        request.headers.insert("x-api-key", HeaderValue::from_static("s3cret"));
        let error = line.send(request).await.expect_err(to);
        assert!(matches!(error, EgressError::Redirect { .. }), "{code} {to}: {error}");
        assert!(error.is_refusal(), "{error}");
        assert_eq!(seen.sent.lock().expect("a lock").len(), 1, "{code} {to}");
    }
    for code in [307, 308] {
        let (line, seen) = line(&format!("https://a.example/to?{code},/mcp/"), &[PUBLIC], |_| {});
        assert_eq!(line.send(post()).await.expect("followed").status, 200);
        let paths: Vec<_> = seen.sent.lock().expect("a lock").iter().map(|s| s.1.clone()).collect();
        assert_eq!(paths, ["/to", "/mcp/"]);
    }
    let (line, seen) = line("https://a.example/to?307,/to?307,/x", &[PUBLIC], |_| {});
    line.send(post()).await.expect("two hops");
    assert_eq!(seen.sent.lock().expect("a lock").len(), 3);
}

#[tokio::test]
async fn a_loop_on_the_line_ends() {
    let (line, _) =
        line("https://a.example/to?307,?307,?307,?307,?307,?307,?307,/", &[PUBLIC], |_| {});
    let error = line.send(post()).await.expect_err("too many");
    let fault = RedirectFault::TooMany(5);
    assert_eq!(error, EgressError::Redirect { from: "https://a.example:443".into(), fault });
}

#[tokio::test]
async fn g15_f19_a_body_ends_at_its_cap_and_its_deadline() {
    let (line, _) = line("https://a.example/", &[PUBLIC], |_| {});
    let answer = line.send(LineRequest { body_bytes: 19, ..post() }).await.expect("a head");
    let error = answer.whole(100).await.expect_err("too long");
    assert!(matches!(error, EgressError::ResponseBytes { cap: 19, .. }), "{error}");
    let error = line.send(post()).await.expect("a head").whole(15).await.expect_err("too long");
    assert!(matches!(error, EgressError::ResponseBytes { cap: 15, .. }), "{error}");
    let (line, _) = self::line("https://a.example/drip", &[PUBLIC], |_| {});
    let deadline = Duration::from_millis(200);
    let begun = std::time::Instant::now();
    let slow = line.send(LineRequest { deadline, ..post() }).await.expect("a head");
    assert_eq!(slow.whole(100).await.err(), Some(EgressError::Deadline(deadline)));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn exchanges_under_way_are_bounded_until_they_are_read_or_dropped() {
    let (line, _) = line("https://a.example/", &[PUBLIC], |terms| terms.concurrent = 2);
    let first = line.send(post()).await.expect("sent");
    let second = line.send(post()).await.expect("sent");
    assert_eq!(line.send(post()).await.err(), Some(EgressError::Busy));
    drop(first);
    line.send(post()).await.expect("a place is free").whole(100).await.expect("read");
    drop(second);
}

#[tokio::test]
async fn headers_about_the_connection_are_the_clients_here_too() {
    let (line, seen) = line("https://a.example/", &[PUBLIC], |_| {});
    for name in ["host", "proxy-authorization", "content-length", "expect"] {
        let mut request = post();
        request.headers.insert(name, HeaderValue::from_static("s3cret"));
        assert_eq!(line.send(request).await.err(), Some(EgressError::Header(name.to_owned())));
    }
    assert!(seen.sent.lock().expect("a lock").is_empty());
}

#[test]
fn what_is_refused_as_text_gets_no_line() {
    let policy = EgressPolicy::new(EgressConfig::default()).expect("a policy");
    let names = Arc::new(Names(Mutex::default()));
    let wire = Box::new(Internet(Arc::default()));
    let client = EgressClient::with_wire(policy, names, wire);
    for url in ["http://a.example/", "https://10.0.0.1/", "https://localhost/", "file:///etc/x"] {
        assert!(client.line(url, LineTerms::default()).is_err(), "{url}");
    }
}
