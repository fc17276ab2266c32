use narthex_core::{
    Agent, AgentId, AgentKind, BranchAsk, BranchShape, DefinitionKind, DefinitionName, EntityType,
    Grants, GraphId, GraphTarget, PolicyAction, Question, Reason, Scope, ServerTarget, SpaceId,
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
    // Graphs: one of the agent's space, one elsewhere.
    ("agent", "read suggest", "read", "graph", "graph a", true),
    ("agent", "read suggest", "invoke_query", "graph", "graph a", true),
    ("agent", "read suggest", "change", "graph", "graph a", true),
    ("agent", "read suggest", "schema_apply", "graph", "graph a", true),
    ("agent", "read suggest", "branch_create", "graph", "graph a", true),
    ("agent", "read suggest", "branch_delete", "graph", "graph a", true),
    ("agent", "read suggest", "branch_merge", "graph", "graph a", true),
    ("agent", "read suggest", "read", "graph", "graph b", false),
    ("agent", "read suggest", "change", "graph", "graph b", false),
    ("agent", "read", "read", "graph", "graph a", true),
    ("agent", "read", "invoke_query", "graph", "graph a", true),
    ("agent", "read", "change", "graph", "graph a", false),
    ("agent", "read", "branch_merge", "graph", "graph a", false),
    ("agent", "suggest", "read", "graph", "graph a", false),
    ("agent", "read:*:page", "read", "graph", "graph a", false),
    ("agent", "read:read:graph", "read", "graph", "graph a", true),
    ("agent", "read:read:graph", "invoke_query", "graph", "graph a", false),
    ("agent", "suggest:branch_merge:graph", "branch_merge", "graph", "graph a", true),
    ("agent", "suggest:branch_merge:graph", "change", "graph", "graph a", false),
    ("companion", "read suggest", "read", "graph", "graph a", false),
    ("companion", "read suggest", "change", "graph", "graph a", false),
    // Its own words do not reach into what is not a graph.
    ("agent", "read suggest", "read", "graph", "a", false),
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
fn an_owner_narrows_by_graph_branch_and_stored_query() {
    let engine = engine_with(
        r#"
        @id("only-its-own-branches")
        forbid (principal, action in [Narthex::Action::"change", Narthex::Action::"schema_apply"], resource)
        unless { context has branch && context.branch.own && !context.branch.protected };
        @id("not-this-query")
        forbid (principal, action == Narthex::Action::"invoke_query", resource)
        when { context has query && context.query == "salaries" };
        @id("not-here")
        forbid (principal, action == Narthex::Action::"branch_create", resource is Narthex::Graph)
        when { resource.slug == "sales" };
        "#,
    )
    .expect("valid");
    let space = SpaceId::from_uuid(Uuid::from_u128(A));
    let shape = |own, protected| {
        BranchAsk::This(BranchShape { name: "x".parse().expect("branch"), protected, own })
    };
    let none = BranchAsk::None;
    for (action, branch, query, permitted) in [
        (PolicyAction::Change, shape(true, false), None, true),
        (PolicyAction::Change, shape(true, true), None, false),
        (PolicyAction::Change, shape(false, false), None, false),
        (PolicyAction::Change, none.clone(), None, false),
        // Some branch or other: its own would do.
        (PolicyAction::Change, BranchAsk::Any, None, true),
        (PolicyAction::BranchCreate, BranchAsk::Any, None, false),
        (PolicyAction::SchemaApply, shape(false, false), None, false),
        (PolicyAction::BranchMerge, shape(false, false), None, true),
        (PolicyAction::InvokeQuery, none.clone(), Some("ships"), true),
        (PolicyAction::InvokeQuery, none, Some("salaries"), false),
        (PolicyAction::BranchCreate, shape(true, false), None, false),
    ] {
        let said = format!("{action:?} {branch:?} {query:?}");
        let agent = agent(AgentKind::External, "read suggest", Scope::Space(space));
        let target = graph(space, branch, query);
        let question = Question { action, entity_type: EntityType::Graph, target };
        let asker = Asker { agent: &agent, scope: Scope::Space(space) };
        let verdict = engine.decide(&asker, &question);
        assert!(verdict.errors().is_empty(), "{verdict:?}");
        assert_eq!(verdict.is_permitted(), permitted, "{said}: {verdict:?}");
    }
}

#[test]
fn a_list_asks_for_some_branch_whatever_its_name() {
    let space = SpaceId::from_uuid(Uuid::from_u128(A));
    for (policy, shown) in [
        ("", true),
        (
            r#"forbid (principal, action == Narthex::Action::"change", resource) unless { context has branch && context.branch.name like "drafts/*" };"#,
            true,
        ),
        (
            r#"forbid (principal, action == Narthex::Action::"change", resource) when { context has branch && context.branch.protected };"#,
            true,
        ),
        (
            r#"forbid (principal, action == Narthex::Action::"change", resource) when { context has branch };"#,
            false,
        ),
        (r#"forbid (principal, action == Narthex::Action::"change", resource);"#, false),
        (
            r#"forbid (principal, action == Narthex::Action::"change", resource) when { resource.slug == "sales" };"#,
            false,
        ),
    ] {
        let engine = engine_with(policy).expect("valid");
        let target = graph(space, BranchAsk::Any, None);
        let question =
            Question { action: PolicyAction::Change, entity_type: EntityType::Graph, target };
        for (grants, granted) in [("suggest", true), ("read", false)] {
            let agent = agent(AgentKind::External, grants, Scope::Space(space));
            let asker = Asker { agent: &agent, scope: Scope::Space(space) };
            let verdict = engine.decide(&asker, &question);
            assert_eq!(verdict.is_permitted(), shown && granted, "{policy} {grants}: {verdict:?}");
        }
    }
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
    let (kind, scope) = match kind {
        "agent" => (AgentKind::External, Scope::Space(space(A))),
        "companion" => (AgentKind::Companion, Scope::AllSpaces),
        _ => (AgentKind::Companion, Scope::Space(space(A))),
    };
    let agent = agent(kind, grants, scope);
    let question = Question {
        action: PolicyAction::ALL.into_iter().find(|a| a.as_str() == action).expect("action"),
        entity_type: entity.parse::<EntityType>().expect("entity type"),
        target: match target {
            "a" => Target::Space(space(A)),
            "b" => Target::Space(space(B)),
            "graph a" => graph(space(A), BranchAsk::None, None),
            "graph b" => graph(space(B), BranchAsk::None, None),
            _ => Target::House,
        },
    };
    engine.decide(&Asker { agent: &agent, scope }, &question)
}

fn graph(space: SpaceId, branch: BranchAsk, query: Option<&str>) -> Target {
    Target::Graph(Box::new(GraphTarget {
        graph: GraphId::from_uuid(Uuid::from_u128(7)),
        slug: "sales".parse().expect("slug"),
        space,
        branch,
        into: BranchAsk::None,
        query: query.map(str::to_owned),
    }))
}

fn agent(kind: AgentKind, grants: &str, scope: Scope) -> Agent {
    let grants: Grants = grants.split_whitespace().map(|g| g.parse().expect("grant")).collect();
    Agent {
        id: AgentId::from_uuid(Uuid::from_u128(1)),
        slug: "helper".parse().expect("slug"),
        name: narthex_core::Title::parse("Helper").expect("title"),
        kind,
        model: None,
        grants,
        ceiling: Tier::T1,
        space: scope.space(),
        budget: None,
        tiers: narthex_core::ToolTiers::default(),
        disabled: false,
        created: Timestamp::from_millis(0),
    }
}

#[test]
fn a_server_is_used_by_whom_a_profile_gives_it_to() {
    let space = SpaceId::from_uuid(Uuid::from_u128(A));
    let tool = |name: &str| Some(DefinitionName::new(DefinitionKind::Tool, name));
    let resource = |uri: &str| Some(DefinitionName::new(DefinitionKind::Resource, uri));
    let no_deletes = r#"forbid (principal, action == Narthex::Action::"use_server", resource) when { resource.name == "github" && context has tool && context.tool like "delete_*" };"#;
    for (policy, name, assigned, what, grants, permitted) in [
        ("", "github", true, tool("read"), "read", true),
        ("", "github", true, None, "read", true),
        ("", "github", false, tool("read"), "read", false),
        ("", "github", true, tool("read"), "suggest", false),
        ("", "github", true, tool("read"), "read:*:page", false),
        ("", "github", true, tool("read"), "read:use_server:server", true),
        (no_deletes, "github", true, tool("delete_repo"), "read", false),
        (no_deletes, "github", true, tool("list_repos"), "read", true),
        (no_deletes, "github", true, resource("delete_x"), "read", true),
        (no_deletes, "gitlab", true, tool("delete_repo"), "read", true),
        (no_deletes, "github", true, None, "read", true),
    ] {
        let engine = engine_with(policy).expect("valid");
        let said = format!("{policy} {name} {assigned} {what:?} {grants}");
        let target = ServerTarget { name: name.parse().unwrap(), assigned, what };
        let target = Target::Server(Box::new(target));
        let question =
            Question { action: PolicyAction::UseServer, entity_type: EntityType::Server, target };
        for (kind, may) in [(AgentKind::External, permitted), (AgentKind::Companion, false)] {
            let agent = agent(kind, grants, Scope::Space(space));
            let asker = Asker { agent: &agent, scope: Scope::Space(space) };
            assert_eq!(engine.decide(&asker, &question).is_permitted(), may, "{said} {kind:?}");
        }
    }
}
