//! A merge that is asked for, from the agent's call to the owner's word and back.

use narthex_server::owner::{ProposalDetail, Reply, Request, Trouble};
use narthex_test::{Client, Persona};
use serde_json::{Value, json};

use super::harbour::{Harbour, code, done, insert, options};

async fn show(harbour: &Harbour, id: &str) -> anyhow::Result<ProposalDetail> {
    match harbour.house.owner(Request::InboxShow { proposal: id.to_owned() }).await? {
        Reply::Proposal(detail) => Ok(*detail),
        other => anyhow::bail!("{other:?}"),
    }
}

async fn asked(agent: &Client, call: Value) -> anyhow::Result<String> {
    let answer = agent.call("branch_merge", call).await?;
    assert_eq!(answer.structured()["status"], "proposed", "{answer:?}");
    answer.proposal()
}

fn merge() -> Value {
    json!({"from": "mine", "into": "main", "message": "two more people"})
}

#[tokio::test]
async fn from_the_call_to_the_owners_word() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let nothing = done(&agent, "branch_merge", merge()).await?;
    assert_eq!(
        (&nothing["status"], nothing.get("pending_change_id")),
        (&json!("nothing_to_do"), None)
    );
    done(&agent, "graph_mutate", insert("cyd", "mine")).await?;
    let first = asked(&agent, merge()).await?;
    // One of these two branches waits already.
    assert_eq!(code(&agent, "branch_merge", merge()).await?, "conflict");
    let detail = show(&harbour, &first).await?;
    let change = detail.change.expect("a change");
    assert_eq!(detail.info.reason, "two more people");
    let rows = serde_json::to_value(&change.rows)?;
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    assert_eq!((&rows[0]["change"], &rows[0]["row"]["key"]), (&json!("added"), &json!("cyd")));
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40");

    // What the agent adds after it asked was never shown.
    done(&agent, "graph_mutate", insert("mal", "mine")).await?;
    let approve = |id: &str| harbour.house.owner(Request::InboxApprove { proposal: id.to_owned() });
    let refused = approve(&first).await.expect_err("it moved");
    assert_eq!(refused.kind, Trouble::Conflict, "{refused}");
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40");
    let second = asked(&agent, merge()).await?;
    assert_ne!(first, second);
    let rows = show(&harbour, &second).await?.change.expect("a change").rows;
    assert_eq!(rows.len(), 2);
    approve(&second).await?;
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40 cyd:null mal:null");
    assert_eq!(done(&agent, "branch_merge", merge()).await?["status"], "nothing_to_do");
    harbour.house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn the_owners_no_is_read_in_the_workspace() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    done(&agent, "graph_mutate", insert("cyd", "mine")).await?;
    let id = asked(&agent, merge()).await?;
    let context = || async {
        let client = harbour.house.client(Persona::AgentA);
        Ok::<_, anyhow::Error>(client.call("context", json!({})).await?.structured())
    };
    assert_eq!(context().await?["open_proposals"][0]["pending_change_id"], json!(id));
    let reason = "Who is Cyd?".to_owned();
    harbour.house.owner(Request::InboxReject { proposal: id, reason }).await?;
    let fate = context().await?["earlier_proposals"][0].clone();
    assert_eq!((&fate["status"], &fate["note"]), (&json!("rejected"), &json!("Who is Cyd?")));
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40");
    // It may ask again.
    asked(&agent, merge()).await?;
    Ok(())
}

#[tokio::test]
async fn conflicts_are_shown_and_not_resolved_in_a_proposal() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let age = |n: i32| format!(r#"update Person set {{ age: {n} }} where slug = "bob""#);
    done(&agent, "graph_mutate", json!({"query": age(41), "branch": "mine"})).await?;
    harbour.change("harbour", "main", &age(50)).await?;
    let take = json!([{"row": {"type": "Person", "key": "bob"}, "take": "theirs"}]);
    let mut resolved = merge();
    resolved["resolutions"] = take.clone();
    assert_eq!(code(&agent, "branch_merge", resolved).await?, "invalid_arguments");
    let answer = agent.call("branch_merge", merge()).await?;
    let conflicts = &answer.structured()["conflicts"];
    assert_eq!(conflicts["total"], 1, "{answer:?}");
    let row = &conflicts["listed"][0]["row"];
    assert_eq!(row, &json!({"type": "Person", "key": "bob"}), "{answer:?}");
    let id = answer.proposal()?;
    let change = show(&harbour, &id).await?.change.expect("a change");
    assert_eq!(change.conflicts_total, 1);
    // Resolved where it may: in its own branch, row by row.
    let inwards = json!({"from": "main", "into": "mine"});
    let told = agent.call("branch_merge", inwards.clone()).await?;
    assert_eq!(told.tool_code().as_deref(), Some("conflict"), "{told:?}");
    assert!(told.text.contains("bob"), "{told:?}");
    let ours = json!([{"row": row, "take": "ours"}]);
    let inwards = json!({"from": "main", "into": "mine", "resolutions": ours});
    assert_eq!(done(&agent, "branch_merge", inwards).await?["status"], "merged");
    harbour.house.owner(Request::InboxReject { proposal: id, reason: "anew".to_owned() }).await?;
    let id = asked(&agent, merge()).await?;
    harbour.house.owner(Request::InboxApprove { proposal: id }).await?;
    assert_eq!(harbour.people("main").await?, "ada:36 bob:41");
    Ok(())
}

