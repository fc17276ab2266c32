//! Latches, switches and the mode, edited or taken away: everything is stopped.

use narthex_core::{EngagedBy, Mode, SwitchScope, Taint};
use narthex_store::{
    Commits as _, Effect, GateBooks as _, Guard, Refused, Soundness as _, StoreError, UnitOfWork,
};

use super::{BOTH, House, commit, done, latch, observed, records, tools};

#[tokio::test]
async fn whatever_is_done_to_it_everything_is_stopped() {
    for change in [
        "UPDATE latches SET body = replace(body, 'untrusted', 'nothing')",
        "UPDATE latches SET body = '{\"private\":null,\"untrusted\":null}'",
        "UPDATE latches SET body = 'no json'",
        "UPDATE latches SET mac = zeroblob(32)",
        "UPDATE latches SET space = x''",
        "DELETE FROM latches",
        "UPDATE switches SET body = replace(body, 'stop', 'go')",
        "UPDATE switches SET scope = 'upstream:web'",
        "UPDATE switches SET scope = 'nothing at all'",
        "UPDATE switches SET mac = zeroblob(32)",
        "DELETE FROM switches",
        "INSERT INTO switches VALUES ('upstream:web', '{}', zeroblob(32))",
        "UPDATE settings SET body = '[\"open\",null]' WHERE key = 'mode'",
        "UPDATE settings SET key = 'other' WHERE key = 'mode'",
        "DELETE FROM settings",
        "UPDATE gate_seal SET mac = zeroblob(32) WHERE name = 'gate'",
        "DELETE FROM gate_seal WHERE name = 'gate'",
        "DELETE FROM gate_seal; DELETE FROM latches; DELETE FROM switches; DELETE FROM settings",
        "UPDATE ledger_head SET gate = NULL",
        "UPDATE ledger_head SET gate = zeroblob(32)",
    ] {
        let (house, store) = House::open().await;
        house.furnish(&store).await;
        let before = records(&store).await;
        store.close().await.expect("closes");
        house.sql(change).await;

        let store = house.backend.store().await.expect("opens");
        let switches = store.switches().await.expect("reads");
        let engaged = switches.get(&SwitchScope::Everything).expect(change);
        assert_eq!(engaged.by, EngagedBy::House, "{change}");
        assert!(engaged.note.contains("narthex doctor"), "{change}: {}", engaged.note);
        assert!(
            tools(&store, before + 1).await.contains(&"house.gate_damaged".to_owned()),
            "{change}"
        );
        let place = narthex_core::Place {
            agent: house.agent.id,
            reaches: narthex_core::Reaches::of(None),
            upstream: None,
        };
        let guards = vec![Guard::NotStopped(place)];
        let unit =
            UnitOfWork { guards, records: vec![observed(&house.agent)], ..UnitOfWork::default() };
        let stopped = Refused::Stopped(SwitchScope::Everything);
        let answer = commit(&store, unit.clone()).await;
        assert!(matches!(answer, Err(StoreError::Refused(r)) if r == stopped), "{change}");
        let taint = latch(&store, &house.agent).await.taint();
        assert!(super::UNTRUSTED.is_within(taint), "{change}: {taint:?}");
        let chosen = store.noted_mode().await.expect("reads").and_then(|(_, chosen)| chosen);
        assert_eq!(chosen, Some(Mode::Readonly), "{change}");

        // It stays so until the owner lifts it, and the ledger says it once.
        let said = records(&store).await;
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, said, "{change}");
        done(&store, Effect::LiftSwitch { scope: SwitchScope::Everything }).await;
        let lifted = records(&store).await;
        store.close().await.expect("closes");
        let store = house.backend.store().await.expect("opens");
        assert_eq!(records(&store).await, lifted, "{change}");
        commit(&store, unit).await.expect(change);
        store.close().await.expect("closes");
        house.backend.verify().await.expect("whole");
    }
}

