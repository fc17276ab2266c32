//! Nothing crosses: not between calls at once, not through links, not between agents of a space
//! (D18 and its siblings).

use narthex_core::Tier;
use narthex_server::owner::Request;
use narthex_test::{CANARY_A, CANARY_B, Client, Era, Persona, TestHouse};
use serde_json::{Value, json};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_with_the_same_ids_cross_nowhere() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let before = house.seq().await?;
    let mut calls = JoinSet::new();
    for n in 0..200_u32 {
        let (persona, own, other) = if n % 2 == 0 {
            (Persona::AgentA, CANARY_A, CANARY_B)
        } else {
            (Persona::AgentB, CANARY_B, CANARY_A)
        };
        let client = house.client(persona).speaking(Era::ALL[(n / 2 % 2) as usize]);
        calls.spawn(async move {
            let (tool, arguments) = match n / 4 % 3 {
                0 => ("read", json!({"kind": "page", "id": "home"})),
                1 => ("search", json!({"query": "canary"})),
                _ => ("context", json!({})),
            };
            // Every message has the same id: only the connection tells whose answer it is.
            let answer = client.call(tool, arguments).await?;
            anyhow::ensure!(answer.is_ok(), "{answer:?}");
            anyhow::ensure!(answer.json()["id"] == json!(1), "{answer:?}");
            anyhow::ensure!(!answer.text.contains(other), "crossed: {answer:?}");
            anyhow::ensure!(tool != "read" || answer.text.contains(own), "{answer:?}");
            anyhow::Ok(())
        });
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    let (a, b) =
        (house.page("a", "home").await?.page.space, house.page("b", "home").await?.page.space);
    let records = house.records_after(before).await?;
    assert_eq!(records.len(), 200);
    for (space, slug) in [(a, "agent-a"), (b, "agent-b")] {
        let of: Vec<_> =
            records.iter().filter(|record| record.draft.space == Some(space)).collect();
        assert_eq!(of.len(), 100);
        let named = |actor: &narthex_core::Actor| matches!(actor, narthex_core::Actor::Agent { slug: s, .. } if s.as_str() == slug);
        assert!(of.iter().all(|record| named(&record.draft.actor)), "{slug}");
    }
    house.verify().await?;
    Ok(())
}

/// A link to a slug that exists only elsewhere has no title, and no page elsewhere links here.
#[tokio::test]
async fn links_and_backlinks_never_cross_spaces() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    house.write("a", "reaching", "See [[plans]] and [[home]] and [[b/plans]].").await?;
    house.write("b", "spying", "See [[guides/setup]] and [[reaching]].").await?;
    let agent = house.client(Persona::AgentA);
    let read = |slug: &'static str| {
        let agent = agent.clone();
        async move { agent.call("read", json!({"kind": "page", "id": slug})).await }
    };
    let page = read("reaching").await?.structured();
    let title = |slug: &str| -> Value {
        let links = page["links"].as_array().cloned().unwrap_or_default();
        links
            .iter()
            .find(|link| link["slug"] == slug)
            .map(|link| link["title"].clone())
            .unwrap_or_default()
    };
    assert_eq!(title("home"), "Home", "{page}");
    assert_eq!(title("plans"), Value::Null, "a title from B: {page}");
    assert_eq!(page["backlinks"], json!([]), "{page}");
    let setup = read("guides/setup").await?;
    assert!(!setup.text.contains("spying"), "{setup:?}");
    // Once it is here, it has its title: the null above was not for want of links.
    house.write("a", "plans", "Ours.").await?;
    let page = read("reaching").await?.structured();
    assert!(page["links"].to_string().contains("\"title\":\"plans\""), "{page}");
    Ok(())
}

#[tokio::test]
async fn proposals_of_one_agent_are_nobody_elses_in_the_same_space() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let one = house.client(Persona::AgentA);
    let two = house.agent("second", "a", &["read", "suggest"], Tier::T1).await?;
    let propose = |client: &Client, word: &str| {
        let (client, word) = (client.clone(), word.to_owned());
        async move {
            let payload = json!({"title": word, "body": word});
            let create = json!({"entity_type": "page", "action": "create", "payload": payload, "reason": word});
            client.call("propose_change", create).await?.proposal()
        }
    };
    let waiting = propose(&one, "marmoset").await?;
    let refused = propose(&one, "capybara").await?;
    house
        .owner(Request::InboxReject { proposal: refused, reason: "not for wombats".into() })
        .await?;
    propose(&two, "pangolin").await?;
    let (seen, other) =
        (one.call("context", json!({})).await?, two.call("context", json!({})).await?);
    assert!(seen.text.contains(&waiting) && seen.text.contains("wombats"), "{seen:?}");
    for word in ["marmoset", "capybara", "wombats", waiting.as_str()] {
        assert!(!other.text.contains(word), "{word} is told to another agent: {other:?}");
    }
    assert!(!seen.text.contains("pangolin"), "{seen:?}");
    Ok(())
}
