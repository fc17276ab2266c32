//! The owner signs in: the way out, the way back, what is kept, and how it ends.

use std::time::Duration;

use narthex_gate::upstream::UpstreamFault;
use narthex_oauth::Callback;
use narthex_oauth::testing::{Authority, Said};
use narthex_servers::config::OAuthGrant::AuthorizationCode;
use narthex_servers::hall::{Brought, SignInAsked, SignedIn, TokenDesk as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use url::Url;

use super::{Rig, is_clean};

const METADATA: &str = "/.well-known/oauth-authorization-server";
const BACK: &str = "http://127.0.0.1:9/callback";

impl Rig {
    async fn begin(&self) -> Result<SignInAsked, String> {
        self.desk.begin(self.wanted(), BACK).await
    }

    async fn finish(&self, brought: Brought) -> Result<SignedIn, String> {
        self.desk.finish(self.wanted(), brought).await
    }

    async fn sign_in(&self) -> Result<SignedIn, String> {
        let asked = self.begin().await?;
        self.finish(brought(&self.authority.say_yes(&asked.url).unwrap())).await
    }
}

fn brought(back: &Url) -> Brought {
    let one = |wanted: &str| {
        let mut pairs = back.query_pairs();
        pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    Brought {
        state: one("state").unwrap().into(),
        code: one("code").map(Into::into),
        issuer: one("iss"),
        error: one("error"),
    }
}

#[tokio::test]
async fn a_sign_in_is_kept_and_renewed_over_a_restart() {
    let mut rig = Rig::new(AuthorizationCode).await;
    let fault = rig.bearer().await.unwrap_err();
    assert!(matches!(fault, UpstreamFault::Unauthorized { .. }), "{fault:?}");
    rig.settings.scopes = vec!["read".to_owned()];
    let asked = rig.begin().await.unwrap();
    let url = Url::parse(&asked.url).unwrap();
    let query: std::collections::BTreeMap<_, _> = url.query_pairs().collect();
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "us"),
        ("redirect_uri", BACK),
        ("code_challenge_method", "S256"),
        ("scope", "read"),
        ("resource", &rig.authority.server()),
    ] {
        assert_eq!(query[name], value);
    }
    let done = rig.finish(brought(&rig.authority.say_yes(&asked.url).unwrap())).await.unwrap();
    assert!(done.renews && done.issuer == rig.authority.origin);
    let first = rig.bearer().await.unwrap();
    assert_eq!(rig.asked(), 1);
    // Opened again, it gets a new one for what was kept; and again, for what it was given then.
    for _ in 0..3 {
        rig.reopen();
        assert_ne!(rig.bearer().await.unwrap(), first);
    }
    let came = rig.authority.came("/token");
    assert_eq!(came.len(), 4);
    assert_eq!(came[3].form()["grant_type"], "refresh_token");
    assert_eq!(came[3].form()["resource"], rig.authority.server());
    is_clean(&format!("{:?} {asked:?}", rig.desk));
    rig.ledger().await;
}

#[tokio::test]
async fn what_does_not_come_from_who_was_asked_is_never_exchanged() {
    type Bend = fn(&mut Brought);
    let rows: [(&str, Bend); 7] = [
        ("another state", |b| b.state = "x".to_owned().into()),
        ("no state", |b| b.state = String::new().into()),
        ("g13 another issuer", |b| b.issuer = Some("https://evil.example".to_owned())),
        ("g13 the issuer with more", |b| b.issuer = b.issuer.take().map(|i| i + "/")),
        ("g13 no issuer", |b| b.issuer = None),
        ("no code", |b| b.code = None),
        ("an error", |b| b.error = Some("evil".to_owned())),
    ];
    for (what, bend) in rows {
        let rig = Rig::new(AuthorizationCode).await;
        let asked = rig.begin().await.unwrap();
        let back = rig.authority.say_yes(&asked.url).unwrap();
        let mut came = brought(&back);
        bend(&mut came);
        is_clean(&rig.finish(came).await.expect_err(what));
        // It was good for one way back.
        is_clean(&rig.finish(brought(&back)).await.expect_err(what));
        assert_eq!(rig.asked(), 0, "{what}");
    }
}

