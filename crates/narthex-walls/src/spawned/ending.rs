//! How it ended.

use std::io;
use std::process::ExitStatus;

use crate::Refusal;

/// How a process of somebody else's ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It was never started; the log says why.
    Refused(Refusal),
    /// With a code of its own; 128 and more is the number of a signal.
    Code(u8),
    /// The keeper itself was ended, and the target with it.
    Lost,
}

impl Ending {
    pub(super) fn of(status: io::Result<ExitStatus>) -> Self {
        let Some(code) = status.ok().and_then(|status| status.code()) else { return Self::Lost };
        match Refusal::of(code) {
            Some(refusal) => Self::Refused(refusal),
            None => u8::try_from(code).map_or(Self::Lost, Self::Code),
        }
    }
}
