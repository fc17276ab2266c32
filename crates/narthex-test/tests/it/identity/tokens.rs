//! A token's life: several an agent, ended at once, and nowhere in clear (C03, C04, C16).

use std::path::Path;
use std::sync::Arc;

use narthex_core::{Reason, Tier, Timestamp, TokenId};
use narthex_server::owner::{Reply, Request, TokenInfo};
use narthex_store::{Effect, ManualClock, UnitOfWork};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::json;

#[tokio::test]
async fn ending_a_token_or_an_agent_is_seen_by_the_very_next_request() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let extra = house.new_token("agent-a", Some("laptop"), None).await?;
    let second = house.client_with(Some(extra.token));
    for round in 0..5 {
        let created = house.new_token("agent-a", None, None).await?;
        let client = house.client_with(Some(created.token));
        assert_eq!(client.call("context", json!({})).await?.status, 200, "{round}");
        house.owner(Request::TokenRevoke { token: created.id.to_string() }).await?;
        let answer = client.call("context", json!({})).await?;
        assert_eq!(
            (answer.status, answer.door_code().as_deref()),
            (401, Some("unauthorized")),
            "{round}"
        );
        // The agent's other tokens are as good as they were.
        assert_eq!(second.call("context", json!({})).await?.status, 200, "{round}");
    }
    for disabled in [true, false, true, false] {
        house.owner(Request::AgentDisable { agent: "agent-a".into(), disabled }).await?;
        for client in [&agent, &second] {
            let status = client.call("context", json!({})).await?.status;
            assert_eq!(status, if disabled { 401 } else { 200 });
        }
    }
    Ok(())
}

/// After everything was decided, before anything is durable: the writer asks once more.
#[tokio::test]
async fn a_token_that_ends_between_decision_and_effect_changes_nothing() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let create = json!({"entity_type": "page", "action": "create", "payload": {"title": "Late"}, "reason": "because"});
    let created = house.new_token("agent-a", None, None).await?;
    let late = house.client_with(Some(created.token));
    house
        .faults()
        .slip_in(effect(Effect::RevokeToken { id: created.id, at: Timestamp::from_millis(1) }));
    let answer = late.call("propose_change", create.clone()).await?;
    assert_eq!(answer.status, 401, "{answer:?}");
    let agent = house.client(Persona::AgentA);
    let id = house
        .house()
        .gate()
        .store()
        .agent_by_slug(&"agent-a".parse()?)
        .await?
        .map(|agent| agent.id);
    let disable = Effect::SetAgentDisabled { agent: id.unwrap(), disabled: true };
    house.faults().slip_in(effect(disable));
    let answer = agent.call("propose_change", create).await?;
    assert_eq!(answer.tool_code().as_deref(), Some(Reason::AgentDisabled.code()), "{answer:?}");
    let inbox = Request::InboxList { space: None, statuses: Vec::new(), limit: 10 };
    let Reply::Proposals(waiting) = house.owner(inbox).await? else { anyhow::bail!("no inbox") };
    assert!(waiting.is_empty(), "{waiting:?}");
    house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn a_token_ends_by_itself_on_the_houses_clock() -> anyhow::Result<()> {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let options = HouseOptions { clock: Arc::clone(&clock) as _, ..HouseOptions::default() };
    let house = TestHouse::with(options).await?;
    let short = house.new_token("agent-a", Some("short"), Some(60)).await?;
    let client = house.client_with(Some(short.token));
    for (wait, status) in [(0, 200), (59_999, 200), (1, 401), (1_000_000, 401)] {
        clock.advance_millis(wait);
        assert_eq!(client.call("context", json!({})).await?.status, status, "after {wait} more");
    }
    assert_eq!(house.client(Persona::AgentA).call("context", json!({})).await?.status, 200);
    assert_eq!(state(&house, short.id).await?.state, "expired");
    for life in [0, u64::MAX, 11 * 366 * 24 * 3_600] {
        let agent = "agent-a".to_owned();
        let refused =
            house.owner(Request::TokenCreate { agent, label: None, expires_in: Some(life) }).await;
        assert!(refused.is_err(), "{life} seconds");
    }
    Ok(())
}

