//! Whom we ask: what a server and an authorization server say to lead us elsewhere.

use narthex_gate::upstream::UpstreamFault;
use narthex_oauth::testing::{Authority, Said};
use narthex_servers::config::OAuthGrant::ClientCredentials;
use serde_json::{Value, json};

use super::{Rig, is_clean};

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const METADATA: &str = "/.well-known/oauth-authorization-server";

/// Refused, and before anybody was shown a secret.
async fn refused(rig: &Rig, what: &str) {
    let fault = rig.bearer().await.expect_err(what);
    assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{what}: {fault:?}");
    is_clean(&format!("{fault} {fault:?}"));
    assert_eq!(rig.asked(), 0, "{what}");
}

#[tokio::test]
async fn metadata_that_leads_elsewhere_is_not_followed() {
    let spy = Authority::start().await.unwrap();
    let at = |path: &str| format!("{}{path}", spy.origin);
    let rows: Vec<(&str, &str, Value)> = vec![
        ("g12 another resource", RESOURCE, json!({"resource": at("/mcp")})),
        ("g12 a deeper resource", RESOURCE, json!({"resource": "http://127.0.0.1/mcp/x"})),
        ("no resource", RESOURCE, json!({"resource": null})),
        ("g13 another issuer", METADATA, json!({"issuer": spy.origin})),
        ("no issuer", METADATA, json!({"issuer": null})),
        ("g03 another token endpoint", METADATA, json!({"token_endpoint": at("/token")})),
        ("g03 a metadata service", METADATA, json!({"token_endpoint": "http://169.254.169.254/t"})),
        ("g03 inside", METADATA, json!({"token_endpoint": "https://10.0.0.1/token"})),
        ("in clear", METADATA, json!({"token_endpoint": "http://as.example/token"})),
        ("a file", METADATA, json!({"token_endpoint": "file:///etc/passwd"})),
        ("g10 a user", METADATA, json!({"token_endpoint": "https://a@as.example/token"})),
        ("no token endpoint", METADATA, json!({"token_endpoint": null})),
        ("a script", METADATA, json!({"authorization_endpoint": "javascript:alert(1)"})),
        ("another registrar", METADATA, json!({"registration_endpoint": at("/register")})),
        ("g02 inside", RESOURCE, json!({"authorization_servers": ["https://10.0.0.1"]})),
        ("g02 metadata", RESOURCE, json!({"authorization_servers": ["http://169.254.169.254"]})),
        ("a query", RESOURCE, json!({"authorization_servers": [at("?a")]})),
    ];
    for (what, path, bent) in rows {
        let rig = Rig::new(ClientCredentials).await;
        rig.authority.bend(path, bent);
        refused(&rig, what).await;
    }
    assert!(spy.came("/").is_empty());
}

#[tokio::test]
async fn metadata_that_is_no_answer_is_refused() {
    let spy = Authority::start().await.unwrap();
    let long = Said { body: vec![b' '; 300_000], ..Said::new(200) };
    let same = format!("{{\"issuer\":\"a\",\"issuer\":\"{}\"}}", spy.origin);
    let rows = [
        ("g15 oversized", long),
        ("g04 302", Said::new(302).header("location", &format!("{}{METADATA}", spy.origin))),
        ("g04 307", Said::new(307).header("location", &format!("{}{METADATA}", spy.origin))),
        ("garbage", Said { body: b"evil".to_vec(), ..Said::new(200) }),
        ("two issuers", Said { body: same.into_bytes(), ..Said::new(200) }),
        ("a list", Said::json(&json!([]))),
        ("500", Said::new(500)),
    ];
    for (what, said) in rows {
        for path in [RESOURCE, METADATA] {
            let rig = Rig::new(ClientCredentials).await;
            rig.authority.replace(path, said.clone());
            refused(&rig, &format!("{what} {path}")).await;
        }
    }
    assert!(spy.came("/").is_empty());
}

#[tokio::test]
async fn g01_a_challenge_does_not_lead_to_another_origin() {
    let spy = Authority::start().await.unwrap();
    let rig = Rig::new(ClientCredentials).await;
    for at in [format!("{}{RESOURCE}", spy.origin), "http://169.254.169.254/".to_owned()] {
        let challenge = format!("Bearer resource_metadata=\"{at}\"");
        rig.authority.replace("/mcp", Said::new(401).header("www-authenticate", &challenge));
        refused(&rig, &at).await;
    }
    assert!(spy.came("/").is_empty());
}

#[tokio::test]
async fn an_authority_elsewhere_inside_is_taken_from_inside() {
    let other = Authority::start().await.unwrap();
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.bend(RESOURCE, json!({"authorization_servers": [other.origin]}));
    rig.bearer().await.unwrap();
    assert_eq!((rig.asked(), other.came("/token").len()), (0, 1));
}

#[tokio::test]
async fn an_issuer_that_the_owner_wrote_down_is_the_only_one() {
    let mut rig = Rig::new(ClientCredentials).await;
    rig.settings.issuer = Some("https://as.example".to_owned());
    refused(&rig, "pinned").await;
    assert!(rig.authority.came(METADATA).is_empty());
}

#[tokio::test]
async fn a_server_without_metadata_is_its_own_authority() {
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.replace("/mcp", Said::new(401));
    rig.authority.replace(RESOURCE, Said::new(404));
    rig.bearer().await.unwrap();
    let rig = Rig::new(ClientCredentials).await;
    rig.authority.replace(METADATA, Said::new(404));
    refused(&rig, "says nothing of itself").await;
    assert_eq!(rig.authority.came("/.well-known/openid-configuration").len(), 1);
}
