//! The kill switches, for the owner.

use narthex_core::{Actor, Engaged, EngagedBy, Place, Slug, SwitchScope, Switches, clean_line};
use narthex_gate::StopError;

use super::desk::{conflict, invalid};
use super::{
    Desk, Kept, OwnerError, Reply, Resumed, StopInfo, StopScope, Stopped, Stops, SwitchRequest,
    Trouble,
};

impl Desk {
    pub(super) async fn switch(&self, request: SwitchRequest) -> Result<Reply, OwnerError> {
        match request {
            SwitchRequest::List => Ok(Reply::Stops(self.stops().await?)),
            SwitchRequest::Engage { scope, reason } => {
                let note = match reason {
                    Some(reason) => clean_line("reason", &reason, NOTE_CHARS).map_err(invalid)?,
                    None => String::new(),
                };
                let (scope, name) = self.scope_named(&scope).await?;
                let stopped = self.engage(scope, name, EngagedBy::Owner, Actor::Owner, &note);
                stopped.await.map(Reply::Stopped)
            }
            SwitchRequest::Lift { scope } => self.resume(&scope).await,
        }
    }

    /// Stops everything because the machine, and not a person at the desk, was told to.
    pub async fn stop_everything(&self, by: EngagedBy, note: &str) -> Result<Stopped, OwnerError> {
        self.engage(SwitchScope::Everything, None, by, Actor::House, note).await
    }

    /// Stops it; if the store cannot be written, the stop file keeps it.
    async fn engage(
        &self,
        scope: SwitchScope,
        name: Option<Slug>,
        by: EngagedBy,
        actor: Actor,
        note: &str,
    ) -> Result<Stopped, OwnerError> {
        match self.gate.engage(scope.clone(), by, actor, note).await {
            Ok(now) => Ok(Stopped { scope, name, now, kept: Kept::Store }),
            Err(error) => {
                let path = self.stop_file.path().display().to_string();
                self.stop_file.make().map_err(|not_made| OwnerError {
                    kind: Trouble::Unavailable,
                    message: format!(
                        "{error}. That could not be done either ({path}: {not_made}), so it will \
                         not outlast this process: make that file by hand, or end the process"
                    ),
                })?;
                Ok(Stopped { scope, name, now: true, kept: Kept::StopFile(path) })
            }
        }
    }

    async fn resume(&self, scope: &StopScope) -> Result<Reply, OwnerError> {
        if self.stop_file.is_there() {
            let path = self.stop_file.path().display();
            return Err(conflict(format!(
                "the file {path} is still there and stops everything; remove it first: rm {path}"
            )));
        }
        let (scope, name) = self.scope_named(scope).await?;
        self.gate.lift(&scope).await.map_err(|error| match error {
            StopError::NotEngaged(_) => {
                let named = name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
                conflict(format!("the switch for {}{named} is not engaged", kind(&scope)))
            }
            StopError::StillHolds(error) | StopError::NotDurable(error) => {
                let OwnerError { kind, message } = OwnerError::from(error);
                OwnerError { kind, message: format!("it is still stopped: {message}") }
            }
        })?;
        let still = self.stop_infos(self.gate.stopped().engaged()).await?;
        Ok(Reply::Resumed(Resumed { scope, name, still }))
    }

    /// Everything that is stopped, and whether the stop file is there.
    pub(super) async fn stops(&self) -> Result<Stops, OwnerError> {
        Ok(Stops {
            engaged: self.stop_infos(self.gate.stopped().engaged()).await?,
            stop_file: self.stop_file.path().display().to_string(),
            stop_file_there: self.stop_file.is_there(),
        })
    }

    /// What stops calls at this place.
    pub(super) async fn stops_at(&self, place: &Place) -> Result<Vec<StopInfo>, OwnerError> {
        let stopped = self.gate.stopped();
        let here =
            |engaged: &&Engaged| Switches::new([Engaged::clone(engaged)]).stops(place).is_some();
        let here: Vec<Engaged> = stopped.engaged().iter().filter(here).cloned().collect();
        self.stop_infos(&here).await
    }

    async fn stop_infos(&self, engaged: &[Engaged]) -> Result<Vec<StopInfo>, OwnerError> {
        let mut infos = Vec::new();
        for Engaged { scope, by, note, at } in engaged.iter().cloned() {
            let name = match &scope {
                SwitchScope::Everything => None,
                // A name that cannot be read must not hide that something is stopped.
                SwitchScope::Space(id) => self.slug_of_space(Some(*id)).await.unwrap_or(None),
                SwitchScope::Agent(id) => {
                    let found = self.store().agent(*id).await;
                    found.ok().flatten().map(|agent| agent.slug)
                }
                SwitchScope::Upstream(name) => Some(name.clone()),
            };
            infos.push(StopInfo { scope, name, by, note, at });
        }
        Ok(infos)
    }

    async fn scope_named(
        &self,
        scope: &StopScope,
    ) -> Result<(SwitchScope, Option<Slug>), OwnerError> {
        Ok(match scope {
            StopScope::Everything => (SwitchScope::Everything, None),
            StopScope::Space(name) => {
                let space = self.space_named(name).await?;
                (SwitchScope::Space(space.id), Some(space.slug))
            }
            StopScope::Agent(name) => {
                let agent = self.agent_named(name).await?;
                (SwitchScope::Agent(agent.id), Some(agent.slug))
            }
            StopScope::Server(name) => {
                let name: Slug = name.parse().map_err(invalid)?;
                (SwitchScope::Upstream(name.clone()), Some(name))
            }
        })
    }
}

const fn kind(scope: &SwitchScope) -> &'static str {
    match scope {
        SwitchScope::Everything => "everything",
        SwitchScope::Space(_) => "space",
        SwitchScope::Agent(_) => "agent",
        SwitchScope::Upstream(_) => "server",
    }
}

const NOTE_CHARS: usize = 300;
