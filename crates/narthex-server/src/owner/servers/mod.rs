//! Other people's servers, for the owner: one family of requests a file.
//!
//! Everything that is approved is approved as it was shown: the request names the digest, and what
//! is there by then must still be that.

mod approve;
mod profiles;
mod show;
mod sign_in;
mod test;

use narthex_core::{Digest, ServerStanding, Subject};
use narthex_servers::config::ServerName;
use narthex_servers::hall::{HallFault, View};
use narthex_store::{Effect, Effected};

use super::desk::{invalid, not_found};
use super::{
    ApprovedNow, Desk, OwnerError, Reply, ServerReply, ServerRequest, ServersSwitched, Trouble,
};

impl Desk {
    /// Carries out a request about servers.
    pub(super) async fn server(&self, request: ServerRequest) -> Result<Reply, OwnerError> {
        Ok(Reply::Server(self.server_reply(request).await?))
    }

    async fn server_reply(&self, request: ServerRequest) -> Result<ServerReply, OwnerError> {
        if let ServerRequest::Switch { on } = request {
            return self.servers_switch(on).await;
        }
        if !self.servers.book().await?.on {
            return Err(HallFault::Off.into());
        }
        match request {
            ServerRequest::Switch { on } => self.servers_switch(on).await,
            ServerRequest::List => self.servers_list().await,
            ServerRequest::Info { server } => self.server_info(&server).await,
            ServerRequest::ApproveStart { server, digest } => {
                self.approve_start(&server, digest).await
            }
            ServerRequest::Look { server } => self.server_look(&server).await,
            ServerRequest::ApproveDefinitions { server, definitions } => {
                self.approve_definitions(&server, definitions).await
            }
            ServerRequest::Revoke { server, definitions } => {
                self.server_revoke(&server, &definitions).await
            }
            ServerRequest::Enable { server, on } => self.server_enable(&server, on).await,
            ServerRequest::Test { server, agent } => {
                self.server_test(&server, agent.as_deref()).await
            }
            ServerRequest::Logs { server } => self.server_logs(&server).await,
            ServerRequest::Call { server, tool, arguments } => {
                self.server_call(&server, &tool, arguments).await
            }
            ServerRequest::SignIn { server, redirect } => {
                self.server_sign_in(&server, redirect.as_deref()).await
            }
            ServerRequest::SignedIn { server, back } => self.server_signed_in(&server, back).await,
            ServerRequest::SignOut { server } => self.server_sign_out(&server).await,
            ServerRequest::Profiles => self.profiles_list().await,
            ServerRequest::SetProfiles { agent, profiles } => {
                self.profiles_set(&agent, &profiles).await
            }
        }
    }

    /// Off is durable before anything is ended, so that nothing is begun meanwhile.
    async fn servers_switch(&self, on: bool) -> Result<ServerReply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let was = self.servers.book().await?.on;
        let word = |on: bool| if on { "on" } else { "off" };
        let subject = Subject::one("servers", "all").changed(word(was), word(on));
        self.change("servers.switch", None, subject, Effect::SwitchServers { on }).await?;
        if !on {
            self.servers.end_all().await;
        }
        let file = self.servers.file().display().to_string();
        Ok(ServerReply::Switched(ServersSwitched { on, changed: was != on, file }))
    }

    /// A server of the file, as its owner has it.
    async fn server_named(&self, name: &str) -> Result<View, OwnerError> {
        let parsed: ServerName =
            name.parse().map_err(|_| not_found("server", name, "narthex mcp list"))?;
        Ok(self.servers.owners_view(&parsed).await?)
    }

    /// Makes what is approved of a server durable, with the record of it.
    async fn keep_standing(
        &self,
        action: &str,
        name: &ServerName,
        digest: Option<Digest>,
        standing: ServerStanding,
        texts: Vec<String>,
    ) -> Result<ApprovedNow, OwnerError> {
        let subject = Subject { digest, ..Subject::one("server", name) };
        let mut now = ApprovedNow {
            server: name.to_string(),
            start: standing.start.is_some(),
            definitions: standing.definitions.len(),
            disabled: standing.disabled,
            changed: false,
        };
        let standing = Box::new(standing);
        let effect = Effect::SetServer { name: name.slug().clone(), standing, texts };
        let done = self.change(action, None, subject, effect).await?;
        now.changed = done.effected == Effected::Changed(true);
        Ok(now)
    }
}

impl From<HallFault> for OwnerError {
    fn from(fault: HallFault) -> Self {
        let kind = match &fault {
            HallFault::Unknown(_) => Trouble::NotFound,
            HallFault::Off
            | HallFault::Disabled(_)
            | HallFault::NotApproved(_)
            | HallFault::SignIn(_)
            | HallFault::StartChanged(_) => Trouble::Conflict,
            HallFault::Sheet(_)
            | HallFault::Config(_)
            | HallFault::CodeInProfile { .. }
            | HallFault::Profiles(_)
            | HallFault::Program(_) => return invalid(fault),
            HallFault::Start(_)
            | HallFault::Upstream { .. }
            | HallFault::Resting { .. }
            | HallFault::GivenUp { .. }
            | HallFault::Full(_)
            | HallFault::Store(_) => Trouble::Unavailable,
        };
        Self { kind, message: fault.to_string() }
    }
}
