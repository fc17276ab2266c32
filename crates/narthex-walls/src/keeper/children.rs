//! Everything that came of the target, down to the last of it.
//!
//! INVARIANT: the keeper has one thread, reaps here and nowhere else, and signals only children
//! of its own that it has not reaped, or the group whose leader it has not reaped. Their numbers
//! cannot be given to others meanwhile.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, getpid, kill_process,
    kill_process_group, waitid, waitpid,
};

use super::KeepError;
use super::signals::Signals;

/// The target and its orphans, which come to the keeper as to their reaper.
#[derive(Debug)]
pub(super) struct Children {
    target: Pid,
}

impl Children {
    pub(super) fn of(target: Pid) -> Self {
        Self { target }
    }

    /// Whether the target has ended. It stays unreaped, so that its number, which is also that of
    /// its group, stays its own.
    pub(super) fn target_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.target), look), Ok(None))
    }

    /// Reaps the orphans that have ended.
    pub(super) fn reap_orphans(&self) {
        for orphan in self.orphans() {
            let _ = waitid(WaitId::Pid(orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }

    /// Asks all of the group to end, gives it the time, ends whatever is left wherever it went,
    /// and says how the target ended.
    pub(super) fn end(&self, grace: Duration, signals: &mut Signals) -> Result<u8, KeepError> {
        self.ask_to_end();
        let until = Instant::now() + grace;
        while !self.alone() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            signals.wait_for_children(left.min(LOOK_AGAIN))?;
        }
        // A group that is gone is as good as one that was ended.
        let _ = kill_process_group(self.target, Signal::KILL);
        let mut pause = STRIKE_AGAIN;
        while !self.alone() {
            kill_all();
            signals.wait_for_children(pause)?;
            // Whatever the kernel itself holds back cannot be hurried.
            pause = (pause * 2).min(LOOK_AGAIN);
        }
        let ended = waitid(WaitId::Pid(self.target), WaitIdOptions::EXITED);
        Self::leave_none(signals)?;
        Ok(ended.ok().flatten().map_or(LOST, |status| code(&status)))
    }

    fn ask_to_end(&self) {
        let _ = kill_process_group(self.target, Signal::TERM);
        // What was stopped would not hear it.
        let _ = kill_process_group(self.target, Signal::CONT);
    }

    /// Whether the target has ended and nothing else is there.
    fn alone(&self) -> bool {
        self.reap_orphans();
        self.target_ended() && self.orphans().is_empty()
    }

    /// The kernel's word that there are no children, rather than a list's that may have missed one.
    fn leave_none(signals: &mut Signals) -> Result<(), KeepError> {
        loop {
            match waitpid(None, WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    kill_all();
                    signals.wait_for_children(STRIKE_AGAIN)?;
                }
                Err(_) => return Ok(()),
            }
        }
    }

    fn orphans(&self) -> Vec<Pid> {
        own_children().into_iter().filter(|child| *child != self.target).collect()
    }
}

/// What a killed child leaves behind comes to us next, and is killed in its turn.
fn kill_all() {
    for child in own_children() {
        let _ = kill_process(child, Signal::KILL);
    }
}

/// As a shell says it.
fn code(status: &WaitIdStatus) -> u8 {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(by_signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(LOST)
}

/// Our own children that were not reaped.
fn own_children() -> Vec<Pid> {
    match fs::read_to_string("/proc/thread-self/children") {
        Ok(list) => list.split_whitespace().filter_map(pid).collect(),
        // A kernel without that list.
        Err(_) => children_by_their_parent(),
    }
}

fn children_by_their_parent() -> Vec<Pid> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| pid(entry.file_name().to_str()?));
    numbers.filter(|number| parent_of(*number) == Some(getpid())).collect()
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name in brackets is the process's own to choose, brackets included.
    let (_, after) = stat.rsplit_once(')')?;
    pid(after.split_whitespace().nth(1)?)
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// How often to look while the target takes its time; children's ends are heard at once.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
const STRIKE_AGAIN: Duration = Duration::from_millis(2);
/// How it ended is not known.
const LOST: u8 = 255;

#[cfg(test)]
mod tests {
    use super::{children_by_their_parent, parent_of, pid};
    use std::process::Command;

    #[test]
    fn children_are_found_without_the_kernels_list() {
        let mut child = Command::new("/bin/sleep").arg("60").spawn().expect("a child");
        let number = pid(&child.id().to_string()).expect("a number");
        assert_eq!(parent_of(number), Some(rustix::process::getpid()));
        assert!(children_by_their_parent().contains(&number));
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert!(!children_by_their_parent().contains(&number));
    }
}
