//! How fast, by verified agent; and how often one may fail, by source (C06, H07).

use std::time::Instant;

use narthex_core::{Actor, Reason};
use narthex_gate::{Presented, Source};
use narthex_test::{Client, HouseOptions, Persona, TestHouse};
use serde_json::json;

#[tokio::test]
async fn too_fast_is_429_for_the_agent_and_for_no_other() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.requests_per_minute = 5;
    let house = TestHouse::with(options).await?;
    // Neither a second token nor another revision is a second allowance.
    let second = house.new_token("agent-a", None, None).await?;
    let clients = [house.client(Persona::AgentA), house.client_with(Some(second.token))];
    let mut statuses = Vec::new();
    for n in 0..8 {
        let era = narthex_test::Era::ALL[n / 2 % 2];
        let answer = clients[n % 2].speaking(era).call("context", json!({})).await?;
        if answer.status == 429 {
            assert_eq!(answer.door_code().as_deref(), Some("rate_limited"), "{answer:?}");
            assert!(retry_after(&answer) >= 1, "{answer:?}");
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    assert_eq!(house.client(Persona::AgentB).call("context", json!({})).await?.status, 200);
    let records = house.records().await?;
    let of = |record: &&narthex_store::chain::Record| record.draft.reason == Reason::RateLimited;
    let first = records.iter().find(of).map(|record| record.draft.actor.clone());
    assert!(matches!(first, Some(Actor::Agent { slug, .. }) if slug.as_str() == "agent-a"));
    // Nothing is forgotten: what was only counted is written when the house settles.
    house.house().gate().drain().await;
    let records = house.records().await?;
    let counted: u64 =
        records.iter().filter(of).map(|record| record.draft.subject.count.unwrap_or(1)).sum();
    assert_eq!(counted, 3);
    Ok(())
}

#[tokio::test]
async fn failures_are_limited_by_source_while_a_good_token_from_there_still_works()
-> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.failures_per_minute = 4;
    let house = TestHouse::with(options).await?;
    let bad = |n: u32| house.client_with(Some(format!("nx_{n:032x}_{n:064x}")));
    let mut codes = Vec::new();
    for n in 0..8 {
        let answer = bad(n).call("context", json!({})).await?;
        if answer.status == 429 {
            assert!(retry_after(&answer) >= 1, "{answer:?}");
        }
        codes.push(answer.status);
        // Who shares an address with an attacker is not locked out by it.
        assert_eq!(house.client(Persona::AgentA).call("context", json!({})).await?.status, 200);
    }
    assert_eq!(codes, [401, 401, 401, 401, 429, 429, 429, 429]);
    // The owner's token on the wrong door and no token at all are failures like any other.
    for client in [house.client(Persona::Owner), house.client(Persona::Nobody)] {
        assert_eq!(client.call("context", json!({})).await?.status, 429);
    }
    Ok(())
}

/// A hundred thousand guesses from a hundred thousand places: a handful of records, and the next
/// good request is served as if nothing had been.
#[tokio::test]
async fn a_flood_of_bad_tokens_is_bounded_in_records_and_locks_nobody_out() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.failures_per_minute = 30;
    options.gate.remembered_sources = 1_000;
    let house = TestHouse::with(options).await?;
    let gate = house.house().gate();
    let (before, start) = (house.seq().await?, Instant::now());
    let size = size_of(house.dir().root())?;
    let mut refused = 0_u32;
    for n in 0..100_000_u32 {
        // Malformed ones: they are refused before any look-up, as most floods would be.
        let token = format!("nx_{n:032x}_{n:063x}");
        let source = Source::Address(std::net::Ipv4Addr::from(0x0a00_0000 + n).into());
        let presented = Presented { bearer: Some(&token), source };
        refused += u32::from(gate.identify(presented).await.is_err());
    }
    assert_eq!(refused, 100_000);
    let well_formed = format!("nx_{}_{}", "f".repeat(32), "f".repeat(64));
    let one = Source::Address([203, 0, 113, 1].into());
    let mut limited = 0;
    for _ in 0..1_000 {
        let presented = Presented { bearer: Some(&well_formed), source: one };
        let refusal = gate.identify(presented).await.unwrap_err();
        limited += u32::from(refusal.reason == Reason::RateLimited);
    }
    assert!(limited >= 960, "{limited} of 1000 from one place");
    let windows = start.elapsed().as_secs() / 10 + 1;
    let records = house.seq().await? - before;
    assert!(records <= 2 * (windows + 1), "{records} records in {windows} windows");
    // H07: nor does the disk fill. What was written for a hundred thousand, ten times over, is less
    // than a mebibyte.
    let kept = house.store().records(before + 1, 1_000).await?;
    let bytes: usize = kept.iter().map(|record| record.bytes.len()).sum();
    assert!(bytes * 10 <= MIB, "{bytes} bytes of records");
    let grew = size_of(house.dir().root())?.saturating_sub(size);
    assert!(grew <= MIB as u64, "the files grew by {grew} bytes");
    assert_eq!(house.client(Persona::AgentA).call("context", json!({})).await?.status, 200);
    gate.drain().await;
    let counted: u64 = house
        .records_after(before)
        .await?
        .iter()
        .filter(|record| record.draft.actor == Actor::Nobody)
        .map(|record| record.draft.subject.count.unwrap_or(1))
        .sum();
    assert_eq!(counted, 101_000, "refusals were forgotten");
    Ok(())
}

/// A proposal is a request like any other: it is limited by rate before it is limited by number.
#[tokio::test]
async fn the_rate_also_holds_for_what_is_listed_and_noted() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.gate.requests_per_minute = 3;
    let house = TestHouse::with(options).await?;
    let agent = house.client(Persona::AgentA);
    for method in ["tools/list", "server/discover", "prompts/list"] {
        assert_ne!(ask(&agent, method).await?, 429, "{method}");
    }
    for method in ["tools/list", "server/discover", "prompts/list"] {
        assert_eq!(ask(&agent, method).await?, 429, "{method}");
    }
    Ok(())
}

/// Bytes of the files in a folder.
fn size_of(folder: &std::path::Path) -> std::io::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let metadata = entry?.metadata()?;
        size += if metadata.is_file() { metadata.len() } else { 0 };
    }
    Ok(size)
}

const MIB: usize = 1024 * 1024;

async fn ask(client: &Client, method: &str) -> anyhow::Result<u16> {
    Ok(client.request(method, json!({})).await?.status)
}

fn retry_after(answer: &narthex_test::Answer) -> u64 {
    answer.header("retry-after").and_then(|seconds| seconds.parse().ok()).unwrap_or(0)
}