#[tokio::test]
async fn several_tokens_an_agent_each_with_its_label_and_last_use() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    house.agent("walker", "a", &["read"], Tier::T0).await?;
    let mut made = Vec::new();
    for label in ["laptop", "phone", "build server"] {
        made.push((label, house.new_token("walker", Some(label), None).await?));
    }
    assert!(made.iter().all(|(_, a)| made.iter().filter(|(_, b)| a.token == b.token).count() == 1));
    let (_, used) = &made[1];
    assert_eq!(state(&house, used.id).await?.last_used, None);
    assert_eq!(
        house.client_with(Some(used.token.clone())).call("context", json!({})).await?.status,
        200
    );
    for (label, created) in &made {
        let info = state(&house, created.id).await?;
        assert_eq!((info.label.as_str(), info.state.as_str()), (*label, "live"));
        assert_eq!(info.last_used.is_some(), created.id == used.id, "{label}");
    }
    Ok(())
}

/// 256 bits that were shown once: in no file of the data directory, in no record, in no answer.
#[tokio::test]
async fn the_secret_is_nowhere_in_clear() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let mut secrets = vec![house.owner_token()];
    for persona in Persona::ALL.into_iter().filter(|persona| persona.slug().is_some()) {
        secrets.extend(house.token(persona));
        house.client(persona).call("context", json!({})).await?;
    }
    secrets.push(house.new_token("agent-a", Some("extra"), None).await?.token);
    house.client(Persona::Owner).call("context", json!({})).await?;
    let tails: Vec<String> = secrets
        .iter()
        .filter_map(|token| token.rsplit_once('_').map(|(_, secret)| secret.to_owned()))
        .collect();
    assert!(tails.iter().all(|secret| secret.len() == 64), "256 bits in hex");
    for record in house.records().await? {
        let text = format!("{record:?}");
        assert!(!tails.iter().any(|secret| text.contains(secret)), "{text}");
    }
    let Reply::Tokens(infos) = house.owner(Request::TokenList { agent: None }).await? else {
        anyhow::bail!("no list")
    };
    let shown = format!("{infos:?}");
    assert!(!tails.iter().any(|secret| shown.contains(secret)));
    // The database with its log, the head, the lock, the socket's neighbours: as they lie there.
    let mut looked_at = 0;
    search(house.dir().database().parent().unwrap(), &mut |path, bytes| {
        looked_at += 1;
        for secret in &tails {
            let raw: Vec<u8> = (0..32)
                .map(|n| u8::from_str_radix(&secret[2 * n..2 * n + 2], 16).unwrap())
                .collect();
            for needle in [secret.as_bytes(), raw.as_slice()] {
                assert!(
                    !bytes.windows(needle.len()).any(|seen| seen == needle),
                    "in {}",
                    path.display()
                );
            }
        }
    })?;
    assert!(looked_at >= 3, "only {looked_at} files");
    Ok(())
}

fn search(folder: &Path, look: &mut impl FnMut(&Path, &[u8])) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            search(&path, look)?;
        } else if path.is_file() {
            look(&path, &std::fs::read(&path)?);
        }
    }
    Ok(())
}

async fn state(house: &TestHouse, id: TokenId) -> anyhow::Result<TokenInfo> {
    let Reply::Tokens(tokens) = house.owner(Request::TokenList { agent: None }).await? else {
        anyhow::bail!("no list")
    };
    tokens.into_iter().find(|token| token.id == id).ok_or_else(|| anyhow::anyhow!("no such token"))
}

fn effect(effect: Effect) -> UnitOfWork {
    UnitOfWork { effect: Some(effect), ..UnitOfWork::default() }
}
