//! Finds the files of a client, and the servers in them.

use std::io;
use std::path::{Path, PathBuf};

use crate::located::{self, Kind, Node, Reading};
use crate::text::shown;

use super::places::{Client, Rooms, Shape, files};

/// The disk, as the program at the edge reads it.
pub trait Files {
    /// What is in a file; nothing if there is none.
    fn read(&self, path: &Path) -> io::Result<Option<String>>;
}

/// A file of a client's.
#[derive(Clone)]
pub struct FoundFile {
    /// Where.
    pub path: PathBuf,
    /// How it keeps servers.
    pub shape: Shape,
    /// The project it belongs to.
    pub project: Option<PathBuf>,
    /// What is in it, or why it cannot be read.
    pub text: Result<String, String>,
}

impl std::fmt::Debug for FoundFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Other clients keep secrets in their files.
        f.debug_struct("FoundFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The files of a client that are there.
pub fn find(client: Client, rooms: &Rooms, disk: &dyn Files) -> Vec<FoundFile> {
    let read = |(path, shape, project): (PathBuf, Shape, Option<&Path>)| {
        let text = disk.read(&path).transpose()?.map_err(|error| error.to_string());
        Some(FoundFile { path, shape, project: project.map(Path::to_owned), text })
    };
    files(client, rooms).into_iter().filter_map(read).collect()
}

/// A server as it stands in a file.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) node: Node,
    pub(super) project: Option<PathBuf>,
}

impl FoundFile {
    /// The servers in it, in their order, or why there are none to be had.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, String> {
        let text = self.text.as_ref().map_err(Clone::clone)?;
        let root = located::read(text, &READING).map_err(|(at, fault)| format!("{at}: {fault}"))?;
        let mut entries = Vec::new();
        let mut take = |list: Option<&Node>, project: Option<PathBuf>| {
            let Some(Kind::Object(servers)) = list.map(|list| &list.kind) else { return };
            for (key, node) in servers {
                let (name, node) = (key.name.clone(), node.clone());
                entries.push(Entry { name, node, project: project.clone() });
            }
        };
        let any = self.shape == Shape::Any;
        if self.shape != Shape::AmongSettings {
            take(root.get("mcpServers").or_else(|| root.get("servers")), self.project.clone());
        }
        if any || self.shape == Shape::AmongSettings {
            let mcp = root.get("mcp").or_else(|| root.get("mcp.servers"));
            take(mcp.map(|mcp| mcp.get("servers").unwrap_or(mcp)), self.project.clone());
        }
        let projects = root.get("projects").filter(|_| any || self.shape == Shape::WithProjects);
        if let Some(Kind::Object(projects)) = projects.map(|node| &node.kind) {
            for (path, project) in projects {
                take(project.get("mcpServers"), Some(PathBuf::from(&path.name)));
            }
        }
        Ok(entries)
    }

    /// What it is called to people.
    pub(super) fn shown(&self) -> String {
        shown(&self.path.to_string_lossy(), 300)
    }
}

/// Claude Code keeps whole histories in its file, and editors write comments into theirs.
const READING: Reading =
    Reading { comments: true, bytes: 64 * 1024 * 1024, depth: 64, nodes: 2_000_000 };

#[cfg(test)]
mod tests {
    use super::{FoundFile, Shape};

    #[test]
    fn servers_are_found_where_each_client_keeps_them() {
        let plain = r#"{"mcpServers":{"a":{"command":"x"}}}"#;
        let vscode = "{ // mine\n \"servers\": {\"a\": {\"command\": \"x\",},}, \"inputs\": [] }";
        let settings = r#"{"editor.fontSize":12,"mcp":{"servers":{"a":{"command":"x"}}}}"#;
        let claude = r#"{"numStartups":3,"mcpServers":{"a":{"command":"x"}},"projects":{"/p":{"mcpServers":{"b":{"command":"y"}}},"/q":{"mcpServers":{}},"/r":{}}}"#;
        for (text, shape, names) in [
            (plain, Shape::Plain, vec![("a", None)]),
            (vscode, Shape::Plain, vec![("a", None)]),
            (settings, Shape::AmongSettings, vec![("a", None)]),
            (settings, Shape::Plain, vec![]),
            (claude, Shape::WithProjects, vec![("a", None), ("b", Some("/p"))]),
            (claude, Shape::Plain, vec![("a", None)]),
            (plain, Shape::Any, vec![("a", None)]),
            (settings, Shape::Any, vec![("a", None)]),
            (claude, Shape::Any, vec![("a", None), ("b", Some("/p"))]),
            ("{}", Shape::Any, vec![]),
            ("[]", Shape::Any, vec![]),
            (r#"{"mcpServers":[]}"#, Shape::Any, vec![]),
        ] {
            let file =
                FoundFile { path: "f".into(), shape, project: None, text: Ok(text.to_owned()) };
            let entries = file.entries().unwrap();
            let found: Vec<_> = entries
                .iter()
                .map(|e| (e.name.as_str(), e.project.as_ref().and_then(|p| p.to_str())))
                .collect();
            assert_eq!(found, names, "{text} {shape:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_says_so() {
        for (text, says) in [
            (Ok("{".to_owned()), "line 1, column 2"),
            (Ok(r#"{"a":1,"a":2}"#.to_owned()), "appears twice"),
            (Err("permission denied".to_owned()), "permission denied"),
        ] {
            let file = FoundFile { path: "f".into(), shape: Shape::Any, project: None, text };
            let error = file.entries().err().unwrap();
            assert!(error.contains(says), "{error}");
        }
    }
}
