//! Merges that agents propose: shown row by row, made of exactly what was proposed, once.

pub(crate) mod net;

use narthex_core::{Actor, Outcome, Phase, ProposalStatus, Taint};
use narthex_graph::merge::Asked;
use narthex_graph::stored::{Declaration, QueryFile};
use narthex_server::owner::{
    Merged, OwnerError, ProposalDetail, ProposalInfo, Reply, Request, Trouble,
};
use narthex_store::{CommitKind, Refused};
use narthex_test::{HouseOptions, Persona, TestHouse};
use serde_json::json;
use tokio::task::JoinSet;

use net::{BRANCH, Net, refusal};

#[tokio::test]
async fn the_owner_is_shown_the_rows_and_merges_exactly_those() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let id = net.ask().await?;
    let [listed] = list(&house).await?.try_into().expect("one");
    let merge = listed.merge.clone().expect("a merge");
    assert_eq!(merge.graph.map(|graph| graph.to_string()).as_deref(), Some("harbour"));
    assert_eq!((merge.from.as_str(), merge.into.as_str()), (BRANCH, "main"));

    // What the owner wrote meanwhile is no part of what the merge brings.
    net.change("main", r#"update Person set { name: "Ada L." } where slug = "ada""#).await?;
    let detail = show(&house, &id).await?;
    let change = detail.change.expect("a change");
    assert_eq!(change.from_now, Some(merge.from_commit));
    assert_eq!(change.into_now, Some(net.head("main").await?.id));
    assert_ne!(change.into_now, Some(merge.into_commit));
    assert!(change.as_merged && !change.more && change.trouble.is_none());
    assert_eq!(detail.diff, "", "the schema stays");
    let mut rows = serde_json::to_value(&change.rows)?;
    rows.as_array_mut().expect("rows").sort_by_key(|row| row["change"].to_string());
    assert_eq!(
        rows,
        json!([
            {"change": "added", "row": {"type": "Person", "key": "cyd"},
             "after": {"name": "Cyd", "slug": "cyd"}, "properties": ["name", "slug"]},
            {"change": "changed", "row": {"type": "Person", "key": "bob"},
             "before": {"age": 40, "name": "Bob", "slug": "bob"},
             "after": {"age": 41, "name": "Bob", "slug": "bob"}, "properties": ["age"]},
            {"change": "removed", "properties": [], "before": {},
             "row": {"type": "Knows", "from": ["Person", "ada"], "to": ["Person", "bob"]}},
        ])
    );
    assert_eq!(net.people("main").await?, "ada:36 bob:40", "looking changes nothing");

    let before = house.seq().await?;
    let merged = approve(&house, &id).await?;
    assert_eq!(merged.rows, 3);
    assert_eq!(net.people("main").await?, "ada:36 bob:41 cyd:null");
    let head = net.head("main").await?;
    assert_eq!((merged.commit, head.kind), (Some(head.id), CommitKind::Merge));
    assert_eq!((head.actor, head.parents[1]), (Actor::Owner, merge.from_commit));
    let [record] = house.records_after(before).await?.try_into().expect("one record");
    assert_eq!((record.draft.tool.as_str(), record.draft.phase), ("inbox.approve", Phase::Owner));
    assert_eq!(record.draft.subject.digest, merged.commit.map(|commit| commit.digest()));
    assert!(list(&house).await?.is_empty());
    let detail = show(&house, &id).await?;
    assert_eq!(detail.info.status, ProposalStatus::Applied);
    assert_eq!(detail.change.expect("a change").rows.len(), 3, "it can still be looked at");
    house.verify().await?;
    Ok(())
}

