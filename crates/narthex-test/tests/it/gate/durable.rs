//! If it cannot be recorded it is not done: 503, no effect, and nothing released.

use narthex_core::Reason;
use narthex_server::owner::{Reply, Request, Trouble};
use narthex_test::{CANARY_A, Era, Persona, SECRET_OF_THE_STORE, TestHouse};
use serde_json::{Value, json};

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({"query": "welcome"})),
        ("read", json!({"kind": "page", "id": "home"})),
        ("read", json!({"kind": "page", "id": "not-there"})),
        ("context", json!({})),
        ("context", json!({"surprise": 1})),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "delete", "id": "home", "reason": "r"}),
        ),
        ("purge", json!({})),
    ]
}

#[tokio::test]
async fn an_unwritable_ledger_is_503_for_everything_and_nothing_happens() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let (page, seq) = (house.page("a", "home").await?, house.seq().await?);
    house.faults().fail_writing(true);
    for era in Era::ALL {
        let agent = house.client(Persona::AgentA).speaking(era);
        for (tool, arguments) in calls() {
            let answer = agent.call(tool, arguments.clone()).await?;
            let code = answer.json().pointer("/error/data/code").cloned().unwrap_or_default();
            assert_eq!(
                (answer.status, code),
                (503, json!(Reason::Unavailable.code())),
                "{tool}: {answer:?}"
            );
            assert!(answer.header("retry-after").is_some(), "{answer:?}");
            assert!(!answer.text.contains(CANARY_A), "an answer without its record: {answer:?}");
            assert!(!answer.text.contains(SECRET_OF_THE_STORE), "{answer:?}");
        }
        for method in ["tools/list", "prompts/list"] {
            let answer = agent.request(method, json!({})).await?;
            assert_eq!(answer.status, 503, "{method}: {answer:?}");
            assert!(!answer.text.contains("inputSchema"), "{answer:?}");
        }
    }
    // An agent that may not come in at all is not told why by an unrecorded refusal.
    assert_eq!(house.client(Persona::Unbound).call("context", json!({})).await?.status, 503);
    assert_eq!(house.client(Persona::Nobody).call("context", json!({})).await?.status, 401);
    let refused = house.owner(Request::SpaceAdd { slug: "new".into(), name: None }).await;
    assert_eq!(refused.err().map(|error| error.kind), Some(Trouble::Unavailable));
    house.faults().fail_writing(false);
    assert_eq!(house.seq().await?, seq, "something was recorded after all");
    assert_eq!(house.page("a", "home").await?, page);
    let inbox = Request::InboxList { space: None, statuses: Vec::new(), limit: 10 };
    let Reply::Proposals(waiting) = house.owner(inbox).await? else { anyhow::bail!("no inbox") };
    assert!(waiting.is_empty(), "{waiting:?}");
    // The control: with the ledger back, the same calls are answered again.
    for (tool, arguments) in calls() {
        assert_eq!(
            house.client(Persona::AgentA).call(tool, arguments).await?.status,
            200,
            "{tool}"
        );
    }
    house.verify().await?;
    Ok(())
}

/// The owner's side is no way around it: an approval that cannot be recorded applies nothing.
#[tokio::test]
async fn an_approval_that_cannot_be_recorded_applies_nothing() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let delete = json!({"entity_type": "page", "action": "delete", "id": "home", "reason": "r"});
    let id = house.client(Persona::AgentA).call("propose_change", delete).await?.proposal()?;
    house.faults().fail_writing(true);
    let refused = house.owner(Request::InboxApprove { proposal: id.clone() }).await;
    assert_eq!(refused.err().map(|error| error.kind), Some(Trouble::Unavailable));
    house.faults().fail_writing(false);
    assert!(house.page("a", "home").await.is_ok());
    house.owner(Request::InboxApprove { proposal: id }).await?;
    assert!(house.page("a", "home").await.is_err());
    Ok(())
}
