//! Token verification is one trait: another kind of credential changes nothing behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use narthex_core::{Agent, Reason, TokenId};
use narthex_gate::{Gate, GateConfig, GateParts, Verified, Verifier, VerifyError};
use narthex_mcp::EdgeConfig;
use narthex_policy::PolicyEngine;
use narthex_store::SystemClock;
use narthex_test::{CANARY_A, CANARY_B, Persona, SideDoor, TestHouse};
use serde_json::json;

/// Badges with a name on them: `badge:agent-a`.
#[derive(Debug)]
struct Badges {
    agents: Vec<Arc<Agent>>,
    down: AtomicBool,
}

#[async_trait]
impl Verifier for Badges {
    async fn verify(&self, bearer: &str) -> Result<Verified, VerifyError> {
        if self.down.load(Ordering::SeqCst) {
            return Err(VerifyError::Unavailable("the badge office burns".to_owned()));
        }
        let name = bearer.strip_prefix("badge:").ok_or(VerifyError::Bad)?;
        if name == "owner" {
            return Ok(Verified::Owner);
        }
        let agent = self.agents.iter().find(|agent| agent.slug.as_str() == name && !agent.disabled);
        let agent = Arc::clone(agent.ok_or(VerifyError::Bad)?);
        Ok(Verified::Agent { agent, token: BADGE })
    }

    async fn still_good(&self, _token: TokenId) -> bool {
        true
    }
}

const BADGE: TokenId = TokenId::from_uuid(uuid::Uuid::from_u128(0xBAD6E));

#[tokio::test]
async fn a_second_verifier_works_unchanged_behind_the_same_gate() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agents = house.store().agents().await?.into_iter().map(Arc::new).collect();
    let badges = Arc::new(Badges { agents, down: AtomicBool::new(false) });
    let config = GateConfig { requests_per_minute: 20, ..GateConfig::default() };
    let gate = Gate::open(GateParts {
        store: house.store(),
        verifier: Arc::clone(&badges) as _,
        policy: PolicyEngine::standard()?,
        clock: Arc::new(SystemClock),
        rows: house.row_key()?,
        config,
    })
    .await;
    let door =
        SideDoor::open(gate, Arc::clone(house.house().workspace()), EdgeConfig::default()).await?;
    let read = json!({"kind": "page", "id": "home"});
    for (badge, status, code, shows) in [
        ("badge:agent-a", 200, None, Some(CANARY_A)),
        ("badge:agent-b", 200, None, Some(CANARY_B)),
        ("badge:unbound", 403, Some("no_space_scope"), None),
        ("badge:disabled", 401, Some("unauthorized"), None),
        ("badge:nobody", 401, Some("unauthorized"), None),
        ("badge:owner", 401, Some("agent_required"), None),
    ] {
        let answer = door.client(badge).call("read", read.clone()).await?;
        assert_eq!(
            (answer.status, answer.door_code().as_deref()),
            (status, code),
            "{badge}: {answer:?}"
        );
        assert_eq!(
            shows.is_some_and(|canary| answer.text.contains(canary)),
            shows.is_some(),
            "{badge}"
        );
    }
    // What the house's own verifier takes, this one does not, and the other way round.
    let token = house.token(Persona::AgentA).unwrap_or_default();
    assert_eq!(door.client(&token).call("read", read.clone()).await?.status, 401);
    let badge = house.client_with(Some("badge:agent-a".to_owned()));
    assert_eq!(badge.call("read", read.clone()).await?.status, 401);
    // Grants, ceilings and the ledger are behind it, and the same.
    assert_eq!(door.client("badge:reader").tools().await?, ["search", "read", "context"]);
    assert_eq!(door.client("badge:lowered").tools().await?, ["search", "read", "context"]);
    let create = json!({"entity_type": "page", "action": "create", "payload": {"title": "Badged"}, "reason": "r"});
    let answer = door.client("badge:agent-a").call("propose_change", create).await?;
    assert!(answer.is_ok(), "the store's own tokens are still asked for: {answer:?}");
    let last = house.records().await?.into_iter().rfind(|record| record.draft.tool == "read");
    assert_eq!(last.and_then(|record| record.draft.token), Some(BADGE));
    // A credential that cannot be checked now is not a bad one, and not a good one.
    badges.down.store(true, Ordering::SeqCst);
    let answer = door.client("badge:agent-a").call("read", read.clone()).await?;
    assert_eq!(
        (answer.status, answer.door_code().as_deref()),
        (503, Some(Reason::Unavailable.code()))
    );
    assert!(!answer.text.contains("burns"), "{answer:?}");
    badges.down.store(false, Ordering::SeqCst);
    for _ in 0..25 {
        door.client("badge:agent-b").call("read", read.clone()).await?;
    }
    assert_eq!(door.client("badge:agent-b").call("read", read).await?.status, 429);
    door.close().await;
    Ok(())
}