/// What the owner saw is what is merged: not what the agent added since.
#[tokio::test]
async fn what_was_added_after_the_proposal_is_not_merged() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let id = net.ask().await?;
    let asked = net.head(BRANCH).await?;
    net.change(BRANCH, r#"insert Person { slug: "mal", name: "Mal" }"#).await?;
    let detail = show(&house, &id).await?;
    let change = detail.change.expect("a change");
    assert_eq!(change.from_now, Some(net.head(BRANCH).await?.id));
    assert!(!change.as_merged);
    assert!(!serde_json::to_string(&change.rows)?.contains("mal"));
    assert_eq!(change.rows.len(), 3);
    for _ in 0..2 {
        let refused = approve(&house, &id).await.expect_err("refused");
        assert_eq!(refused.kind, Trouble::Conflict);
        assert!(refused.message.contains(&format!("the branch {BRANCH} stands at")), "{refused}");
        assert!(refused.message.contains("propose it anew"), "{refused}");
    }
    assert!(!net.has_merged(asked.id).await?);
    assert_eq!(net.people("main").await?, "ada:36 bob:40");
    let info = show(&house, &id).await?.info;
    assert_eq!(info.status, ProposalStatus::Conflict);
    assert!(info.note.expect("a note").contains("propose it anew"));
    // And so it can.
    let again = net.ask().await?;
    approve(&house, &again).await?;
    assert_eq!(net.people("main").await?, "ada:36 bob:41 cyd:null mal:null");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_approvals_are_one_merge() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let id = net.ask().await?;
    let mut hands = JoinSet::new();
    for _ in 0..8 {
        let (desk, proposal) = (house.house().desk().clone(), id.clone());
        hands.spawn(async move { desk.handle(Request::InboxApprove { proposal }).await });
    }
    let mut made = 0;
    while let Some(done) = hands.join_next().await {
        match done? {
            Ok(_) => made += 1,
            Err(error) => assert!(error.message.contains("applied already"), "{error}"),
        }
    }
    assert_eq!(made, 1);
    let log = net.hall.engine().log(&net.graph, &"main".parse()?, None, 100).await?;
    assert_eq!(log.iter().filter(|commit| commit.kind == CommitKind::Merge).count(), 1);
    Ok(())
}

#[tokio::test]
async fn conflicts_are_told_and_decided_row_by_row() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let id = net.ask().await?;
    net.change("main", r#"update Person set { age: 50 } where slug = "bob""#).await?;
    let change = show(&house, &id).await?.change.expect("a change");
    assert_eq!((change.conflicts_total, change.as_merged), (1, false));
    assert_eq!(change.conflicts[0].conflict["conflict"], "divergent_update");
    assert_eq!(change.conflicts[0].conflict["ours"]["age"], 50);
    assert_eq!(change.rows.len(), 3);

    let before = house.seq().await?;
    let refused = approve(&house, &id).await.expect_err("a conflict");
    assert_eq!(refused.kind, Trouble::Conflict);
    for told in
        ["Person `bob`", "--resolve", "narthex graph merge harbour agents/scout/x --into main"]
    {
        assert!(refused.message.contains(told), "{told}: {refused}");
    }
    let [record] = house.records_after(before).await?.try_into().expect("one record");
    assert_eq!(record.draft.outcome, Outcome::Refused);
    let info = show(&house, &id).await?.info;
    assert_eq!(info.status, ProposalStatus::Conflict);
    assert!(info.note.expect("a note").contains("Person `bob`: changed on both sides"));
    assert_eq!(net.people("main").await?, "ada:36 bob:50");

    // A row that is nowhere in conflict cannot be resolved.
    let wrong = json!([{"row": {"type": "Person", "key": "ada"}, "take": "theirs"}]);
    let refused = resolve(&house, &id, wrong).await.expect_err("wrong");
    assert_eq!(refused.kind, Trouble::Invalid, "{refused}");
    let said =
        json!([{"row": {"type": "Person", "key": "bob"}, "given": {"name": "Bob", "age": 45}}]);
    resolve(&house, &id, said.clone()).await?;
    assert_eq!(net.people("main").await?, "ada:36 bob:45 cyd:null");
    assert_eq!(show(&house, &id).await?.info.status, ProposalStatus::Applied);
    let again = resolve(&house, &id, said).await.expect_err("once");
    assert!(again.message.contains("applied already"), "{again}");
    assert_eq!(net.people("main").await?, "ada:36 bob:45 cyd:null");
    house.verify().await?;
    Ok(())
}

