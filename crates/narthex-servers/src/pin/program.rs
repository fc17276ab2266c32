//! Which program a command means, and what of it can be known again: the file itself, the
//! interpreter its first line names, and the script an interpreter is given.

use std::io;
use std::path::{Component, Path, PathBuf};

use narthex_core::Digest;
use serde::{Deserialize, Serialize};

use crate::text::shown;

/// The disk.
pub trait Disk {
    /// Whether it is a file.
    fn is_file(&self, path: &Path) -> bool;
    /// Whether it is a file that may be run.
    fn is_program(&self, path: &Path) -> bool;
    /// Where it really lies, links followed.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;
    /// How it begins.
    fn first_bytes(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;
    /// The SHA-256 of all of it; an error if it is larger.
    fn digest(&self, path: &Path, most: u64) -> io::Result<Digest>;
}

/// What is to be found.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The command, as it is written.
    pub command: &'a str,
    /// Its arguments, with everything in place.
    pub args: &'a [&'a str],
    /// Where it is started.
    pub cwd: Option<&'a Path>,
    /// The folders of `PATH`, as the process will have it.
    pub path: &'a str,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The program; it is started by this path.
    pub program: PinnedFile,
    /// What its first line says it is run by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<PinnedFile>,
    /// Files among the arguments that it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<PinnedFile>,
}

impl Found {
    /// What an approval does not cover, in words for the owner; none if it covers all that is
    /// started.
    pub fn uncovered(&self) -> Option<&'static str> {
        let name = file_name(&self.program.path);
        FETCHERS.iter().find(|(fetcher, _)| *fetcher == name).map(|(_, why)| *why)
    }
}

/// A file, known again by its place and its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedFile {
    /// The path it is used by.
    pub path: PathBuf,
    /// Where that leads.
    pub real: PathBuf,
    /// What is in it.
    pub sha256: Digest,
}

/// Why a command is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Not there.
    #[error("no program {0:?} in the folders of PATH; install it, or write its whole path")]
    NotFound(String),
    /// There, and not a program.
    #[error("{0:?} is not a file that may be run")]
    NotRunnable(String),
    /// It depends on where one stands.
    #[error("{0:?} depends on where it is started; write its whole path, or set `cwd`")]
    Relative(String),
    /// It cannot be read.
    #[error("{path:?} cannot be read: {why}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        why: String,
    },
}

/// Finds the program and hashes what it is made of.
pub fn find(disk: &dyn Disk, wanted: &Wanted<'_>) -> Result<Found, ProgramError> {
    let path = locate(disk, wanted.command, wanted)?;
    let program = pin(disk, &path)?;
    let interpreter = interpreter(disk, &path, wanted)?;
    let runs_scripts = is_interpreter(&path);
    let scripts = if runs_scripts { scripts(disk, wanted)? } else { Vec::new() };
    Ok(Found { program, interpreter, scripts })
}

fn locate(disk: &dyn Disk, command: &str, wanted: &Wanted<'_>) -> Result<PathBuf, ProgramError> {
    let name = || shown(command, 200);
    let runs = |path: PathBuf| {
        if disk.is_program(&path) { Ok(path) } else { Err(ProgramError::NotRunnable(name())) }
    };
    let given = Path::new(command);
    if given.is_absolute() {
        return runs(given.to_owned());
    }
    if given.components().count() > 1 || command.starts_with('.') {
        let cwd = wanted.cwd.ok_or_else(|| ProgramError::Relative(name()))?;
        return runs(flat(&cwd.join(given)));
    }
    // A folder that is not absolute (an empty one, or `.`) means whatever lies around.
    let folders = std::env::split_paths(wanted.path).filter(|folder| folder.is_absolute());
    let mut candidates = folders.map(|folder| folder.join(command));
    candidates.find(|path| disk.is_program(path)).ok_or_else(|| ProgramError::NotFound(name()))
}

fn pin(disk: &dyn Disk, path: &Path) -> Result<PinnedFile, ProgramError> {
    let unreadable = |error: io::Error| ProgramError::Unreadable {
        path: shown(&path.to_string_lossy(), 200),
        why: error.to_string(),
    };
    let real = disk.real_path(path).map_err(unreadable)?;
    let sha256 = disk.digest(&real, MAX_FILE).map_err(unreadable)?;
    Ok(PinnedFile { path: path.to_owned(), real, sha256 })
}

