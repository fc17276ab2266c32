//! A call that waits: it runs once after the owner's yes, as it was shown, and is decided on anew
//! when the branch is no longer what it was.

use narthex_core::{Mode, Tier};
use narthex_server::owner::Request;
use narthex_test::Persona;
use serde_json::json;

use super::harbour::{Harbour, SCHEMA, code, done, insert, options};

async fn open(mode: Mode) -> anyhow::Result<Harbour> {
    let mut options = options();
    options.mode = mode;
    Harbour::with(options).await
}

#[tokio::test]
async fn an_approved_change_of_a_shared_branch_is_made_once() -> anyhow::Result<()> {
    let harbour = open(Mode::Guarded).await?;
    let agent = harbour.newcomer("scout", Tier::T2).await?;
    let call = insert("cyd", "team");
    let waits = agent.call("graph_mutate", call.clone()).await?;
    assert_eq!(waits.tool_code().as_deref(), Some("approval_needed"), "{waits:?}");
    assert_eq!(harbour.people("team").await?, "ada:36 bob:40");
    harbour.approve(&waits).await?;
    // The yes is for this call alone.
    for other in [insert("mal", "team"), insert("cyd", "main")] {
        assert!(!agent.call("graph_mutate", other).await?.is_ok());
    }
    let before = harbour.house.seq().await?;
    let made = done(&agent, "graph_mutate", call.clone()).await?;
    assert_eq!((&made["branch"], &made["committed"]), (&json!("team"), &json!(true)));
    let records = harbour.house.records_after(before).await?;
    assert!(records.iter().all(|record| record.draft.approval.is_some()));
    assert_eq!(code(&agent, "graph_mutate", call).await?, "approval_used");
    assert_eq!(harbour.people("team").await?, "ada:36 bob:40 cyd:null");
    harbour.house.verify().await?;
    Ok(())
}

/// A protected branch takes what the owner types, and the branch by its name.
#[tokio::test]
async fn a_protected_branch_takes_one_target_and_a_typed_yes() -> anyhow::Result<()> {
    let harbour = open(Mode::Open).await?;
    let agent = harbour.newcomer("scout", Tier::T3).await?;
    let mut unnamed = insert("cyd", "main");
    unnamed.as_object_mut().map(|call| call.remove("branch"));
    assert_eq!(code(&agent, "graph_mutate", unnamed).await?, "one_target");
    let call = insert("cyd", "main");
    let waits = agent.call("graph_mutate", call.clone()).await?;
    harbour.approve(&waits).await?;
    done(&agent, "graph_mutate", call).await?;
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40 cyd:null");
    Ok(())
}

/// Not even with the owner's yes does `main` get a schema that a stored query does not hold to.
#[tokio::test]
async fn a_schema_that_a_stored_query_does_not_hold_to_is_not_applied() -> anyhow::Result<()> {
    let harbour = open(Mode::Open).await?;
    let agent = harbour.newcomer("scout", Tier::T3).await?;
    let schema = SCHEMA.replace("score: I64?", "points: I64? @rename_from(score)");
    assert_ne!(schema, SCHEMA);
    let call = |branch: &str| json!({"schema": schema, "branch": branch});
    done(&agent, "branch_create", json!({"name": "mine"})).await?;
    done(&agent, "schema_apply", call("mine")).await?;
    let waits = agent.call("schema_apply", call("main")).await?;
    harbour.approve(&waits).await?;
    let told = agent.call("schema_apply", call("main")).await?;
    assert_eq!(told.tool_code().as_deref(), Some("conflict"), "{told:?}");
    assert!(told.text.contains("stored.gq"), "{told:?}");
    let asked = done(&agent, "branch_merge", json!({"from": "mine", "into": "main"})).await?;
    let proposal = asked["pending_change_id"].as_str().expect("a proposal").to_owned();
    let refused = harbour.house.owner(Request::InboxApprove { proposal }).await;
    let refused = refused.expect_err("it is not merged").to_string();
    assert!(refused.contains("stored.gq"), "{refused}");
    let is = done(&agent, "schema_get", json!({})).await?;
    assert!(is["source"].as_str().expect("a text").contains("score: I64?"), "{is}");
    Ok(())
}

/// What was approved for a shared branch is not made on one that is protected by then, nor is what
/// was free on an agent's own.
#[tokio::test]
async fn a_branch_that_was_protected_since_is_decided_on_anew() -> anyhow::Result<()> {
    let harbour = open(Mode::Open).await?;
    let agent = harbour.newcomer("scout", Tier::T3).await?;
    done(&agent, "branch_create", json!({"name": "mine"})).await?;
    for branch in ["team", "mine"] {
        let call = insert("cyd", branch);
        if branch == "team" {
            harbour.approve(&agent.call("graph_mutate", call.clone()).await?).await?;
        }
        harbour.protect(branch, true).await?;
        let waits = agent.call("graph_mutate", call.clone()).await?;
        assert_eq!(waits.tool_code().as_deref(), Some("approval_needed"), "{waits:?}");
        assert_eq!(harbour.people(branch).await?, "ada:36 bob:40");
        harbour.approve(&waits).await?;
        done(&agent, "graph_mutate", call).await?;
        assert_eq!(harbour.people(branch).await?, "ada:36 bob:40 cyd:null");
    }
    Ok(())
}

/// What is too much to look at is not put before the owner, nor kept for that.
#[tokio::test]
async fn a_call_that_waits_is_one_an_owner_can_look_at() -> anyhow::Result<()> {
    let mut options = options();
    options.gate.approval_bytes = 1_000;
    let harbour = Harbour::with(options).await?;
    let agent = harbour.newcomer("scout", Tier::T2).await?;
    let load = |bytes: usize, branch: &str| json!({"data": "\n".repeat(bytes), "branch": branch});
    assert_eq!(code(&agent, "graph_load", load(100, "team")).await?, "approval_needed");
    let before = harbour.house.seq().await?;
    let answer = agent.call("graph_load", load(1_000, "team")).await?;
    assert_eq!(answer.tool_code().as_deref(), Some("limit_reached"), "{answer:?}");
    assert!(answer.text.contains("1000 bytes"), "{answer:?}");
    assert_eq!(harbour.house.records_after(before).await?.len(), 1);
    // On its own branch nobody has to look.
    done(&agent, "branch_create", json!({"name": "mine"})).await?;
    done(&agent, "graph_load", load(1_000, "mine")).await?;
    Ok(())
}

/// Protected while changes of it are on their way: each was made before, or not without an approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn protecting_a_branch_is_not_raced() -> anyhow::Result<()> {
    let harbour = open(Mode::Guarded).await?;
    let agent = harbour.agent(Persona::AgentA);
    for round in 0..4 {
        let branch = format!("mine-{round}");
        done(&agent, "branch_create", json!({"name": branch})).await?;
        let mut calls = tokio::task::JoinSet::new();
        for n in 0..8 {
            let (agent, call) = (agent.clone(), insert(&format!("p{n}"), &branch));
            calls.spawn(async move { agent.call("graph_mutate", call).await });
        }
        harbour.protect(&branch, true).await?;
        let stood = harbour.people(&branch).await?;
        let mut made = 0;
        while let Some(answer) = calls.join_next().await {
            let answer = answer??;
            let code = answer.tool_code();
            assert!(answer.is_ok() || code.as_deref() == Some("over_mode"), "{answer:?}");
            made += usize::from(answer.is_ok());
        }
        assert_eq!(harbour.people(&branch).await?, stood, "changed after it was protected");
        assert_eq!(stood.matches('p').count(), made);
    }
    Ok(())
}