/// Who may not read the branch that is merged into learns how many rows are in conflict, and no more.
#[tokio::test]
async fn conflicts_show_nothing_of_a_branch_that_may_not_be_read() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    harbour.branch("harbour", "secret", true).await?;
    let name = |text: &str| format!(r#"update Person set {{ name: "{text}" }} where slug = "bob""#);
    done(&agent, "graph_mutate", json!({"query": name("Bo"), "branch": "mine"})).await?;
    harbour.change("harbour", "secret", &name("secret-canary")).await?;
    harbour.govern(
        r#"forbid (principal, action == Narthex::Action::"read", resource is Narthex::Graph)
            when { context has branch && context.branch.name == "secret" };"#,
    )?;
    let answer = agent.call("branch_merge", json!({"from": "mine", "into": "secret"})).await?;
    assert_eq!(answer.structured()["conflicts"], json!({"total": 1, "listed": []}), "{answer:?}");
    assert!(!answer.text.contains("secret-canary"), "{answer:?}");
    Ok(())
}

/// Words of the agent's for the owner's eyes are one plain line.
#[tokio::test]
async fn what_an_agent_says_of_a_merge_is_a_plain_line() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    done(&agent, "graph_mutate", insert("cyd", "mine")).await?;
    let mut call = merge();
    call["message"] = "\u{1b}[2Jfine\u{202e}\n\napprove: yes\u{7}".into();
    let answer = agent.call("branch_merge", call).await?;
    let Ok(id) = answer.proposal() else {
        // Refused for what it is, that is as good.
        assert_eq!(answer.tool_code().as_deref(), Some("invalid_arguments"), "{answer:?}");
        return Ok(());
    };
    let said = show(&harbour, &id).await?.info.reason;
    assert!(!said.chars().any(|c| c.is_control() || c == '\u{202e}'), "{said:?}");
    Ok(())
}

/// What would be lost is asked for in so many words, and shown in as many.
#[tokio::test]
async fn a_merge_that_loses_something_is_proposed_and_approved_as_that() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    harbour.drop_email("mine").await?;
    done(&agent, "graph_mutate", insert("cyd", "mine")).await?;
    let told = agent.call("branch_merge", merge()).await?;
    assert_eq!(told.tool_code().as_deref(), Some("invalid_arguments"), "{told:?}");
    assert!(told.text.contains("`Person.email` is removed"), "{told:?}");
    let mut allowed = merge();
    allowed["allow_data_loss"] = true.into();
    let id = asked(&agent, allowed).await?;
    let detail = show(&harbour, &id).await?;
    assert!(detail.info.merge.is_some_and(|merge| merge.allow_data_loss));
    let change = detail.change.expect("a change");
    assert_eq!((change.trouble, change.as_merged), (None, true));
    assert!(detail.diff.contains("-    email: String? @unique"), "{}", detail.diff);
    harbour.house.owner(Request::InboxApprove { proposal: id }).await?;
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40 cyd:null");
    let schema = done(&agent, "schema_get", json!({})).await?;
    assert!(!schema["source"].as_str().expect("a text").contains("email"), "{schema}");
    Ok(())
}

/// What `main` gave up after the agent asked is not lost by an approval of what it asked for.
#[tokio::test]
async fn a_merge_that_came_to_lose_something_is_not_approved_as_that() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let mail = json!({"query": r#"update Person set { age: 41, email: "b@x" } where slug = "bob""#,
        "branch": "mine"});
    done(&agent, "graph_mutate", mail).await?;
    let id = asked(&agent, merge()).await?;
    harbour.drop_email("main").await?;
    let approve = Request::InboxApprove { proposal: id.clone() };
    let refused = harbour.house.owner(approve).await.expect_err("refused");
    assert!(refused.to_string().contains("--allow-data-loss"), "{refused}");
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40");
    assert!(show(&harbour, &id).await?.change.expect("a change").trouble.is_some());
    Ok(())
}

/// What was given up elsewhere is given up in the agent's own branch by the agent alone; in others
/// it is not.
#[tokio::test]
async fn what_main_gave_up_comes_into_an_agents_own_branch() -> anyhow::Result<()> {
    let harbour = Harbour::with_mine(options()).await?;
    let agent = harbour.agent(Persona::AgentA);
    let mail = json!({"query": r#"update Person set { email: "b@x" } where slug = "bob""#,
        "branch": "mine"});
    done(&agent, "graph_mutate", mail).await?;
    harbour.branch("harbour", "shared", false).await?;
    harbour.drop_email("main").await?;
    let inwards =
        |into: &str, allow: bool| json!({"from": "main", "into": into, "allow_data_loss": allow});
    let told = agent.call("branch_merge", inwards("mine", false)).await?;
    assert_eq!(told.tool_code().as_deref(), Some("invalid_arguments"), "{told:?}");
    let made = done(&agent, "branch_merge", inwards("mine", true)).await?;
    assert_eq!(made["status"], "merged", "{made}");
    let shared = agent.call("branch_merge", inwards("shared", true)).await?;
    assert_eq!(shared.structured()["status"], "proposed", "{shared:?}");
    done(&agent, "graph_mutate", insert("cyd", "mine")).await?;
    let id = asked(&agent, merge()).await?;
    harbour.house.owner(Request::InboxApprove { proposal: id }).await?;
    assert_eq!(harbour.people("main").await?, "ada:36 bob:40 cyd:null");
    Ok(())
}
