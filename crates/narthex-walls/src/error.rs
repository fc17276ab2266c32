//! Why a wall is not up, and what the owner can do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a process was not walled in; nothing of it has run.
#[derive(Debug, thiserror::Error)]
pub enum WallError {
    /// This machine does not offer it.
    #[error("{wall} is asked for, and this machine has {found}; {}", .wall.way_out())]
    Missing {
        /// What is missing.
        wall: Wall,
        /// What is there instead.
        found: String,
    },
    /// The walls contradict themselves.
    #[error("the walls contradict themselves: {0}")]
    Contradiction(&'static str),
    /// A path that cannot be opened in a wall.
    #[error("{path} cannot be opened in a wall: {why}")]
    Place {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The kernel offers the wall and did not put it up.
    #[error("the kernel did not put up {wall}: {detail}")]
    Refused {
        /// Which.
        wall: Wall,
        /// What it said.
        detail: String,
    },
    /// Walls hold for a thread; the others would stand outside.
    #[error("a process that shuts itself in must have one thread, and this has {0}")]
    Threads(usize),
}

impl WallError {
    /// The kernel's own word for it.
    pub(crate) fn refused(wall: Wall, detail: impl fmt::Display) -> Self {
        Self::Refused { wall, detail: detail.to_string() }
    }

    pub(crate) fn system(wall: Wall) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::refused(wall, io::Error::from(errno))
    }
}

/// The walls there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wall {
    /// Landlock, for files.
    Files,
    /// Landlock, for TCP ports.
    Ports,
    /// A filter of system calls.
    Calls,
    /// No new privileges.
    Privileges,
    /// A bound on what is used.
    Limits,
    /// Becoming the parent of orphans, and knowing when one's own parent died.
    Keeping,
}

impl Wall {
    fn way_out(self) -> &'static str {
        match self {
            Self::Files => {
                "use a kernel from 6.2 on with landlock among its security modules (lsm=landlock,…), \
                 or the preset `none`, with which the process has all of your permissions"
            }
            Self::Ports => "use a kernel from 6.7 on, or say `on` or `off` for the network",
            Self::Calls => "use a kernel with CONFIG_SECCOMP_FILTER, or the preset `none`",
            Self::Privileges | Self::Limits | Self::Keeping => {
                "use Linux from 5.4 on with /proc mounted"
            }
        }
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "a wall around files (landlock 3)",
            Self::Ports => "a wall around TCP ports (landlock 4)",
            Self::Calls => "a filter of system calls (seccomp)",
            Self::Privileges => "a bar on new privileges",
            Self::Limits => "a bound on what is used",
            Self::Keeping => "a keeper of processes (subreaper, pidfd, parent-death signal)",
        })
    }
}
