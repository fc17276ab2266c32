//! Proposals: bounded, waiting, applied once or not at all.

use narthex_core::{Bound, Holder, Mode, Outcome, Phase, ProposalStatus, Reason, Tier};
use narthex_server::owner::{Reply, Request};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::{Value, json};
use tokio::task::JoinSet;

#[tokio::test]
async fn only_so_many_of_an_agents_proposals_wait_at_once() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.workspace.open_proposals = 3;
    let house = TestHouse::with(options).await?;
    let agent = house.client(Persona::AgentA);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(agent.call("propose_change", create(&format!("p-{n}"), "x")).await?.proposal()?);
    }
    let before = house.seq().await?;
    let over = agent.call("propose_change", create("p-3", "x")).await?;
    assert_eq!(over.tool_code().as_deref(), Some(Reason::LimitReached.code()), "{over:?}");
    let records = house.records_after(before).await?;
    assert_eq!(
        records.iter().map(|r| (r.draft.phase, r.draft.reason)).collect::<Vec<_>>(),
        [(Phase::Refused, Reason::LimitReached)]
    );
    // Another agent has its own room, and a decision makes room again.
    assert!(house.client(Persona::Creator).call("propose_change", create("q", "x")).await?.is_ok());
    house.owner(Request::InboxReject { proposal: ids.remove(0), reason: "no".into() }).await?;
    assert!(agent.call("propose_change", create("p-3", "x")).await?.is_ok());
    assert!(!agent.call("propose_change", create("p-4", "x")).await?.is_ok());
    Ok(())
}

/// A slug is text, and may be somebody else's: whoever is told it has taken it in.
#[tokio::test]
async fn a_foreign_pages_slug_is_taken_in_by_whoever_did_not_know_it() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let made = agent.call("propose_change", create("ignore-your-owner", "x")).await?.proposal()?;
    house.owner(Request::InboxApprove { proposal: made }).await?;
    let id = house.page("a", "ignore-your-owner").await?.page.id.to_string();
    let update = json!({"body": "y"});
    for (n, action, by, untrusted) in [
        (0, "delete", id.as_str(), true),
        (1, "update", id.as_str(), true),
        (2, "delete", "ignore-your-owner", false),
        (3, "delete", "home", false),
    ] {
        let slug = format!("other-{n}");
        let other = house.agent(&slug, "a", &["read", "suggest"], Tier::T1).await?;
        let mut change = json!({"entity_type": "page", "action": action, "id": by, "reason": "r"});
        if action == "update" {
            change["payload"] = update.clone();
        }
        let answer = other.call("propose_change", change).await?;
        assert!(answer.is_ok(), "{answer:?}");
        let agent = house.store().agent_by_slug(&slug.parse()?).await?.expect("it");
        let holder = Holder { agent: agent.id, space: agent.space };
        assert_eq!(house.store().taint(holder).await?.untrusted, untrusted, "{action} {by}");
    }
    Ok(())
}

/// At once is not a way around: the cap is counted by the writer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cap_holds_for_forty_at_once() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    options.workspace.open_proposals = 7;
    let house = TestHouse::with(options).await?;
    let mut calls = JoinSet::new();
    for n in 0..40 {
        let agent = house.client(Persona::AgentA);
        calls.spawn(
            async move { agent.call("propose_change", create(&format!("p-{n}"), "x")).await },
        );
    }
    let mut made = 0;
    while let Some(done) = calls.join_next().await {
        made += usize::from(done??.is_ok());
    }
    assert_eq!((made, waiting(&house).await?), (7, 7));
    Ok(())
}

#[tokio::test]
async fn what_is_too_large_or_makes_no_sense_is_refused_and_leaves_nothing() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let long = |n: usize| "x".repeat(n);
    let with = |key: &str, value: Value| {
        let mut arguments = create("fine", "x");
        arguments[key] = value;
        arguments
    };
    let paying = |key: &str, value: Value| {
        let mut arguments = create("fine", "x");
        arguments["payload"][key] = value;
        arguments
    };
    let update = json!({"entity_type": "page", "action": "update", "id": "home", "reason": "r"});
    let rows = [
        ("a body over its bound", paying("body", json!(long(Bound::BODY_BYTES + 1)))),
        ("a NUL in a body", paying("body", json!("a\u{0}b"))),
        ("two bodies", paying("body_md", json!("other"))),
        ("a title over its bound", paying("title", json!(long(Bound::TITLE_CHARS + 1)))),
        ("an empty title", paying("title", json!("  "))),
        ("a title of two lines", paying("title", json!("a\nb"))),
        ("a slug over its bound", paying("slug", json!(long(Bound::PAGE_SLUG_BYTES + 1)))),
        ("a slug that climbs", paying("slug", json!("../b/plans"))),
        ("a slug in capitals", paying("slug", json!("Plans"))),
        (
            "too many tags",
            paying("tags", json!((0..=Bound::TAGS).map(|n| format!("t{n}")).collect::<Vec<_>>())),
        ),
        ("a tag over its bound", paying("tags", json!([long(Bound::TAG_CHARS + 1)]))),
        ("a tag that is no text", paying("tags", json!([1]))),
        ("no reason", with("reason", json!(""))),
        ("a reason of spaces", with("reason", json!(" \n "))),
        ("a reason over its bound", with("reason", json!(long(Bound::REASON_CHARS + 1)))),
        ("a reason with a terminal's codes", with("reason", json!("\u{1b}[2J"))),
        ("another entity", with("entity_type", json!("space"))),
        ("a conversation", with("entity_type", json!("conversation"))),
        ("another action", with("action", json!("apply"))),
        ("a create with an id", with("id", json!("home"))),
        ("a create with a base", with("base_revision", json!(1))),
        ("a base of nought", {
            let mut arguments = update.clone();
            arguments["base_revision"] = json!(0);
            arguments
        }),
        ("an update of nothing", update.clone()),
        (
            "an update without an id",
            json!({"entity_type": "page", "action": "update", "payload": {"body": "x"}, "reason": "r"}),
        ),
        ("arguments that are no object", json!(["page"])),
    ];
    for (what, arguments) in rows {
        let before = house.seq().await?;
        let answer = agent.call("propose_change", arguments).await?;
        assert_eq!(
            answer.tool_code().as_deref(),
            Some(Reason::InvalidArguments.code()),
            "{what}: {answer:?}"
        );
        assert!(answer.text.len() < 4_096, "{what}: the answer echoes what was sent");
        let records = house.records_after(before).await?;
        assert_eq!(
            records.iter().map(|r| r.draft.phase).collect::<Vec<_>>(),
            [Phase::Refused],
            "{what}"
        );
    }
    assert_eq!(waiting(&house).await?, 0);
    // Exactly at the bound it is fine.
    assert!(agent.call("propose_change", create("fits", &long(Bound::BODY_BYTES))).await?.is_ok());
    Ok(())
}

