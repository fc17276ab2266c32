//! The owner's policy files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::excerpt::{excerpt, position};
use super::keys::Config;
use crate::failure::{Exit, Failure};
use narthex_policy::{PolicyEngine, PolicyFault};

/// Policy files, by name, with their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyFiles {
    files: Vec<(String, String)>,
}

impl PolicyFiles {
    /// Reads every `.cedar` file of a folder, in the order of their names.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let mut paths = listed(folder).map_err(|error| Failure::file(folder, &error))?;
        paths.sort();
        if paths.len() > FILES {
            let message = format!("{}: more than {FILES} policy files", folder.display());
            return Err(Failure::new(Exit::Failed, message));
        }
        let files = paths.iter().map(|path| read_one(path)).collect::<Result<_, _>>()?;
        Ok(Self { files })
    }

    /// Like [`Self::read`], where a folder that is missing means no files.
    pub fn read_if_there(folder: &Path) -> Result<Self, Failure> {
        match folder.try_exists() {
            Ok(false) => Ok(Self::default()),
            _ => Self::read(folder),
        }
    }

    /// The files, by name, with their texts.
    pub fn as_slice(&self) -> &[(String, String)] {
        &self.files
    }

    /// Puts them in force, or shows the place that is wrong.
    pub fn engine(&self) -> Result<PolicyEngine, Failure> {
        PolicyEngine::with_files(&self.files).map_err(|fault| self.failure(&fault))
    }

    fn failure(&self, fault: &PolicyFault) -> Failure {
        let (file, span) = match fault {
            PolicyFault::Syntax { file, span, .. } | PolicyFault::Invalid { file, span, .. } => {
                (file, *span)
            }
            PolicyFault::Doubled { file, .. } => (file, None),
            PolicyFault::Schema(_) => return Failure::new(Exit::Failed, fault.to_string()),
        };
        let message = fault.to_string().replace('\n', " ");
        let text = self.files.iter().find(|(name, _)| name == file).map(|(_, text)| text);
        let failure = match (text, span) {
            (Some(text), Some((from, length))) => {
                let (line, column) = position(text, from);
                let drawn = excerpt(file, text, from..from.saturating_add(length), "here");
                let rest = message.strip_prefix(file.as_str()).unwrap_or(&message);
                Failure::new(Exit::Failed, format!("{file}:{line}:{column}{rest}\n{drawn}"))
            }
            _ => Failure::new(Exit::Failed, message),
        };
        failure.hint("narthex policy check --schema shows what policies can speak of")
    }
}

impl Config {
    /// The folder of policy files, for a house in `data_dir`.
    pub fn policy_folder(&self, data_dir: &Path) -> PathBuf {
        data_dir.join(&self.policy.folder)
    }

    /// The policy files of a house in `data_dir`.
    pub fn policy_files(&self, data_dir: &Path) -> Result<PolicyFiles, Failure> {
        PolicyFiles::read_if_there(&self.policy_folder(data_dir))
    }
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cedar") {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn read_one(path: &Path) -> Result<(String, String), Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let size = fs::metadata(path).map_err(|error| Failure::file(path, &error))?.len();
    if size > FILE_BYTES {
        let message = format!("{}: longer than {FILE_BYTES} bytes", path.display());
        return Err(Failure::new(Exit::Failed, message));
    }
    let text = fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    Ok((name, text))
}

const FILES: usize = 1_000;
const FILE_BYTES: u64 = 1024 * 1024;
