//! Rows that no other module is about.

use narthex_core::ApprovalStatus;
use narthex_server::owner::{Answer as Word, ApprovalRequest, Reply, Request, ServerRequest};
use narthex_store::ProposalFilter;
use narthex_test::upstream::{HttpServer, Script, Step};
use narthex_test::{Answer, Client, HouseOptions, Persona, TestHouse};
use serde_json::{Value, json};

use crate::servers::rig::{By, Rig};

/// The request a call waits for.
fn waits(answer: &Answer) -> String {
    let id = &answer.result()["_meta"]["narthex/error"]["approval"]["id"];
    id.as_str().unwrap_or_else(|| panic!("it does not wait: {answer:?}")).to_owned()
}

async fn approve(house: &TestHouse, approval: &str) {
    let show = ApprovalRequest::Show { approval: approval.to_owned() };
    let Ok(Reply::Approval(detail)) = house.owner(Request::Approval(show)).await else {
        panic!("no request");
    };
    let (digest, answer) = (detail.info.digest, Word::Approve { nonce: None });
    let approval = approval.to_owned();
    let answer = ApprovalRequest::Answer { approval, digest, answer };
    house.owner(Request::Approval(answer)).await.unwrap();
}

/// Approved, and then the tool is another: by what its server says of it (which the owner approved
/// too), or by what the owner says of it.
#[tokio::test]
async fn e06_another_definition_or_rule_of_the_tool_voids_an_approval() {
    let plain =
        || json!({"name": "send", "description": "Sends.", "inputSchema": {"type": "object"}});
    let mut says = plain();
    says["description"] = "Sends it twice.".into();
    let mut takes = plain();
    takes["inputSchema"]["properties"] = json!({"to": {"type": "string"}});
    let rule = |rule: Value| json!({"tier": "T2", "tools": {"send": rule}});
    let rows = [
        ("nothing", plain(), rule(json!({})), true),
        ("a description", says, rule(json!({})), false),
        ("a parameter", takes, rule(json!({})), false),
        ("an effect", plain(), rule(json!({"effects": {"reads": "private"}})), false),
        ("a target", plain(), rule(json!({"target": "/to"})), false),
        ("a cost", plain(), rule(json!({"cost": 1})), false),
    ];
    for (what, definition, rules, runs) in rows {
        let mut rig = Rig::new().await;
        let script = |definition: Value| Script::new().defined(definition, [Step::Echo]);
        rig.serve("up", By::Pipes, &script(plain()), rule(json!({}))).await;
        let client = rig.client("anna", "up").await;
        let first = waits(&client.call("send", json!({})).await.unwrap());
        approve(&rig.house, &first).await;
        rig.serve("up", By::Pipes, &script(definition), rules).await;
        let answer = client.call("send", json!({})).await.unwrap();
        assert_eq!(answer.is_ok(), runs, "{what}: {answer:?}");
        let kept = rig.house.store().approval(first.parse().unwrap()).await.unwrap().unwrap();
        let expected = if runs { ApprovalStatus::Used } else { ApprovalStatus::Approved };
        assert_eq!(kept.status, expected, "{what}");
        if !runs {
            assert_ne!(waits(&answer), first, "{what}");
        }
    }
}

#[tokio::test]
async fn e19_five_hundred_proposals_a_minute_fill_an_inbox_and_no_more() -> anyhow::Result<()> {
    let mut options = HouseOptions::default();
    let as_it_comes = narthex_gate::GateConfig::default();
    options.gate.requests_per_minute = as_it_comes.requests_per_minute;
    options.workspace.open_proposals = 40;
    let house = TestHouse::with(options).await?;
    let agent = house.client(Persona::AgentA);
    let (mut taken, mut full, mut fast) = (0, 0, 0);
    for n in 0..500 {
        let change = json!({"action": "create", "entity_type": "page", "reason": "r",
            "payload": {"title": "t", "slug": format!("p{n}"), "body": "b"}});
        let answer = agent.call("propose_change", change).await?;
        match (answer.status, answer.tool_code().as_deref()) {
            (200, None) => taken += 1,
            (200, Some("limit_reached")) => full += 1,
            (429, _) => fast += 1,
            other => panic!("{n}: {other:?} {answer:?}"),
        }
    }
    assert_eq!((taken, taken + full + fast), (40, 500));
    // A few more come in while it is tried: two in a second.
    assert!(fast > 300 && full >= 80, "{full} for a full inbox, {fast} for being fast");
    let filter = ProposalFilter { limit: 1_000, ..ProposalFilter::default() };
    let all = house.store().proposals(&filter).await?;
    assert_eq!(all.len(), 40);
    assert!(
        all.iter().all(|it| it.status == narthex_core::ProposalStatus::Pending),
        "none decides itself"
    );
    assert!(house.page("a", "p0").await.is_err());
    Ok(())
}

