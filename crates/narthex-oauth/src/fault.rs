//! What can go wrong, in words for the owner. Of what others said, only a code is repeated.

use narthex_egress::EgressError;
use narthex_gate::upstream::UpstreamFault;

/// Why there is no token.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    /// Not now; trying again may help.
    #[error("{0}")]
    Unreachable(String),
    /// What it says is not as it must be.
    #[error("{0}")]
    Wrong(String),
    /// It says no.
    #[error("the authorization server said no ({0})")]
    Denied(String),
    /// Nobody signed in, or nobody did since it was ended.
    #[error("nobody is signed in")]
    SignedOut,
    /// On our side.
    #[error("{0}")]
    Ours(String),
}

impl From<EgressError> for Fault {
    fn from(error: EgressError) -> Self {
        if error.is_refusal() {
            Self::Wrong(error.to_string())
        } else {
            Self::Unreachable(error.to_string())
        }
    }
}

impl From<Fault> for UpstreamFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Denied(_) | Fault::SignedOut => Self::Unauthorized { challenge: None },
            other => Self::Unreachable(format!("no token: {other}")),
        }
    }
}

pub(crate) fn wrong(why: impl Into<String>) -> Fault {
    Fault::Wrong(why.into())
}
