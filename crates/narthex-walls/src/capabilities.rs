//! What root may still do behind walls. Landlock and the filter hold root too; this is for
//! whatever neither of them names.

use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::{Wall, WallError};

/// What a server that is run by root in a container needs to work with files and to become
/// somebody less; nothing that reaches other processes, devices, the network's set-up or the
/// kernel.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up the rest, for good: it is out of the bounding set, and no new privileges come.
pub(crate) fn give_up(keep_some: bool) -> Result<(), WallError> {
    let refused = WallError::system(Wall::Privileges);
    let held = capabilities(None).map_err(&refused)?;
    let root = keep_some && geteuid().is_root();
    let kept = if root { held.permitted & KEPT_BY_ROOT } else { CapabilitySet::empty() };
    clear_ambient_capability_set().map_err(&refused)?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        for other in every().filter(|one| !kept.contains(*one)) {
            match remove_capability_from_bounding_set(other) {
                // One that the kernel does not know is not there to be given up.
                Ok(()) | Err(rustix::io::Errno::INVAL) => {}
                Err(errno) => return Err(refused(errno)),
            }
        }
    }
    let left =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, left).map_err(&refused)
}

/// Every capability there is or will be; a name is not needed to give one up.
fn every() -> impl Iterator<Item = CapabilitySet> {
    (0..u64::BITS).map(|n| CapabilitySet::from_bits_retain(1 << n))
}
