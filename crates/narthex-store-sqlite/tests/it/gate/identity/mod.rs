//! Agents, tokens and spaces, edited, taken away or put back: not served, not applied, and noticed.

mod scene;

use narthex_core::{Agent, AgentKind, Budget, SwitchScope, Tier, Timestamp};
use narthex_store::{
    Agents as _, Commits as _, Effect, Guard, Refused, Soundness as _, StoreError, Tokens as _,
};

pub(super) use self::scene::stopped;
use self::scene::{Of, Scene, unit};
use super::{agent, commit, done, records};

/// Each field of a row that is there, and what it is changed to.
const AGENT: [&str; 17] = [
    "id = zeroblob(16)",
    "slug = 'another'",
    "name = 'Another'",
    "kind = 'companion'",
    "model = ''",
    "grants = '[]'",
    "ceiling = 'T2'",
    "budget = '{}'",
    r#"tiers = '{"workspace/propose_change":"T1"}'"#,
    "space = NULL",
    "space = (SELECT n FROM spaces WHERE slug = 'away')",
    "disabled = 1",
    "created = created + 1",
    "mac = NULL",
    "mac = zeroblob(32)",
    "mac = (SELECT mac FROM agents WHERE slug = 'other')",
    "(name, mac) = (SELECT name, mac FROM agents WHERE slug = 'other')",
];
const TOKEN: [&str; 11] = [
    "id = zeroblob(16)",
    "agent = (SELECT id FROM agents WHERE slug = 'other')",
    "label = 'another'",
    "keyed_hash = zeroblob(32)",
    "created = created + 1",
    "expires = NULL",
    "expires = expires + 1",
    "revoked = 1",
    "mac = NULL",
    "mac = zeroblob(32)",
    "mac = (SELECT mac FROM tokens WHERE label = 'good')",
];
const SPACE: [&str; 9] = [
    "id = zeroblob(16)",
    "n = n + 100",
    "slug = 'another'",
    "name = 'Another'",
    "ceiling = NULL",
    "ceiling = 'T3'",
    "created = created + 1",
    "mac = NULL",
    "mac = zeroblob(32)",
];

#[tokio::test]
async fn an_edited_agent_is_served_to_nobody() {
    for change in AGENT {
        Box::pin(edited(Of::Agent, &format!("UPDATE agents SET {change} WHERE slug = 'agent'")))
            .await;
    }
    let seal_too = "UPDATE agents SET slug = 'another' WHERE slug = 'agent'; DELETE FROM gate_seal";
    Box::pin(edited(Of::Agent, seal_too)).await;
}

#[tokio::test]
async fn an_edited_token_is_good_for_nothing() {
    for change in TOKEN {
        Box::pin(edited(Of::Token, &format!("UPDATE tokens SET {change} WHERE label = 'bad'")))
            .await;
    }
}

#[tokio::test]
async fn an_edited_space_is_served_to_nobody() {
    for change in SPACE {
        Box::pin(edited(Of::Space, &format!("UPDATE spaces SET {change} WHERE slug = 'home'")))
            .await;
    }
}

/// While the house runs, and at its next start, which stops everything once.
async fn edited(of: Of, change: &str) {
    let loose = format!("PRAGMA foreign_keys = OFF; {change}");
    let (scene, store) = Scene::open().await;
    scene.house.sql(&loose).await;
    scene.refused(&store, of, change).await;
    scene.listed(&store, of, change).await;
    let before = records(&store).await;
    store.close().await.expect("closes");

    let store = scene.house.backend.store().await.expect("opens");
    stopped(&store, before, change).await;
    scene.refused(&store, of, change).await;
    scene.listed(&store, of, change).await;
    done(&store, Effect::LiftSwitch { scope: SwitchScope::Everything }).await;
    let said = records(&store).await;
    store.close().await.expect("closes");
    assert!(scene.house.backend.verify().await.is_err(), "{change}");

    let store = scene.house.backend.store().await.expect("opens");
    assert_eq!(records(&store).await, said, "once: {change}");
    scene.refused(&store, of, change).await;
    scene.listed(&store, of, change).await;
    store.close().await.expect("closes");
}