/// Every row and every seal of it genuine, only from before the switch was engaged.
#[tokio::test]
async fn an_older_state_put_back_is_noticed() {
    let (house, store) = House::open().await;
    commit(&store, house.arming(&house.agent, super::UNTRUSTED)).await.expect("commits");
    store.close().await.expect("closes");
    let tables = ["latches", "switches", "settings", "gate_seal", "budgets"];
    for table in tables.into_iter().chain(["ledger_head"]) {
        house.sql(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    let store = house.backend.store().await.expect("opens");
    house.furnish(&store).await;
    store.close().await.expect("closes");
    for table in tables {
        let put_back =
            format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}");
        house.sql(&put_back).await;
    }
    house.sql("UPDATE ledger_head SET gate = (SELECT gate FROM kept_ledger_head)").await;
    let store = house.backend.store().await.expect("opens");
    let switches = store.switches().await.expect("reads");
    assert!(switches.get(&SwitchScope::Everything).is_some());
    assert_eq!(house.used(&store, &house.agent).await, 5, "the ledger is the account");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn an_edited_latch_counts_as_set_whole_and_says_why() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    store.close().await.expect("closes");
    house.sql("UPDATE latches SET body = '{}'").await;
    let store = house.backend.store().await.expect("opens");
    let edited = latch(&store, &house.agent).await;
    assert_eq!(edited.taint(), BOTH);
    assert_eq!(edited.private.map(|cause| cause.tool).as_deref(), Some("house.gate_damaged"));
    store.close().await.expect("closes");
}

#[tokio::test]
async fn where_a_row_is_missing_everyone_counts_as_tainted() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    let genuine = latch(&store, &house.agent).await;
    assert_eq!(latch(&store, &house.other).await.taint(), Taint::CLEAN);
    store.close().await.expect("closes");
    house.sql("DELETE FROM switches").await;
    let store = house.backend.store().await.expect("opens");
    for agent in [&house.agent, &house.other] {
        assert_eq!(latch(&store, agent).await.taint(), BOTH);
    }
    assert_eq!(latch(&store, &house.agent).await.untrusted, genuine.untrusted, "its own stays");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn an_edited_switch_stays_engaged_where_it_says() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    store.close().await.expect("closes");
    house.sql("UPDATE switches SET body = '{}'").await;
    let store = house.backend.store().await.expect("opens");
    done(&store, Effect::LiftSwitch { scope: SwitchScope::Everything }).await;
    let switches = store.switches().await.expect("reads");
    assert!(switches.get(&house.scope()).is_some(), "{switches:?}");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_house_whose_tables_were_left_alone_says_nothing() {
    let (house, store) = House::open().await;
    house.furnish(&store).await;
    let before = (records(&store).await, store.switches().await.expect("reads"));
    store.close().await.expect("closes");
    let store = house.backend.store().await.expect("opens");
    assert_eq!((records(&store).await, store.switches().await.expect("reads")), before);
    assert!(store.is_writable());
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    store.close().await.expect("closes");
}

/// What was approved of servers is under the same MACs and the same seal.
#[tokio::test]
async fn nobody_approves_a_server_by_editing_the_database() {
    for change in [
        "UPDATE settings SET body = replace(body, '\"start\":\"', '\"start\":\"0') WHERE key = 'server/web'",
        "UPDATE settings SET key = 'server/other' WHERE key = 'server/web'",
        "INSERT INTO settings SELECT 'server/other', body, mac FROM settings WHERE key = 'server/web'",
        "INSERT INTO settings VALUES ('server/x', '{\"disabled\":false,\"start\":null,\"definitions\":{}}', zeroblob(32))",
        "DELETE FROM settings WHERE key = 'server/web'",
        "UPDATE settings SET body = 'false' WHERE key = 'servers'",
        "DELETE FROM settings WHERE key = 'servers'",
        "DELETE FROM settings WHERE key LIKE 'profiles/%'",
        "UPDATE settings SET body = '[\"all\"]' WHERE key LIKE 'profiles/%'",
    ] {
        let (house, store) = House::open().await;
        house.furnish(&store).await;
        store.close().await.expect("closes");
        house.sql(change).await;
        let store = house.backend.store().await.expect("opens");
        let switches = store.switches().await.expect("reads");
        assert!(switches.get(&SwitchScope::Everything).is_some(), "{change}");
        let book = store.servers().await.expect("reads");
        let known: Vec<&str> = book.standings.keys().map(narthex_core::Slug::as_str).collect();
        assert!(known.iter().all(|name| *name == "web"), "{change}: {known:?}");
        store.close().await.expect("closes");
    }
}
