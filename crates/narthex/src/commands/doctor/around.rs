//! What doctor says of what lies around the house: sessions, programs, what may be fetched, the anchor.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use narthex_sandbox::ProcessLayer;

use super::Finding;
use crate::config::{CodeWalls, Config};
use crate::{Context, Exit, Failure};

/// Sessions of older clients, as the house keeps them now.
pub(super) fn sessions(config: &Config, open: Option<usize>) -> Finding {
    let Some(open) = open else {
        return Finding::ok("sessions", "not kept: every request stands alone");
    };
    let of = &config.sessions;
    let said = format!(
        "{open} open; each ends after {} s without a message, and after {} s in any case; {} an agent",
        of.idle_seconds, of.absolute_seconds, of.per_agent
    );
    Finding::ok("sessions", said)
}

/// Whether agents' programs can be shut in here.
pub(super) fn programs(config: &Config) -> Finding {
    if !config.code.enabled {
        return Finding::ok("programs", "off: [code] enabled = false");
    }
    let standing = ProcessLayer::standing();
    match (standing.missing, config.code.walls) {
        (None, _) => Finding::ok(
            "programs",
            format!(
                "each in a process of its own behind rlimits, landlock {} and a list of system calls",
                standing.offer.landlock
            ),
        ),
        (Some(missing), CodeWalls::Required) => Finding::warn(
            "programs",
            format!("not run: {missing}"),
            "a newer kernel; or, knowing what it means, [code] walls = \"lowered\"",
        ),
        (Some(missing), CodeWalls::Lowered) => Finding::warn(
            "programs",
            format!("run with walls missing, as you said: {missing}"),
            "[code] walls = \"required\"",
        ),
    }
}

/// What Narthex itself may fetch.
pub(super) fn egress(config: &Config) -> Finding {
    let of = &config.egress;
    if let Err(error) = of.policy() {
        let failure = Failure::new(Exit::Usage, error.to_string()).hint("[egress] in narthex.toml");
        return Finding::fail("egress", &failure);
    }
    let named = match of.allow.as_slice() {
        [] => "nothing inside your network".to_owned(),
        some => format!("inside your network {}", some.join(", ")),
    };
    if of.allow_loopback {
        return Finding::warn(
            "egress",
            format!("this machine itself, also without TLS; public addresses; {named}"),
            "[egress] allow_loopback = false, unless something here is to be fetched",
        );
    }
    Finding::ok("egress", format!("public addresses over TLS; {named}"))
}

/// Where the anchor is: without one elsewhere, a copy of the whole folder put back in its place looks
/// whole.
pub(super) fn anchor(context: &Context) -> Finding {
    let Some(path) = &context.config.ledger.anchor else {
        return Finding::warn(
            "anchor",
            "none: an older copy of the data directory, put back whole, would not be noticed",
            "[ledger] anchor = a file on another volume",
        );
    };
    match (volume(path), volume(&context.data_dir)) {
        (Some(there), Some(here)) if there == here => Finding::warn(
            "anchor volume",
            format!(
                "{} is on the volume of the data directory: both roll back together",
                path.display()
            ),
            "[ledger] anchor = a file on another volume",
        ),
        (Some(_), Some(_)) => Finding::ok("anchor volume", path.display().to_string()),
        _ => Finding::warn(
            "anchor volume",
            format!("{} cannot be looked at", path.display()),
            "make its folder, and let the user Narthex runs as write there",
        ),
    }
}

/// The volume a file is on, or would be.
fn volume(path: &Path) -> Option<u64> {
    let there = std::fs::metadata(path);
    let folder =
        || std::fs::metadata(path.parent().filter(|folder| !folder.as_os_str().is_empty())?).ok();
    there.ok().or_else(folder).map(|found| found.dev())
}
