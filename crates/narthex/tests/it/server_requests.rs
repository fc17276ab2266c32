//! An agent asks for a server: what its owner is shown, and what a yes and a no come to.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::sync::Arc;

use narthex_core::{Actor, CallId, Phase, Proposal, ProposalId, RecordDraft, Taint, Transport};
use narthex_server::DataDir;
use narthex_store::{
    Agents as _, Clock as _, Commits as _, Effect, SystemClock, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::{SqliteConfig, SqliteStore};
use narthex_test::upstream::Step;
use serde_json::{Value, json};

use crate::servers::{House, hostile, script};
use crate::support::answer;

impl House {
    /// With servers on, and an agent.
    fn asked() -> (Self, String) {
        let house = Self::new(&hostile(&script()));
        answer(&["space", "add", "lab"], &house.dir);
        answer(&["agent", "add", "claude", "--space", "lab"], &house.dir);
        house.says(&["mcp", "on"]);
        let id = house.ask_for("up", "to echo things");
        (house, id)
    }

    /// The agent asks, as its surface would have it: the house is nobody's just now.
    fn ask_for(&self, server: &str, reason: &str) -> String {
        let dir = DataDir::at(&self.dir);
        let keys = dir.keys().expect("keys");
        let (database, head, clock) = (dir.database(), dir.head_file(), Arc::new(SystemClock));
        let config = SqliteConfig::new(database, head, keys.ledger, keys.seal, clock);
        let id = ProposalId::from_uuid(fresh_uuid());
        let taint = Taint { private: true, untrusted: true };
        tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
            let store = SqliteStore::open(config).await.expect("opens");
            let agent = store.agent_by_slug(&"claude".parse().expect("a slug")).await;
            let agent = agent.expect("reads").expect("claude");
            let (space, now) = (agent.space.expect("a space"), SystemClock.now());
            let name = server.parse().expect("a slug");
            let proposal = Proposal::for_server(id, agent.id, space, name, "x", taint, now);
            // Whatever a surface lets through is made harmless where it is shown.
            let proposal = Proposal { reason: reason.to_owned(), ..proposal.expect("a proposal") };
            let effect = Effect::OpenProposal { proposal: Box::new(proposal), cap: 9 };
            let (call, actor) = (CallId::from_uuid(fresh_uuid()), Actor::from(&agent));
            let record =
                RecordDraft::new(Phase::Observed, call, actor, Transport::Local, "manage_mcp");
            store.commit(UnitOfWork::effect(effect, record)).await.expect("commits");
            store.close().await.expect("closes");
        });
        id.to_string()
    }

    fn shown(&self, id: &str) -> Value {
        answer(&["inbox", "show", id], &self.dir)
    }
}

