//! Policy that cannot be decided denies (D16), and no permit reaches over the space.

use narthex_core::Reason;
use narthex_policy::PolicyEngine;
use narthex_test::{CANARY_B, Era, HouseOptions, Persona, TestHouse};
use serde_json::json;

#[tokio::test]
async fn a_policy_in_error_denies_everything_it_is_asked_about() -> anyhow::Result<()> {
    let failing = r#"@id("overflows") forbid (principal, action, resource)
        when { 9223372036854775807 + 1 == 0 };"#;
    let house = TestHouse::with(with_policy(failing)).await?;
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        assert!(agent.tools().await?.is_empty());
        for (tool, arguments) in [
            ("search", json!({"query": "welcome"})),
            ("read", json!({"kind": "page", "id": "home"})),
            ("context", json!({})),
            (
                "propose_change",
                json!({"entity_type": "page", "action": "delete", "id": "home", "reason": "r"}),
            ),
        ] {
            let before = house.seq().await?;
            let answer = agent.call(tool, arguments).await?;
            let unknown = agent.call("purge", json!({})).await?;
            assert_eq!(answer.text.replace(tool, "purge"), unknown.text);
            let records = house.records_after(before).await?;
            assert_eq!(records[0].draft.reason, Reason::PolicyError, "{tool}");
        }
    }
    // The control: the same house with a policy that can be decided serves again at once.
    house.house().gate().set_policy(PolicyEngine::standard()?);
    assert_eq!(house.client(Persona::AgentA).tools().await?.len(), 4);
    Ok(())
}

/// An error in one action's policy takes that action and leaves the others.
#[tokio::test]
async fn an_error_while_reading_does_not_open_searching() -> anyhow::Result<()> {
    let failing = r#"@id("overflows") forbid (principal, action == Narthex::Action::"read", resource)
        when { 9223372036854775807 + 1 == 0 };"#;
    let house = TestHouse::with(with_policy(failing)).await?;
    let agent = house.client(Persona::AgentA);
    assert_eq!(agent.tools().await?, ["search", "context", "propose_change"]);
    Ok(())
}

#[tokio::test]
async fn a_permit_for_everything_everywhere_still_ends_at_the_space() -> anyhow::Result<()> {
    let wide = r#"@id("everything") permit (principal, action, resource);"#;
    let house = TestHouse::with(with_policy(wide)).await?;
    // It does widen what may be asked for,
    let bare = house.client(Persona::Bare);
    assert_eq!(bare.tools().await?.len(), 4);
    // and the answers still come from the one space.
    let foreign = house.page("b", "plans").await?.page.id.to_string();
    for id in ["plans", foreign.as_str()] {
        let answer = bare.call("read", json!({"kind": "page", "id": id})).await?;
        assert_eq!(answer.tool_code().as_deref(), Some("not_found"), "{answer:?}");
    }
    for (tool, arguments) in [("search", json!({"query": "quokka"})), ("context", json!({}))] {
        assert!(!bare.call(tool, arguments).await?.text.contains(CANARY_B));
    }
    assert_eq!(house.client(Persona::Unbound).call("context", json!({})).await?.status, 403);
    assert_eq!(house.client(Persona::Lowered).tools().await?, ["search", "read", "context"]);
    Ok(())
}

#[tokio::test]
async fn a_forbid_narrows_and_what_is_forbidden_whole_is_not_there() -> anyhow::Result<()> {
    let narrow = r#"
        @id("no-deletes") forbid (principal, action == Narthex::Action::"delete", resource);
        @id("no-search") forbid (principal, action == Narthex::Action::"search", resource);"#;
    let house = TestHouse::with(with_policy(narrow)).await?;
    let agent = house.client(Persona::AgentA);
    assert_eq!(agent.tools().await?, ["read", "context", "propose_change"]);
    let delete =
        json!({"entity_type": "page", "action": "delete", "id": "home", "reason": "because"});
    let answer = agent.call("propose_change", delete).await?;
    assert_eq!(answer.tool_code().as_deref(), Some(Reason::PolicyDenied.code()), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_starts_no_house() {
    for text in [
        "permit (principal, action, resource",
        "permit (principal, action, resource) when { principal.nose };",
    ] {
        assert!(TestHouse::with(with_policy(text)).await.is_err(), "{text}");
    }
}

fn with_policy(text: &str) -> HouseOptions {
    let policies = vec![("own.cedar".to_owned(), text.to_owned())];
    HouseOptions { policies, ..HouseOptions::default() }
}
