//! What a call weighs, cell by cell: the tool, the branch, what would be lost, against how far the
//! agent may go and the posture of the house.

use narthex_core::{Mode, Reason, Ruled, Tier};
use narthex_test::{Answer, Client, HouseOptions};
use serde_json::{Value, json};

use super::harbour::{Harbour, SCHEMA, done, insert, options};

/// What comes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    Done,
    /// It waits for the owner's yes.
    Waits,
    /// And for what the owner must type.
    WaitsTyped,
    /// It is in the owner's inbox.
    Proposed,
    Refused(Reason),
}

use Comes::{Done, Proposed, Refused, Waits, WaitsTyped};

/// Who may go how far, where.
const STANDINGS: [(Tier, Mode); 8] = [
    (Tier::T0, Mode::Guarded),
    (Tier::T1, Mode::Guarded),
    (Tier::T2, Mode::Guarded),
    (Tier::T3, Mode::Guarded),
    (Tier::T0, Mode::Open),
    (Tier::T1, Mode::Open),
    (Tier::T2, Mode::Open),
    (Tier::T3, Mode::Open),
];

const OVER: Comes = Refused(Reason::OverCeiling);
const MODE: Comes = Refused(Reason::OverMode);
/// On its own branch.
const OWN: [Comes; 8] = [OVER, Done, Done, Done, OVER, Done, Done, Done];
/// On a shared one.
const SHARED: [Comes; 8] = [OVER, OVER, Waits, Waits, OVER, OVER, Waits, Waits];
/// On a protected one, or with something lost.
const MOST: [Comes; 8] = [MODE, MODE, MODE, MODE, OVER, OVER, OVER, WaitsTyped];
/// A merge into a shared branch: whoever may not, asks.
const MERGED: [Comes; 8] = [OVER, Proposed, Waits, Waits, OVER, Proposed, Waits, Waits];
/// One that loses something there. The house that admits no T3 asks for everyone.
const INBOX: [Comes; 8] =
    [OVER, Proposed, Proposed, Proposed, OVER, Proposed, Proposed, WaitsTyped];
/// Asked for by word; or a merge into a protected branch, which whoever may only suggest asks for
/// however far it may go.
const ASKED: [Comes; 8] = [OVER, Proposed, Proposed, Proposed, OVER, Proposed, Proposed, Proposed];
const NEVER: [Comes; 8] = [Refused(Reason::Conflict); 8];
const NOWHERE: [Comes; 8] = [Refused(Reason::NotFound); 8];

/// The schema without ages.
fn lossy() -> String {
    SCHEMA.replace("    age: I32?\n", "")
}

