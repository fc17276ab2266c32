//! Servers that agents ask for. A yes lets in what is approved, and approves nothing.

use narthex_core::{Outcome, Proposal, ProposalStatus, Reason, ServerStanding, Slug, Subject};
use narthex_servers::config::ServerName;
use narthex_servers::hall::HallFault;
use narthex_servers::text::visible;
use narthex_store::{Effect, Effected, StoreError, UnitOfWork};

use super::desk::owner_record;
use super::{Decided, Desk, LetIn, OwnerError, Reply, RequestedServer, ServerStands};

impl Desk {
    /// Says yes, if there is something approved to let in; else the request keeps waiting.
    pub(super) async fn server_request_approve(
        &self,
        proposal: &Proposal,
        server: &Slug,
    ) -> Result<Reply, OwnerError> {
        let _alone = self.servers.deciding().await;
        let requested = self.requested(proposal, server).await?;
        if proposal.status == ProposalStatus::Pending
            && let Some(why) = self.in_its_way(server, &requested)
        {
            return Err(self.request_left(proposal, why).await);
        }
        let id = proposal.id;
        let record = |action: &str, space, subject| {
            owner_record(action, space, subject, Outcome::Ok, Reason::OwnerAction)
        };
        let asked = Subject::one("proposal", id);
        let mut records = vec![record("inbox.approve", Some(proposal.space), asked)];
        if requested.stands == ServerStands::Disabled {
            records.push(record("server.enable", None, Subject::one("server", server)));
        }
        let effect = Some(Effect::ApplyServerRequest { id, at: self.now() });
        let unit = UnitOfWork { effect, records, ..UnitOfWork::default() };
        let committed = match self.store().commit(unit).await {
            Ok(committed) => committed,
            Err(StoreError::Refused(refused)) => {
                return Err(self.request_left(proposal, refused.to_string()).await);
            }
            Err(error) => return Err(error.into()),
        };
        let enabled = committed.effected == Effected::Changed(true);
        if enabled && let Ok(name) = server.as_str().parse() {
            // On also means that it may fail anew.
            self.servers.end(&name).await;
        }
        let let_in = LetIn { server: server.clone(), enabled, given: requested.given };
        Ok(Reply::Decided(Decided {
            id,
            status: ProposalStatus::Applied,
            page: None,
            revision: None,
            merged: None,
            let_in: Some(let_in),
        }))
    }

    /// How a server that is asked for stands, and whether the agent would have it.
    pub(super) async fn requested(
        &self,
        proposal: &Proposal,
        server: &Slug,
    ) -> Result<RequestedServer, OwnerError> {
        let book = self.servers.book().await?;
        let standing = book.standings.get(server).cloned().unwrap_or_default();
        let profiles = book.profiles.get(&proposal.agent).cloned().unwrap_or_default();
        let (stands, given) = (ServerStands::ServersOff, Vec::new());
        let mut requested = RequestedServer { stands, trouble: None, profiles, given };
        let file = match self.servers.sheet() {
            Ok(file) => file,
            Err(fault) => {
                if book.on {
                    requested.stands = ServerStands::FileUnreadable;
                }
                requested.trouble = Some(visible(&fault.to_string()));
                return Ok(requested);
            }
        };
        let name: Option<ServerName> = server.as_str().parse().ok();
        if let Some(name) = &name {
            let has = |profile: &&Slug| {
                file.profiles.get(*profile).is_some_and(|it| it.servers.contains(name))
            };
            requested.given = requested.profiles.iter().filter(has).cloned().collect();
        }
        if book.on {
            let found = match &name {
                Some(name) => self.how_it_stands(name, &standing).await,
                None => Ok(ServerStands::NotInFile),
            };
            (requested.stands, requested.trouble) = match found {
                Ok(stands) => (stands, None),
                Err(fault) => (approved(&standing), Some(visible(&fault.to_string()))),
            };
        }
        Ok(requested)
    }

    /// How it stands while servers are on. An error: it is approved, and could not be started now.
    async fn how_it_stands(
        &self,
        name: &ServerName,
        standing: &ServerStanding,
    ) -> Result<ServerStands, HallFault> {
        let view = match self.servers.owners_view(name).await {
            Ok(view) => view,
            Err(HallFault::Unknown(_)) => return Ok(ServerStands::NotInFile),
            Err(fault) => return Err(fault),
        };
        if view.config.disabled {
            return Ok(ServerStands::DisabledInFile);
        }
        let stands = approved(standing);
        if stands == ServerStands::NotApproved {
            return Ok(stands);
        }
        let now = self.servers.ready(&view).await?.start.digest();
        Ok(if standing.start == Some(now) { stands } else { ServerStands::StartChanged })
    }

    /// Why a yes would come too early. What is approved is the store's to say, in its transaction.
    fn in_its_way(&self, server: &Slug, requested: &RequestedServer) -> Option<String> {
        let file = self.servers.file().display();
        match requested.stands {
            ServerStands::ServersOff => Some(HallFault::Off.to_string()),
            ServerStands::FileUnreadable => requested.trouble.clone(),
            ServerStands::NotInFile => Some(HallFault::Unknown(server.to_string()).to_string()),
            ServerStands::DisabledInFile => {
                Some(format!("{server} is disabled in {file}; take `\"disabled\": true` out of it"))
            }
            ServerStands::StartChanged => {
                Some(HallFault::StartChanged(server.to_string()).to_string())
            }
            ServerStands::NotApproved | ServerStands::Disabled | ServerStands::Ready => None,
        }
    }

    /// Leaves it waiting, and records that nothing came of the yes.
    async fn request_left(&self, proposal: &Proposal, why: String) -> OwnerError {
        let waits = proposal.status == ProposalStatus::Pending;
        let waits = if waits { "\nThe request keeps waiting." } else { "" };
        self.left_as_it_is(proposal, format!("not applied: {why}{waits}")).await
    }
}

/// What was approved of it, and whether it is switched off.
fn approved(standing: &ServerStanding) -> ServerStands {
    match standing {
        ServerStanding { start: None, .. } => ServerStands::NotApproved,
        ServerStanding { definitions, .. } if definitions.is_empty() => ServerStands::NotApproved,
        ServerStanding { disabled: true, .. } => ServerStands::Disabled,
        ServerStanding { .. } => ServerStands::Ready,
    }
}
