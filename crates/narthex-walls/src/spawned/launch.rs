//! What is started, and what is looked at before it is.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use narthex_core::Digest;
use rustix::process::{geteuid, getpid};
use secrecy::{ExposeSecret as _, SecretString};

use super::environment::{HOME_DIR, TEMPORARY_DIR};
use super::{Environment, LogBounds};
use crate::keeper::{KEPT, Order};
use crate::places::{Places, Surroundings};
use crate::{WallError, Walls};

/// A process of somebody else's, before it is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Our own binary, which keeps it.
    pub keeper: PathBuf,
    /// The program, as an absolute path.
    pub command: PathBuf,
    /// Its arguments. Others can read them: no secrets.
    pub args: Vec<OsString>,
    /// Where it is started. Behind walls it may read it, unless the home directory is in it.
    pub cwd: PathBuf,
    /// What it sees of our environment.
    pub environment: Environment,
    /// What it is given besides; the values are kept out of its log.
    pub given: Vec<(String, SecretString)>,
    /// What it may touch.
    pub walls: Walls,
    /// A directory of its own. It is made, for its user alone, if it is not there.
    pub scratch: PathBuf,
    /// What no wall may open to: the data directory.
    pub shut: Vec<PathBuf>,
    /// What the program's file must be.
    pub expected: Option<Digest>,
    /// How long it may take to end, at each of the two signs.
    pub grace: Duration,
    /// How much of what it says is kept.
    pub log: LogBounds,
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A wall is missing or makes no sense.
    #[error(transparent)]
    Walls(#[from] WallError),
    /// A path that says nothing certain.
    #[error("{what} is not an absolute path: {path}")]
    Relative {
        /// Which path.
        what: &'static str,
        /// As given.
        path: PathBuf,
    },
    /// A wall would open to what must stay shut.
    #[error("{open} would be open to it, and {shut} with it; move one of them, or open less")]
    OpensTo {
        /// What would be opened.
        open: PathBuf,
        /// What must stay shut.
        shut: PathBuf,
    },
    /// A name that no variable can have.
    #[error("{0:?} cannot be the name of an environment variable")]
    Name(String),
    /// A value that no variable can have.
    #[error("the value of {0} has a zero byte in it")]
    Value(String),
    /// The scratch directory is not its own.
    #[error("the scratch directory {path} cannot be used: {why}")]
    Scratch {
        /// Where.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The keeper did not start.
    #[error("the keeper {path} did not start: {source}")]
    Keeper {
        /// Our own binary.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The order to the keeper could not be written.
    #[error("{0}")]
    Order(String),
}

impl Launch {
    pub(super) fn check(&self) -> Result<(), LaunchError> {
        let paths = [
            ("the keeper", &self.keeper),
            ("the command", &self.command),
            ("the directory it is started in", &self.cwd),
            ("the scratch directory", &self.scratch),
        ];
        for (what, path) in paths {
            if !path.is_absolute() {
                return Err(LaunchError::Relative { what, path: path.clone() });
            }
        }
        self.given.iter().try_for_each(|(name, value)| variable(name, value.expose_secret()))?;
        self.walls.check()?;
        self.opens_to_nothing_shut()
    }

    fn opens_to_nothing_shut(&self) -> Result<(), LaunchError> {
        if !self.walls.stand() {
            return Ok(());
        }
        let places = Places::of(&self.walls, &self.around());
        for shut in &self.shut {
            let shut = real(shut);
            // Its own scratch directory may lie in there; nothing else may, and nothing around it.
            let touches = |open: &&Path| {
                let open = real(open);
                shut.starts_with(&open) || open.starts_with(&shut) && open != real(&self.scratch)
            };
            if let Some(open) = places.all().find(touches) {
                return Err(LaunchError::OpensTo { open: open.to_owned(), shut });
            }
        }
        Ok(())
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings {
            command: &self.command,
            cwd: &self.cwd,
            scratch: &self.scratch,
            home: self.environment.get("HOME").map(Path::new),
        }
    }

    /// For its user alone, and no link to elsewhere.
    pub(super) fn make_scratch(&self) -> Result<(), LaunchError> {
        let unusable = |why: String| LaunchError::Scratch { path: self.scratch.clone(), why };
        let make = |directory: &Path| match fs::DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(unusable(error.to_string()))
            }
            Ok(()) | Err(_) => Ok(()),
        };
        make(&self.scratch)?;
        let found =
            fs::symlink_metadata(&self.scratch).map_err(|error| unusable(error.to_string()))?;
        if !found.is_dir() {
            return Err(unusable("it is not a directory".to_owned()));
        }
        if found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
            return Err(unusable(
                "others can look into it; give it mode 700, or another place".to_owned(),
            ));
        }
        make(&self.scratch.join(HOME_DIR))?;
        make(&self.scratch.join(TEMPORARY_DIR))
    }

    pub(super) fn order(&self) -> Result<Vec<OsString>, LaunchError> {
        let order = Order {
            inside: false,
            walls: self.walls.clone(),
            scratch: self.scratch.clone(),
            home: self.around().home.map(Path::to_owned),
            parent: getpid(),
            grace: self.grace,
            expected: self.expected,
            command: self.command.clone(),
            args: self.args.clone(),
        };
        order.words().map_err(|error| LaunchError::Order(error.to_string()))
    }

    /// What is given wins over what is inherited.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let inherited = if self.walls.stand() {
            self.environment.behind_walls(&self.scratch)
        } else {
            self.environment.clone()
        };
        let kept = |name: &std::ffi::OsStr| {
            let mut kept = OsString::from(KEPT);
            kept.push(name);
            kept
        };
        let mut all: Vec<_> =
            inherited.iter().map(|(name, value)| (kept(name), value.to_owned())).collect();
        all.extend(
            self.given
                .iter()
                .map(|(name, value)| (kept(name.as_ref()), value.expose_secret().into())),
        );
        all
    }

    pub(super) fn secrets(&self) -> Vec<SecretString> {
        self.given.iter().map(|(_, value)| value.clone()).collect()
    }
}

fn variable(name: &str, value: &str) -> Result<(), LaunchError> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(LaunchError::Name(name.to_owned()));
    }
    if value.contains('\0') { Err(LaunchError::Value(name.to_owned())) } else { Ok(()) }
}

/// Where a path leads, as far as it is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
