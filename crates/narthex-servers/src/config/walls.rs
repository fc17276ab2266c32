//! What a process may reach, on systems that can hold it to that.

use std::path::{Component, Path, PathBuf};

use super::error::ConfigFault;
use super::fields::{Field, Outcome};

/// The walls around a server's process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walls {
    /// Which walls.
    pub preset: Preset,
    /// Folders and files it may read besides what any program needs.
    pub read: Vec<PathBuf>,
    /// Folders and files it may read and change.
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
}

/// Which walls there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// It runs with the owner's permissions.
    #[default]
    None,
    /// It sees the files it was granted, and the network.
    Files,
    /// It sees the owner's files, and no network.
    Offline,
    /// It sees the files it was granted, and no network.
    Strict,
}

impl Preset {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Files => "files",
            Self::Offline => "offline",
            Self::Strict => "strict",
        }
    }

    /// Whether files are walled off.
    pub const fn walls_files(self) -> bool {
        matches!(self, Self::Files | Self::Strict)
    }
}

impl Walls {
    /// No walls: what a server has that says nothing.
    pub const fn none() -> Self {
        Self { preset: Preset::None, read: Vec::new(), write: Vec::new(), network: true }
    }

    pub(super) fn read(field: Field<'_>) -> Outcome<Self> {
        let whole = field.clone();
        let mut fields = field.fields()?;
        let words = [Preset::None, Preset::Files, Preset::Offline, Preset::Strict]
            .map(|preset| (preset.as_str(), preset));
        let Some(preset) = fields.take("preset") else {
            return fields.fault(ConfigFault::Conflict(
                "`walls` needs a `preset`: none, files, offline or strict",
            ));
        };
        let preset = preset.word(&words, "none, files, offline and strict")?;
        let read = fields.take("read").map(|field| paths(&field)).transpose()?;
        let write = fields.take("write").map(|field| paths(&field)).transpose()?;
        let network = fields.take("network").map(|field| field.bool()).transpose()?;
        fields.finish()?;
        if !preset.walls_files() && (read.is_some() || write.is_some()) {
            return whole.fault(ConfigFault::Conflict(
                "`read` and `write` mean something only with the presets files and strict",
            ));
        }
        if preset == Preset::None && network == Some(false) {
            return whole.fault(ConfigFault::Conflict(
                "without walls the network cannot be kept from it; take the preset offline",
            ));
        }
        let open = matches!(preset, Preset::None | Preset::Files);
        let (read, write) = (read.unwrap_or_default(), write.unwrap_or_default());
        Ok(Self { preset, read, write, network: network.unwrap_or(open) })
    }
}

fn paths(field: &Field<'_>) -> Outcome<Vec<PathBuf>> {
    field.items("paths", MAX_PATHS)?.iter().map(absolute).collect()
}

/// A path that means the same wherever it is read.
pub(super) fn absolute(field: &Field<'_>) -> Outcome<PathBuf> {
    let text = field.plain("a path", MAX_PATH)?;
    if text.contains("${") {
        return field.fault(ConfigFault::NoSubstitution);
    }
    let path = Path::new(text);
    let climbs = path.components().any(|part| matches!(part, Component::ParentDir));
    if !path.is_absolute() || climbs {
        return field.fault(ConfigFault::NotAbsolute);
    }
    Ok(path.to_owned())
}

const MAX_PATHS: usize = 64;
const MAX_PATH: usize = 4_096;
