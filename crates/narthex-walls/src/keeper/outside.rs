//! The keeper itself, outside of the walls.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{
    Pid, Signal, getpid, set_child_subreaper, set_parent_process_death_signal, setsid,
};
use rustix::thread::set_no_new_privs;

use super::children::Children;
use super::signals::{Parent, Signals};
use super::{KEEP, KeepError, Order};
use crate::{Wall, WallError, hide_own_memory, limits, places, probe};

/// Starts the target, watches over it, and ends with its code when nothing of it is left.
pub(super) fn keep(order: &Order) -> Result<u8, KeepError> {
    probe().holds(&order.walls)?;
    let parent = Parent::hold(order.parent)?;
    settle()?;
    let mut signals = Signals::listen(parent)?;
    let target = start(order)?;
    let _pins = places::pins(target.as_raw_nonzero().get().unsigned_abs());
    let _ = let_go_of_pipes();
    let children = Children::of(target);
    watch(&children, &mut signals);
    children.end(order.grace, &mut signals)
}

/// A session without a terminal, so that no key that is pressed and no window that is closed
/// reaches it; a memory that is nobody else's; the parent of all orphans.
fn settle() -> Result<(), KeepError> {
    // Fails if we lead one already, and then it is as it should be.
    let _ = setsid();
    set_parent_process_death_signal(Some(Signal::HUP)).map_err(KeepError::keeping)?;
    set_child_subreaper(Some(getpid())).map_err(KeepError::keeping)?;
    set_no_new_privs(true).map_err(WallError::system(Wall::Privileges))?;
    limits::no_core()?;
    hide_own_memory()?;
    Ok(())
}

/// Starts the second stage, from the very file that runs here. Its group is its own.
fn start(order: &Order) -> Result<Pid, KeepError> {
    let inside = Order { inside: true, parent: getpid(), ..order.clone() };
    let child = Command::new("/proc/self/exe")
        .arg0("narthex")
        .arg(KEEP)
        .args(inside.words()?)
        .process_group(0)
        .spawn()
        .map_err(KeepError::keeping)?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| KeepError::keeping("a process without a number"))
}

/// The pipes are the target's: when it closes them, they are to be closed.
fn let_go_of_pipes() -> std::io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// Until the target ended, or is to end.
fn watch(children: &Children, signals: &mut Signals) {
    loop {
        children.reap_orphans();
        if children.target_ended() {
            return;
        }
        match signals.wait(None) {
            Ok(happened) if !happened.told && !happened.forsaken => {}
            // A keeper that hears nothing can only end what it keeps.
            Ok(_) | Err(_) => return,
        }
    }
}
