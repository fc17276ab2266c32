//! A server that wants OAuth: what it is shown, what an agent is told, and what the owner does.

use narthex_oauth::testing::Authority;
use narthex_server::owner::{CameBack, OwnerError, ServerReply, ServerRequest, SignInBegun};
use serde_json::json;

use super::rig::{Rig, text};

const BACK: &str = "http://127.0.0.1:9/callback";

async fn rig(grant: &str) -> (Rig, Authority) {
    let authority = Authority::start().await.unwrap();
    let mut rig = Rig::new().await;
    rig.variables.set("OUR_SECRET", "s3cret-client");
    let oauth = json!({"grant": grant, "clientId": "narthex", "clientSecret": "${OUR_SECRET}"});
    let auth = json!({"oauth": oauth});
    rig.set("up", json!({"url": authority.server(), "auth": auth, "tier": "T0"}));
    (rig, authority)
}

async fn begin(rig: &Rig) -> Result<SignInBegun, OwnerError> {
    let request =
        ServerRequest::SignIn { server: "up".to_owned(), redirect: Some(BACK.to_owned()) };
    match rig.ask(request).await? {
        ServerReply::SignIn(begun) => Ok(begun),
        other => panic!("{other:?}"),
    }
}

async fn finish(rig: &Rig, authority: &Authority, url: &str) -> Result<ServerReply, OwnerError> {
    let back = authority.say_yes(url).unwrap();
    let one = |wanted: &str| {
        let mut pairs = back.query_pairs();
        pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    let (state, code, issuer) = (one("state").unwrap(), one("code"), one("iss"));
    let back = CameBack { state, code, issuer, error: None };
    rig.ask(ServerRequest::SignedIn { server: "up".to_owned(), back }).await
}

/// Nothing that is kept or said has a secret, and the server never saw an agent's token.
async fn nothing_leaked(rig: &Rig, authority: &Authority) {
    let records = rig.house.records_after(0).await.unwrap();
    assert!(!format!("{records:?}").contains("s3cret"));
    for came in authority.came("/") {
        for (name, value) in &came.headers {
            assert!(!value.contains("nx_") && !value.contains("nxo_"), "{name}: {value}");
        }
    }
    let shown = rig.ask(ServerRequest::List).await.unwrap();
    let info = rig.info("up").await.unwrap();
    assert!(!format!("{shown:?} {info:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_machine_gets_its_own_token_and_never_shows_an_agents() {
    let (mut rig, authority) = rig("client_credentials").await;
    rig.approve("up").await.unwrap();
    let client = rig.client("anna", "up").await;
    let answer = client.call("echo", json!({})).await.unwrap();
    assert_eq!(text(&answer.result()), "hello");
    // Taken back meanwhile: the call does not notice.
    authority.revoke_access();
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    for came in authority.came("/mcp") {
        let shown = came.header("authorization").unwrap_or("Bearer s3cret-access");
        assert!(shown.starts_with("Bearer s3cret-access"), "{shown}");
    }
    nothing_leaked(&rig, &authority).await;
}

#[tokio::test]
async fn the_owner_signs_in_and_out_and_is_told_when_to_do_it_again() {
    let (mut rig, authority) = rig("authorization_code").await;
    assert!(begin(&rig).await.unwrap_err().message.contains("not approved"));
    assert!(authority.came("/").is_empty(), "nobody is asked before the start is approved");
    rig.approve_start("up").await.unwrap();
    let told = rig.look("up").await.unwrap_err();
    assert!(told.message.contains("narthex mcp login up"), "{told:?}");
    let before = rig.house.seq().await.unwrap();
    let begun = begin(&rig).await.unwrap();
    finish(&rig, &authority, &begun.url).await.unwrap();
    rig.approve("up").await.unwrap();
    let client = rig.client("anna", "up").await;
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    // The sign-in is ended from outside: the agent learns little, the owner what to do.
    authority.revoke_refresh();
    authority.revoke_access();
    let answer = client.call("echo", json!({})).await.unwrap();
    assert!(!answer.is_ok(), "{answer:?}");
    let error = rig.info("up").await.unwrap().server.error.unwrap_or_default();
    assert!(error.contains("narthex mcp login up"), "{error}");
    let begun = begin(&rig).await.unwrap();
    finish(&rig, &authority, &begun.url).await.unwrap();
    assert!(client.call("echo", json!({})).await.unwrap().is_ok());
    finish(&rig, &authority, &begun.url).await.unwrap_err();
    rig.ask(ServerRequest::SignOut { server: "up".to_owned() }).await.unwrap();
    assert!(!client.call("echo", json!({})).await.unwrap().is_ok());
    let actions = rig.actions_since(before).await;
    let actions: Vec<&str> = actions
        .iter()
        .map(String::as_str)
        .filter(|action| action.contains("log") || action.contains("refresh"))
        .collect();
    let expected =
        ["server.login", "server.refresh_failed", "server.login", "server.login", "server.logout"];
    assert_eq!(actions, expected);
    nothing_leaked(&rig, &authority).await;
}
