//! The wall around files, ports, signals and abstract sockets: landlock.
//!
//! What it does not hold, on any kernel so far: whether a file is there and how large it is can be
//! asked, and the mode, owner, times and attributes of a file outside can be changed if it belongs
//! to the user (its content cannot).

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, make_bitflags,
};

use crate::places::{DEVICES, Places};
use crate::{Network, Wall, WallError, Walls};

/// Puts the wall up around this process and all that come of it.
pub(crate) fn restrict(walls: &Walls, places: &Places) -> Result<(), WallError> {
    let network = walls.network();
    let ruleset = handled(&network, walls.unix_sockets).map_err(refused)?;
    let ruleset = open_files(ruleset, places)?;
    let ruleset = open_ports(ruleset, &network).map_err(refused)?;
    enforce(ruleset)
}

/// Puts the wall up with no opening in it.
pub(crate) fn shut() -> Result<(), WallError> {
    enforce(handled(&Network::Off, false).map_err(refused)?)
}

/// What is refused unless it is opened. What newer kernels can refuse is refused where they do;
/// what is required is an error where it is missing.
fn handled(network: &Network, unix_sockets: bool) -> Result<RulesetCreated, RulesetError> {
    let required = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?;
    let required = match network {
        Network::Ports(_) => required.handle_access(AccessNet::from_all(ABI::V4))?,
        Network::On | Network::Off => required,
    };
    // Signals: what is inside cannot end its keeper, nor us.
    let wished = required
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?
        .scope(Scope::Signal)?;
    let wished = match network {
        Network::Off => wished.handle_access(AccessNet::from_all(ABI::V4))?,
        Network::On | Network::Ports(_) => wished,
    };
    if unix_sockets {
        return wished.create();
    }
    wished.handle_access(AccessFs::ResolveUnix)?.scope(Scope::AbstractUnixSocket)?.create()
}

fn open_files(ruleset: RulesetCreated, places: &Places) -> Result<RulesetCreated, WallError> {
    let mut ruleset = ruleset;
    for place in &places.system {
        if let Some(rule) = rule(place, LOOK).ok().flatten() {
            ruleset = ruleset.add_rule(rule).map_err(refused)?;
        }
    }
    for place in DEVICES {
        if let Some(rule) = rule(Path::new(place), READ_AND_WRITE).ok().flatten() {
            ruleset = ruleset.add_rule(rule).map_err(refused)?;
        }
    }
    let named = places.read.iter().map(|place| (place, LOOK));
    for (place, rights) in named.chain(places.write.iter().map(|place| (place, CHANGE))) {
        let unopened = |why: String| WallError::Place { path: place.clone(), why };
        let rule = rule(place, rights).map_err(unopened)?;
        let rule = rule.ok_or_else(|| unopened("it is not there; make it, or drop it".into()))?;
        ruleset = ruleset.add_rule(rule).map_err(refused)?;
    }
    Ok(ruleset)
}

/// The rights on what is at a path, if something is there. A file takes fewer than a directory.
fn rule(place: &Path, rights: BitFlags<AccessFs>) -> Result<Option<PathBeneath<PathFd>>, String> {
    let kind = match std::fs::metadata(place) {
        Ok(kind) => kind,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let rights = if kind.is_dir() { rights } else { rights & AccessFs::from_file(ABI::V5) };
    let found = PathFd::new(place).map_err(|error| error.to_string())?;
    Ok(Some(PathBeneath::new(found, rights)))
}

fn open_ports(ruleset: RulesetCreated, network: &Network) -> Result<RulesetCreated, RulesetError> {
    let Network::Ports(ports) = network else { return Ok(ruleset) };
    ports.iter().try_fold(ruleset, |ruleset, port| {
        ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))
    })
}

fn enforce(ruleset: RulesetCreated) -> Result<(), WallError> {
    let status = ruleset.restrict_self().map_err(refused)?;
    // What was only wished for may be missing; what is required was refused above.
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(WallError::refused(Wall::Files, format!("{status:?}")));
    }
    Ok(())
}

fn refused(error: impl std::fmt::Display) -> WallError {
    WallError::refused(Wall::Files, error)
}

type Asks = fn(Ruleset) -> Result<Ruleset, RulesetError>;

/// Landlock's version as far as we know them: a ruleset with all of it can be made, or not.
pub(crate) fn version() -> u8 {
    let known: [(u8, Asks); 6] = [
        (9, |ruleset| ruleset.handle_access(AccessFs::ResolveUnix)),
        (6, |ruleset| ruleset.scope(Scope::Signal)),
        (5, |ruleset| ruleset.handle_access(AccessFs::IoctlDev)),
        (4, |ruleset| ruleset.handle_access(AccessNet::ConnectTcp)),
        (3, |ruleset| ruleset.handle_access(AccessFs::Truncate)),
        (1, |ruleset| ruleset.handle_access(AccessFs::ReadFile)),
    ];
    let offered = |asks: Asks| {
        let hard = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        asks(hard).and_then(Ruleset::create).is_ok()
    };
    known.into_iter().find(|(_, asks)| offered(*asks)).map_or(0, |(version, _)| version)
}

/// Before it, a file that may not be written could still be cut to nothing.
const REQUIRED: ABI = ABI::V3;

/// Executing is no boundary of its own: the loader runs what can be read.
const LOOK: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});

const READ_AND_WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile});

/// No device can be made, and none that is there be given orders.
const CHANGE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    Execute | ReadFile | ReadDir | WriteFile | Truncate | Refer | RemoveDir | RemoveFile
        | MakeDir | MakeReg | MakeSym | MakeFifo | MakeSock
});
