//! One program for the tests: the keeper, a gateway that can be killed, and guests that misbehave.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::zombie_processes,
    reason = "plays in tests"
)]

#[cfg(target_os = "linux")]
mod guests;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let role = words.next().unwrap_or_default();
    match role.to_str() {
        Some(narthex_walls::KEEP) => narthex_walls::keep(words),
        Some("without-landlock") => without_landlock(words.collect()),
        Some(guest) => guests::play(guest, &words.collect::<Vec<_>>()),
        None => ExitCode::FAILURE,
    }
}

/// Goes on as on a kernel that has no landlock.
fn without_landlock(words: Vec<OsString>) -> ExitCode {
    let arch = TargetArch::try_from(std::env::consts::ARCH).expect("an architecture");
    let refuse = SeccompAction::Errno(libc::ENOSYS as u32);
    let rules = [(libc::SYS_landlock_create_ruleset, vec![])].into();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).expect("a filter");
    let program = BpfProgram::try_from(filter).expect("a program");
    seccompiler::apply_filter(&program).expect("applied");
    let failed = Command::new("/proc/self/exe").args(words).exec();
    panic!("{failed}");
}
