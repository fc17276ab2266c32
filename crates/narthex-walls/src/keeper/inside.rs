//! The second stage of the keeper: puts the walls up around itself and becomes the target.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::set_no_new_privs;

use super::program::Program;
use super::{KeepError, Order};
use crate::places::{Places, Surroundings};
use crate::{Preset, Wall, WallError, calls, capabilities, files};

/// What the target is given in its environment comes under names with this before them, so that
/// it means nothing to the keeper: what is to be loaded into the target is not loaded into what
/// puts up its walls.
pub(crate) const KEPT: &str = "KEPT_";

/// Comes back only if the target was not started.
pub(super) fn enter(order: &Order) -> KeepError {
    match become_target(order) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

fn become_target(order: &Order) -> Result<std::convert::Infallible, KeepError> {
    // Should the keeper be killed, then so is the target. What came of the target is not.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(KeepError::keeping)?;
    if getppid() != Some(order.parent) {
        return Err(KeepError::Forsaken);
    }
    let environment: Vec<_> =
        std::env::vars_os().filter_map(|(name, value)| meant(&name, value)).collect();
    set_no_new_privs(true).map_err(WallError::system(Wall::Privileges))?;
    order.walls.limits.hold()?;
    raise(order)?;
    let program = Program::open(&order.command, order.expected)?;
    let failed = Command::new(program.path())
        .arg0(&order.command)
        .args(&order.args)
        .env_clear()
        .envs(environment)
        .exec();
    Err(KeepError::NotStarted {
        path: order.command.display().to_string(),
        why: failed.to_string(),
    })
}

fn raise(order: &Order) -> Result<(), KeepError> {
    match order.walls.preset {
        Preset::None => return Ok(()),
        Preset::Files | Preset::Offline => {}
        Preset::Strict => {
            let why = "nothing can be started in `strict`; use `offline`";
            return Err(WallError::Contradiction(why).into());
        }
    }
    let cwd = std::env::current_dir().map_err(KeepError::keeping)?;
    let around = Surroundings {
        command: &order.command,
        cwd: &cwd,
        scratch: &order.scratch,
        home: order.home.as_deref(),
    };
    let places = Places::of(&order.walls, &around);
    capabilities::give_up(true)?;
    files::restrict(&order.walls, &places)?;
    calls::restrict(&order.walls, order.parent)?;
    Ok(())
}

/// A variable under the name that the target knows it by.
fn meant(name: &OsStr, value: OsString) -> Option<(OsString, OsString)> {
    let name = name.as_bytes().strip_prefix(KEPT.as_bytes())?;
    Some((OsString::from_vec(name.to_vec()), value))
}
