//! Walls around the process that asks for them.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::set_no_new_privs;

use crate::calls::AllowList;
use crate::{Limits, Preset, Wall, WallError, Walls, capabilities, files, probe};

/// Shuts this process in: no file, no network, no signal to others, and only the system calls on
/// the list. For a worker of ours, before it reads anything hostile; what it needs it has open by
/// then. There is no way back.
///
/// It must have one thread, since walls hold for the thread that puts them up.
pub fn lock_strict(limits: &Limits, calls: &AllowList) -> Result<(), WallError> {
    one_thread()?;
    probe().holds(&Walls::preset(Preset::Strict))?;
    set_no_new_privs(true).map_err(WallError::system(Wall::Privileges))?;
    hide_own_memory()?;
    limits.hold()?;
    capabilities::give_up(false)?;
    files::shut()?;
    calls.apply()
}

/// The same where not every wall can be put up: as many of them as can. What could not be, in words.
pub fn lock_as_far_as_possible(limits: &Limits, calls: &AllowList) -> Vec<WallError> {
    let privileges = set_no_new_privs(true).map_err(WallError::system(Wall::Privileges));
    let walls = [
        one_thread(),
        privileges,
        hide_own_memory(),
        limits.hold(),
        capabilities::give_up(false),
        files::shut(),
        calls.apply(),
    ];
    walls.into_iter().filter_map(Result::err).collect()
}

/// Other processes of the same user can no longer read this one's memory and environment, nor
/// trace it. Root still can.
pub fn hide_own_memory() -> Result<(), WallError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(WallError::system(Wall::Privileges))
}

fn one_thread() -> Result<(), WallError> {
    let threads = std::fs::read_dir("/proc/self/task")
        .map_err(|error| WallError::refused(Wall::Privileges, error))?
        .count();
    if threads == 1 { Ok(()) } else { Err(WallError::Threads(threads)) }
}
