//! Which files a walled process reaches, and why each of them.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::Walls;

/// What a walled process finds around it.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    /// The program, as an absolute path.
    pub(crate) command: &'a Path,
    /// Where it is started.
    pub(crate) cwd: &'a Path,
    /// What it may change.
    pub(crate) scratch: &'a Path,
    /// The home directory of its user, which no wall opens to by accident.
    pub(crate) home: Option<&'a Path>,
}

/// The files of one process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Read and execute; those that are not there are passed over.
    pub(crate) system: Vec<PathBuf>,
    /// Read and execute; must be there.
    pub(crate) read: Vec<PathBuf>,
    /// Change; must be there.
    pub(crate) write: Vec<PathBuf>,
}

impl Places {
    /// What the walls open to, in these surroundings.
    pub(crate) fn of(walls: &Walls, around: &Surroundings<'_>) -> Self {
        let mut read = walls.read.clone();
        read.push(around.command.to_owned());
        let real = around.command.canonicalize().unwrap_or_else(|_| around.command.to_owned());
        read.push(real.clone());
        let own = [around.command.parent(), real.parent(), Some(around.cwd)];
        read.extend(
            own.into_iter().flatten().filter(|dir| narrow(dir, around.home)).map(Path::to_owned),
        );
        let mut write = walls.write.clone();
        write.push(around.scratch.to_owned());
        Self { system: system(), read, write }
    }

    /// Everything that is opened, for a look at what must stay shut.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.system.iter().chain(&self.read).chain(&self.write).map(PathBuf::as_path)
    }
}

/// A directory that holds the home directory would open all of it: then only what was named is
/// opened. Whoever wants the whole home open says so with `read`.
fn narrow(directory: &Path, home: Option<&Path>) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = real(directory);
    directory.parent().is_some() && home.is_none_or(|home| !real(home).starts_with(&directory))
}

fn system() -> Vec<PathBuf> {
    let etc: &[&str] = if rustix::process::geteuid().is_root() { ETC_FOR_ROOT } else { &["/etc"] };
    let own = format!("/proc/{}", std::process::id());
    let mut places: Vec<PathBuf> =
        SYSTEM.iter().map(|(place, _)| *place).chain(etc.iter().copied()).map(Into::into).collect();
    places.push(own.into());
    // Often links that lead out of /etc, to wherever the network's set-up keeps them.
    places.extend(
        ["/etc/resolv.conf", "/etc/localtime"]
            .iter()
            .filter_map(|link| Path::new(link).canonicalize().ok()),
    );
    places
}

/// Held open for as long as the target lives. The kernel ties a rule to what it found at a path;
/// /proc forgets that when nobody holds it, and the rule would come to nothing.
pub(crate) fn pins(target: u32) -> Vec<File> {
    let fixed = SYSTEM.iter().map(|(place, _)| PathBuf::from(place));
    let own = PathBuf::from(format!("/proc/{target}"));
    fixed
        .filter(|place| place.starts_with("/proc"))
        .chain([own])
        .filter_map(|place| {
            let flags = libc::O_PATH | libc::O_CLOEXEC;
            std::fs::OpenOptions::new().read(true).custom_flags(flags).open(place).ok()
        })
        .collect()
}

/// What a program needs to start and to know its machine. Nothing in /home, /root, /tmp, /var,
/// /run (but for name resolution) or /dev (but for what holds nothing).
const SYSTEM: &[(&str, &str)] = &[
    ("/usr", "programs and libraries"),
    ("/bin", "programs"),
    ("/sbin", "programs"),
    ("/lib", "libraries"),
    ("/lib32", "libraries"),
    ("/lib64", "libraries, and what loads them"),
    ("/opt", "programs installed beside the system's"),
    ("/nix/store", "programs and libraries of NixOS"),
    ("/gnu/store", "programs and libraries of Guix"),
    ("/run/current-system/sw", "links into the store of NixOS"),
    ("/snap", "programs of Ubuntu"),
    ("/run/systemd/resolve", "where names are looked up"),
    ("/run/resolvconf", "where names are looked up"),
    ("/proc/cpuinfo", "how many processors, and which"),
    ("/proc/meminfo", "how much memory"),
    ("/proc/stat", "how many processors"),
    ("/proc/loadavg", "how busy the machine is"),
    ("/proc/uptime", "how long the machine is up"),
    ("/proc/version", "which kernel"),
    ("/proc/filesystems", "what coreutils look at to start"),
    ("/proc/sys", "settings of the kernel that runtimes look at"),
    ("/sys/devices/system", "how many processors, and how they are laid out"),
    ("/sys/fs/cgroup", "how much memory and CPU there is for it"),
    ("/sys/kernel/mm/transparent_hugepage", "how allocators choose the size of pages"),
];

/// What can be read and written without anything being kept or learnt.
pub(crate) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// For root, file modes shut nothing: of /etc only what programs look up, and no key, no password
/// and no other service's settings.
const ETC_FOR_ROOT: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/static",
    "/etc/terminfo",
    "/etc/timezone",
];

#[cfg(test)]
mod tests {
    use super::{Places, Surroundings, narrow};
    use crate::Walls;
    use std::path::Path;

    fn places(command: &str, cwd: &str) -> Places {
        Places::of(
            &Walls::default(),
            &Surroundings {
                command: Path::new(command),
                cwd: Path::new(cwd),
                scratch: Path::new("/var/scratch"),
                home: Some(Path::new("/home/ada")),
            },
        )
    }

    #[test]
    fn its_own_directory_and_where_it_is_started_are_opened() {
        let places = places("/home/ada/server/bin/serve", "/home/ada/project");
        assert!(places.read.contains(&"/home/ada/server/bin".into()), "{places:?}");
        assert!(places.read.contains(&"/home/ada/project".into()), "{places:?}");
        assert_eq!(places.write, [Path::new("/var/scratch")]);
    }

    #[test]
    fn a_home_is_never_opened_by_accident() {
        for (command, cwd) in
            [("/home/ada/serve", "/home/ada"), ("/home/serve", "/"), ("/serve", "/home")]
        {
            let places = places(command, cwd);
            assert!(places.read.iter().all(|path| path == Path::new(command)), "{places:?}");
        }
        assert!(!narrow(Path::new("/"), None));
    }

    #[test]
    fn no_place_of_the_system_holds_what_is_a_users() {
        let places = places("/usr/bin/env", "/srv");
        for shut in [
            "/home/ada/.ssh",
            "/root/.ssh",
            "/tmp/x",
            "/var/lib/x",
            "/run/user/1000/bus",
            "/dev/tty",
            "/dev/shm/x",
            "/proc/1/environ",
            "/proc/kcore",
        ] {
            assert!(!places.all().any(|open| Path::new(shut).starts_with(open)), "{shut}");
        }
    }
}
