//! Where there is no Linux there are no walls and no keeper: nothing of somebody else's is started.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use crate::Offer;

/// Nothing is offered, so nothing is held.
pub fn probe() -> Offer {
    Offer {
        landlock: 0,
        seccomp: false,
        no_new_privs: false,
        parent_death_signal: false,
        subreaper: false,
        pidfd: false,
    }
}

/// The word with which our binary is asked to keep.
pub const KEEP: &str = "keep";

/// Refuses.
pub fn keep(_words: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Nowhere is left to say that standard error is closed.
    let _ = writeln!(std::io::stderr(), "narthex keep: processes are kept on Linux only");
    ExitCode::FAILURE
}
