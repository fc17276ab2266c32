//! What of our environment goes on to somebody else's process: what stands in the table, and
//! nothing else.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The part of our environment that others may see. What is not on the list is dropped here, so
/// that nothing later can pass it on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Of all of it, what stands in the table.
    pub fn of(all: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(all.into_iter().filter(|(name, _)| passes(name)).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// As it looks from behind walls: home, caches and temporary files are in the scratch
    /// directory, since the real ones are shut.
    pub(super) fn behind_walls(&self, scratch: &Path) -> Self {
        let moved = |name: &OsStr| {
            name == "HOME" || name == "TMPDIR" || name.as_encoded_bytes().starts_with(b"XDG_")
        };
        let mut seen: Vec<_> = self.0.iter().filter(|(name, _)| !moved(name)).cloned().collect();
        seen.push(("HOME".into(), scratch.join(HOME_DIR).into()));
        seen.push(("TMPDIR".into(), scratch.join(TEMPORARY_DIR).into()));
        Self(seen)
    }
}

fn passes(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    PASSED.iter().any(|(passed, _)| name == *passed)
        || name.strip_prefix("LC_").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase())
        })
}

/// Each with its reason. Not on it: whatever holds a secret, says where our own settings are, names
/// a socket (`SSH_AUTH_SOCK`, `DBUS_SESSION_BUS_ADDRESS`, `XDG_RUNTIME_DIR`, `DISPLAY`), or makes a
/// loader or an interpreter run something else (`LD_…`, `NODE_OPTIONS`, `PYTHONPATH`).
const PASSED: &[(&str, &str)] = &[
    ("PATH", "finds programs"),
    ("HOME", "finds its settings"),
    ("USER", "says who it runs as"),
    ("LOGNAME", "says who it runs as"),
    ("SHELL", "programs that start a shell start this one"),
    ("LANG", "language"),
    ("LANGUAGE", "language; LC_… pass too"),
    ("TZ", "time zone"),
    ("TMPDIR", "where temporary files go"),
    ("XDG_CONFIG_HOME", "finds its settings"),
    ("XDG_DATA_HOME", "finds its data"),
    ("XDG_STATE_HOME", "finds its data"),
    ("XDG_CACHE_HOME", "where caches go"),
    ("XDG_CONFIG_DIRS", "finds the system's settings"),
    ("XDG_DATA_DIRS", "finds the system's data"),
    ("SSL_CERT_FILE", "finds certificates where the system has them elsewhere"),
    ("SSL_CERT_DIR", "finds certificates where the system has them elsewhere"),
    ("NIX_SSL_CERT_FILE", "finds certificates on NixOS"),
];

pub(super) const HOME_DIR: &str = "home";
pub(super) const TEMPORARY_DIR: &str = "tmp";

#[cfg(test)]
mod tests {
    use super::Environment;
    use std::ffi::OsString;
    use std::path::Path;

    fn of(names: &[&str]) -> Environment {
        Environment::of(names.iter().map(|name| (OsString::from(name), OsString::from("x"))))
    }

    #[test]
    fn only_what_is_on_the_list_passes() {
        let passed = ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "XDG_CACHE_HOME"];
        assert_eq!(of(&passed).iter().count(), passed.len());
        let dropped = [
            "NARTHEX_DATA_DIR",
            "NARTHEX_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "SSH_AUTH_SOCK",
            "XDG_RUNTIME_DIR",
            "DBUS_SESSION_BUS_ADDRESS",
            "GLIBC_TUNABLES",
            "HTTP_PROXY",
            "LC_",
            "LC_x=y",
            "path",
            "KEPT_PATH",
        ];
        assert_eq!(of(&dropped), Environment::default());
    }

    #[test]
    fn behind_walls_nothing_points_outside() {
        let seen = of(&["PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME"]).behind_walls(Path::new("/s"));
        assert_eq!(seen.get("HOME"), Some("/s/home".as_ref()));
        assert_eq!(seen.get("TMPDIR"), Some("/s/tmp".as_ref()));
        assert_eq!(seen.get("XDG_CONFIG_HOME"), None);
        assert_eq!(seen.iter().count(), 3);
    }
}
