//! What this machine can hold a process to.

use serde::Serialize;

use crate::{Network, Preset, Wall, WallError, Walls};

/// The walls this machine offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Landlock's version as far as we know them, 0 where there is none: 3 holds files, 4 TCP
    /// ports, 6 signals and abstract sockets, 9 the sockets of the file system.
    pub landlock: u8,
    /// Filters of system calls.
    pub seccomp: bool,
    /// Privileges can be given up for good.
    pub no_new_privs: bool,
    /// A process is told when its parent dies.
    pub parent_death_signal: bool,
    /// Orphans can be taken in.
    pub subreaper: bool,
    /// A process can be held by something that is never reused.
    pub pidfd: bool,
}

impl Offer {
    /// Refuses walls that this machine cannot put up whole.
    pub fn holds(&self, walls: &Walls) -> Result<(), WallError> {
        if !(self.subreaper && self.pidfd && self.parent_death_signal) {
            return missing(Wall::Keeping, "not all of it");
        }
        if !self.no_new_privs {
            return missing(Wall::Privileges, "none");
        }
        if walls.preset == Preset::None {
            return Ok(());
        }
        if self.landlock < FILES_SINCE {
            return missing(Wall::Files, &landlock(self.landlock));
        }
        if matches!(walls.network(), Network::Ports(_)) && self.landlock < PORTS_SINCE {
            return missing(Wall::Ports, &landlock(self.landlock));
        }
        if !self.seccomp {
            return missing(Wall::Calls, "none");
        }
        Ok(())
    }
}

fn missing(wall: Wall, found: &str) -> Result<(), WallError> {
    Err(WallError::Missing { wall, found: found.to_owned() })
}

fn landlock(version: u8) -> String {
    if version == 0 { "no landlock".to_owned() } else { format!("landlock {version}") }
}

/// Looks, and changes nothing.
#[cfg(target_os = "linux")]
pub fn probe() -> Offer {
    Offer {
        landlock: crate::files::version(),
        seccomp: seccomp(),
        no_new_privs: rustix::thread::no_new_privs().is_ok(),
        parent_death_signal: rustix::process::parent_process_death_signal().is_ok(),
        subreaper: rustix::process::child_subreaper().is_ok(),
        pidfd: rustix::process::pidfd_open(
            rustix::process::getpid(),
            rustix::process::PidfdFlags::empty(),
        )
        .is_ok(),
    }
}

#[cfg(target_os = "linux")]
fn seccomp() -> bool {
    let known = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    let known = known.unwrap_or_default();
    ["errno", "kill_process"].iter().all(|wanted| known.split_whitespace().any(|w| w == *wanted))
}

/// Before it, a file that may not be written could still be cut to nothing.
const FILES_SINCE: u8 = 3;
const PORTS_SINCE: u8 = 4;

#[cfg(test)]
mod tests {
    use super::Offer;
    use crate::{Network, Preset, Walls};

    const ALL: Offer = Offer {
        landlock: 9,
        seccomp: true,
        no_new_privs: true,
        parent_death_signal: true,
        subreaper: true,
        pidfd: true,
    };

    #[test]
    fn with_everything_there_everything_stands() {
        for preset in [Preset::None, Preset::Files, Preset::Offline, Preset::Strict] {
            assert!(ALL.holds(&Walls::preset(preset)).is_ok(), "{preset:?}");
        }
    }

    #[test]
    fn a_missing_wall_is_an_error_that_says_the_way_out() {
        let files = Walls::preset(Preset::Files);
        let ports = Walls { network: Some(Network::Ports(vec![443])), ..files.clone() };
        let none = Walls::preset(Preset::None);
        let cases = [
            (Offer { landlock: 0, ..ALL }, &files, "no landlock"),
            (Offer { landlock: 2, ..ALL }, &files, "landlock 2"),
            (Offer { landlock: 3, ..ALL }, &ports, "6.7"),
            (Offer { seccomp: false, ..ALL }, &files, "CONFIG_SECCOMP_FILTER"),
            (Offer { no_new_privs: false, ..ALL }, &none, "privileges"),
            (Offer { subreaper: false, ..ALL }, &none, "keeper"),
            (Offer { pidfd: false, ..ALL }, &none, "keeper"),
            (Offer { parent_death_signal: false, ..ALL }, &none, "keeper"),
        ];
        for (offer, walls, said) in cases {
            let error = offer.holds(walls).expect_err(said).to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Offer { landlock: 0, seccomp: false, ..ALL }.holds(&none).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_says_what_it_has() {
        let offer = super::probe();
        println!("{offer:?}");
        assert!(offer.holds(&Walls::preset(Preset::None)).is_ok(), "{offer:?}");
    }
}
