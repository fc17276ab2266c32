//! Tokens from machine to machine: asked for once, used until they end, renewed by one for all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use narthex_gate::upstream::UpstreamFault;
use narthex_oauth::testing::Said;
use narthex_servers::config::OAuthGrant::ClientCredentials;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Rig, is_clean};

#[tokio::test]
async fn a_token_is_asked_for_once_with_all_that_belongs_to_it() {
    let mut rig = Rig::new(ClientCredentials).await;
    rig.settings.scopes = vec!["read".to_owned(), "write".to_owned()];
    rig.url = format!("{}?key=s3cret-in-url", rig.authority.server()).into();
    let first = rig.bearer().await.unwrap();
    assert_eq!(rig.bearer().await.unwrap(), first);
    let came = rig.authority.came("/token");
    assert_eq!(came.len(), 1);
    let form = came[0].form();
    assert_eq!(form["grant_type"], "client_credentials");
    assert_eq!(form["scope"], "read write");
    assert_eq!(form["resource"], rig.authority.server(), "without the query");
    assert!(!form.contains_key("client_secret"));
    assert!(came[0].header("authorization").unwrap().starts_with("Basic "));
}

#[tokio::test]
async fn the_secret_is_shown_as_the_server_takes_it_or_not_at_all() {
    for (methods, shown) in [
        (json!(["client_secret_post"]), Some(false)),
        (json!(["client_secret_post", "client_secret_basic"]), Some(true)),
        (Value::Null, Some(true)),
        (json!(["private_key_jwt"]), None),
    ] {
        let rig = Rig::new(ClientCredentials).await;
        let metadata = "/.well-known/oauth-authorization-server";
        rig.authority.bend(metadata, json!({"token_endpoint_auth_methods_supported": methods}));
        let bearer = rig.bearer().await;
        let came = rig.authority.came("/token");
        assert_eq!(came.first().map(|came| came.header("authorization").is_some()), shown);
        assert_eq!(bearer.is_ok(), shown.is_some(), "{bearer:?}");
        if shown == Some(false) {
            assert_eq!(came[0].form()["client_secret"], "s3cret-client");
        }
    }
}

#[tokio::test]
async fn a_token_that_was_turned_away_is_replaced_once() {
    let rig = Rig::new(ClientCredentials).await;
    let first = rig.bearer().await.unwrap();
    let second = rig.turned_away(&first, "Bearer").await.unwrap();
    assert_ne!(first, second);
    // Who comes late with the first one gets the second, and nobody is asked.
    assert_eq!(rig.turned_away(&first, "Bearer").await.unwrap(), second);
    assert_eq!(rig.asked(), 2);
    // A server that believes none does not make us ask without end.
    let fault = rig.turned_away(&second, "Bearer").await.unwrap_err();
    assert!(matches!(fault, UpstreamFault::Unauthorized { .. }), "{fault:?}");
    assert_eq!(rig.asked(), 2);
}