#[tokio::test]
async fn a_code_is_used_once_and_a_second_sign_in_ends_the_first() {
    let rig = Rig::new(AuthorizationCode).await;
    let asked = rig.begin().await.unwrap();
    let back = rig.authority.say_yes(&asked.url).unwrap();
    rig.finish(brought(&back)).await.unwrap();
    rig.finish(brought(&back)).await.unwrap_err();
    assert_eq!(rig.asked(), 1);
    let first = rig.authority.say_yes(&rig.begin().await.unwrap().url).unwrap();
    rig.begin().await.unwrap();
    rig.finish(brought(&first)).await.unwrap_err();
    assert_eq!(rig.asked(), 1);
}

#[tokio::test]
async fn who_does_not_offer_what_it_takes_is_refused_before_the_browser_leaves() {
    let rows: [(&str, Value); 5] = [
        ("no pkce", json!({"code_challenge_methods_supported": null})),
        ("plain pkce", json!({"code_challenge_methods_supported": ["plain"]})),
        ("no place", json!({"authorization_endpoint": null})),
        ("another place", json!({"authorization_endpoint": "https://evil.example/a"})),
        ("a script", json!({"authorization_endpoint": "javascript:alert(1)"})),
    ];
    for (what, bent) in rows {
        let rig = Rig::new(AuthorizationCode).await;
        rig.authority.bend(METADATA, bent);
        is_clean(&rig.begin().await.expect_err(what));
    }
}

#[tokio::test]
async fn who_nobody_wrote_down_registers() {
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.id = None;
    rig.authority.bend("/register", json!({"client_secret": "s3cret-registered"}));
    rig.sign_in().await.unwrap();
    let came = rig.authority.came("/register");
    let asked: Value = serde_json::from_slice(&came[0].body).unwrap();
    assert_eq!(asked["redirect_uris"], json!([BACK]));
    assert_eq!(asked["token_endpoint_auth_method"], "none");
    // Who we are is kept with the sign-in.
    rig.reopen();
    rig.bearer().await.unwrap();
    assert_eq!(rig.authority.came("/register").len(), 1);
    assert!(rig.authority.came("/token")[1].header("authorization").is_some());
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.id = None;
    rig.authority.bend(METADATA, json!({"registration_endpoint": null}));
    assert!(rig.begin().await.unwrap_err().contains("clientId"));
    rig.authority.restore(METADATA);
    for said in [Said::new(403), Said::new(201), Said::json(&json!({"client_id": "a\r\nb"}))] {
        rig.authority.replace("/register", said);
        is_clean(&rig.begin().await.unwrap_err());
    }
}

#[tokio::test]
async fn a_sign_in_that_was_ended_is_said_once_and_asks_for_the_owner() {
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    let token = rig.bearer().await.unwrap();
    rig.authority.revoke_refresh();
    for _ in 0..3 {
        let fault = rig.turned_away(&token, "Bearer").await.unwrap_err();
        assert!(matches!(fault, UpstreamFault::Unauthorized { .. }), "{fault:?}");
    }
    assert_eq!(rig.asked(), 2, "asked in vain once");
    assert_eq!(rig.ledger().await, ["server.refresh_failed"]);
    rig.reopen();
    rig.bearer().await.unwrap_err();
    assert_eq!(rig.asked(), 2);
    rig.sign_in().await.unwrap();
    rig.bearer().await.unwrap();
}

#[tokio::test]
async fn an_authority_that_is_away_ends_nothing() {
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    for said in [
        Said::new(503),
        Said::new(429),
        Said::json(&json!({"error": "temporarily_unavailable"})).status(400),
    ] {
        rig.authority.replace("/token", said);
        rig.reopen();
        let fault = rig.bearer().await.unwrap_err();
        assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
    }
    rig.authority.restore("/token");
    rig.reopen();
    rig.bearer().await.unwrap();
    assert!(rig.ledger().await.is_empty());
}

#[tokio::test]
async fn what_was_given_anew_is_durable_before_it_is_used() {
    let rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    let token = rig.bearer().await.unwrap();
    // A folder where the file is written to: it cannot be.
    let draft = rig.folder.path().join("sign-ins/up.new");
    std::fs::create_dir(&draft).unwrap();
    let fault = rig.turned_away(&token, "Bearer").await.unwrap_err();
    assert!(matches!(fault, UpstreamFault::Unreachable(_)), "{fault:?}");
    std::fs::remove_dir(&draft).unwrap();
    tokio::time::sleep(Duration::from_millis(2_050)).await;
    let next = rig.turned_away(&token, "Bearer").await.unwrap();
    assert_ne!(next, token);
    assert_eq!(rig.asked(), 2, "what it was given was not lost");
}

