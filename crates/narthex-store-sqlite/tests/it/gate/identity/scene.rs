//! A house with an agent, a token and a space that someone edits.

use narthex_core::{
    Agent, EngagedBy, Space, SpaceId, SwitchScope, Tier, Timestamp, Title, TokenId, TokenLabel,
};
use narthex_store::{
    Agents as _, Effect, GateBooks as _, Guard, Soundness as _, Spaces as _, StoreError,
    Tokens as _, UnitOfWork, fresh_uuid,
};
use narthex_store_sqlite::SqliteStore;

use crate::gate::{House, agent, commit, done, holder, record, tools};

/// What is edited.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Agent,
    Token,
    Space,
}

/// A house, and in it one of each that is edited below.
pub(super) struct Scene {
    pub(super) house: House,
    pub(super) token: TokenId,
    pub(super) good: TokenId,
}

impl Scene {
    pub(super) async fn open() -> (Self, SqliteStore) {
        let (house, store) = House::open().await;
        let away = Space {
            id: SpaceId::from_uuid(fresh_uuid()),
            slug: "away".parse().expect("a slug"),
            name: Title::parse("Away").expect("a title"),
            ceiling: None,
            created: Timestamp::from_millis(1),
        };
        done(&store, Effect::AddSpace(away)).await;
        let space = house.agent.space.expect("a space");
        done(&store, Effect::SetSpaceCeiling { space, ceiling: Some(Tier::T1) }).await;
        let token = add_token(&store, "bad", &house.agent).await;
        let good = add_token(&store, "good", &house.other).await;
        (Self { house, token, good }, store)
    }

    /// Everything that asks the row, none of which may get an answer.
    pub(super) async fn refused(&self, store: &SqliteStore, of: Of, told: &str) {
        let house = &self.house;
        let (id, space) = (house.agent.id, house.agent.space.expect("a space"));
        let now = Timestamp::from_millis(2);
        let mut asks: Vec<UnitOfWork> = Vec::new();
        let mut effect = |effect| asks.push(UnitOfWork::effect(effect, record("owner")));
        match of {
            Of::Agent => {
                not_served(&store.agent(id).await, told);
                not_served(&store.agent_by_slug(&house.agent.slug).await, told);
                not_served(&store.token(self.token).await, told);
                effect(Effect::SetAgentDisabled { agent: id, disabled: false });
                effect(Effect::SetAgentCeiling { agent: id, ceiling: Tier::T1 });
                effect(Effect::SetAgentBudget { agent: id, budget: None });
                asks.push(unit(Guard::AgentActive(id)));
                let ceiling = Guard::CeilingAdmits { holder: holder(&house.agent), tier: Tier::T0 };
                asks.push(unit(ceiling));
            }
            Of::Token => {
                not_served(&store.token(self.token).await, told);
                effect(Effect::RevokeToken { id: self.token, at: now });
                asks.push(unit(Guard::TokenLive { token: self.token, now }));
            }
            Of::Space => {
                not_served(&store.space(space).await, told);
                not_served(&store.space_by_slug(&"home".parse().expect("a slug")).await, told);
                effect(Effect::SetSpaceCeiling { space, ceiling: None });
                effect(Effect::AddAgent(agent("late", space)));
                let ceiling = Guard::CeilingAdmits { holder: holder(&house.agent), tier: Tier::T0 };
                asks.push(unit(ceiling));
            }
        }
        for ask in asks {
            let asked = format!("{told}: {ask:?}");
            let answer = commit(store, ask).await;
            match answer {
                Err(StoreError::Damaged(_)) => {}
                // An id that was changed leaves nothing behind under the old one.
                Err(StoreError::Refused(_)) => assert!(told.contains("id = "), "{asked}"),
                other => panic!("{asked}: {other:?}"),
            }
        }
    }

    /// The others are there, the edited one is not.
    pub(super) async fn listed(&self, store: &SqliteStore, of: Of, told: &str) {
        let agents = store.agents().await.expect("lists");
        let tokens = store.tokens(None).await.expect("lists");
        let spaces = store.spaces().await.expect("lists");
        let agents: Vec<_> = agents.iter().map(|agent| agent.slug.as_str()).collect();
        let labels: Vec<_> = tokens.iter().map(|token| token.label.as_str()).collect();
        let slugs: Vec<_> = spaces.iter().map(|space| space.slug.as_str()).collect();
        match of {
            Of::Agent => assert_eq!(agents, ["other"], "{told}"),
            Of::Token => assert_eq!(labels, ["good"], "{told}"),
            Of::Space => assert_eq!(slugs, ["away"], "{told}"),
        }
        let found = store.damaged_rows().await.expect("reads");
        assert!(!found.is_empty(), "{told}");
    }
}

/// Everything is stopped, and the ledger says why.
pub(in crate::gate) async fn stopped(store: &SqliteStore, before: u64, told: &str) {
    let switches = store.switches().await.expect("reads");
    let engaged = switches.get(&SwitchScope::Everything).expect(told);
    assert_eq!(engaged.by, EngagedBy::House, "{told}");
    let tools = tools(store, before + 1).await;
    assert!(tools.contains(&"house.gate_damaged".to_owned()), "{told}: {tools:?}");
}

pub(super) fn unit(guard: Guard) -> UnitOfWork {
    let records = vec![record("guarded")];
    UnitOfWork { guards: vec![guard], records, ..UnitOfWork::default() }
}

async fn add_token(store: &SqliteStore, label: &str, agent: &Agent) -> TokenId {
    let id = TokenId::from_uuid(fresh_uuid());
    let effect = Effect::AddToken {
        id,
        agent: agent.id,
        label: TokenLabel::parse(label).expect("a label"),
        keyed_hash: [7; 32],
        created: Timestamp::from_millis(1),
        expires: Some(Timestamp::from_millis(1_000)),
    };
    done(store, effect).await;
    id
}

/// Damage, or nothing there.
fn not_served<T: std::fmt::Debug>(result: &Result<Option<T>, StoreError>, told: &str) {
    assert!(matches!(result, Err(StoreError::Damaged(_)) | Ok(None)), "{told}: {result:?}");
}