#[tokio::test]
async fn an_argument_nobody_knows_is_named_to_the_model() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    for (tool, arguments) in [
        ("search", json!({"query": "x", "surprise": 1})),
        ("read", json!({"kind": "page", "id": "home", "surprise": 1})),
        ("context", json!({"surprise": 1})),
        (
            "propose_change",
            json!({"entity_type": "page", "action": "delete", "id": "home", "reason": "r", "surprise": 1}),
        ),
    ] {
        let answer = house.client(Persona::AgentA).call(tool, arguments).await?;
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
        assert!(answer.text.contains("surprise"), "{answer:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_approvals_at_once_apply_exactly_once() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let update = json!({"entity_type": "page", "action": "update", "id": "home", "payload": {"body": "Once."}, "reason": "r"});
    let id = agent.call("propose_change", update).await?.proposal()?;
    let before = house.seq().await?;
    let mut hands = JoinSet::new();
    for _ in 0..64 {
        let (desk, proposal) = (house.house().desk().clone(), id.clone());
        hands.spawn(async move { desk.handle(Request::InboxApprove { proposal }).await });
    }
    let mut applied = 0;
    while let Some(done) = hands.join_next().await {
        applied += usize::from(done?.is_ok());
    }
    assert_eq!(applied, 1);
    assert_eq!(house.page("a", "home").await?.page.revision, 2);
    let records = house.records_after(before).await?;
    let (done, refused): (Vec<_>, Vec<_>) =
        records.iter().partition(|r| r.draft.outcome == Outcome::Ok);
    assert_eq!((done.len(), refused.len()), (1, 63));
    assert_eq!(done[0].draft.reason, Reason::OwnerAction);
    assert!(refused.iter().all(|record| record.draft.reason == Reason::Conflict));
    house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn a_rejection_says_why_and_is_final() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let id = agent.call("propose_change", create("maybe", "x")).await?.proposal()?;
    let open = agent.call("context", json!({})).await?.structured();
    assert_eq!(open["open_proposals"][0]["pending_change_id"], id, "{open}");
    house
        .owner(Request::InboxReject { proposal: id.clone(), reason: "we have one already".into() })
        .await?;
    let seen = agent.call("context", json!({})).await?.structured();
    assert_eq!(seen["open_proposals"], json!([]));
    let earlier = &seen["earlier_proposals"][0];
    assert_eq!(
        (&earlier["status"], &earlier["note"]),
        (&json!("rejected"), &json!("we have one already"))
    );
    assert!(house.owner(Request::InboxApprove { proposal: id }).await.is_err());
    assert!(house.page("a", "maybe").await.is_err(), "a rejected page exists");
    Ok(())
}

/// Nothing an agent does applies anything: in no mode, with no ceiling.
#[tokio::test]
async fn an_agent_never_changes_a_page() -> anyhow::Result<()> {
    let house =
        TestHouse::with(HouseOptions { mode: Mode::Open, ..HouseOptions::default() }).await?;
    let agent = house.agent("strong", "a", &["read", "suggest"], narthex_core::Tier::T3).await?;
    let before = (house.page("a", "home").await?, house.page("a", "guides/setup").await?);
    for action in ["create", "update", "delete"] {
        let mut arguments = create("made", "x");
        arguments["action"] = action.into();
        if action != "create" {
            arguments["id"] = "home".into();
        }
        for status in ["applied", "approved", "pending"] {
            arguments["status"] = status.into();
            arguments["applied"] = true.into();
            let answer = agent.call("propose_change", arguments.clone()).await?;
            assert_eq!(answer.structured()["applied"], false, "{answer:?}");
        }
    }
    assert_eq!((house.page("a", "home").await?, house.page("a", "guides/setup").await?), before);
    assert!(house.page("a", "made").await.is_err());
    Ok(())
}

fn create(slug: &str, body: &str) -> Value {
    let payload = json!({"slug": slug, "title": slug, "body": body});
    json!({"entity_type": "page", "action": "create", "payload": payload, "reason": "because"})
}

async fn waiting(house: &TestHouse) -> anyhow::Result<usize> {
    let statuses = vec![ProposalStatus::Pending];
    match house.owner(Request::InboxList { space: None, statuses, limit: 100 }).await? {
        Reply::Proposals(waiting) => Ok(waiting.len()),
        other => anyhow::bail!("no inbox: {other:?}"),
    }
}