#[tokio::test]
async fn g19_what_is_kept_is_shown_to_who_gave_it_alone() {
    let spy = Authority::start().await.unwrap();
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    // The server moves to another authority, or is another: what was kept is for neither.
    rig.authority.bend(
        "/.well-known/oauth-protected-resource/mcp",
        json!({"authorization_servers": [spy.origin]}),
    );
    rig.reopen();
    rig.bearer().await.unwrap();
    rig.reopen();
    rig.url = spy.server().into();
    rig.bearer().await.unwrap_err();
    rig.url = rig.authority.server().into();
    rig.settings.issuer = Some(spy.origin.clone());
    rig.bearer().await.unwrap_err();
    rig.settings.issuer = None;
    rig.id = Some("somebody else".to_owned().into());
    rig.bearer().await.unwrap_err();
    assert!(spy.came("/token").is_empty());
}

#[tokio::test]
async fn a_hundred_calls_spend_a_refresh_token_once() {
    let rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    let token = rig.bearer().await.unwrap();
    rig.authority.slow(Duration::from_millis(100));
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let (credentials, token) = (rig.credentials(), token.clone().into());
        calls.spawn(async move {
            let bearer = credentials.bearer(Some((&token, "Bearer"))).await;
            bearer.unwrap().unwrap();
        });
    }
    calls.join_all().await;
    assert_eq!(rig.asked(), 2);
}

#[tokio::test]
async fn who_signs_out_is_out() {
    let mut rig = Rig::new(AuthorizationCode).await;
    rig.sign_in().await.unwrap();
    let credentials = rig.credentials();
    assert!(rig.desk.forget(&rig.server).await.unwrap());
    credentials.bearer(None).await.unwrap_err();
    rig.bearer().await.unwrap_err();
    rig.reopen();
    rig.bearer().await.unwrap_err();
    assert!(!rig.desk.forget(&rig.server).await.unwrap());
    // A token that stands is kept where nothing is given to renew it with.
    rig.authority.bend("/token", json!({"refresh_token": null, "expires_in": null}));
    assert!(!rig.sign_in().await.unwrap().renews);
    let token = rig.bearer().await.unwrap();
    rig.reopen();
    assert_eq!(rig.bearer().await.unwrap(), token);
    rig.turned_away(&token, "Bearer").await.unwrap_err();
    assert_eq!(rig.ledger().await, ["server.refresh_failed"]);
}

#[tokio::test]
async fn the_browser_comes_back_to_this_machine_once() {
    let callback = Callback::bind(None).await.unwrap();
    let redirect = Url::parse(&callback.redirect()).unwrap();
    let host = format!("127.0.0.1:{}", redirect.port().unwrap());
    let waiting = callback.wait(Duration::from_secs(10));
    let browser = async {
        let mut seen = Vec::new();
        for (path, host) in [
            ("/favicon.ico", host.as_str()),
            ("/callback?state=s&code=c", "evil.example"),
            ("/callback?state=s&code=c", host.as_str()),
        ] {
            let mut stream = TcpStream::connect(("127.0.0.1", redirect.port().unwrap())).await?;
            let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            seen.push(answer);
        }
        Ok::<_, std::io::Error>(seen)
    };
    let owner = async {
        let (brought, waiting) = waiting.await.unwrap();
        waiting.tell("Signed in to <up>.").await;
        brought
    };
    let (brought, seen) = tokio::join!(owner, browser);
    assert!(brought.code.is_some());
    let seen = seen.unwrap();
    assert!(seen[0].starts_with("HTTP/1.1 404") && seen[1].starts_with("HTTP/1.1 404"));
    assert!(seen[2].starts_with("HTTP/1.1 200") && seen[2].contains("Signed in to &lt;up&gt;."));
    assert!(seen[2].contains("default-src 'none'") && seen[2].contains("no-store"));
    TcpStream::connect(("127.0.0.1", redirect.port().unwrap())).await.unwrap_err();
    let late = Callback::bind(None).await.unwrap().wait(Duration::from_millis(50)).await;
    assert!(late.unwrap_err().to_string().contains("nobody came back"));
}
