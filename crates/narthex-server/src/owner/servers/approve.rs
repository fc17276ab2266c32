//! Saying yes to a start and to definitions, and taking it back.

use narthex_core::{DefinitionName, Digest, ServerStanding};
use narthex_servers::config::ServerName;

use super::super::desk::{conflict, not_found};
use super::super::{Desk, OwnerError, ServerReply};

impl Desk {
    /// Approves what would be started, if it is what was shown.
    pub(super) async fn approve_start(
        &self,
        name: &str,
        digest: Digest,
    ) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let view = self.server_named(name).await?;
        let ready = self.servers.ready(&view).await?;
        if ready.start.digest() != digest {
            return Err(conflict(format!(
                "what would be started for {name} is another now than was shown; look again: narthex mcp info {name}"
            )));
        }
        let standing =
            ServerStanding { start: Some(digest), ..ServerStanding::clone(&view.standing) };
        let texts = vec![ready.start.pinned_text()];
        let server = &view.config.name;
        let now = self
            .keep_standing("server.approve_start", server, Some(digest), standing, texts)
            .await?;
        // Whatever runs was started as it was approved before.
        if now.changed {
            self.servers.end(server).await;
        }
        Ok(ServerReply::Approved(now))
    }

    /// Approves definitions, each if it is what was shown and nothing bars it.
    pub(super) async fn approve_definitions(
        &self,
        name: &str,
        definitions: Vec<(DefinitionName, Digest)>,
    ) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let view = self.server_named(name).await?;
        let server = &view.config.name;
        let offered = match self.servers.seen(server) {
            Some(offered) => offered,
            None => self.servers.look(&view).await?,
        };
        let mut standing = ServerStanding::clone(&view.standing);
        if standing.start.is_none() {
            return Err(conflict(format!("the start of {name} is not approved yet")));
        }
        let mut texts = Vec::new();
        for (definition, digest) in definitions {
            let shown = definition.to_string();
            let item = offered.get(&definition);
            let item = item.ok_or_else(|| not_found("definition", &shown, "narthex mcp diff"))?;
            if item.definition.digest != digest {
                return Err(conflict(format!(
                    "{name} offers {shown} otherwise than was shown; look again: narthex mcp diff {name}"
                )));
            }
            if let Some(why) = &item.barred {
                return Err(conflict(format!("{shown} cannot be approved: {why}")));
            }
            texts.push(item.definition.pinned_text());
            standing.definitions.insert(definition, digest);
        }
        let digest = Digest::of(texts.join("\n").as_bytes());
        let approved = self.keep_standing("server.approve", server, Some(digest), standing, texts);
        Ok(ServerReply::Approved(approved.await?))
    }

    /// Takes back what was approved.
    pub(super) async fn server_revoke(
        &self,
        name: &str,
        definitions: &[DefinitionName],
    ) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let book = self.servers.book().await?;
        // What is no longer in the file can be revoked all the same.
        let server: ServerName =
            name.parse().map_err(|_| not_found("server", name, "narthex mcp list"))?;
        let Some(standing) = book.standings.get(server.slug()) else {
            return Err(not_found("server with an approval", name, "narthex mcp list"));
        };
        let mut standing = ServerStanding::clone(standing);
        if definitions.is_empty() {
            standing = ServerStanding { disabled: standing.disabled, ..ServerStanding::default() };
        }
        for definition in definitions {
            if standing.definitions.remove(definition).is_none() {
                let shown = definition.to_string();
                return Err(not_found("approved definition", &shown, "narthex mcp info"));
            }
        }
        let now = self.keep_standing("server.revoke", &server, None, standing, Vec::new()).await?;
        if definitions.is_empty() {
            self.servers.end(&server).await;
        }
        Ok(ServerReply::Approved(now))
    }

    /// Switches a server on or off. On also means that it may fail anew.
    pub(super) async fn server_enable(
        &self,
        name: &str,
        on: bool,
    ) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let view = self.server_named(name).await?;
        let server = &view.config.name;
        if on && view.config.disabled {
            return Err(conflict(format!(
                "{name} is disabled in {}; take `\"disabled\": true` out of it",
                self.servers.file().display()
            )));
        }
        let standing = ServerStanding { disabled: !on, ..ServerStanding::clone(&view.standing) };
        let action = if on { "server.enable" } else { "server.disable" };
        let now = self.keep_standing(action, server, None, standing, Vec::new()).await?;
        self.servers.end(server).await;
        Ok(ServerReply::Approved(now))
    }
}
