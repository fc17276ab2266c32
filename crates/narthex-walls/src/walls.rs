//! What a process may touch, as data: a preset, and what is opened in it.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::WallError;

/// The walls around one process. An unknown key is an error: a misspelt wall would be no wall.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Walls {
    /// What holds before anything is opened.
    pub preset: Preset,
    /// Files and directories it may also read and execute, with all that is in them.
    pub read: Vec<PathBuf>,
    /// Files and directories it may also change, with all that is in them.
    pub write: Vec<PathBuf>,
    /// The network, where the preset is not to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Whether it may open Unix sockets. Whoever may can speak to every socket that its user may:
    /// the session bus, a container engine, the socket of the house itself.
    pub unix_sockets: bool,
    /// How much it may use.
    pub limits: Limits,
}

/// What holds before anything is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The permissions of the user, whole. New ones cannot be gained, and it does not outlive us.
    None,
    /// Reads the system, its own directory and the directory it is started in; changes only its
    /// scratch directory; may use the network.
    #[default]
    Files,
    /// As `files`, without a network.
    Offline,
    /// No file, no network, no new program. For a process of ours that shuts itself in
    /// ([`crate::lock_strict`]); nothing can be started in it.
    Strict,
}

/// What of the network is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing, loopback included.
    Off,
    /// All of it: the machine itself, its neighbours and the internet.
    On,
    /// Connections over TCP to these ports, wherever; names can be looked up (UDP is open, since
    /// no wall tells one datagram from another).
    Ports(Vec<u16>),
}

/// How much a process may use. Core dumps are always off: they would hold its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Files open at once, each process.
    pub open_files: u64,
    /// Address space in bytes, each process. Engines that reserve much and use little need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Processes and threads, counted over everything the user runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Seconds of CPU, each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// The longest file it may write, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_files: 4096,
            memory: None,
            processes: None,
            cpu_seconds: None,
            file_bytes: None,
        }
    }
}

impl Walls {
    /// A preset with nothing opened.
    pub fn preset(preset: Preset) -> Self {
        Self { preset, ..Self::default() }
    }

    /// Whether there are any.
    pub fn stand(&self) -> bool {
        self.preset != Preset::None
    }

    /// What of the network is open.
    pub fn network(&self) -> Network {
        match (&self.network, self.preset) {
            (Some(network), _) => network.clone(),
            (None, Preset::None | Preset::Files) => Network::On,
            (None, Preset::Offline | Preset::Strict) => Network::Off,
        }
    }

    /// Refuses what contradicts itself, and paths that say nothing certain.
    pub fn check(&self) -> Result<(), WallError> {
        let opened = !self.read.is_empty()
            || !self.write.is_empty()
            || self.network.is_some()
            || self.unix_sockets;
        match self.preset {
            Preset::None if opened => Err(WallError::Contradiction(
                "`none` has no walls that something could be opened in; use `files`, or drop the rest",
            )),
            Preset::Strict if opened => Err(WallError::Contradiction(
                "`strict` opens to nothing; use `offline`, or drop the rest",
            )),
            _ => self.read.iter().chain(&self.write).try_for_each(|path| certain(path)),
        }
    }
}

fn certain(path: &Path) -> Result<(), WallError> {
    let why = if !path.is_absolute() {
        "it is not absolute; write it from the root on"
    } else if path.components().any(|part| part == Component::ParentDir) {
        "it goes up (`..`); write where it leads"
    } else {
        return Ok(());
    };
    Err(WallError::Place { path: path.to_owned(), why: why.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{Network, Preset, Walls};

    #[test]
    fn what_is_not_said_is_walled() {
        let walls: Walls = serde_json::from_str("{}").expect("nothing said");
        assert_eq!(walls, Walls::preset(Preset::Files));
        assert!(walls.stand() && !walls.unix_sockets);
        let offline: Walls = serde_json::from_str(r#"{"preset":"offline"}"#).expect("offline");
        assert_eq!(offline.network(), Network::Off);
    }

    #[test]
    fn a_misspelt_wall_is_an_error() {
        for text in [
            r#"{"preset":"file"}"#,
            r#"{"presets":"files"}"#,
            r#"{"limits":{"mem":1}}"#,
            r#"{"network":"no"}"#,
            r#"{"network":{"port":[1]}}"#,
        ] {
            assert!(serde_json::from_str::<Walls>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_reads_as_it_was_written() {
        let walls = Walls {
            preset: Preset::Offline,
            read: vec!["/srv/a".into()],
            write: vec!["/srv/b".into()],
            network: Some(Network::Ports(vec![443])),
            unix_sockets: true,
            ..Walls::default()
        };
        let text = serde_json::to_string(&walls).expect("text");
        assert_eq!(serde_json::from_str::<Walls>(&text).expect(&text), walls);
    }

    #[test]
    fn contradictions_and_uncertain_paths_are_refused() {
        let walls = |text: &str| serde_json::from_str::<Walls>(text).expect(text).check();
        assert!(walls(r#"{"preset":"none"}"#).is_ok());
        assert!(walls(r#"{"read":["/srv"],"write":["/srv/x"]}"#).is_ok());
        for text in [
            r#"{"preset":"none","read":["/srv"]}"#,
            r#"{"preset":"none","network":"off"}"#,
            r#"{"preset":"strict","write":["/srv"]}"#,
            r#"{"read":["srv"]}"#,
            r#"{"write":["/srv/../etc"]}"#,
        ] {
            assert!(walls(text).is_err(), "{text}");
        }
    }
}