#[tokio::test]
async fn what_is_there_already_is_applied_without_a_commit() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let first = net.ask().await?;
    // Another agent asks for the same branch.
    let other = house.store().agent_by_slug(&"creator".parse()?).await?.expect("an agent");
    let mut theirs = net.asking().await?;
    theirs.agent = other.id;
    let second = net.open(theirs).await?;
    approve(&house, &first).await?;
    let head = net.head("main").await?.id;
    let merged = approve(&house, &second).await?;
    assert_eq!((merged.committed, merged.rows, merged.commit), (false, 0, Some(head)));
    assert_eq!(net.head("main").await?.id, head);
    Ok(())
}

#[tokio::test]
async fn another_spaces_graph_is_not_proposed_and_looks_like_none() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let net = Net::found(&house, "b", "agent-a").await?;
    let told = refusal(net.open(net.asking().await?).await.expect_err("refused"));
    assert_eq!(told, Refused::NotFound("graph"));
    assert!(list(&house).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_agent_reads_what_became_of_it() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let agent = house.client(Persona::AgentA);
    let id = net.ask().await?;
    let context = agent.call("context", json!({})).await?.structured();
    let open = &context["open_proposals"][0];
    assert_eq!(open["pending_change_id"], id.as_str(), "{context}");
    assert_eq!((&open["entity_type"], &open["action"]), (&json!("graph"), &json!("merge")));
    assert_eq!(
        (&open["slug"], &open["merge"]),
        (&json!("harbour"), &json!("agents/scout/x → main"))
    );
    let reason = "Cite a source.".to_owned();
    house.owner(Request::InboxReject { proposal: id.clone(), reason }).await?;
    let context = agent.call("context", json!({})).await?.structured();
    assert_eq!(context["open_proposals"], json!([]));
    let fate = &context["earlier_proposals"][0];
    assert_eq!((&fate["status"], &fate["note"]), (&json!("rejected"), &json!("Cite a source.")));
    // It waits no more, and may be asked for anew; nothing was merged.
    assert_eq!(net.people("main").await?, "ada:36 bob:40");
    net.ask().await?;
    let elsewhere = house.client(Persona::AgentB).call("context", json!({})).await?.structured();
    assert_eq!(elsewhere["open_proposals"], json!([]));
    assert!(!elsewhere.to_string().contains("harbour"));
    Ok(())
}

/// The owner's approval washes nothing off, nor does a latch that was cleared before asking.
#[tokio::test]
async fn the_merge_carries_what_the_agent_had_taken_in() -> anyhow::Result<()> {
    let private = Taint { private: true, untrusted: false };
    // When it wrote, or when it asked.
    for (wrote, asked) in [(private, Taint::CLEAN), (Taint::CLEAN, private)] {
        let (house, net) = start().await?;
        let maker = net.maker(wrote);
        net.change_as(BRANCH, r#"insert Person { slug: "dan", name: "Dan" }"#, &maker).await?;
        net.change(BRANCH, r#"insert Person { slug: "eve", name: "Eve" }"#).await?;
        let mut proposal = net.asking().await?;
        proposal.taint = asked;
        let id = net.open(proposal).await?;
        approve(&house, &id).await?;
        assert_eq!(net.head("main").await?.taint, Taint { private: true, untrusted: true });
    }
    Ok(())
}

#[tokio::test]
async fn a_schema_that_breaks_stored_queries_is_shown_and_not_merged() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    let text = "query ages() { match { $p: Person } return { $p.age } }".to_owned();
    let files = vec![QueryFile { name: "harbour.gq".to_owned(), source: text, only: None }];
    let declared = Declaration { files, ..Declaration::default() };
    options.graphs.declared.insert("harbour".parse()?, declared);
    let house = TestHouse::with(options).await?;
    let net = Net::found(&house, "a", "agent-a").await?;
    // Nothing is lost by it: only the query stands in the way.
    net.schema(
        BRANCH,
        "node Person { slug: String @key  name: String  years: I32? @rename_from(age) }
         edge Knows: Person -> Person",
    )
    .await?;
    let id = net.ask().await?;
    let detail = show(&house, &id).await?;
    let change = detail.change.expect("a change");
    assert!(change.trouble.is_some(), "{change:?}");
    let refused = approve(&house, &id).await.expect_err("refused");
    assert_eq!(refused.kind, Trouble::Conflict, "{refused}");
    assert_eq!(show(&house, &id).await?.info.status, ProposalStatus::Pending);
    assert_eq!(net.people("main").await?, "ada:36 bob:40");
    Ok(())
}

#[tokio::test]
async fn a_schema_that_grows_is_shown_as_a_diff() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    net.schema(
        BRANCH,
        "node Person { slug: String @key  name: String  age: I32?  email: String? }
         edge Knows: Person -> Person",
    )
    .await?;
    let id = net.ask().await?;
    let detail = show(&house, &id).await?;
    assert!(
        detail.diff.lines().any(|line| line.starts_with('+') && line.contains("email")),
        "{}",
        detail.diff
    );
    assert!(detail.change.expect("a change").as_merged);
    approve(&house, &id).await?;
    assert!(
        net.hall
            .engine()
            .schema_at(&net.graph, &narthex_store::At::Branch("main".parse()?))
            .await?
            .to_source()
            .contains("email")
    );
    Ok(())
}

