//! The sentinel: a file that stops everything once it was there. Anyone who can write to the data
//! directory can make it, without the program.

mod arrivals;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use narthex_core::{Actor, EngagedBy, SwitchScope};
use narthex_gate::Gate;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use arrivals::Arrivals;

/// The file `STOP` of a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopFile {
    path: PathBuf,
}

impl StopFile {
    /// At this path, whether it is there or not.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is, or would be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is there, whatever it is. What cannot be looked at is there.
    pub fn is_there(&self) -> bool {
        // A link that leads nowhere is there too, so the link itself is looked at. One look at a
        // folder that the database lies in does not wait, so it needs no thread of its own.
        match fs::symlink_metadata(&self.path) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Makes it, on disk before this returns. One that is there stays.
    pub fn make(&self) -> io::Result<()> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path);
        match made {
            Ok(file) => file.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Stops everything, durably, if the file is there and everything is not stopped yet.
    pub(crate) async fn heed(&self, gate: &Gate) -> Heeded {
        if self.is_there() { self.obey(gate).await } else { Heeded::NotThere }
    }

    /// The file is there, or was.
    async fn obey(&self, gate: &Gate) -> Heeded {
        if is_everything_stopped(gate) { Heeded::Stopped } else { self.engage(gate).await }
    }

    async fn engage(&self, gate: &Gate) -> Heeded {
        tracing::warn!(file = %self.path.display(), "the stop file was made: everything is stopped");
        let note = format!("the file {} was made", self.path.display());
        let scope = SwitchScope::Everything;
        match gate.engage(scope, EngagedBy::Sentinel, Actor::House, &note).await {
            Ok(_) => Heeded::Stopped,
            // The gate has said so in the log, and the file itself keeps it stopped.
            Err(_) => Heeded::NotDurable,
        }
    }

    /// Listens and looks, again and again, until told to stop. One that is gone before anyone
    /// could look is heard.
    pub(crate) async fn watch(&self, gate: &Gate, stop: CancellationToken) {
        let mut tick = tokio::time::interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut arrivals = Arrivals::of(&self.path).map_err(|error| self.unheard(&error)).ok();
        let mut again: Option<Instant> = None;
        loop {
            let came = tokio::select! {
                () = stop.cancelled() => return,
                heard = came(arrivals.as_ref()) => match heard {
                    Ok(()) => true,
                    Err(error) => {
                        self.unheard(&error);
                        arrivals = None;
                        false
                    }
                },
                _ = tick.tick() => false,
            };
            let heeded = match again {
                Some(at) if Instant::now() < at => continue,
                // The store is told again, also if only this process still knows.
                Some(_) if self.is_there() || is_everything_stopped(gate) => {
                    self.engage(gate).await
                }
                _ if came => self.obey(gate).await,
                _ => self.heed(gate).await,
            };
            again = (heeded == Heeded::NotDurable).then(|| Instant::now() + AGAIN);
        }
    }

    fn unheard(&self, error: &io::Error) {
        tracing::warn!(
            %error, file = %self.path.display(), every = ?EVERY,
            "the stop file is only looked for now and then"
        );
    }
}

/// Returns when the file was made; never if nobody listens.
async fn came(arrivals: Option<&Arrivals>) -> io::Result<()> {
    match arrivals {
        Some(arrivals) => arrivals.came().await,
        None => std::future::pending().await,
    }
}

fn is_everything_stopped(gate: &Gate) -> bool {
    gate.stopped().get(&SwitchScope::Everything).is_some()
}

/// What came of looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heeded {
    /// It is not there.
    NotThere,
    /// Everything is stopped.
    Stopped,
    /// Everything is stopped in this process, and the store could not be told.
    NotDurable,
}

/// Twice in the time within which new calls must be refused.
const EVERY: Duration = Duration::from_millis(50);
/// How long a store that cannot be written is left alone.
const AGAIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::StopFile;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn whatever_lies_there_is_there_and_only_nothing_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| StopFile::at(folder.path().join(name));
        assert!(!at("nothing").is_there());
        fs::write(folder.path().join("closed"), "").expect("a file");
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(folder.path().join("closed"), none).expect("chmod");
        assert!(at("closed").is_there(), "mode 000");
        fs::create_dir(folder.path().join("folder")).expect("a folder");
        assert!(at("folder").is_there(), "a folder");
        symlink("/nowhere/at/all", folder.path().join("link")).expect("a link");
        assert!(at("link").is_there(), "a link that leads nowhere");
        symlink("round", folder.path().join("round")).expect("a link");
        assert!(at("round").is_there(), "a link to itself");
        // Looking fails with something else than "not found".
        assert!(at("closed/STOP").is_there(), "not a folder");
        assert!(at("round/STOP").is_there(), "a loop");
        assert!(at(&"x".repeat(300)).is_there(), "a name that is too long");
    }

    #[test]
    fn making_it_twice_is_making_it_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = StopFile::at(folder.path().join("STOP"));
        file.make().expect("made");
        file.make().expect("there");
        assert!(file.is_there());
        let nowhere = StopFile::at(folder.path().join("missing/STOP"));
        assert!(nowhere.make().is_err());
    }
}
