//! Values of arguments in the ledger: equal ones are found again, and none can be read.

use std::collections::BTreeMap;

use narthex_core::{Consent, Digest, Tier, canonical_json};
use serde_json::{Value, json};

use super::workshop::{Said, Workshop};

const SECRET: &str = "anna@example.org";

/// The kept values of the last call's records, which all say the same.
async fn kept(shop: &Workshop, since: u64) -> BTreeMap<String, Digest> {
    let records = shop.house.records_after(since).await.unwrap();
    let all: Vec<_> = records.iter().map(|record| record.draft.values.clone()).collect();
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
    all.into_iter().next().expect("a record")
}

async fn call(shop: &Workshop, who: &str, tool: &str, it: Value) -> BTreeMap<String, Digest> {
    let since = shop.house.seq().await.unwrap();
    shop.call_as(who, tool, it, Consent::Absent).await;
    kept(shop, since).await
}

async fn shop(keep: bool) -> Workshop {
    let mut shop = Workshop::with(|config| config.keep_values = keep).await.unwrap();
    shop.agent("other", "a", Tier::T3).await.unwrap();
    shop
}

#[tokio::test]
async fn equal_values_are_found_again_whoever_says_them_and_none_is_in_clear() -> anyhow::Result<()>
{
    let shop = shop(true).await;
    let one = call(&shop, "worker", "note", json!({"text": SECRET, "n": 7})).await;
    assert_eq!(one.keys().collect::<Vec<_>>(), ["n", "text"]);
    // The same value under another name, of another tool, from another agent.
    for (who, tool, it) in [
        ("worker", "peek", json!({"text": SECRET})),
        ("other", "note", json!({"text": SECRET, "n": 8})),
        ("other", "publish", json!({"target": SECRET})),
    ] {
        let same = call(&shop, who, tool, it).await;
        let same = same.get("text").or_else(|| same.get("target"));
        assert_eq!(same, one.get("text"), "{who} {tool}");
    }
    let other = call(&shop, "worker", "note", json!({"text": "anna@example.com", "n": 7})).await;
    assert_ne!(other.get("text"), one.get("text"));
    assert_eq!(other.get("n"), one.get("n"));
    // What has parts is one value: equal as a whole, in whatever order its keys come, and in no part.
    let nested =
        call(&shop, "worker", "publish", json!({"target": [SECRET, {"a": 1, "b": 2}]})).await;
    let turned =
        call(&shop, "other", "publish", json!({"target": [SECRET, {"b": 2, "a": 1}]})).await;
    let part = call(&shop, "other", "publish", json!({"target": [SECRET]})).await;
    assert_eq!(nested.get("target"), turned.get("target"));
    assert!(nested.len() == 1 && nested.get("target") != part.get("target"));
    assert_ne!(part.get("target"), one.get("text"));
    // Nothing of it can be read, nor found by who has no key.
    let bytes: Vec<u8> = shop
        .store()
        .records(1, 10_000)
        .await?
        .into_iter()
        .flat_map(|record| record.bytes)
        .collect();
    let said = String::from_utf8(bytes)?;
    let plain = Digest::of(canonical_json(&json!(SECRET)).as_bytes());
    for clear in [SECRET.to_owned(), "example.org".to_owned(), plain.to_string()] {
        assert!(!said.contains(&clear), "{clear} is in the ledger");
    }
    assert!(said.contains(&one["text"].to_string()));
    shop.house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn another_house_has_other_hashes_and_nothing_is_kept_unless_asked_for() {
    let (ours, theirs, plain) = (shop(true).await, shop(true).await, shop(false).await);
    let it = || json!({"text": SECRET});
    let one = call(&ours, "worker", "note", it()).await;
    assert_ne!(one, call(&theirs, "worker", "note", it()).await);
    assert!(call(&plain, "worker", "note", it()).await.is_empty());
    assert_eq!(plain.call("note", it()).await, Said::Done);
}