#[tokio::test]
async fn a_removed_graph_leaves_a_proposal_that_says_so() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    let id = net.ask().await?;
    let write = Box::new(narthex_store::GraphWrite::Remove { graph: net.graph.id });
    let unit =
        narthex_store::UnitOfWork::effect(narthex_store::Effect::Graph(write), net::record());
    house.store().commit(unit).await?;
    let detail = show(&house, &id).await?;
    assert_eq!(detail.info.merge.expect("a merge").graph, None);
    assert_eq!(detail.change.expect("a change").trouble.as_deref(), Some("the graph is gone"));
    let refused = approve(&house, &id).await.expect_err("refused");
    assert!(refused.message.contains("graph not found"), "{refused}");
    house.owner(Request::InboxReject { proposal: id, reason: "gone".to_owned() }).await?;
    Ok(())
}

#[tokio::test]
async fn many_rows_are_cut_and_it_is_said() -> anyhow::Result<()> {
    let (house, net) = start().await?;
    for part in 0..8 {
        let people =
            (0..50).map(|n| format!("insert Person {{ slug: \"p{part}-{n}\", name: \"P\" }}\n"));
        net.change(BRANCH, &people.collect::<String>()).await?;
    }
    let id = net.ask().await?;
    let change = show(&house, &id).await?.change.expect("a change");
    assert!(change.more && change.rows.len() == 300, "{}", change.rows.len());
    assert_eq!(approve(&house, &id).await?.rows, 403);
    Ok(())
}

async fn start() -> anyhow::Result<(TestHouse, Net)> {
    let house = TestHouse::start().await?;
    let net = Net::found(&house, "a", "agent-a").await?;
    Ok((house, net))
}

async fn list(house: &TestHouse) -> anyhow::Result<Vec<ProposalInfo>> {
    let request = Request::InboxList { space: None, statuses: Vec::new(), limit: 10 };
    match house.owner(request).await? {
        Reply::Proposals(list) => Ok(list),
        other => anyhow::bail!("{other:?}"),
    }
}

async fn show(house: &TestHouse, id: &str) -> anyhow::Result<ProposalDetail> {
    match house.owner(Request::InboxShow { proposal: id.to_owned() }).await? {
        Reply::Proposal(detail) => Ok(*detail),
        other => anyhow::bail!("{other:?}"),
    }
}

async fn approve(house: &TestHouse, id: &str) -> Result<Merged, OwnerError> {
    Ok(decided(house.owner(Request::InboxApprove { proposal: id.to_owned() }).await?))
}

async fn resolve(
    house: &TestHouse,
    id: &str,
    said: serde_json::Value,
) -> Result<Merged, OwnerError> {
    let resolutions: Vec<Asked> = serde_json::from_value(said).expect("resolutions");
    Ok(decided(house.owner(Request::InboxResolve { proposal: id.to_owned(), resolutions }).await?))
}

fn decided(reply: Reply) -> Merged {
    match reply {
        Reply::Decided(decided) => {
            assert_eq!(decided.status, ProposalStatus::Applied);
            decided.merged.expect("what it came to")
        }
        other => panic!("{other:?}"),
    }
}