#[tokio::test]
async fn a_hundred_calls_at_the_end_of_a_token_are_one_renewal() {
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.slow(Duration::from_millis(100));
    for ended in [false, true] {
        if ended {
            let first = rig.bearer().await.unwrap();
            rig.authority.lasting(3600);
            rig.turned_away(&first, "Bearer").await.unwrap();
        } else {
            rig.authority.lasting(1);
        }
        let before = rig.asked();
        let mut calls = JoinSet::new();
        for _ in 0..100 {
            let credentials = rig.credentials();
            calls.spawn(async move { credentials.bearer(None).await.unwrap().unwrap() });
        }
        let tokens = calls.join_all().await;
        let first = tokens[0].expose_secret();
        assert!(tokens.iter().all(|token| token.expose_secret() == first));
        assert_eq!(rig.asked() - before, usize::from(!ended));
        if !ended {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
    }
}

#[tokio::test]
async fn a_renewal_holds_no_call_up_and_drops_none() {
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.lasting(3);
    let first = rig.bearer().await.unwrap();
    // In its last fifth it is renewed aside, however long that takes.
    rig.authority.slow(Duration::from_millis(300));
    tokio::time::sleep(Duration::from_millis(2_450)).await;
    for _ in 0..20 {
        let asked = Instant::now();
        assert_eq!(rig.bearer().await.unwrap(), first);
        assert!(asked.elapsed() < Duration::from_millis(150));
    }
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_ne!(rig.bearer().await.unwrap(), first);
    assert_eq!(rig.asked(), 2);
}

#[tokio::test]
async fn a_renewal_that_fails_leaves_the_token_in_use_and_is_tried_again() {
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.lasting(3);
    let first = rig.bearer().await.unwrap();
    rig.authority.replace("/token", Said::new(503));
    tokio::time::sleep(Duration::from_millis(2_450)).await;
    assert_eq!(rig.bearer().await.unwrap(), first);
    tokio::time::sleep(Duration::from_millis(600)).await;
    let fault = rig.bearer().await.unwrap_err();
    assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
    let asked = rig.asked();
    rig.bearer().await.unwrap_err();
    assert_eq!(rig.asked(), asked, "not at every call");
    rig.authority.restore("/token");
    tokio::time::sleep(Duration::from_millis(2_050)).await;
    rig.bearer().await.unwrap();
}

#[tokio::test]
async fn whoever_leaves_does_not_end_the_renewal() {
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.slow(Duration::from_millis(200));
    let credentials = rig.credentials();
    let left = tokio::time::timeout(Duration::from_millis(100), credentials.bearer(None)).await;
    assert!(left.is_err());
    rig.bearer().await.unwrap();
    assert_eq!(rig.asked(), 1);
}

#[tokio::test]
async fn an_answer_that_is_no_token_is_none() {
    let long = "a".repeat(20_000);
    let rows: Vec<(&str, Value)> = vec![
        ("another type", json!({"token_type": "mac"})),
        ("no type", json!({"token_type": null})),
        ("no token", json!({"access_token": null})),
        ("an empty token", json!({"access_token": ""})),
        ("a line break", json!({"access_token": "a\r\nx-evil: 1"})),
        ("a blank", json!({"access_token": "a b"})),
        ("a long token", json!({"access_token": long})),
        ("negative", json!({"expires_in": -5})),
        ("a list", json!({"expires_in": [1]})),
        ("a bad refresh token", json!({"refresh_token": "a b"})),
    ];
    for (what, bent) in rows {
        let rig = Rig::new(ClientCredentials).await;
        rig.authority.bend("/token", bent);
        let fault = rig.bearer().await.expect_err(what);
        is_clean(&format!("{fault} {fault:?}"));
        assert_eq!(rig.asked(), 1, "{what}");
    }
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.bend("/token", json!({"expires_in": 1e300}));
    rig.bearer().await.expect("bounded");
}

#[tokio::test]
async fn what_a_token_endpoint_does_instead_of_answering_is_refused() {
    let spy = narthex_oauth::testing::Authority::start().await.unwrap();
    let elsewhere = format!("{}/token", spy.origin);
    let twice = br#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#;
    let body = |bytes: &[u8]| Said { body: bytes.to_vec(), ..Said::new(200) };
    let rows = [
        ("oversized", body(&vec![b' '; 100_000]), false),
        ("garbage", body(b"<html>evil</html>"), false),
        ("two tokens", body(twice), false),
        ("302", Said::new(302).header("location", &elsewhere), false),
        ("307", Said::new(307).header("location", &elsewhere), false),
        ("303", Said::new(303).header("location", "/other"), false),
        ("no", Said::json(&json!({"error": "invalid_client"})).status(401), true),
        ("no, at length", Said::json(&json!({"error": "evil <b>"})).status(400), true),
    ];
    for (what, said, denied) in rows {
        let rig = Rig::new(ClientCredentials).await;
        rig.authority.replace("/token", said);
        let fault = rig.bearer().await.expect_err(what);
        assert_eq!(matches!(fault, UpstreamFault::Unauthorized { .. }), denied, "{what} {fault:?}");
        is_clean(&format!("{fault} {fault:?}"));
    }
    assert!(spy.came("/").is_empty());
}

#[tokio::test]
async fn no_debug_shows_a_secret() {
    let rig = Rig::new(ClientCredentials).await;
    let credentials = rig.credentials();
    credentials.bearer(None).await.unwrap();
    let desk = Arc::clone(&rig.desk);
    is_clean(&format!("{desk:?} {credentials:?}"));
}