/// A tool, its arguments (`#` is a number no call had before), and what comes of it for each.
fn table() -> Vec<(&'static str, Value, [Comes; 8])> {
    let age = |branch: &str| json!({"query": r#"update Person set { age: # } where slug = "bob""#, "branch": branch});
    let line = r#"{"type":"Person","data":{"slug":"p#","name":"P"}}"#;
    let load = |branch: &str, mode: &str| json!({"data": line, "branch": branch, "mode": mode});
    let from = |from: &str| json!({"data": line, "branch": "load-#", "from": from});
    let schema = |branch: &str| json!({"schema": format!("{SCHEMA} node N# {{ slug: String @key }}"), "branch": branch});
    let loss = |branch: &str| json!({"schema": lossy(), "branch": branch, "allow_data_loss": true});
    let add = |branch: &str| json!({"params": {"slug": "s#", "name": "S"}, "branch": branch});
    let merge = |from: &str, into: &str| json!({"from": from, "into": into});
    let with = |mut call: Value, name: &str| {
        call[name] = true.into();
        call
    };
    vec![
        ("graph_mutate", age("mine"), OWN),
        ("graph_mutate", age("team"), SHARED),
        ("graph_mutate", age("theirs"), SHARED),
        ("graph_mutate", age("main"), MOST),
        ("graph_mutate", age("release"), MOST),
        ("graph_mutate", age("nowhere"), NOWHERE),
        ("graph_load", load("mine", "merge"), OWN),
        ("graph_load", load("mine", "overwrite"), OWN),
        ("graph_load", load("team", "append"), SHARED),
        ("graph_load", load("main", "merge"), MOST),
        ("graph_load", load("nowhere", "merge"), NOWHERE),
        ("graph_load", from("main"), OWN),
        ("graph_load", from("team"), OWN),
        ("add", add("mine"), OWN),
        ("add", add("team"), SHARED),
        ("add", add("main"), MOST),
        ("add", add("nowhere"), NOWHERE),
        ("schema_apply", schema("mine"), OWN),
        ("schema_apply", schema("team"), SHARED),
        ("schema_apply", schema("main"), MOST),
        ("schema_apply", loss("mine"), MOST),
        ("schema_apply", loss("team"), MOST),
        ("schema_apply", schema("nowhere"), NOWHERE),
        ("branch_create", json!({"name": "b-#"}), OWN),
        ("branch_create", json!({"name": "b-#", "from": "team"}), OWN),
        ("branch_delete", json!({"branch": "spent-#"}), OWN),
        ("branch_delete", json!({"branch": "full-#"}), MOST),
        ("branch_delete", json!({"branch": "team-spent-#"}), SHARED),
        ("branch_delete", json!({"branch": "team-full-#"}), MOST),
        ("branch_delete", json!({"branch": "main"}), NEVER),
        ("branch_delete", json!({"branch": "release"}), NEVER),
        ("branch_delete", json!({"branch": "nowhere"}), NOWHERE),
        ("branch_merge", merge("full-#", "mine"), OWN),
        ("branch_merge", merge("full-#", "team"), MERGED),
        ("branch_merge", merge("full-#", "main"), ASKED),
        ("branch_merge", merge("full-#", "release"), ASKED),
        ("branch_merge", with(merge("full-#", "main"), "allow_data_loss"), ASKED),
        ("branch_merge", with(merge("full-#", "team"), "propose"), ASKED),
        ("branch_merge", with(merge("full-#", "main"), "propose"), ASKED),
        ("branch_merge", with(merge("full-#", "team"), "allow_data_loss"), INBOX),
        ("branch_merge", merge("full-#", "nowhere"), NOWHERE),
        ("branch_merge", merge("nowhere", "mine"), NOWHERE),
    ]
}

#[tokio::test]
async fn what_a_call_weighs_and_what_comes_of_it() -> anyhow::Result<()> {
    let mut number = 0;
    for mode in [Mode::Guarded, Mode::Open] {
        let mut options = HouseOptions { mode, ..options() };
        options.gate.approvals_waiting = 1_000;
        let harbour = Harbour::with(options).await?;
        harbour.branch("harbour", "release", true).await?;
        for (column, (ceiling, _)) in STANDINGS.iter().enumerate().filter(|(_, row)| row.1 == mode)
        {
            // Branches are made by one that may, and are then its own whatever it may.
            let slug = format!("scout-{column}");
            let agent = harbour.newcomer(&slug, Tier::T1).await?;
            let mine = format!("mine-{column}");
            done(&agent, "branch_create", json!({"name": mine})).await?;
            let other = harbour.newcomer(&format!("other-{column}"), Tier::T1).await?;
            done(&other, "branch_create", json!({"name": format!("theirs-{column}")})).await?;
            let rows: Vec<_> = table()
                .into_iter()
                .map(|(tool, arguments, comes)| {
                    number += 1;
                    let text = arguments.to_string().replace('#', &number.to_string());
                    let text = text.replace("\"mine\"", &format!("\"{mine}\""));
                    (
                        tool,
                        text.replace("\"theirs\"", &format!("\"theirs-{column}\"")),
                        comes,
                        number,
                    )
                })
                .collect();
            for (_, text, _, number) in &rows {
                made_ready(&harbour, &agent, text, *number).await?;
            }
            set_ceiling(&harbour, &slug, *ceiling).await?;
            for (tool, text, comes, _) in &rows {
                let before = harbour.house.seq().await?;
                let answer = agent.call(tool, serde_json::from_str(text)?).await?;
                let what = format!("{ceiling} {mode} {tool} {text}: {answer:?}");
                let came = came(&harbour, &answer, before).await?;
                assert_eq!(came, comes[column], "{what}");
            }
        }
        harbour.house.verify().await?;
    }
    Ok(())
}

/// Consent of a client counts like a ceiling, and lowers.
#[tokio::test]
async fn a_client_that_consents_to_looking_changes_nothing() -> anyhow::Result<()> {
    let mut options = options();
    options.mode = Mode::Open;
    let harbour = Harbour::with(options).await?;
    let agent = harbour.newcomer("scout", Tier::T3).await?;
    done(&agent, "branch_create", json!({"name": "mine"})).await?;
    done(&agent, "branch_create", json!({"name": "more"})).await?;
    done(&agent, "graph_mutate", insert("cyd", "more")).await?;
    for consent in [json!("T0"), json!("t3"), json!(null)] {
        for (tool, arguments) in [
            ("graph_mutate", insert("dan", "mine")),
            ("graph_load", json!({"data": "", "branch": "mine"})),
            ("branch_create", json!({"name": "other"})),
            ("branch_delete", json!({"branch": "mine"})),
            ("branch_merge", json!({"from": "more", "into": "mine"})),
            ("branch_merge", json!({"from": "more", "into": "main"})),
            ("schema_apply", json!({"schema": SCHEMA, "branch": "mine"})),
            ("add", json!({"params": {"slug": "x", "name": "X"}, "branch": "mine"})),
        ] {
            let answer = agent.call_consenting(consent.clone(), tool, arguments).await?;
            assert_eq!(answer.tool_code().as_deref(), Some("over_ceiling"), "{tool}: {answer:?}");
        }
        let look = json!({"query": "match { $p: Person } return { $p.slug }"});
        assert!(agent.call_consenting(consent.clone(), "graph_query", look).await?.is_ok());
    }
    // With T1 it asks for what it could otherwise have made with an approval.
    let merge = json!({"from": "more", "into": "team"});
    let answer = agent.call_consenting(json!("T1"), "branch_merge", merge).await?;
    assert_eq!(answer.structured()["status"], "proposed", "{answer:?}");
    assert_eq!(harbour.people("mine").await?, "ada:36 bob:40");
    Ok(())
}

/// Branches a call names: `spent` has nothing of its own, `full` has; `team-` the owner's.
async fn made_ready(
    harbour: &Harbour,
    agent: &Client,
    text: &str,
    number: u32,
) -> anyhow::Result<()> {
    for (kind, owners) in
        [("spent", false), ("full", false), ("team-spent", true), ("team-full", true)]
    {
        let name = format!("{kind}-{number}");
        if !text.contains(&format!("\"{name}\"")) {
            continue;
        }
        let row = format!(r#"insert Person {{ slug: "{name}", name: "N" }}"#);
        if owners {
            harbour.branch("harbour", &name, false).await?;
        } else {
            done(agent, "branch_create", json!({"name": name})).await?;
        }
        match (kind.ends_with("full"), owners) {
            (true, true) => drop(harbour.change("harbour", &name, &row).await?),
            (true, false) => {
                drop(done(agent, "graph_mutate", json!({"query": row, "branch": name})).await?);
            }
            (false, _) => {}
        }
    }
    Ok(())
}

async fn set_ceiling(harbour: &Harbour, agent: &str, tier: Tier) -> anyhow::Result<()> {
    use narthex_server::owner::{Request, SettingRequest};
    let (agent, ceiling) = (agent.to_owned(), Some(tier));
    let request = SettingRequest::SetAgent { agent, ceiling, budget: None, tool_tiers: Vec::new() };
    harbour.house.owner(Request::Setting(request)).await?;
    Ok(())
}

/// What came of it, by the answer and the ledger alike.
async fn came(harbour: &Harbour, answer: &Answer, before: u64) -> anyhow::Result<Comes> {
    let records = harbour.house.records_after(before).await?;
    let last = records.last().map(|record| record.draft.clone()).expect("a record");
    if answer.is_ok() {
        assert_eq!(last.decision, Ruled::Allow, "{answer:?}");
        let proposed = answer.structured()["status"] == "proposed";
        assert_eq!(proposed, answer.structured().get("pending_change_id").is_some());
        return Ok(if proposed { Proposed } else { Done });
    }
    let code = answer.tool_code().unwrap_or_default();
    assert_eq!(last.reason.code(), code, "{answer:?}");
    if code != Reason::ApprovalNeeded.code() {
        return Ok(Refused(last.reason));
    }
    assert_eq!(last.decision, Ruled::Approval, "{answer:?}");
    let mark = last.approval.expect("a mark");
    let approval = harbour.house.store().approval(mark.id).await?.expect("an approval");
    Ok(if approval.nonce { WaitsTyped } else { Waits })
}
