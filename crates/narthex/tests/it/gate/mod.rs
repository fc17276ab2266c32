//! The owner's side of the gate, through the program: approvals, stopping, settings, taint.
//!
//! A house runs in the test's own process and the program asks it through its socket, as it asks
//! a server; where it matters, the program itself is the server.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod approvals;
mod damage;
mod emergency;
mod killed;
mod nonces;
mod serving;
mod settings;
mod stopping;
mod taint;
mod terminal;
mod upstairs;
mod watch;
mod whole;

use narthex_core::{
    Actor, Approval, ApprovalId, Binding, CallId, Digest, Holder, Mode, Phase, Reason, RecordDraft,
    Taint, Tier, Transport,
};
use narthex_store::{Clock as _, Effect, SystemClock, UnitOfWork, fresh_uuid};
use narthex_test::TestHouse;
use serde_json::Value;

/// A call that waits for the owner, as the gate would put it there: no tool of this release does.
pub(crate) async fn waiting(
    house: &TestHouse,
    tier: Tier,
    arguments: Value,
) -> anyhow::Result<Approval> {
    let agent = house.store().agent_by_slug(&"agent-a".parse()?).await?;
    let agent = agent.ok_or_else(|| anyhow::anyhow!("no agent"))?;
    let binding = Binding {
        holder: Holder { agent: agent.id, space: agent.space },
        surface: "servers/web".to_owned(),
        tool: "post".to_owned(),
        definition: Digest::of(b"definition"),
        arguments,
        tier,
        mode: Mode::Guarded,
        policy: Digest::of(b"policy"),
        run: None,
    };
    let now = house.house().gate().clock().moment();
    let (id, taint) =
        (ApprovalId::from_uuid(fresh_uuid()), Taint { private: true, untrusted: false });
    let until = now.wall.plus_millis(3_600_000);
    let approval = Approval {
        target: (tier == Tier::T3).then(|| "https://example.org/x".to_owned()),
        nonce: tier == Tier::T3,
        ..Approval::waiting(id, binding, Reason::ApprovalNeeded, taint, now, until)
    };
    let call = CallId::from_uuid(fresh_uuid());
    let actor = Actor::from(&agent);
    let record = RecordDraft::new(Phase::Refused, call, actor, Transport::Local, "post");
    let effect = Effect::RequestApproval { approval: Box::new(approval.clone()), cap: 100 };
    house.store().commit(UnitOfWork::effect(effect, record)).await?;
    Ok(approval)
}

/// Everything the ledger says, as one text.
pub(crate) async fn ledger(house: &TestHouse) -> anyhow::Result<String> {
    let mut text = String::new();
    for record in house.store().records(1, 10_000).await? {
        text.push_str(&String::from_utf8_lossy(&record.bytes));
        text.push('\n');
    }
    Ok(text)
}

/// The machine's time, for what must be the same inside and outside.
pub(crate) fn now() -> narthex_core::Timestamp {
    SystemClock.now()
}
