//! The files that the settings declare for graphs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use narthex_core::Slug;
use narthex_graph::Bounds;
use narthex_graph::stored::{Declaration, McpBlock, QueryFile};

use super::graph_keys::{GraphKeys, QueryPaths};
use super::keys::Config;
use crate::failure::{Exit, Failure};

impl Config {
    /// What is declared for graphs, with the texts of the files; paths begin in `folder`.
    pub fn declarations(&self, folder: &Path) -> Result<BTreeMap<Slug, Declaration>, Failure> {
        let mut declared = BTreeMap::new();
        for (name, keys) in &self.graphs {
            let slug: Slug = name.parse().map_err(|error| {
                Failure::new(Exit::Usage, format!("[graphs.{name}] in the settings: {error}"))
            })?;
            declared.insert(slug, declaration(name, keys, folder)?);
        }
        Ok(declared)
    }
}

fn declaration(graph: &str, keys: &GraphKeys, folder: &Path) -> Result<Declaration, Failure> {
    let whole = |path: &PathBuf| query_file(folder, path, None);
    let files = match &keys.queries {
        None => Vec::new(),
        Some(QueryPaths::Folder(path)) => {
            listed(folder, path).map_err(|failure| declared(graph, failure))?
        }
        Some(QueryPaths::Files(paths)) => paths.iter().map(whole).collect::<Result<_, _>>()?,
        Some(QueryPaths::Named(named)) => {
            let one = |(name, path): (&String, &super::graph_keys::QueryPath)| {
                query_file(folder, &path.file, Some(name.clone()))
            };
            named.iter().map(one).collect::<Result<_, _>>()?
        }
    };
    if files.len() > FILES {
        let message = format!("[graphs.{graph}]: more than {FILES} files of queries");
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(Declaration { files, mcp: McpBlock::from(&keys.mcp) })
}

fn declared(graph: &str, failure: Failure) -> Failure {
    let message = format!("[graphs.{graph}] in the settings: {}", failure.message);
    Failure { message, ..failure }
}

/// The `.gq` files of a folder, in the order of their names.
fn listed(base: &Path, folder: &Path) -> Result<Vec<QueryFile>, Failure> {
    let whole = base.join(folder);
    let failed = |error: io::Error| Failure::file(&whole, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&whole).map_err(failed)? {
        let path = PathBuf::from(entry.map_err(failed)?.file_name());
        if path.extension().is_some_and(|extension| extension == "gq") {
            names.push(path);
        }
        if names.len() > FILES {
            let message = format!("{}: more than {FILES} files of queries", whole.display());
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    names.sort();
    names.iter().map(|name| query_file(base, &folder.join(name), None)).collect()
}

fn query_file(base: &Path, path: &Path, only: Option<String>) -> Result<QueryFile, Failure> {
    let source = read_text(&base.join(path), "gq", Bounds::QUERY_BYTES)?;
    Ok(QueryFile { name: path.display().to_string(), source, only })
}

/// The text of a regular file whose name ends so, of at most so many bytes.
pub fn read_text(path: &Path, extension: &str, most: usize) -> Result<String, Failure> {
    let wrong = |what: &str| Failure::new(Exit::Usage, format!("{}: {what}", path.display()));
    if path.extension().is_none_or(|is| is != extension) {
        return Err(wrong(&format!("not a .{extension} file")));
    }
    let failed = |error: io::Error| Failure::file(path, &error);
    // Before it is opened: what is no file could keep us waiting.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(wrong("not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(wrong(&format!("longer than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))
}

/// Files of queries of one graph.
const FILES: usize = 1_000;