#[tokio::test]
async fn a_row_taken_away_or_added_is_noticed() {
    for change in [
        "DELETE FROM tokens WHERE label = 'bad'",
        "DELETE FROM agents WHERE slug = 'agent'",
        "DELETE FROM spaces WHERE slug = 'away'",
        "DELETE FROM tokens; DELETE FROM agents",
        "INSERT INTO tokens SELECT randomblob(16), agent, 'new', keyed_hash, created, expires,
                revoked, mac FROM tokens WHERE label = 'bad'",
        "INSERT INTO spaces (id, slug, name, created, mac)
         VALUES (randomblob(16), 'new', 'New', 1, zeroblob(32))",
        "INSERT INTO agents (id, slug, name, kind, grants, ceiling, disabled, created, mac)
         SELECT randomblob(16), 'new', name, kind, grants, ceiling, disabled, created, mac
           FROM agents WHERE slug = 'agent'",
    ] {
        let (scene, store) = Scene::open().await;
        let before = records(&store).await;
        store.close().await.expect("closes");
        scene.house.sql(&format!("PRAGMA foreign_keys = OFF; {change}")).await;
        assert!(scene.house.backend.verify().await.is_err(), "{change}");
        let store = scene.house.backend.store().await.expect("opens");
        stopped(&store, before, change).await;
        let new = store.agent_by_slug(&"new".parse().expect("a slug")).await;
        assert!(!matches!(new, Ok(Some(_))), "{change}");
        store.close().await.expect("closes");
    }
}

/// Every row genuine, only from before.
#[tokio::test]
async fn an_older_row_put_back_is_noticed() {
    for table in ["agents", "tokens", "spaces"] {
        let (scene, store) = Scene::open().await;
        let (agent, token) = (scene.house.agent.id, scene.token);
        let space = scene.house.agent.space.expect("a space");
        scene.house.sql(&format!("CREATE TABLE kept AS SELECT * FROM {table}")).await;
        let now = Timestamp::from_millis(3);
        done(&store, Effect::RevokeToken { id: token, at: now }).await;
        done(&store, Effect::SetAgentDisabled { agent, disabled: true }).await;
        done(&store, Effect::SetSpaceCeiling { space, ceiling: Some(Tier::T0) }).await;
        let put_back = format!(
            "PRAGMA foreign_keys = OFF; DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept"
        );
        scene.house.sql(&put_back).await;
        let of = match table {
            "agents" => Of::Agent,
            "tokens" => Of::Token,
            _ => Of::Space,
        };
        scene.refused(&store, of, table).await;
        scene.listed(&store, of, table).await;
        let before = records(&store).await;
        store.close().await.expect("closes");
        assert!(scene.house.backend.verify().await.is_err(), "{table}");
        let store = scene.house.backend.store().await.expect("opens");
        stopped(&store, before, table).await;
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn what_was_left_alone_is_served_as_it_was_written() {
    let (scene, store) = Scene::open().await;
    let (house, now) = (&scene.house, Timestamp::from_millis(2));
    let epoch = store.identity_epoch();
    let id = house.agent.id;
    done(&store, Effect::SetAgentCeiling { agent: id, ceiling: Tier::T2 }).await;
    let budget = Some(Budget::default());
    done(&store, Effect::SetAgentBudget { agent: id, budget }).await;
    done(&store, Effect::SetAgentDisabled { agent: id, disabled: true }).await;
    done(&store, Effect::SetAgentDisabled { agent: id, disabled: false }).await;
    done(&store, Effect::RevokeToken { id: scene.good, at: now }).await;
    let companion = Agent {
        kind: AgentKind::Companion,
        model: Some(String::new()),
        space: None,
        ..agent("companion", house.agent.space.expect("a space"))
    };
    done(&store, Effect::AddAgent(companion.clone())).await;
    assert_eq!(store.identity_epoch(), epoch + 6);
    let expected = Agent { ceiling: Tier::T2, budget, ..house.agent.clone() };
    let said = records(&store).await;
    store.close().await.expect("closes");
    house.backend.verify().await.expect("whole");

    let store = house.backend.store().await.expect("opens");
    assert_eq!(records(&store).await, said);
    assert!(store.damaged_rows().await.expect("reads").is_empty());
    assert_eq!(store.agent(id).await.expect("reads"), Some(expected.clone()));
    let found = store.token(scene.token).await.expect("reads").expect("a token");
    assert_eq!(found.agent, expected);
    let found = store.agent_by_slug(&companion.slug).await.expect("reads");
    assert_eq!(found, Some(companion));
    let live = |token| Guard::TokenLive { token, now };
    commit(&store, unit(live(scene.token))).await.expect("commits");
    let dead = commit(&store, unit(live(scene.good))).await;
    assert!(matches!(dead, Err(StoreError::Refused(Refused::TokenDead))), "{dead:?}");
    store.close().await.expect("closes");
}
