//! Signing in to a server that wants OAuth, and out again. Both are recorded, without a word of what
//! was exchanged.

use narthex_core::{Outcome, Reason, Subject};
use narthex_servers::config::ServerName;
use narthex_servers::hall::Brought;
use narthex_store::UnitOfWork;

use super::super::desk::{invalid, not_found, owner_record};
use super::super::{CameBack, Desk, OwnerError, ServerReply, SignInBegun, SignedInNow};

impl Desk {
    /// Begins it, or says which port the browser should come back to.
    pub(super) async fn server_sign_in(
        &self,
        name: &str,
        redirect: Option<&str>,
    ) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let Some(redirect) = redirect else {
            return Ok(ServerReply::ComesBackTo(self.servers.redirect_port(&view)));
        };
        if !comes_back_here(redirect) {
            return Err(invalid("a browser comes back to http://127.0.0.1:PORT/callback"));
        }
        let asked = self.servers.sign_in(&view, redirect).await?;
        let server = view.config.name.to_string();
        Ok(ServerReply::SignIn(SignInBegun { server, issuer: asked.issuer, url: asked.url }))
    }

    /// Ends it. A sign-in that cannot be recorded is none.
    pub(super) async fn server_signed_in(
        &self,
        name: &str,
        back: CameBack,
    ) -> Result<ServerReply, OwnerError> {
        let view = self.server_named(name).await?;
        let server = &view.config.name;
        let CameBack { state, code, issuer, error } = back;
        let brought = Brought { state: state.into(), code: code.map(Into::into), issuer, error };
        let done = match self.servers.signed_in(&view, brought).await {
            Ok(done) => done,
            Err(fault) => {
                self.note_sign_in("server.login", server, Outcome::Error).await?;
                return Err(fault.into());
            }
        };
        if let Err(error) = self.note_sign_in("server.login", server, Outcome::Ok).await {
            self.servers.sign_out(server).await?;
            return Err(error);
        }
        Ok(ServerReply::SignedIn(SignedInNow {
            server: server.to_string(),
            signed_in: true,
            issuer: Some(done.issuer),
            renews: done.renews,
            changed: true,
        }))
    }

    /// Forgets it; a server that is no longer in the file can be signed out of too.
    pub(super) async fn server_sign_out(&self, name: &str) -> Result<ServerReply, OwnerError> {
        let server: ServerName =
            name.parse().map_err(|_| not_found("server", name, "narthex mcp list"))?;
        let changed = self.servers.sign_out(&server).await?;
        self.note_sign_in("server.logout", &server, Outcome::Ok).await?;
        Ok(ServerReply::SignedIn(SignedInNow {
            server: server.to_string(),
            signed_in: false,
            issuer: None,
            renews: false,
            changed,
        }))
    }

    async fn note_sign_in(
        &self,
        action: &str,
        server: &ServerName,
        outcome: Outcome,
    ) -> Result<(), OwnerError> {
        let subject = Subject::one("server", server);
        let record = owner_record(action, None, subject, outcome, Reason::OwnerAction);
        self.store().commit(UnitOfWork::records(vec![record])).await?;
        Ok(())
    }
}

/// A code is sent to this machine and to no other.
fn comes_back_here(redirect: &str) -> bool {
    let port = redirect.strip_prefix("http://127.0.0.1:");
    let port = port.and_then(|rest| rest.strip_suffix("/callback"));
    port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_code_comes_back_to_this_machine_alone() {
        for (redirect, here) in [
            ("http://127.0.0.1:9/callback", true),
            ("http://127.0.0.1:0/callback", false),
            ("http://127.0.0.1:9@evil.example/callback", false),
            ("http://127.0.0.1:9/callback?x", false),
            ("https://evil.example/callback", false),
        ] {
            assert_eq!(super::comes_back_here(redirect), here, "{redirect}");
        }
    }
}
