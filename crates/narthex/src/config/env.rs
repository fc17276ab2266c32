//! What the environment says.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::{Exit, Failure};

/// Where a house lives when nobody says otherwise.
pub fn default_data_dir() -> Result<PathBuf, Failure> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let data = path("XDG_DATA_HOME").filter(absolute);
    let home = || path("HOME").filter(absolute).map(|home| home.join(".local/share"));
    data.or_else(home).map(|folder| folder.join("narthex")).ok_or_else(|| {
        Failure::new(Exit::Usage, "no data directory: neither XDG_DATA_HOME nor HOME is set")
            .hint("narthex --data-dir <DIR> …")
    })
}

/// A variable that holds text; empty or not UTF-8 counts as not set.
#[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where the person's own files are.
pub fn home() -> Option<PathBuf> {
    path("HOME").filter(|home| home.is_absolute())
}

/// Where programs keep the person's settings.
pub fn settings() -> Option<PathBuf> {
    let named = path("XDG_CONFIG_HOME").or_else(|| path("APPDATA"));
    named.filter(|path| path.is_absolute()).or_else(|| home().map(|home| home.join(".config")))
}

/// All of it, for whoever picks out what others may see.
pub fn all() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// The editor the person uses, with its arguments.
pub fn editor() -> Vec<String> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(variable);
    let words = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    named.map(words).filter(|words| !words.is_empty()).unwrap_or_else(|| vec!["vi".to_owned()])
}

#[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from)
}
