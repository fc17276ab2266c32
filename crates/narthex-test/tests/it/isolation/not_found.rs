//! What one may not see and what is not there are one answer, to the byte (D01, D19).

use narthex_server::owner::{Reply, Request};
use narthex_test::{CANARY_B, Era, Persona, SECRET_OF_THE_STORE, TestHouse};
use serde_json::{Value, json};

#[tokio::test]
async fn elsewhere_unknown_malformed_and_of_another_kind_are_the_same_bytes() -> anyhow::Result<()>
{
    let house = TestHouse::start().await?;
    house.write("b", "only-in-b", CANARY_B).await?;
    let talk = Request::ConversationAdd { title: "Talk".into(), body: "between us".into() };
    let Reply::Conversation(talk) = house.owner(talk).await? else { anyhow::bail!("no talk") };
    let there = house.page("b", "plans").await?.page.id.to_string();
    let space_b = house.page("b", "plans").await?.page.space.to_string();
    let ids = [
        ("page", "00000000-0000-7000-8000-000000000000".to_owned(), "an id nobody has"),
        ("page", there.clone(), "the id of a page of B"),
        ("page", there.to_uppercase(), "the same, spelled otherwise"),
        ("page", "plans".into(), "the slug of a page of B"),
        ("page", "only-in-b".into(), "another slug of B"),
        ("page", space_b, "the id of space B itself"),
        ("page", "b/plans".into(), "a path into B"),
        ("page", "../b/plans".into(), "a path out of A"),
        ("page", "PLANS!".into(), "no slug"),
        ("page", "' OR 1=1 --".into(), "an injection"),
        ("page", "\u{0}".into(), "a NUL"),
        ("page", "\u{202e}snalp".into(), "a trick of direction"),
        ("page", talk.id.to_string(), "a conversation's id, as a page"),
        ("conversation", talk.id.to_string(), "a conversation"),
        ("conversation", "00000000-0000-7000-8000-000000000000".into(), "none"),
        ("conversation", "home".into(), "a page, as a conversation"),
        ("conversation", there.clone(), "a page of B, as a conversation"),
    ];
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        let ask = |kind: &str, id: &str| agent.call("read", json!({"kind": kind, "id": id}));
        let (kind, id, _) = &ids[0];
        let nothing = ask(kind, id).await?;
        assert_eq!(nothing.tool_code().as_deref(), Some("not_found"), "{nothing:?}");
        for (kind, id, what) in &ids {
            let answer = ask(kind, id).await?;
            assert_eq!(answer.text, nothing.text, "{what}");
            assert_eq!(answer.status, nothing.status, "{what}");
            let shape = |answer: &narthex_test::Answer| {
                let mut names: Vec<_> =
                    answer.headers.iter().map(|(name, _)| name.clone()).collect();
                names.sort();
                names
            };
            assert_eq!(shape(&answer), shape(&nothing), "{what}");
        }
        for action in ["update", "delete"] {
            let propose = |id: &str| {
                let arguments = json!({
                    "entity_type": "page", "action": action, "id": id,
                    "payload": {"body": "mine now"}, "base_revision": 1, "reason": "because",
                });
                agent.call("propose_change", arguments)
            };
            let nothing = propose(&ids[0].1).await?;
            assert_eq!(nothing.tool_code().as_deref(), Some("not_found"), "{nothing:?}");
            for (_, id, what) in ids.iter().filter(|(kind, ..)| kind == &"page") {
                assert_eq!(propose(id).await?.text, nothing.text, "{action} of {what}");
            }
        }
    }
    // Who is in B sees it: the rows above are about the space and about nothing else.
    let seen =
        house.client(Persona::AgentB).call("read", json!({"kind": "page", "id": there})).await?;
    assert!(seen.is_ok() && seen.text.contains(CANARY_B), "{seen:?}");
    Ok(())
}

/// Errors of every kind, and a store that fails with a path and a statement in its mouth.
#[tokio::test]
async fn no_error_tells_a_path_a_statement_or_a_name_from_elsewhere() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let mut answers = Vec::new();
    let wrong: &[(&str, Value)] = &[
        ("search", json!({})),
        ("search", json!({"query": 5})),
        ("search", json!({"query": "x".repeat(501)})),
        ("read", json!({"kind": "secret", "id": "home"})),
        ("read", json!({"kind": "page", "id": "plans"})),
        ("context", json!({"view": "b"})),
        ("propose_change", json!({"entity_type": "space", "action": "create", "reason": "r"})),
        ("propose_change", json!({"entity_type": "page", "action": "apply", "reason": "r"})),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "delete", "id": "plans", "reason": "r"}),
        ),
        ("apply_change", json!({})),
    ];
    for (tool, arguments) in wrong {
        answers.push(agent.call(tool, arguments.clone()).await?);
    }
    house.faults().fail_reading(true);
    for (tool, arguments) in [
        ("search", json!({"query": "welcome"})),
        ("read", json!({"kind": "page", "id": "home"})),
        ("context", json!({})),
    ] {
        let answer = agent.call(tool, arguments).await?;
        assert_eq!((answer.status, answer.rpc_code()), (500, Some(-32603)), "{answer:?}");
        answers.push(answer);
    }
    house.faults().fail_reading(false);
    house.faults().fail_writing(true);
    let answer = agent.call("context", json!({})).await?;
    assert_eq!(answer.status, 503, "{answer:?}");
    answers.push(answer);
    let folder = house.dir().database().display().to_string();
    for answer in answers {
        assert!(!answer.is_ok(), "{answer:?}");
        let text = answer.text.to_lowercase();
        let mut never = vec![SECRET_OF_THE_STORE.to_lowercase(), folder.to_lowercase()];
        never.extend(
            [
                "select ",
                "sqlite",
                "sqlx",
                ".rs:",
                "panicked",
                "backtrace",
                "agent-b",
                "plans",
                CANARY_B,
            ]
            .map(str::to_owned),
        );
        for word in never {
            assert!(!text.contains(&word), "{word:?} in {answer:?}");
        }
    }
    Ok(())
}
