//! The calls a process of ours makes, and what becomes of all others.

use seccompiler::{BpfProgram, SeccompAction};

use super::rules::{Rules, When};
use super::{apply, unknown};
use crate::WallError;

/// The system calls a process may make, everything else being refused. Whoever knows what the
/// process does brings the list; numbers are `libc::SYS_…`.
#[derive(Debug, Clone)]
pub struct AllowList {
    calls: Vec<(i64, When)>,
    otherwise: Otherwise,
}

/// What becomes of a call that is not on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// The process ends, with all its threads.
    Kill,
    /// The call fails with this error number.
    Fail(u32),
}

impl AllowList {
    /// With nothing on it.
    pub fn new(otherwise: Otherwise) -> Self {
        Self { calls: Vec::new(), otherwise }
    }

    /// With a call, whatever its arguments.
    pub fn call(self, number: i64) -> Self {
        self.call_when(number, When::Always)
    }

    /// With a call, when its arguments are so. Several of one call are alternatives.
    pub fn call_when(mut self, number: i64, when: When) -> Self {
        self.calls.push((number, when));
        self
    }

    /// Holds this thread to the list.
    pub(crate) fn apply(&self) -> Result<(), WallError> {
        apply(&unknown::program()?)?;
        apply(&self.program()?)
    }

    pub(super) fn program(&self) -> Result<BpfProgram, WallError> {
        let mut rules = Rules::default();
        for (call, when) in &self.calls {
            rules.add(*call, *when)?;
        }
        let otherwise = match self.otherwise {
            Otherwise::Kill => SeccompAction::KillProcess,
            Otherwise::Fail(errno) => SeccompAction::Errno(errno),
        };
        rules.program(SeccompAction::Allow, otherwise)
    }
}
