//! What would be started for a server: everything put in place, the program found and hashed.

use std::sync::Arc;

use narthex_core::ServerStanding;
use secrecy::ExposeSecret as _;
use tokio::task::spawn_blocking;

use super::{HallFault, HallInner};
use crate::config::{Process, Reach, Resolved, ServerConfig};
use crate::pin::program::{self, Found, Wanted};
use crate::pin::{RealDisk, Start, decides_code};

/// A start, ready to be compared with what was approved, and to be made.
#[derive(Debug)]
pub struct Ready {
    /// What an approval is for.
    pub start: Start,
    /// Everything in place.
    pub resolved: Resolved,
    /// The program, of a process.
    pub found: Option<Found>,
}

impl HallInner {
    /// Looks at what would be started. `base` is the server as the file has it, `config` as it is
    /// under an agent's profiles: the approval is for the first, and the second changes nothing that
    /// decides which code runs.
    pub(super) async fn ready(
        self: &Arc<Self>,
        base: &Arc<ServerConfig>,
        config: &Arc<ServerConfig>,
    ) -> Result<Ready, HallFault> {
        if let (Reach::Process(base), Reach::Process(under)) = (&base.reach, &config.reach) {
            let variable = code_in_profile(base, under);
            if let Some(variable) = variable {
                let (server, variable) = (config.name.to_string(), variable.to_owned());
                return Err(HallFault::CodeInProfile { server, variable });
            }
        }
        let resolved = config.resolve(self.parts.config.lookup.as_ref())?;
        let found = match (&config.reach, &resolved) {
            (Reach::Process(process), Resolved::Process { args, env }) => {
                let path = env.iter().find(|(name, _)| name == "PATH");
                let path = path.map_or_else(
                    || self.parts.config.path.clone(),
                    |(_, value)| value.expose_secret().to_owned(),
                );
                let args: Vec<String> =
                    args.iter().map(|arg| arg.expose_secret().to_owned()).collect();
                Some(find(process.clone(), args, path).await?)
            }
            _ => None,
        };
        let start = Start::of(base, &resolved, found.clone())
            .map_err(|error| HallFault::Start(error.to_string()))?;
        Ok(Ready { start, resolved, found })
    }
}

impl Ready {
    /// Refuses what the owner did not approve, or no longer is what was.
    pub(super) fn check(&self, standing: &ServerStanding) -> Result<(), HallFault> {
        match standing.start {
            Some(approved) if approved == self.start.digest() => Ok(()),
            Some(_) => Err(HallFault::StartChanged(self.start.name.clone())),
            None => Err(HallFault::NotApproved(self.start.name.clone())),
        }
    }
}

/// Hashing a large program takes a while.
async fn find(process: Process, args: Vec<String>, path: String) -> Result<Found, HallFault> {
    let found = spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let wanted = Wanted {
            command: &process.command,
            args: &args,
            cwd: process.cwd.as_deref(),
            path: &path,
        };
        program::find(&RealDisk, &wanted)
    });
    Ok(found.await.map_err(|error| HallFault::Start(error.to_string()))??)
}

/// A variable that decides which code runs, and that a profile changes.
fn code_in_profile<'a>(base: &Process, under: &'a Process) -> Option<&'a str> {
    let same = |entry: &(String, crate::config::Written)| base.env.contains(entry);
    let changed = under.env.iter().find(|entry| decides_code(&entry.0) && !same(entry));
    changed.map(|(name, _)| name.as_str())
}
