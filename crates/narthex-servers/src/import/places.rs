//! Where other clients keep their servers.

use std::path::{Path, PathBuf};

/// A client to import from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::ClaudeDesktop, Self::Cursor, Self::VsCode];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    /// By its word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == word)
    }
}

/// An operating system, as far as it decides where files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and its like.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// The one this was built for.
    pub const fn here() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// Where things are on this machine, as the program at the edge knows it.
#[derive(Debug, Clone)]
pub struct Rooms {
    /// Which system.
    pub system: System,
    /// The owner's home.
    pub home: Option<PathBuf>,
    /// Where programs keep their settings: `~/.config`, or `%APPDATA%`.
    pub settings: Option<PathBuf>,
    /// The project the owner stands in.
    pub project: Option<PathBuf>,
}

/// How a file keeps servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `mcpServers` or `servers`.
    Plain,
    /// `mcpServers`, and again in each of `projects`.
    WithProjects,
    /// `mcp.servers`, among many other settings.
    AmongSettings,
    /// Whatever of these is there.
    Any,
}

#[derive(Debug, Clone, Copy)]
enum Base {
    Home,
    Settings,
    Project,
}

/// Client, system (none for all), where, file, shape.
const TABLE: &[(Client, Option<System>, Base, &str, Shape)] = &[
    (Client::ClaudeCode, None, Base::Home, ".claude.json", Shape::WithProjects),
    (Client::ClaudeCode, None, Base::Project, ".mcp.json", Shape::Plain),
    (Client::ClaudeDesktop, Some(System::Linux), Base::Settings, DESKTOP, Shape::Plain),
    (Client::ClaudeDesktop, Some(System::MacOs), Base::Home, DESKTOP_MAC, Shape::Plain),
    (Client::ClaudeDesktop, Some(System::Windows), Base::Settings, DESKTOP, Shape::Plain),
    (Client::Cursor, None, Base::Home, ".cursor/mcp.json", Shape::Plain),
    (Client::Cursor, None, Base::Project, ".cursor/mcp.json", Shape::Plain),
    (Client::VsCode, Some(System::Linux), Base::Settings, CODE, Shape::Plain),
    (Client::VsCode, Some(System::Linux), Base::Settings, CODE_SETTINGS, Shape::AmongSettings),
    (Client::VsCode, Some(System::MacOs), Base::Home, CODE_MAC, Shape::Plain),
    (Client::VsCode, Some(System::MacOs), Base::Home, CODE_SETTINGS_MAC, Shape::AmongSettings),
    (Client::VsCode, Some(System::Windows), Base::Settings, CODE, Shape::Plain),
    (Client::VsCode, Some(System::Windows), Base::Settings, CODE_SETTINGS, Shape::AmongSettings),
    (Client::VsCode, None, Base::Project, ".vscode/mcp.json", Shape::Plain),
    (Client::VsCode, None, Base::Project, ".vscode/settings.json", Shape::AmongSettings),
];

const DESKTOP: &str = "Claude/claude_desktop_config.json";
const DESKTOP_MAC: &str = "Library/Application Support/Claude/claude_desktop_config.json";
const CODE: &str = "Code/User/mcp.json";
const CODE_SETTINGS: &str = "Code/User/settings.json";
const CODE_MAC: &str = "Library/Application Support/Code/User/mcp.json";
const CODE_SETTINGS_MAC: &str = "Library/Application Support/Code/User/settings.json";

/// The files of a client: path, shape, and the project they belong to.
pub(super) fn files(client: Client, rooms: &Rooms) -> Vec<(PathBuf, Shape, Option<&Path>)> {
    let rows = TABLE.iter().filter(|(of, system, ..)| {
        *of == client && system.is_none_or(|system| system == rooms.system)
    });
    rows.filter_map(|(_, _, base, file, shape)| {
        let (folder, project) = match base {
            Base::Home => (rooms.home.as_deref(), None),
            Base::Settings => (rooms.settings.as_deref(), None),
            Base::Project => (rooms.project.as_deref(), rooms.project.as_deref()),
        };
        folder.map(|folder| (folder.join(file), *shape, project))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Client, Rooms, System, files};

    #[test]
    fn every_client_has_its_files_on_every_system() {
        for (client, system, expected) in [
            (Client::ClaudeCode, System::Linux, vec!["/h/.claude.json", "/p/.mcp.json"]),
            (Client::ClaudeDesktop, System::Linux, vec!["/s/Claude/claude_desktop_config.json"]),
            (
                Client::ClaudeDesktop,
                System::MacOs,
                vec!["/h/Library/Application Support/Claude/claude_desktop_config.json"],
            ),
            (Client::ClaudeDesktop, System::Windows, vec!["/s/Claude/claude_desktop_config.json"]),
            (Client::Cursor, System::MacOs, vec!["/h/.cursor/mcp.json", "/p/.cursor/mcp.json"]),
            (
                Client::VsCode,
                System::Linux,
                vec![
                    "/s/Code/User/mcp.json",
                    "/s/Code/User/settings.json",
                    "/p/.vscode/mcp.json",
                    "/p/.vscode/settings.json",
                ],
            ),
        ] {
            let rooms = Rooms {
                system,
                home: Some("/h".into()),
                settings: Some("/s".into()),
                project: Some("/p".into()),
            };
            let found: Vec<String> = files(client, &rooms)
                .iter()
                .map(|(path, ..)| path.to_str().unwrap().replace('\\', "/"))
                .collect();
            assert_eq!(found, expected, "{client:?} {system:?}");
        }
        for client in Client::ALL {
            assert_eq!(Client::named(client.as_str()), Some(client));
        }
    }
}
