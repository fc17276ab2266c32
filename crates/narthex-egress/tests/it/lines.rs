//! A kept line over real sockets: one handshake for many messages, and no way off its origin.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::header::{HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use narthex_egress::{EgressError, LineRequest, LineTerms};

use crate::support::{Names, Server, Spy, answer, client, reaching, redirect, with_loopback};

fn post() -> LineRequest {
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("s3cret"));
    LineRequest {
        method: Method::POST,
        headers,
        body: "{}".into(),
        deadline: Duration::from_secs(3),
        body_bytes: 1 << 20,
    }
}

/// Answers request after request on a connection, and counts connections.
fn keeps_alive() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|read| read > 0) {
                    if stream.write_all(answer("kept").as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, connections)
}

#[tokio::test]
async fn many_messages_take_one_connection_for_as_long_as_the_check_holds() {
    for (checked_for, expected) in [(Duration::from_mins(1), 1), (Duration::ZERO, 5)] {
        let (port, connections) = keeps_alive();
        let terms = LineTerms { checked_for, ..LineTerms::default() };
        let client = with_loopback(&Names::none());
        let line = client.line(&format!("http://127.0.0.1:{port}/mcp"), terms).expect("a line");
        for _ in 0..5 {
            let answer = line.send(post()).await.expect("sent");
            assert_eq!(answer.status, StatusCode::OK);
            assert_eq!(answer.whole(100).await.expect("read"), "kept");
        }
        assert_eq!(connections.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn g06_a_flip_after_the_check_is_not_followed_and_seen_at_the_next() {
    let server = Server::saying(answer("keys"));
    let spy = Spy::at(&format!("127.0.0.2:{}", server.port));
    let names = Names::default().then("flip.example", &["127.0.0.1"], &[]);
    let names = Arc::new(names.then("flip.example", &["127.0.0.2"], &[]));
    let client = client(reaching(&[("flip.example", &server)]), &names);
    let terms = LineTerms { checked_for: Duration::from_millis(200), ..LineTerms::default() };
    let line = client.line(&server.url("flip.example", "/mcp"), terms).expect("a line");
    let first = line.send(post()).await.expect("the checked address");
    assert_eq!(first.whole(100).await.expect("read"), "keys");
    assert_eq!(names.asked("flip.example"), 1);
    tokio::time::sleep(Duration::from_millis(250)).await;
    let error = line.send(post()).await.expect_err("now it is seen");
    assert!(matches!(error, EgressError::Address { .. }), "{error}");
    assert_eq!((server.heads().len(), spy.hits("127.0.0.2")), (1, 0));
}

#[tokio::test]
async fn g04_a_redirect_to_the_inside_is_not_followed() {
    let spy = Spy::new();
    for place in [
        format!("http://127.0.0.1:{}/", spy.port),
        format!("https://127.0.0.1:{}/", spy.port),
        format!("https://localhost:{}/", spy.port),
        "https://169.254.169.254/latest/".to_owned(),
    ] {
        for status in [302, 303, 307, 308] {
            let server = Server::saying(redirect(status, &place));
            let names = Names::of(&[("public.example", &["127.0.0.1"])]);
            let client = client(reaching(&[("public.example", &server)]), &names);
            let url = server.url("public.example", "/mcp");
            let line = client.line(&url, LineTerms::default()).expect("a line");
            let error = line.send(post()).await.expect_err("refused");
            assert!(matches!(error, EgressError::Redirect { .. }), "{place}: {error}");
            assert!(!format!("{error:?} {line:?}").contains("s3cret"));
        }
    }
    assert_eq!(spy.hits("127.0.0.1"), 0);
}

#[tokio::test]
async fn g15_heads_are_held_to_the_same_caps() {
    let long = format!("x-long: {}", "a".repeat(40 << 10));
    for header in ["content-encoding: gzip", "transfer-encoding: gzip, chunked", &long] {
        let server = Server::saying(format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n"));
        let names = Names::of(&[("public.example", &["127.0.0.1"])]);
        let client = client(reaching(&[("public.example", &server)]), &names);
        let url = server.url("public.example", "/mcp");
        let line = client.line(&url, LineTerms::default()).expect("a line");
        let error = line.send(post()).await.expect_err("refused");
        assert!(error.is_refusal(), "{error}");
    }
}
