//! Names that answer one thing to the check and another later.

use std::sync::Arc;
use std::time::Duration;

use narthex_egress::{EgressConfig, EgressError, Request, ResolveError};

use crate::support::{Names, Server, Spy, answer, client, reaching};

/// The checked server and the spy share a port, on two addresses of this machine.
fn server_and_spy() -> (Server, Spy) {
    let server = Server::saying(answer("keys"));
    let spy = Spy::at(&format!("127.0.0.2:{}", server.port));
    (server, spy)
}

#[tokio::test]
async fn g06_a_flip_between_check_and_connection_changes_nothing() {
    for flips in [&["127.0.0.2"][..], &["127.0.0.1", "127.0.0.2"], &["169.254.169.254"]] {
        let (server, spy) = server_and_spy();
        let mut names = Names::default().then("flip.example", &["127.0.0.1"], &[]);
        for _ in 0..20 {
            names = names.then("flip.example", flips, &[]);
        }
        let names = Arc::new(names);
        let client = client(reaching(&[("flip.example", &server)]), &names);
        let url = server.url("flip.example", "/jwks.json");
        let fetched = client.fetch(Request::get(&url)).await.expect("the checked address");
        assert_eq!(fetched.body, "keys");
        assert_eq!(names.asked("flip.example"), 1, "nobody asks again before the connection");
        for _ in 0..20 {
            let error = client.fetch(Request::get(&url)).await.expect_err("now it is seen");
            assert!(matches!(error, EgressError::Address { .. }), "{error}");
        }
        assert_eq!((server.heads().len(), spy.hits("127.0.0.2")), (1, 0));
    }
}

#[tokio::test]
async fn g06_a_flip_between_redirects_is_seen_at_the_hop() {
    let (spy, port) = (Spy::at("127.0.0.2:0"), Arc::new(std::sync::OnceLock::new()));
    let known = Arc::clone(&port);
    let server = Server::new(move |_, stream| {
        let port: &u16 = known.get().expect("a port");
        let to = crate::support::redirect(302, &format!("https://flip.example:{port}/again"));
        let _ = stream.write_all(to.as_bytes());
    });
    port.set(server.port).expect("once");
    let flip = Names::default().then("flip.example", &["127.0.0.1"], &[]);
    let names = Arc::new(flip.then("flip.example", &["127.0.0.2"], &[]));
    let client = client(reaching(&[("flip.example", &server)]), &names);
    let error = client.fetch(Request::get(server.url("flip.example", "/"))).await;
    assert!(matches!(error, Err(EgressError::Redirect { .. })), "{error:?}");
    assert_eq!((server.heads().len(), spy.hits("127.0.0.2")), (1, 0));
}

/// A public address that does not answer is not a reason to look the name up again.
#[tokio::test]
async fn g06_what_cannot_be_reached_is_not_looked_up_again() {
    let spy = Spy::new();
    // Global unicast, and given to nobody.
    let flip = Names::default().then("flip.example", &["2000::1"], &[]);
    let names = Arc::new(flip.then("flip.example", &["127.0.0.1"], &[]));
    let connect_deadline = Duration::from_millis(200);
    let client = client(EgressConfig { connect_deadline, ..EgressConfig::default() }, &names);
    let url = format!("https://flip.example:{}/", spy.port);
    let error = client.fetch(Request::get(&url)).await.expect_err("nobody there");
    assert!(matches!(error, EgressError::Unreachable { .. }), "{error}");
    let error = client.fetch(Request::get(&url)).await.expect_err("refused");
    assert!(matches!(error, EgressError::Address { .. }), "{error}");
    assert_eq!((names.asked("flip.example"), spy.hits("127.0.0.1")), (2, 0));
}

#[tokio::test]
async fn a_name_is_asked_for_as_it_is_and_none_is_a_refusal() {
    let names = Names::none();
    let client = client(EgressConfig::default(), &names);
    let error = client.fetch(Request::get("https://Gone.Example/?t=s3cret")).await;
    let (host, why) = ("gone.example".to_owned(), ResolveError::NoAnswer);
    assert_eq!(error.err(), Some(EgressError::Unresolved { host, why }));
    assert_eq!(names.asked("gone.example"), 1, "no search domain, no second try");
}

/// The positive control: a listed host is reached, over TLS, under its name.
#[tokio::test]
async fn a_listed_host_is_reached() {
    let server = Server::saying(answer("keys"));
    let names = Names::of(&[("public.example", &["127.0.0.1"])]);
    let client = client(reaching(&[("public.example", &server)]), &names);
    let fetched = client.fetch(Request::get(server.url("public.example", "/a?b"))).await;
    let fetched = fetched.expect("reached");
    assert_eq!((fetched.status.as_u16(), &fetched.body[..]), (200, &b"keys"[..]));
    let head = server.heads().remove(0).to_ascii_lowercase();
    assert!(head.starts_with("get /a?b http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: public.example:{}\r\n", server.port)), "{head}");
    assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
    let wrong_name = client.fetch(Request::get(server.url("127.0.0.1", "/"))).await;
    assert!(wrong_name.is_ok(), "the address is listed and in the certificate");
}
