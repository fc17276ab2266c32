//! What the owner approves of other people's servers: whole, durable, and by nobody else.

use std::collections::BTreeMap;
use std::sync::Arc;

use narthex_core::{AgentId, DefinitionKind, DefinitionName, Digest, ServerBook, ServerStanding};

use super::Backend;
use super::house::{House, slug};
use crate::{Effect, Effected, Refused};

const DEFINITION: &str = r#"{"name":"read","description":"é\u2028"}"#;

fn standing(definition: &str) -> ServerStanding {
    let name = DefinitionName::new(DefinitionKind::Tool, "read");
    ServerStanding {
        disabled: false,
        start: Some(Digest::of(b"start")),
        definitions: [(name, Digest::of(definition.as_bytes()))].into(),
        ..ServerStanding::default()
    }
}

fn set(name: &str, standing: ServerStanding, texts: &[&str]) -> Effect {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    Effect::SetServer { name: slug(name), standing: Box::new(standing), texts }
}

async fn book(house: &House) -> Arc<ServerBook> {
    house.store.servers().await.unwrap()
}

pub async fn they_are_off_until_turned_on(backend: &dyn Backend) {
    let house = House::open(backend).await;
    assert_eq!(*book(&house).await, ServerBook::default());
    for (on, changed) in [(false, false), (true, true), (true, false), (false, true), (true, true)]
    {
        let done = house.done(Effect::SwitchServers { on }).await;
        assert_eq!((done, book(&house).await.on), (Effected::Changed(changed), on));
    }
    let house = House { store: backend.reopen().await, ..house };
    assert!(book(&house).await.on);
}

pub async fn what_was_noted_of_rules_stays_with_what_is_approved(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let rules = |tier: &str| BTreeMap::from([("*".to_owned(), tier.to_owned())]);
    let note = |tier: &str| Effect::NoteServerRules { name: slug("web"), rules: rules(tier) };
    assert_eq!(house.done(note("T2")).await, Effected::Changed(false), "nothing is approved");
    assert!(book(&house).await.standings.is_empty());
    house.done(set("web", standing(DEFINITION), &[DEFINITION])).await;
    assert_eq!(house.done(note("T2")).await, Effected::Changed(true));
    assert_eq!(house.done(note("T2")).await, Effected::Changed(false));
    // Whoever approves says nothing of rules, and changes none; nor does noting approve anything.
    house.done(set("web", standing("other"), &[])).await;
    let house = House { store: backend.reopen().await, ..house };
    let kept = book(&house).await;
    let expected = ServerStanding { rules: rules("T2"), ..standing("other") };
    assert_eq!(kept.standings.get(&slug("web")).map(AsRef::as_ref), Some(&expected));
    house.done(set("web", ServerStanding::default(), &[])).await;
    assert!(book(&house).await.standings.is_empty());
}

pub async fn what_is_approved_stays_so(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let effect = set("web", standing(DEFINITION), &[DEFINITION]);
    assert_eq!(house.done(effect.clone()).await, Effected::Changed(true));
    assert_eq!(house.done(effect).await, Effected::Changed(false));
    house.done(set("files", standing("other"), &[])).await;
    let off = ServerStanding { disabled: true, ..standing("other") };
    assert_eq!(house.done(set("files", off.clone(), &[])).await, Effected::Changed(true));
    let before = book(&house).await;
    assert_eq!(before.standings.get(&slug("files")).map(AsRef::as_ref), Some(&off));
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(book(&house).await, before);
    let text = house.store.definition(Digest::of(DEFINITION.as_bytes())).await.unwrap();
    assert_eq!(text.as_deref(), Some(DEFINITION));
    assert_eq!(house.store.definition(Digest::of(b"other")).await.unwrap(), None);
    house.done(set("web", ServerStanding::default(), &[])).await;
    assert!(!book(&house).await.standings.contains_key(&slug("web")));
    let house = House { store: backend.reopen().await, ..house };
    assert_eq!(book(&house).await.standings.len(), 1);
}

pub async fn profiles_are_an_agents(backend: &dyn Backend) {
    let house = House::open(backend).await;
    let give = |agent, names: &[&str]| Effect::SetProfiles {
        agent,
        profiles: names.iter().map(|name| slug(name)).collect(),
    };
    let agent = house.agent.id;
    assert_eq!(house.done(give(agent, &["work", "home"])).await, Effected::Changed(true));
    assert_eq!(house.done(give(agent, &["work", "home"])).await, Effected::Changed(false));
    assert_eq!(house.done(give(agent, &["home", "work"])).await, Effected::Changed(true));
    house.done(give(house.other.id, &["work"])).await;
    let nobody = AgentId::from_uuid(crate::fresh_uuid());
    assert_eq!(house.refused(give(nobody, &["work"])).await, Refused::NotFound("agent"));
    let house = House { store: backend.reopen().await, ..house };
    let profiles = &book(&house).await.profiles;
    assert_eq!(profiles.get(&agent), Some(&vec![slug("home"), slug("work")]));
    assert_eq!(profiles.len(), 2);
    assert_eq!(house.done(give(agent, &[])).await, Effected::Changed(true));
    assert!(!book(&house).await.profiles.contains_key(&agent));
}
