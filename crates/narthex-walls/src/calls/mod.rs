//! The wall around system calls: seccomp.
//!
//! For other people's programs a list of what is refused (`refused`, `sockets`), since nobody knows
//! what all of them need; for a process of ours a list of what is allowed ([`AllowList`]). Both
//! are held to the numbers known today (`unknown`).

mod allow_list;
mod refused;
mod rules;
mod sockets;
#[cfg(test)]
mod tests;
mod unknown;

pub use allow_list::{AllowList, Otherwise};
pub use rules::{Test, When};

use rustix::process::Pid;
use seccompiler::{apply_filter, sock_filter};

use crate::{WallError, Walls};

/// Puts the wall up around this process and all that come of it. What is inside cannot signal the
/// keeper, whatever landlock of this kernel knows of signals.
pub(crate) fn restrict(walls: &Walls, keeper: Pid) -> Result<(), WallError> {
    // All of them first: what cannot be made must not leave half a wall.
    let programs = [
        unknown::program()?,
        refused::absent()?,
        refused::program(keeper)?,
        sockets::program(&walls.network(), walls.unix_sockets)?,
    ];
    programs.iter().try_for_each(|program| apply(program))
}

fn apply(program: &[sock_filter]) -> Result<(), WallError> {
    apply_filter(program).map_err(rules::refused)
}