/// `#!/usr/bin/env node` and its like.
fn interpreter(
    disk: &dyn Disk,
    path: &Path,
    wanted: &Wanted<'_>,
) -> Result<Option<PinnedFile>, ProgramError> {
    let start = disk.first_bytes(path, 256).unwrap_or_default();
    let Some(line) = start.strip_prefix(b"#!") else { return Ok(None) };
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let is_env = file_name(Path::new(first)) == "env";
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
    let located = match named {
        Some(named) if is_env => locate(disk, named, wanted)?,
        _ => locate(disk, first, wanted)?,
    };
    pin(disk, &located).map(Some)
}

/// Files among the arguments of an interpreter: the first that is one, and every other that looks
/// like code (what `--require` names runs too). Data that changes every day is left out.
fn scripts(disk: &dyn Disk, wanted: &Wanted<'_>) -> Result<Vec<PinnedFile>, ProgramError> {
    let mut scripts: Vec<PinnedFile> = Vec::new();
    for arg in wanted.args {
        // `--require=./x.js`
        let value = match arg.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => arg,
        };
        let is_option = value.starts_with('-');
        let path = Path::new(value);
        let path = match wanted.cwd {
            Some(cwd) => flat(&cwd.join(path)),
            None if path.is_absolute() => path.to_owned(),
            None => continue,
        };
        let wanted = scripts.is_empty() || looks_like_code(&path);
        if !is_option && wanted && disk.is_file(&path) {
            scripts.push(pin(disk, &path)?);
        }
    }
    Ok(scripts)
}

fn looks_like_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    CODE.contains(&extension)
}

