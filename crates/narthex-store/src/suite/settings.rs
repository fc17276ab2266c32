//! What the owner allows: ceilings, budgets, the noted mode.

use narthex_core::{AgentId, Budget, Cost, Holder, Mode, SpaceId, Tier, ToolName, ToolTiers};

use super::Backend;
use super::calls::{guarded, holder};
use super::house::{House, agent, refusal};
use crate::{Effect, Effected, Guard, Refused, UnitOfWork, fresh_uuid};

pub async fn ceilings_change_and_are_read_back(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (agent, space) = (house.agent.id, house.a);
    let steps = [
        (Effect::SetAgentCeiling { agent, ceiling: Tier::T3 }, true),
        (Effect::SetAgentCeiling { agent, ceiling: Tier::T3 }, false),
        (Effect::SetSpaceCeiling { space, ceiling: None }, true),
        (Effect::SetSpaceCeiling { space, ceiling: None }, false),
        (Effect::SetSpaceCeiling { space, ceiling: Some(Tier::T2) }, true),
    ];
    for (effect, changed) in steps {
        let before = house.store.identity_epoch();
        assert_eq!(house.done(effect).await, Effected::Changed(changed));
        assert!(house.store.identity_epoch() > before || !changed);
    }
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(house.store.agent(agent).await.unwrap().unwrap().ceiling, Tier::T3);
    assert_eq!(house.store.space(space).await.unwrap().unwrap().ceiling, Some(Tier::T2));
    house.done(Effect::SetSpaceCeiling { space, ceiling: Some(Tier::T0) }).await;
    let seen = house.store.space(space).await.unwrap().unwrap().ceiling;
    assert_eq!(seen, Some(Tier::T0), "what was read before is read anew");
    let nobody = AgentId::from_uuid(fresh_uuid());
    let nowhere = SpaceId::from_uuid(fresh_uuid());
    for (effect, what) in [
        (Effect::SetAgentCeiling { agent: nobody, ceiling: Tier::T0 }, "agent"),
        (Effect::SetAgentBudget { agent: nobody, budget: None }, "agent"),
        (Effect::SetSpaceCeiling { space: nowhere, ceiling: None }, "space"),
    ] {
        assert_eq!(house.refused(effect).await, Refused::NotFound(what));
    }
}

pub async fn the_lowest_ceiling_holds(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let (agent, space) = (house.agent.id, house.a);
    let own = holder(&house.agent);
    for (of_agent, of_space, most) in [
        (Tier::T1, Some(Tier::T3), Tier::T1),
        (Tier::T3, Some(Tier::T2), Tier::T2),
        (Tier::T2, None, Tier::T2),
        (Tier::T0, Some(Tier::T0), Tier::T0),
    ] {
        house.done(Effect::SetAgentCeiling { agent, ceiling: of_agent }).await;
        house.done(Effect::SetSpaceCeiling { space, ceiling: of_space }).await;
        for tier in Tier::ALL {
            let guard = Guard::CeilingAdmits { holder: own, tier };
            let result = house.commit(guarded(&house.agent, vec![guard])).await;
            assert_eq!(result.is_ok(), tier <= most, "{of_agent} {of_space:?} {tier}");
            if tier > most {
                assert_eq!(refusal(result), Refused::OverCeiling);
            }
        }
    }
    // An agent or a space that is not there admits nothing; no space has no ceiling of its own.
    let nowhere = Some(SpaceId::from_uuid(fresh_uuid()));
    for (holder, admits) in [
        (Holder { space: None, ..own }, true),
        (Holder { space: nowhere, ..own }, false),
        (Holder { agent: AgentId::from_uuid(fresh_uuid()), space: None }, false),
    ] {
        let guard = Guard::CeilingAdmits { holder, tier: Tier::T0 };
        let result = house.commit(guarded(&house.agent, vec![guard])).await;
        assert_eq!(result.is_ok(), admits, "{holder:?}");
    }
}

pub async fn the_noted_mode_holds_and_so_does_every_space_where_none_is_named(
    backend: &dyn Backend,
) {
    let house = House::open(backend).await;
    let own = holder(&house.agent);
    house.done(Effect::SetAgentCeiling { agent: own.agent, ceiling: Tier::T3 }).await;
    for space in [house.a, house.b] {
        house.done(Effect::SetSpaceCeiling { space, ceiling: None }).await;
    }
    let commit = async |holder, tier| {
        let guard = Guard::CeilingAdmits { holder, tier };
        house.commit(guarded(&house.agent, vec![guard])).await
    };
    for mode in Mode::ALL {
        house.done(Effect::NoteMode { mode, chosen: None }).await;
        for tier in Tier::ALL {
            let result = commit(own, tier).await;
            assert_eq!(result.is_ok(), tier <= mode.ceiling(), "{mode} {tier}");
            if tier > mode.ceiling() {
                assert_eq!(refusal(result), Refused::OverMode);
            }
        }
    }
    let nowhere = Holder { space: None, ..own };
    commit(nowhere, Tier::T1).await.expect("no space has a ceiling");
    house.done(Effect::SetSpaceCeiling { space: house.b, ceiling: Some(Tier::T0) }).await;
    commit(own, Tier::T1).await.expect("another space has one");
    assert_eq!(refusal(commit(nowhere, Tier::T1).await), Refused::OverCeiling, "it may be there");
}

