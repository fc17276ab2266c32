//! Named sets of servers, and who has them.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::{Slug, Subject};
use narthex_store::Effect;

use super::super::desk::{invalid, not_found};
use super::super::{Desk, OwnerError, ProfileShown, ServerReply};

impl Desk {
    pub(super) async fn profiles_list(&self) -> Result<ServerReply, OwnerError> {
        let (file, book) = (self.servers.sheet()?, self.servers.book().await?);
        let mut agents: BTreeMap<Slug, Vec<Slug>> = BTreeMap::new();
        for (agent, profiles) in &book.profiles {
            let Some(agent) = self.store().agent(*agent).await? else { continue };
            for profile in profiles {
                agents.entry(profile.clone()).or_default().push(agent.slug.clone());
            }
        }
        let names: BTreeSet<&Slug> = file.profiles.keys().chain(agents.keys()).collect();
        let shown = |name: &Slug| {
            let profile = file.profiles.get(name);
            let servers = profile.map(|profile| profile.servers.iter().map(ToString::to_string));
            ProfileShown {
                name: name.clone(),
                servers: servers.map(Iterator::collect).unwrap_or_default(),
                agents: agents.get(name).cloned().unwrap_or_default(),
                known: profile.is_some(),
            }
        };
        Ok(ServerReply::Profiles(names.into_iter().map(shown).collect()))
    }

    /// Gives an agent profiles: those that are there, and that go together.
    pub(super) async fn profiles_set(
        &self,
        agent: &str,
        profiles: &[String],
    ) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let agent = self.agent_named(agent).await?;
        let file = self.servers.sheet()?;
        let mut given: Vec<Slug> = Vec::new();
        for name in profiles {
            let known = name.parse::<Slug>().ok().filter(|name| file.profiles.contains_key(name));
            let known =
                known.ok_or_else(|| not_found("profile", name, "narthex mcp profiles list"))?;
            if !given.contains(&known) {
                given.push(known);
            }
        }
        let together = given.iter().filter_map(|name| file.profiles.get(name));
        narthex_servers::profile::stack(together, &file.servers).map_err(invalid)?;
        let book = self.servers.book().await?;
        let words = |profiles: &[Slug]| {
            let words: Vec<&str> = profiles.iter().map(Slug::as_str).collect();
            if words.is_empty() { "none".to_owned() } else { words.join("+") }
        };
        let before = book.profiles.get(&agent.id).map_or(&[] as &[Slug], Vec::as_slice);
        let subject = Subject::one("agent", agent.id).changed(words(before), words(&given));
        let effect = Effect::SetProfiles { agent: agent.id, profiles: given };
        self.change("agent.profiles", agent.space, subject, effect).await?;
        self.profiles_list().await
    }
}
