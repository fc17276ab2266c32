//! Redirects between servers that may be reached: what goes along and where it ends.

use http::{HeaderValue, Method};
use narthex_egress::{EgressClient, EgressError, RedirectFault, Request};

use crate::support::{Names, Server, answer, client, reaching, redirect};

/// Two origins; the first sends on as told.
fn two(status: u16, elsewhere: bool) -> (EgressClient, Server, Server) {
    let second = Server::saying(answer("second"));
    let there = second.url("other.example", "/there");
    let first = Server::new(move |head, stream| {
        let said = match (head.contains("/here"), elsewhere) {
            (true, _) => answer("first"),
            (false, true) => redirect(status, &there),
            (false, false) => redirect(status, "/here"),
        };
        let _ = stream.write_all(said.as_bytes());
    });
    let names = Names::of(&[("public.example", &["127.0.0.1"]), ("other.example", &["127.0.0.1"])]);
    let config = reaching(&[("public.example", &first), ("other.example", &second)]);
    (client(config, &names), first, second)
}

fn secret(method: Method, server: &Server) -> Request {
    let mut request = Request::get(server.url("public.example", "/start?t=s3cret"));
    for name in ["authorization", "cookie", "x-api-key", "x-anything"] {
        request.headers.insert(name, HeaderValue::from_static("s3cret"));
    }
    if method == Method::POST {
        request.body = "s3cret body".into();
    }
    Request { method, ..request }
}

#[tokio::test]
async fn g16_secret_headers_stay_with_their_origin() {
    for status in [301, 302, 303, 307, 308] {
        let (client, first, second) = two(status, true);
        let fetched = client.fetch(secret(Method::GET, &first)).await.expect("followed");
        assert_eq!(fetched.body, "second");
        assert!(first.heads()[0].contains("x-api-key: s3cret"), "the control: it was sent once");
        assert!(!second.heads()[0].contains("s3cret"), "{}", second.heads()[0]);
        let (client, first, _) = two(status, false);
        assert_eq!(
            client.fetch(secret(Method::GET, &first)).await.expect("followed").body,
            "first"
        );
        assert!(first.heads()[1].contains("x-api-key: s3cret"), "the same origin");
    }
}

#[tokio::test]
async fn g16_a_body_is_not_sent_to_another_origin() {
    for status in [301, 302, 307, 308] {
        let (client, first, second) = two(status, true);
        let error = client.fetch(secret(Method::POST, &first)).await.expect_err("refused");
        let fault = RedirectFault::Resend(Method::POST);
        let from = format!("https://public.example:{}", first.port);
        assert_eq!(error, EgressError::Redirect { from, fault });
        assert!(second.heads().is_empty());
    }
    let (client, first, second) = two(303, true);
    client.fetch(secret(Method::POST, &first)).await.expect("asks for the result");
    assert!(second.heads()[0].starts_with("GET /there"), "{}", second.heads()[0]);
    assert!(!second.heads()[0].contains("s3cret"));
}

#[tokio::test]
async fn g04_the_eleventh_hop_is_refused() {
    for (redirects, requests) in [(0, 1), (5, 6), (10, 11)] {
        let server = Server::saying(redirect(302, "/again"));
        let names = Names::of(&[("public.example", &["127.0.0.1"])]);
        let mut config = reaching(&[("public.example", &server)]);
        config.redirects = redirects;
        let client = client(config, &names);
        let error = client.fetch(Request::get(server.url("public.example", "/"))).await;
        let (from, fault) =
            (format!("https://public.example:{}", server.port), RedirectFault::TooMany(redirects));
        assert_eq!(error.err(), Some(EgressError::Redirect { from, fault }));
        assert_eq!(server.heads().len(), requests);
    }
}

#[tokio::test]
async fn g04_https_does_not_become_http() {
    let spy = crate::support::Spy::new();
    let server = Server::saying(redirect(302, &format!("http://127.0.0.1:{}/", spy.port)));
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let mut config = reaching(&[("public.example", &server)]);
    config.loopback_http = narthex_egress::LoopbackHttp::Allowed;
    let client = client(config, &names);
    let error = client.fetch(Request::get(server.url("public.example", "/"))).await;
    let fault = RedirectFault::Downgrade;
    let from = format!("https://public.example:{}", server.port);
    assert_eq!(error.err(), Some(EgressError::Redirect { from, fault }));
    assert_eq!(spy.hits("127.0.0.1"), 0);
}

#[tokio::test]
async fn no_error_repeats_a_secret() {
    let (client, first, _) = two(307, true);
    let mut errors = vec![client.fetch(secret(Method::POST, &first)).await.expect_err("refused")];
    for url in [
        "https://user:s3cret@public.example/",
        "https://public.example:1/s3cret?s3cret",
        "https://10.0.0.1/s3cret?s3cret",
        "https://gone.example/s3cret?s3cret",
        "http://public.example/s3cret?s3cret",
        "https://s3cret@10.0.0.1\\/s3cret",
        "https://бад.example/?s3cret",
    ] {
        errors.push(client.fetch(Request::get(url)).await.expect_err(url));
    }
    for error in errors {
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
    assert!(!format!("{:?}", secret(Method::POST, &first)).contains("s3cret"));
}