pub async fn a_budget_is_read_back_as_given(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let budget = Budget {
        window_seconds: 60,
        calls: [Some(u64::MAX), None, Some(0), Some(1)],
        bytes: Some(1),
        millis: None,
        cost: Some(Cost::from_millionths(5)),
    };
    let mut born_with = agent("thrifty", Some(house.a));
    born_with.budget = Some(budget);
    house.done(Effect::AddAgent(born_with.clone())).await;
    assert_eq!(house.store.agent(born_with.id).await.unwrap(), Some(born_with));
    let set = async |budget| {
        let effect = Effect::SetAgentBudget { agent: house.agent.id, budget };
        let effected = house.done(effect).await;
        let now = house.store.agent(house.agent.id).await.unwrap().unwrap();
        assert_eq!(now.budget, budget);
        effected
    };
    assert_eq!(set(None).await, Effected::Changed(false));
    assert_eq!(set(Some(budget)).await, Effected::Changed(true));
    assert_eq!(set(Some(budget)).await, Effected::Changed(false));
    assert_eq!(set(Some(Budget::default())).await, Effected::Changed(true));
    assert_eq!(set(None).await, Effected::Changed(true));
}

pub async fn a_tool_has_the_tier_that_was_given_to_it(backend: &dyn Backend) {
    let mut house = House::open(backend).await;
    let (agent, post): (_, ToolName) = (house.agent.id, "servers/web/post".parse().unwrap());
    let give = |tier| Effect::SetToolTier { agent, tool: post.clone(), tier };
    let stands = |decided| Guard::TierStands { agent, tool: post.clone(), decided };
    assert_eq!(house.done(give(None)).await, Effected::Changed(false));
    let mut before = None;
    for tier in [Some(Tier::T1), Some(Tier::T3), None] {
        house.commit(guarded(&house.agent, vec![stands(before)])).await.unwrap();
        assert_eq!(house.done(give(tier)).await, Effected::Changed(true));
        assert_eq!(house.done(give(tier)).await, Effected::Changed(false));
        let refused = house.commit(guarded(&house.agent, vec![stands(before)])).await;
        assert_eq!(refusal(refused), Refused::TierMoved);
        house.store = backend.reopen().await;
        let store = &house.store;
        let now = store.agent(agent).await.unwrap().unwrap();
        assert_eq!(now.tiers.get(&post), tier, "it outlives a restart");
        assert_eq!(now.tiers.is_empty(), tier.is_none());
        let other = store.agent(house.other.id).await.unwrap().unwrap();
        assert!(other.tiers.is_empty(), "another agent's");
        before = tier;
    }
}

pub async fn so_many_tools_have_a_tier_of_their_own_and_no_more(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let agent = house.agent.id;
    let give = |n: usize, tier| {
        let tool = format!("servers/web/tool-{n}").parse().unwrap();
        Effect::SetToolTier { agent, tool, tier }
    };
    for n in 0..ToolTiers::MOST {
        assert_eq!(house.done(give(n, Some(Tier::T1))).await, Effected::Changed(true));
    }
    let more =
        UnitOfWork { effect: Some(give(ToolTiers::MOST, Some(Tier::T1))), ..Default::default() };
    let refused = refusal(house.commit(more.clone()).await);
    assert_eq!(refused, Refused::TooManyTiers { cap: ToolTiers::MOST });
    assert_eq!(house.done(give(0, Some(Tier::T2))).await, Effected::Changed(true), "in its place");
    assert_eq!(house.done(give(0, None)).await, Effected::Changed(true));
    house.commit(more).await.unwrap();
}

pub async fn the_noted_mode_is_remembered(backend: &dyn Backend) {
    let house = House::open(backend).await;
    assert_eq!(house.store.noted_mode().await.unwrap(), None);
    for (mode, chosen, changed) in [
        (Mode::Guarded, None, true),
        (Mode::Guarded, None, false),
        (Mode::Readonly, Some(Mode::Readonly), true),
        (Mode::Guarded, Some(Mode::Readonly), true),
        (Mode::Open, Some(Mode::Open), true),
    ] {
        let done = house.done(Effect::NoteMode { mode, chosen }).await;
        assert_eq!(done, Effected::Changed(changed), "{mode} {chosen:?}");
        assert_eq!(house.store.noted_mode().await.unwrap(), Some((mode, chosen)));
    }
    let store = backend.reopen().await;
    assert_eq!(store.noted_mode().await.unwrap(), Some((Mode::Open, Some(Mode::Open))));
}