/// E18 and H13: neither a tool, nor a path, nor a resource: what an agent tries is what is nowhere.
#[tokio::test]
async fn e18_h13_there_is_no_tool_for_a_reset_and_none_for_the_ledger() -> anyhow::Result<()> {
    let house = TestHouse::start().await?;
    let agent = house.client(Persona::AgentA);
    let without = |answer: &Answer, name: &str| (answer.status, answer.text.replace(name, "NAME"));
    let nothing = agent.call("no-such-thing", json!({})).await?;
    for tool in [
        "ledger",
        "ledger_tail",
        "ledger_verify",
        "audit",
        "audit_log",
        "records",
        "reset",
        "resume",
        "stop_lift",
        "taint_clear",
        "approve",
        "approvals_approve",
        "budget_set",
        "agent_set",
    ] {
        let answer = agent.call(tool, json!({})).await?;
        assert_eq!(without(&answer, tool), without(&nothing, "no-such-thing"), "{tool}");
    }
    let listed = agent.tools().await?;
    for word in ["ledger", "audit", "record", "reset", "resume", "clear", "approv"] {
        assert!(!listed.iter().any(|tool| tool.contains(word)), "{word} in {listed:?}");
    }
    let at = |path: &str| {
        let url = format!("http://{}{path}", house.address());
        Client::new(url, house.token(Persona::AgentA))
    };
    let nowhere = at("/no-such-thing").call("read", json!({})).await?;
    for path in [
        "/ledger",
        "/ledger/mcp",
        "/audit",
        "/records",
        "/owner",
        "/taint",
        "/approvals",
        "/resume",
    ] {
        let answer = at(path).call("read", json!({})).await?;
        assert_eq!((answer.status, &answer.text), (nowhere.status, &nowhere.text), "{path}");
    }
    let missing = agent.request("resources/read", json!({"uri": "no://such"})).await?;
    for uri in ["ledger://head", "ledger://records", "audit://all", "narthex://ledger"] {
        let answer = agent.request("resources/read", json!({"uri": uri})).await?;
        let code = (answer.status, answer.rpc_code());
        assert_eq!(code, (missing.status, missing.rpc_code()), "{uri}: {answer:?}");
        assert!(answer.result().is_null(), "{uri}");
    }
    Ok(())
}

/// A URL that was approved and then leads elsewhere: by another text in the file, which nobody
/// approved; or by a text that stayed and means another place.
#[tokio::test]
async fn g09_a_servers_url_that_came_to_lead_inside_is_not_reached() {
    let spy = HttpServer::start(Script::new().tool("echo", [Step::Echo])).await.unwrap();
    let inside = ["https://10.0.0.1/mcp", "http://169.254.169.254/latest", "https://[fd00::1]/mcp"];
    for (what, url) in inside
        .map(|url| ("inside", url.to_owned()))
        .into_iter()
        .chain([("spy", spy.url().to_owned())])
    {
        let mut rig = Rig::new().await;
        let script = Script::new().tool("echo", [Step::Echo]);
        rig.serve("up", By::Http, &script, json!({})).await;
        let client = rig.client("anna", "up").await;
        assert!(client.call("echo", json!({})).await.unwrap().is_ok());
        rig.set("up", json!({"url": url, "tier": "T0"}));
        let answer = client.call("echo", json!({})).await.unwrap();
        assert!(!answer.is_ok(), "{url}: nobody approved it: {answer:?}");
        if what == "inside" {
            // Approved all the same, it is not connected to.
            if rig.approve_start("up").await.is_ok() {
                let looked = rig.ask(ServerRequest::Look { server: "up".to_owned() }).await;
                assert!(looked.is_err(), "{url}");
            }
            let answer = client.call("echo", json!({})).await.unwrap();
            assert!(!answer.is_ok(), "{url}: {answer:?}");
        }
    }
    assert!(spy.came().is_empty(), "the spy was reached");
    // What the name in it means is looked at with every connection.
    let mut rig = Rig::new().await;
    rig.set("named", json!({"url": "https://server.example/mcp", "tier": "T0"}));
    rig.approve_start("named").await.unwrap();
    let looked = rig.ask(ServerRequest::Look { server: "named".to_owned() }).await;
    assert!(looked.is_err(), "a name that leads nowhere is no way in");
}