#[test]
fn it_is_listed_and_shown_with_what_is_to_be_done_next() {
    let (house, id) = House::asked();
    let list = house.says(&["inbox", "list"]);
    let row = list.lines().find(|line| line.contains(&id)).expect("a row");
    for piece in ["claude", "pending", "enable", "server up"] {
        assert!(row.contains(piece), "{piece} in {row}");
    }
    let listed = &answer(&["inbox", "list"], &house.dir)[0];
    assert_eq!(
        (&listed["entity_type"], &listed["action"], &listed["slug"]),
        (&json!("server"), &json!("enable"), &json!("up"))
    );
    let shown = house.says(&["inbox", "show", &id]);
    for line in [
        "agent     claude",
        "action    enable server up",
        "reason    to echo things",
        "taken in  private and untrusted",
        "server    not approved",
        "profiles  none of claude's has it",
        "Look at it:    narthex mcp info up",
        "Approve it:    narthex mcp approve up",
        "Give it:       narthex mcp profiles set claude PROFILE",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(shown.contains(&format!("narthex inbox approve {id}")), "{shown}");
    let server = &house.shown(&id)["server"];
    assert_eq!((&server["stands"], &server["given"]), (&json!("not_approved"), &json!([])));
    assert!(
        house.fails(&["mcp", "test", "up"], 4).contains("not approved"),
        "asking starts nothing"
    );
}

#[test]
fn what_is_not_approved_is_not_let_in_and_the_request_keeps_waiting() {
    let (house, id) = House::asked();
    let approve = ["inbox", "approve", &id];
    let refused = house.fails(&approve, 4);
    assert!(refused.contains("narthex mcp approve up"), "{refused}");
    assert!(refused.contains("keeps waiting"), "{refused}");
    // The start alone is not enough: nobody has looked at what it offers.
    house.says(&["mcp", "approve", "up", "--start-only", "--yes"]);
    assert!(house.fails(&approve, 4).contains("narthex mcp approve up"));
    assert_eq!(house.shown(&id)["status"], "pending");
    house.says(&["mcp", "approve", "up", "--yes"]);
    house.says(&["mcp", "profiles", "set", "claude", "work"]);
    assert_eq!(house.shown(&id)["server"]["stands"], "ready");
    let shown = house.says(&["inbox", "show", &id]);
    assert!(shown.contains("claude has it by work") && !shown.contains("Approve it:"), "{shown}");
    let decided = answer(&approve, &house.dir);
    assert_eq!(decided["status"], "applied");
    assert_eq!(decided["let_in"], json!({"server": "up", "enabled": false, "given": ["work"]}));
    assert!(house.fails(&approve, 4).contains("applied already"));
    house.says(&["mcp", "test", "up", "--agent", "claude"]);
}

#[test]
fn a_yes_enables_what_was_disabled_and_both_are_recorded() {
    let (house, id) = House::asked();
    house.says(&["mcp", "approve", "up", "--yes"]);
    house.says(&["mcp", "profiles", "set", "claude", "work"]);
    house.says(&["mcp", "disable", "up"]);
    let shown = house.says(&["inbox", "show", &id]);
    assert!(shown.contains("a yes enables it for every agent that has it"), "{shown}");
    assert!(house.says(&["inbox", "approve", &id]).contains("up is enabled now"));
    assert!(!house.says(&["mcp", "list"]).contains("disabled"));
    house.says(&["mcp", "test", "up", "--agent", "claude"]);
    let records = answer(&["ledger", "tail", "-n", "100"], &house.dir);
    let has = |tool: &str, kind: &str, id: &str| {
        let is = |record: &&Value| {
            record["tool"] == tool
                && record["subject"]["kind"] == kind
                && record["subject"]["id"] == id
        };
        records.as_array().expect("records").iter().any(|record| is(&record))
    };
    assert!(has("inbox.approve", "proposal", &id) && has("server.enable", "server", "up"));
}

#[test]
fn while_servers_are_off_or_it_is_not_in_the_file_it_waits() {
    let (house, id) = House::asked();
    let stands = |says: &str, refused: &str| {
        assert_eq!(house.shown(&id)["server"]["stands"], says);
        let told = house.fails(&["inbox", "approve", &id], 4);
        assert!(told.contains(refused) && told.contains("keeps waiting"), "{says}: {told}");
        assert_eq!(house.shown(&id)["status"], "pending");
    };
    house.says(&["mcp", "approve", "up", "--yes"]);
    house.says(&["mcp", "off"]);
    stands("servers_off", "narthex mcp on");
    assert!(house.says(&["inbox", "show", &id]).contains("Turn them on:  narthex mcp on"));
    house.says(&["mcp", "on"]);
    let mut disabled = hostile(&script());
    disabled["disabled"] = json!(true);
    house.write(&disabled);
    stands("disabled_in_file", "disabled");
    house.write(&json!({"command": "/nowhere/at/all"}));
    let shown = house.says(&["inbox", "show", &id]);
    assert!(shown.contains("\ntrouble ") && !shown.contains("server    ready"), "{shown}");
    house.write(&hostile(&script().tool("more", [Step::Echo])));
    stands("start_changed", "narthex mcp diff up");
    let file = house.dir.join("mcp.json");
    fs::write(&file, r#"{"mcpServers": {}}"#).expect("mcp.json");
    stands("not_in_file", "narthex mcp list");
    fs::write(&file, "{").expect("mcp.json");
    stands("file_unreadable", "mcp.json");
    house.write(&hostile(&script()));
    house.says(&["inbox", "approve", &id]);
}

#[test]
fn a_no_is_a_no_and_what_the_agent_wrote_steers_nothing() {
    let (house, _) = House::asked();
    let id = house.ask_for("other", "\u{1b}[2Jplease\n\u{202e}x");
    let shown = house.says(&["inbox", "show", &id]);
    assert!(shown.contains("⟨U+001B⟩[2Jplease ⟨U+202E⟩x") && shown.contains("WARNING"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    house.says(&["inbox", "reject", &id, "--reason", "Not this one."]);
    let rejected = house.shown(&id);
    assert_eq!(
        (&rejected["status"], &rejected["note"]),
        (&json!("rejected"), &json!("Not this one."))
    );
    assert!(!house.says(&["inbox", "show", &id]).contains("Say yes:"));
    assert!(house.fails(&["inbox", "approve", &id], 4).contains("rejected already"));
    assert!(house.says(&["ledger", "verify"]).contains("whole"));
}
