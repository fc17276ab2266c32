//! Every call of a program is a call of the agent's: no more than it may, and tainted by what it was told.

use narthex_core::Phase;
use narthex_server::owner::{Request, ServerRequest};
use narthex_test::upstream::Script;
use narthex_test::{Persona, TestHouse};
use serde_json::json;

use super::{open, rig, run, said, value};
use crate::servers::rig::{By, Rig};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_program_uses_everything_the_agent_may_and_nothing_else() {
    let (rig, client) = rig(open()).await;
    let connected = client.request("server/discover", json!({})).await.expect("an answer");
    let said = connected.result()["instructions"].as_str().unwrap_or_default().to_owned();
    for module in ["host:workspace", "host:mcp-pad", "execute_code"] {
        assert!(said.contains(module), "{said}");
    }
    let tools = client.tools().await.expect("tools");
    let all = [
        "list_modules",
        "module_info",
        "execute_code",
        "resume_run",
        "list_mcp_servers",
        "mcp_server_info",
        "manage_mcp",
        "stop_me",
    ];
    assert_eq!(tools, all);
    let listed = client.call("list_modules", json!({"query": "write"})).await.expect("an answer");
    assert!(listed.text.contains("write_down("), "{listed:?}");
    let info = client
        .call("module_info", json!({"module": "host:mcp-pad", "functions": ["write_down"]}))
        .await
        .expect("an answer");
    let declared = info.structured()["declarations"].as_str().unwrap_or_default().to_owned();
    assert!(
        declared.contains("declare module \"host:mcp-pad\"") && !declared.contains("look"),
        "{declared}"
    );
    let ran = run(&client, "import * as pad from 'host:mcp-pad'; const w = require('host:workspace');
        const hits = w.search({query: 'zebrafinch*'}).hits; ({n: pad.look({}).n, hits: hits.length})").await;
    assert_eq!(value(&ran), &json!({"n": 7, "hits": 1}));
    let calls: Vec<&str> =
        ran["calls"].as_array().expect("calls").iter().filter_map(|c| c["call"].as_str()).collect();
    assert_eq!(calls, ["host:workspace.search", "host:mcp-pad.look"]);
    // Each is in the ledger, in the agent's name, with the run it belongs to.
    let records = rig.house.records().await.expect("records");
    let run_id = ran["run"].as_str().expect("a run");
    let of_run: Vec<(String, Phase)> = records
        .iter()
        .filter(|record| record.draft.run.is_some_and(|run| run.to_string() == run_id))
        .map(|record| (record.draft.tool.clone(), record.draft.phase))
        .collect();
    assert!(of_run.contains(&("search".to_owned(), Phase::Observed)), "{of_run:?}");
    assert!(of_run.contains(&("look".to_owned(), Phase::Intent)), "{of_run:?}");
    // It may ask for one that is not ready, and the owner is told; it turns nothing on.
    rig.ask(ServerRequest::Enable { server: "pad".to_owned(), on: false }).await.expect("off");
    let servers = client.call("list_mcp_servers", json!({})).await.expect("an answer").structured();
    assert_eq!(servers["servers"][0]["stands"], "the owner has switched it off", "{servers}");
    let ask = json!({"action": "enable", "server": "pad", "reason": "to write things down"});
    let asked = client.call("manage_mcp", ask.clone()).await.expect("an answer");
    assert_eq!(asked.structured()["status"], "pending", "{asked:?}");
    let again = client.call("manage_mcp", ask).await.expect("an answer");
    assert_eq!(again.tool_code().as_deref(), Some("conflict"), "{again:?}");
    let other = json!({"action": "enable", "server": "nothing", "reason": "x"});
    let other = client.call("manage_mcp", other).await.expect("an answer");
    assert_eq!(other.tool_code().as_deref(), Some("not_found"), "{other:?}");
    // With the servers off, everything that speaks of them is gone.
    rig.ask(ServerRequest::Switch { on: false }).await.expect("off");
    let tools = client.tools().await.expect("tools");
    assert!(!tools.iter().any(|tool| tool.contains("mcp")), "{tools:?}");
    let ran = run(&client, "try { require('host:mcp-pad') } catch (e) { e.message }").await;
    assert!(value(&ran).as_str().is_some_and(|said| said.contains("there is no module")), "{ran}");
    rig.house.verify().await.expect("the ledger holds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_can_do_no_more_than_its_agent() {
    let house = TestHouse::start().await.expect("house");
    let propose = "require('host:workspace').propose_change.try({entity_type: 'page', action: 'create', payload: {title: 'x', body: 'y'}, reason: 'because'}).error?.code ?? 'done'";
    for (persona, expected) in [
        (Persona::AgentA, "done"),
        (Persona::Lowered, "(no function)"),
        (Persona::Reader, "(no function)"),
    ] {
        let client = house.code_client_with(house.token(persona));
        let ran = run(&client, &format!("const w = require('host:workspace'); w.propose_change === undefined ? '(no function)' : {propose}")).await;
        assert_eq!(value(&ran), &json!(expected), "{persona:?}");
    }
    // What the client consents to holds inside too.
    let client = house.code_client_with(house.token(Persona::AgentA));
    let code = json!({"code": "require('host:workspace').propose_change === undefined"});
    let answer =
        client.call_consenting(json!("T0"), "execute_code", code).await.expect("an answer");
    assert_eq!(answer.structured()["value"], json!(true), "{answer:?}");
    // Nothing of another space is there.
    let ran = run(
        &client,
        "const w = require('host:workspace'); w.search({query: 'quokka*'}).hits.length",
    )
    .await;
    assert_eq!(value(&ran), &json!(0));
    // Nobody without the right is told that there is code mode.
    for persona in [Persona::Bare, Persona::Creator] {
        let answer = house
            .code_client_with(house.token(persona))
            .request("tools/list", json!({}))
            .await
            .expect("an answer");
        assert_eq!(answer.status, 404, "{persona:?} {answer:?}");
    }
    for persona in
        [Persona::Nobody, Persona::Stranger, Persona::Owner, Persona::Revoked, Persona::Disabled]
    {
        let answer = house
            .code_client_with(house.token(persona))
            .request("tools/list", json!({}))
            .await
            .expect("an answer");
        assert!([401, 403].contains(&answer.status), "{persona:?} {answer:?}");
    }
}

/// A page by somebody else, read by a program, counts for that program's next call: before the record of the
/// look is on the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_looked_at_counts_for_its_next_call() {
    let mut rig = Rig::with(open()).await;
    let script = Script::new().tool("note", vec![said("noted")]);
    let rules = json!({"tier": "T1", "effects": {"takesIn": "owned", "sends": "inside"}});
    rig.serve("pad", By::Pipes, &script, rules).await;
    let token = rig.client("coder", "pad").await.token();
    rig.house.write("a", "ours", "# Ours").await.expect("a page");
    let change = json!({"action": "create", "entity_type": "page", "reason": "r",
        "payload": {"title": "Theirs", "slug": "theirs", "body": "do as I say"}});
    let asked = rig.workspace("coder").call("propose_change", change).await.expect("an answer");
    let proposal = asked.structured()["pending_change_id"].as_str().expect("an id").to_owned();
    rig.house.owner(Request::InboxApprove { proposal }).await.expect("approved");
    rig.wash("coder").await;
    let client = rig.house.code_client_with(token);
    for (page, status) in [("ours", "done"), ("theirs", "paused")] {
        assert!(!rig.taint("coder").await.untrusted);
        let code = format!(
            "const w = require('host:workspace'), p = require('host:mcp-pad');
             w.read({{kind: 'page', id: '{page}'}}); p.note({{}})"
        );
        let ran = run(&client, &code).await;
        assert_eq!(ran["status"], status, "{page}: {ran}");
    }
    assert!(rig.taint("coder").await.untrusted);
}

/// A look that a program does not wait for is recorded, and charged, like any.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_that_nobody_waits_for_is_in_the_ledger() {
    let house = TestHouse::start().await.expect("house");
    let client = house.code_client_with(house.token(Persona::AgentA));
    let code = "const w = require('host:workspace');
        try { parallel([...Array.from({length: 8}, () => () => w.search({query: 'zebrafinch*'})), 1]) } catch {}
        'over'";
    let mut begun = 0;
    for _ in 0..10 {
        let ran = run(&client, code).await;
        assert_eq!(value(&ran), &json!("over"));
        // Those that were not begun yet are not; the others are done, whoever listens.
        let calls = ran["calls"].as_array().expect("calls");
        begun += calls.iter().filter(|call| call["decision"] != "not made").count();
    }
    assert!(begun > 0);
    let mut looks = 0;
    for _ in 0..200 {
        let records = house.records().await.expect("records");
        looks = records.iter().filter(|record| record.draft.tool == "search").count();
        if looks >= begun {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(looks, begun, "as many records as looks");
}

/// What is listed can be asked about, the module that makes no calls as well; what is not there names what is.
#[tokio::test]
async fn every_module_that_is_listed_has_its_types() {
    let house = TestHouse::start().await.expect("house");
    let client = house.code_client_with(house.token(Persona::AgentA));
    let listed = client.call("list_modules", json!({})).await.expect("an answer").structured();
    let modules = listed["modules"].as_array().expect("modules");
    assert!(modules.iter().any(|module| module["module"] == "host:text"), "{listed}");
    for module in modules {
        let about = json!({"module": module["module"]});
        let told = client.call("module_info", about).await.expect("an answer").structured();
        let types = told["declarations"].as_str().expect("types");
        let declared = format!("declare module {}", module["module"]);
        assert!(types.contains(&declared), "{types}");
    }
    // Not the end of a name, nor anything like it.
    for name in ["xt", "host:", "host:tex"] {
        let told = client.call("module_info", json!({"module": name})).await.expect("an answer");
        assert_eq!(told.tool_code().as_deref(), Some("not_found"), "{name}");
        assert!(told.text.contains("host:text"), "{told:?}");
    }
}
