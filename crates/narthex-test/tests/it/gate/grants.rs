//! Grants, narrowed: what is denied whatever the arguments is not there at all.

use narthex_core::{Capability, PolicyAction, Tier};
use narthex_test::{Era, Persona, TestHouse};
use serde_json::{Value, json};

/// Grants, what is listed, and which changes may be proposed (create, update, delete).
const ROWS: &[(&[&str], &[&str], [bool; 3])] = &[
    (&["read", "suggest"], &["search", "read", "context", "propose_change"], [true; 3]),
    (&["read"], &["search", "read", "context"], [false; 3]),
    (&["suggest"], &["propose_change"], [true; 3]),
    (&["suggest:create"], &["propose_change"], [true, false, false]),
    (&["suggest:update:page"], &["propose_change"], [false, true, false]),
    (&["suggest:delete"], &["propose_change"], [false, false, true]),
    (&["suggest:create", "suggest:delete"], &["propose_change"], [true, false, true]),
    (&["suggest:*:page"], &["propose_change"], [true; 3]),
    (&["suggest:*:conversation"], &[], [false; 3]),
    (&["read:search"], &["search"], [false; 3]),
    (&["read:read", "read:context:page"], &["read", "context"], [false; 3]),
    (&["read:*:conversation"], &[], [false; 3]),
    (&[], &[], [false; 3]),
];

#[tokio::test]
async fn a_grant_opens_what_it_names_and_nothing_beside_it() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for (n, (grants, listed, may)) in ROWS.iter().enumerate() {
        let agent = house.agent(&format!("granted-{n}"), "a", grants, Tier::T3).await?;
        assert_eq!(agent.tools().await?, *listed, "{grants:?}");
        for (action, allowed) in ["create", "update", "delete"].into_iter().zip(may) {
            let answer = agent.call("propose_change", change(action, n)).await?;
            match (allowed, listed.contains(&"propose_change")) {
                (true, _) => assert!(answer.is_ok(), "{grants:?} {action}: {answer:?}"),
                (false, true) => {
                    let code = answer.tool_code();
                    assert_eq!(code.as_deref(), Some("policy_denied"), "{grants:?} {action}");
                }
                (false, false) => {
                    assert_eq!(answer.rpc_code(), Some(-32602), "{grants:?} {action}");
                }
            }
        }
        for (tool, arguments) in [
            ("search", json!({"query": "welcome"})),
            ("read", json!({"kind": "page", "id": "home"})),
            ("context", json!({})),
        ] {
            let answer = agent.call(tool, arguments).await?;
            assert_eq!(answer.is_ok(), listed.contains(&tool), "{grants:?} {tool}: {answer:?}");
        }
    }
    Ok(())
}

/// Without `suggest` the tool is told exactly like a name nobody has, with any arguments.
#[tokio::test]
async fn a_denied_tool_and_an_unknown_one_are_the_same_bytes() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for era in Era::ALL {
        for persona in [Persona::Reader, Persona::Bare] {
            let client = house.client(persona).speaking(era);
            for arguments in
                [change("create", 0), json!({}), json!({"surprise": 1}), json!(5), json!(null)]
            {
                let denied = client.call("propose_change", arguments.clone()).await?;
                let unknown = client.call("destroy_worlds", arguments.clone()).await?;
                let renamed = denied.text.replace("propose_change", "destroy_worlds");
                assert_eq!(renamed, unknown.text, "{persona:?} {era:?} {arguments}");
                assert_eq!(denied.status, unknown.status);
                let names = |answer: &narthex_test::Answer| {
                    answer.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
                };
                assert_eq!(names(&denied), names(&unknown));
            }
        }
    }
    Ok(())
}

/// Names that look like a tool's are nobody's (B18).
#[tokio::test]
async fn a_name_that_looks_like_a_tools_is_unknown() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA).speaking(Era::Legacy);
    let long = "x".repeat(10_000);
    for name in [
        "re\u{430}d",
        "read\u{200b}",
        "read ",
        " read",
        "READ",
        "Read",
        "read\u{0}",
        "",
        "workspace.read",
        "host:workspace/read",
        &long,
    ] {
        let answer = agent.call(name, json!({"kind": "page", "id": "home"})).await?;
        assert_eq!(answer.rpc_code(), Some(-32602), "{name:?}: {answer:?}");
        assert!(answer.text.contains("unknown tool: ") && answer.text.len() < 700, "{answer:?}");
    }
    house.verify().await?;
    Ok(())
}

/// No word an owner can give means apply.
#[tokio::test]
async fn no_grant_means_apply() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for word in ["apply", "approve", "suggest:apply", "write", "admin", "*", "suggest:*:space"] {
        assert!(house.agent("greedy", "a", &[word], Tier::T3).await.is_err(), "{word}");
    }
    let words: Vec<_> = Capability::ALL.into_iter().flat_map(Capability::actions).collect();
    assert_eq!(words.len(), PolicyAction::ALL.len());
    Ok(())
}

fn change(action: &str, n: usize) -> Value {
    let mut arguments = json!({"entity_type": "page", "action": action, "reason": "because"});
    match action {
        "create" => arguments["payload"] = json!({"slug": format!("new-{n}"), "title": "New"}),
        "update" => {
            arguments["id"] = "home".into();
            arguments["payload"] = json!({"body": "Other."});
        }
        _ => arguments["id"] = "home".into(),
    }
    arguments
}
