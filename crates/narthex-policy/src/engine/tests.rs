use narthex_core::{
    Agent, AgentId, AgentKind, EntityType, Grants, PolicyAction, Question, Reason, Scope, SpaceId,
    Target, Tier, Timestamp,
};
use uuid::Uuid;

use super::PolicyEngine;
use crate::{Asker, PolicyFault};

const A: u128 = 0xA;
const B: u128 = 0xB;

/// kind, grants, action, entity type, target (a, b, house) → permitted.
const DECISIONS: &[(&str, &str, &str, &str, &str, bool)] = &[
    ("agent", "read suggest", "search", "page", "a", true),
    ("agent", "read suggest", "read", "page", "a", true),
    ("agent", "read suggest", "context", "page", "a", true),
    ("agent", "read suggest", "create", "page", "a", true),
    ("agent", "read suggest", "update", "page", "a", true),
    ("agent", "read suggest", "delete", "page", "a", true),
    ("agent", "read suggest", "read", "page", "b", false),
    ("agent", "read suggest", "update", "page", "b", false),
    ("agent", "read suggest", "read", "page", "house", false),
    ("agent", "read suggest", "read", "conversation", "house", false),
    ("agent", "read suggest", "read", "conversation", "a", false),
    ("agent", "read suggest", "create", "conversation", "a", false),
    ("agent", "read", "read", "page", "a", true),
    ("agent", "read", "create", "page", "a", false),
    ("agent", "read", "update", "page", "a", false),
    ("agent", "read", "delete", "page", "a", false),
    ("agent", "suggest", "create", "page", "a", true),
    ("agent", "suggest", "read", "page", "a", false),
    ("agent", "suggest:create", "create", "page", "a", true),
    ("agent", "suggest:create", "update", "page", "a", false),
    ("agent", "suggest:create", "delete", "page", "a", false),
    ("agent", "suggest:update:page", "update", "page", "a", true),
    ("agent", "suggest:update:page", "create", "page", "a", false),
    ("agent", "suggest:*:conversation", "update", "page", "a", false),
    ("agent", "read:search", "search", "page", "a", true),
    ("agent", "read:search", "read", "page", "a", false),
    ("agent", "", "search", "page", "a", false),
    ("agent", "", "read", "page", "a", false),
    ("companion", "read suggest", "search", "page", "house", true),
    ("companion", "read suggest", "read", "page", "a", true),
    ("companion", "read suggest", "read", "page", "b", true),
    ("companion", "read suggest", "read", "conversation", "house", true),
    ("companion", "read suggest", "create", "page", "a", true),
    ("companion", "read suggest", "create", "conversation", "house", false),
    ("companion", "read", "create", "page", "a", false),
    ("companion", "", "read", "conversation", "house", false),
    ("bound companion", "read suggest", "read", "page", "a", true),
    ("bound companion", "read suggest", "read", "page", "b", false),
    ("bound companion", "read suggest", "search", "page", "house", false),
    ("bound companion", "read suggest", "update", "page", "b", false),
    ("bound companion", "read suggest", "read", "conversation", "house", true),
];

#[test]
fn the_standard_policy_row_by_row() {
    let engine = PolicyEngine::standard().expect("the standard policy is valid");
    for (kind, grants, action, entity, target, permitted) in DECISIONS {
        let verdict = ask(&engine, kind, grants, action, entity, target);
        assert_eq!(
            verdict.is_permitted(),
            *permitted,
            "{kind} with {grants:?}: {action} {entity} in {target}: {verdict:?}"
        );
        assert!(verdict.errors().is_empty(), "{verdict:?}");
    }
}

#[test]
fn a_policy_that_fails_while_deciding_denies_also_where_a_permit_matched() {
    let failing = r#"
        @id("overflows")
        forbid (principal, action, resource)
        when { 9223372036854775807 + 1 == 0 };
    "#;
    let engine = engine_with(failing).expect("it is valid and only fails when asked");
    let verdict = ask(&engine, "agent", "read", "read", "page", "a");
    assert!(!verdict.is_permitted());
    assert_eq!(verdict.reason(), Reason::PolicyError);
    assert!(!verdict.errors().is_empty());
}

#[test]
fn an_owners_forbid_narrows_and_is_named() {
    let engine = engine_with(
        r#"@id("no-deletes") forbid (principal, action == Narthex::Action::"delete", resource);"#,
    )
    .expect("valid");
    let verdict = ask(&engine, "agent", "suggest", "delete", "page", "a");
    assert!(!verdict.is_permitted());
    assert_eq!(verdict.policies(), ["no-deletes"]);
    assert!(ask(&engine, "agent", "suggest", "update", "page", "a").is_permitted());
}

#[test]
fn faulty_policies_are_refused_whole() {
    for (text, part) in [
        ("permit (principal, action, resource)", "unexpected end of input"),
        (r#"forbid (principal, action == Narthex::Action::"reed", resource);"#, "reed"),
        ("permit (principal, action, resource) when { principal.nose };", "nose"),
        ("permit (principal == ?principal, action, resource);", "template"),
        (r#"@id("agent-reads-its-space") forbid (principal, action, resource);"#, "exists already"),
    ] {
        let fault = engine_with(text).expect_err(text).to_string();
        assert!(fault.contains(part), "{text}: {fault}");
    }
}

#[test]
fn the_version_follows_the_text() {
    let standard = PolicyEngine::standard().expect("valid").version();
    assert_eq!(PolicyEngine::standard().expect("valid").version(), standard);
    let more = engine_with("forbid (principal, action, resource);").expect("valid").version();
    assert_ne!(more, standard);
}

fn engine_with(text: &str) -> Result<PolicyEngine, PolicyFault> {
    PolicyEngine::with_files(&[("own.cedar".to_owned(), text.to_owned())])
}

fn ask(
    engine: &PolicyEngine,
    kind: &str,
    grants: &str,
    action: &str,
    entity: &str,
    target: &str,
) -> super::Verdict {
    let space = |n: u128| SpaceId::from_uuid(Uuid::from_u128(n));
    let grants: Grants = grants.split_whitespace().map(|g| g.parse().expect("grant")).collect();
    let (kind, scope) = match kind {
        "agent" => (AgentKind::External, Scope::Space(space(A))),
        "companion" => (AgentKind::Companion, Scope::AllSpaces),
        _ => (AgentKind::Companion, Scope::Space(space(A))),
    };
    let agent = Agent {
        id: AgentId::from_uuid(Uuid::from_u128(1)),
        slug: "helper".parse().expect("slug"),
        name: narthex_core::Title::parse("Helper").expect("title"),
        kind,
        model: None,
        grants,
        ceiling: Tier::T1,
        space: scope.space(),
        budget: None,
        disabled: false,
        created: Timestamp::from_millis(0),
    };
    let question = Question {
        action: PolicyAction::ALL.into_iter().find(|a| a.as_str() == action).expect("action"),
        entity_type: entity.parse::<EntityType>().expect("entity type"),
        target: match target {
            "a" => Target::Space(space(A)),
            "b" => Target::Space(space(B)),
            _ => Target::House,
        },
    };
    engine.decide(&Asker { agent: &agent, scope }, &question)
}