fn is_interpreter(path: &Path) -> bool {
    let name = file_name(path);
    // python3.12 is python.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Without `.` in it.
fn flat(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

const INTERPRETERS: &[&str] = &[
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "python",
    "pythonw",
    "pypy",
    "uv",
    "ruby",
    "perl",
    "php",
    "lua",
    "java",
    "dotnet",
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
    "Rscript",
    "wasmtime",
    "env",
];

const CODE: &[&str] = &[
    "js", "mjs", "cjs", "ts", "mts", "cts", "py", "pyz", "rb", "pl", "php", "lua", "sh", "jar",
    "dll", "so", "wasm", "ps1", "R", "node",
];

/// Programs that fetch what they run.
const FETCHERS: &[(&str, &str)] = &[
    ("npx", PACKAGE),
    ("bunx", PACKAGE),
    ("pnpx", PACKAGE),
    ("npm", PACKAGE),
    ("pnpm", PACKAGE),
    ("yarn", PACKAGE),
    ("uvx", PACKAGE),
    ("uv", PACKAGE),
    ("pipx", PACKAGE),
    ("deno", PACKAGE),
    ("docker", IMAGE),
    ("podman", IMAGE),
];

const PACKAGE: &str = "it fetches a package when it starts, and that is not part of what you approve: name an exact version";
const IMAGE: &str = "it runs an image, and that is not part of what you approve: name it by its digest (image@sha256:…)";

/// Bytes of a program.
const MAX_FILE: u64 = 512 * 1024 * 1024;

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};

    use narthex_core::Digest;
    use tempfile::TempDir;

    use super::super::disk::RealDisk;
    use super::{Disk, Found, ProgramError, Wanted, find};

    fn put(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn house() -> TempDir {
        let house = TempDir::new().unwrap();
        put(house.path(), "bin/server", "binary", 0o755);
        put(house.path(), "bin/plain", "no program", 0o644);
        put(house.path(), "bin/node", "node itself", 0o755);
        put(house.path(), "bin/python3.12", "python itself", 0o755);
        put(house.path(), "bin/npx", "#!/usr/bin/env node\n", 0o755);
        put(house.path(), "late/server", "another", 0o755);
        put(house.path(), "work/local", "local", 0o755);
        put(house.path(), "work/index.js", "1", 0o644);
        put(house.path(), "work/hook.mjs", "2", 0o644);
        put(house.path(), "work/data.db", "3", 0o644);
        symlink(house.path().join("bin/server"), house.path().join("bin/link")).unwrap();
        house
    }

    fn look(house: &TempDir, command: &str, args: &[&str]) -> Result<Found, ProgramError> {
        let at = |name: &str| house.path().join(name).display().to_string();
        let path = format!(".::{}:{}", at("bin"), at("late"));
        let cwd = house.path().join("work");
        find(&RealDisk, &Wanted { command, args, cwd: Some(&cwd), path: &path })
    }

    #[test]
    fn a_command_is_one_absolute_path() {
        let house = house();
        let absolute = house.path().join("bin/server").display().to_string();
        for (command, expected) in [
            ("server", Ok("bin/server")),
            (absolute.as_str(), Ok("bin/server")),
            ("link", Ok("bin/link")),
            ("./local", Ok("work/local")),
            // `.` in PATH is not looked into.
            ("local", Err("no program \"local\"")),
            ("plain", Err("no program")),
            ("./plain", Err("not a file that may be run")),
            ("./index.js", Err("not a file that may be run")),
            ("none", Err("install it")),
            ("/none", Err("not a file that may be run")),
        ] {
            let found = look(&house, command, &[]);
            match expected {
                Ok(name) => {
                    assert_eq!(found.unwrap().program.path, house.path().join(name), "{command}");
                }
                Err(says) => {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains(says), "{command}: {error}");
                }
            }
        }
        let nowhere = Wanted { command: "./local", args: &[], cwd: None, path: "" };
        assert!(matches!(find(&RealDisk, &nowhere), Err(ProgramError::Relative(_))));
    }

    /// A disk on which everything is a program.
    struct Everything;

    impl Disk for Everything {
        fn is_file(&self, _: &Path) -> bool {
            true
        }
        fn is_program(&self, _: &Path) -> bool {
            true
        }
        fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
            Ok(path.to_owned())
        }
        fn first_bytes(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
            Ok(Vec::new())
        }
        fn digest(&self, _: &Path, _: u64) -> io::Result<Digest> {
            Ok(Digest::of(b""))
        }
    }

    #[test]
    fn a_folder_of_path_that_is_not_absolute_is_passed_over() {
        for (path, found) in [
            (".", None),
            ("", None),
            ("bin:./x:../y", None),
            (".::/bin", Some("/bin/x")),
            ("/a:/b", Some("/a/x")),
        ] {
            let wanted = Wanted { command: "x", args: &[], cwd: None, path };
            let program = find(&Everything, &wanted).ok().map(|found| found.program.path);
            assert_eq!(program, found.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn a_link_is_followed_for_what_it_is_and_kept_for_how_it_is_called() {
        let house = house();
        let link = look(&house, "link", &[]).unwrap().program;
        let server = look(&house, "server", &[]).unwrap().program;
        assert_ne!(link.path, server.path);
        assert_eq!((link.real, link.sha256), (server.real, server.sha256));
    }

    #[test]
    fn a_swapped_file_is_another_program() {
        let house = house();
        let before = look(&house, "node", &["index.js", "--x"]).unwrap();
        for (name, text) in [("work/index.js", "evil"), ("bin/node", "evil too")] {
            put(house.path(), name, text, 0o755);
            assert_ne!(look(&house, "node", &["index.js", "--x"]).unwrap(), before, "{name}");
        }
        let npx = look(&house, "npx", &["-y", "pkg"]).unwrap();
        assert_eq!(npx.interpreter.as_ref().unwrap().path, house.path().join("bin/node"));
        put(house.path(), "bin/node", "swapped", 0o755);
        assert_ne!(look(&house, "npx", &["-y", "pkg"]).unwrap(), npx);
        assert!(npx.uncovered().unwrap().contains("exact version"));
        assert_eq!(look(&house, "server", &[]).unwrap().uncovered(), None);
    }

    #[test]
    fn the_code_among_the_arguments_is_known_and_the_data_is_not() {
        let house = house();
        for (command, args, scripts) in [
            ("node", &["index.js"] as &[&str], vec!["index.js"]),
            ("node", &["--require", "./hook.mjs", "index.js"], vec!["hook.mjs", "index.js"]),
            ("node", &["--import=./hook.mjs", "index.js"], vec!["hook.mjs", "index.js"]),
            ("python3.12", &["index.js", "data.db"], vec!["index.js"]),
            ("node", &["-e", "1"], vec![]),
            ("node", &["missing.js"], vec![]),
            ("server", &["index.js"], vec![]),
        ] {
            let found = look(&house, command, args).unwrap();
            let names: Vec<_> = found
                .scripts
                .iter()
                .map(|file| file.path.file_name().unwrap().to_str().unwrap())
                .collect();
            assert_eq!(names, scripts, "{command} {args:?}");
        }
    }
}
