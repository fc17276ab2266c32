//! Why a server cannot be asked.

use std::time::Duration;

use narthex_gate::upstream::UpstreamFault;
use narthex_store::StoreError;

use super::sheet::SheetFault;
use crate::config::ConfigError;
use crate::pin::program::ProgramError;
use crate::profile::ProfileConflict;

/// Why.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HallFault {
    /// The whole of it is off.
    #[error("the servers of others are off; turn them on with: narthex mcp on")]
    Off,
    /// The file names no such server.
    #[error("no server {0:?} in the file; see them with: narthex mcp list")]
    Unknown(String),
    /// Its owner switched it off.
    #[error("the server {0} is disabled; enable it with: narthex mcp enable {0}")]
    Disabled(String),
    /// Nobody approved this start.
    #[error(
        "the start of {0} is not approved; look at it and approve it with: narthex mcp approve {0}"
    )]
    NotApproved(String),
    /// It was approved, and is another now.
    #[error(
        "what would be started for {0} is not what was approved; see it with: narthex mcp diff {0}"
    )]
    StartChanged(String),
    /// A profile changes which code runs.
    #[error(
        "a profile gives {server} another {variable}, which decides which code runs; say it in the server's own `env`"
    )]
    CodeInProfile {
        /// Which.
        server: String,
        /// What.
        variable: String,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Sheet(#[from] SheetFault),
    /// Something it names is missing.
    #[error("{0}")]
    Config(String),
    /// The profiles of an agent contradict each other.
    #[error(transparent)]
    Profiles(#[from] ProfileConflict),
    /// There is no such program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The process was not started.
    #[error("it was not started: {0}")]
    Start(String),
    /// It did not do as it should.
    #[error("{fault}{}", ended.as_ref().map(|ended| format!(" ({ended})")).unwrap_or_default())]
    Upstream {
        /// What.
        fault: UpstreamFault,
        /// How its process ended, if it did.
        ended: Option<String>,
    },
    /// Its owner has to sign in, or could not.
    #[error("{0}")]
    SignIn(String),
    /// It failed a moment ago.
    #[error("it failed ({why}) and is tried again in {left:.1?}")]
    Resting {
        /// For how long.
        left: Duration,
        /// Why.
        why: String,
    },
    /// It failed too often.
    #[error("it failed too often and is left alone until the owner asks for it: {why}")]
    GivenUp {
        /// How, the last time.
        why: String,
    },
    /// As many run as may.
    #[error("{0} servers run already, which is as many as may at once; none of them is idle")]
    Full(usize),
    /// What was approved cannot be read.
    #[error("what was approved cannot be read: {0}")]
    Store(String),
}

impl HallFault {
    /// What an agent is told: nothing of this machine, its files and its settings.
    pub fn for_agents(&self) -> String {
        match self {
            Self::Upstream { fault, .. } => fault.to_string(),
            Self::Resting { left, .. } => {
                format!("the server failed a moment ago; it is tried again in {left:.1?}")
            }
            Self::Full(_) => "as many servers run as may at once; try again in a while".to_owned(),
            Self::GivenUp { .. } | Self::Start(_) | Self::Program(_) | Self::Config(_) => {
                "the server cannot be started; only the owner can help".to_owned()
            }
            Self::Off
            | Self::Unknown(_)
            | Self::Disabled(_)
            | Self::NotApproved(_)
            | Self::StartChanged(_)
            | Self::CodeInProfile { .. }
            | Self::Sheet(_)
            | Self::Profiles(_) => {
                "the server is not to be used now; only the owner can change that".to_owned()
            }
            Self::SignIn(_) => "the server wants its owner to sign in".to_owned(),
            Self::Store(_) => "the server cannot be asked now".to_owned(),
        }
    }
}

impl From<ConfigError> for HallFault {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}

impl From<StoreError> for HallFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<UpstreamFault> for HallFault {
    fn from(fault: UpstreamFault) -> Self {
        Self::Upstream { fault, ended: None }
    }
}
