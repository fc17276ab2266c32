//! A call that waits, over HTTP and the real store: why is told to the model and to the ledger,
//! and once the owner has said yes the same call runs, once.

use std::sync::Arc;

use narthex_core::{Mode, Phase, Reason, Ruled};
use narthex_mcp::EdgeConfig;
use narthex_test::{Era, SideDoor};
use serde_json::{Value, json};

use super::workshop::{Said, Workshop};

/// What the agent did before, what it calls, and why that waits.
const ROWS: &[(&[&str], &str, Reason)] = &[
    (&[], "publish", Reason::ApprovalNeeded),
    (&["mail"], "note", Reason::Tainted),
    (&["mail", "diary"], "ask_web", Reason::EgressWhileTainted),
];

#[tokio::test]
async fn why_a_call_waits_is_told_and_recorded_and_it_runs_once() -> anyhow::Result<()> {
    for (before, tool, reason) in ROWS {
        for era in Era::ALL {
            let shop = Workshop::open(Mode::Guarded).await?;
            for tool in *before {
                shop.call(tool, json!({})).await;
            }
            let edge = EdgeConfig::default();
            let door = SideDoor::open(shop.gate.clone(), Arc::clone(&shop.surface), edge).await?;
            let client = door.client(&shop.token("worker")).speaking(era);
            let seq = shop.house.seq().await?;
            let answer = client.call(tool, json!({"text": "x"})).await?;
            assert_eq!(answer.tool_code().as_deref(), Some(reason.code()), "{tool} {answer:?}");
            let told = answer.result()["_meta"]["narthex/error"]["approval"].clone();
            let records = shop.house.records_after(seq).await?;
            assert_eq!(records.len(), 1, "{tool}");
            let record = &records[0].draft;
            assert_eq!((record.decision, record.reason), (Ruled::Approval, *reason));
            let mark = record.approval.as_ref().expect("it names the request");
            assert_eq!(told["id"], json!(mark.id), "{tool}");
            assert!(told["until"].is_string() || told["until"].is_number(), "{told}");
            assert_eq!(shop.bench.count(tool), 0, "{tool} was done while it waits");
            shop.approve(mark.id).await;
            let mut codes: Vec<Value> = Vec::new();
            for _ in 0..3 {
                codes.push(json!(client.call(tool, json!({"text": "x"})).await?.tool_code()));
            }
            assert_eq!(
                codes,
                [json!(null), json!("approval_used"), json!("approval_used")],
                "{tool}"
            );
            assert_eq!(shop.bench.count(tool), 1, "{tool}");
            door.close().await;
        }
    }
    Ok(())
}

/// Whether it was approved cannot be told: refused, and in the ledger like every refusal.
#[tokio::test]
async fn approvals_that_cannot_be_read_are_a_refusal_with_its_record() -> anyhow::Result<()> {
    let shop = Workshop::open(Mode::Guarded).await?;
    shop.house.faults().fail_approvals(true);
    let before = shop.house.seq().await?;
    let got = shop.call("publish", json!({})).await;
    assert_eq!(got, Said::Other(narthex_gate::CallError::Unavailable));
    let records = shop.house.records_after(before).await?;
    let left: Vec<_> = records.iter().map(|it| (it.draft.phase, it.draft.reason)).collect();
    assert_eq!(left, [(Phase::Refused, Reason::Unavailable)]);
    assert_eq!(shop.bench.count("publish"), 0);
    Ok(())
}
