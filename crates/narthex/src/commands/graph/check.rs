//! `narthex graph check`: schema and queries of a folder, without a house.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use narthex_graph::query::parse_only;
use narthex_graph::schema::Schema;
use narthex_graph::stored::{Catalogue, Declaration, McpBlock, QueryFile, Said, StoredFault};
use narthex_graph::{Bounds, Diagnostic};
use narthex_graph_surface::built_in_tools;
use narthex_server::owner::TextFault;
use serde::Serialize;
use walkdir::WalkDir;

use super::place::drawn;
use crate::cli::GraphCheckArgs;
use crate::config::graphs::read_text;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) fn run(context: &Context, args: &GraphCheckArgs) -> Result<Exit, Failure> {
    let mcp = mcp(context, args)?;
    let folder = Folder::look(args)?;
    let report = folder.check(mcp);
    if context.is_json() {
        output::json(&report)?;
    } else {
        for fault in &report.faults {
            output::text(format!("{}\n", clean::text(&fault.shown(&folder.texts))))?;
        }
        let Report { faults, files, queries, .. } = &report;
        let found =
            if faults.is_empty() { "ok".to_owned() } else { format!("{} wrong", faults.len()) };
        output::text(format!("{found}: {files} files, {queries} queries"))?;
    }
    Ok(if report.ok { Exit::Done } else { Exit::Failed })
}

/// What the settings say about how queries are shown, where some were given.
fn mcp(context: &Context, args: &GraphCheckArgs) -> Result<McpBlock, Failure> {
    let graphs = &context.config.graphs;
    let keys = match &args.graph {
        Some(name) => Some(graphs.get(name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("the settings have no [graphs.{name}]"))
                .hint("name the settings with --config FILE")
        })?),
        None if graphs.len() > 1 => {
            let names: Vec<&str> = graphs.keys().map(String::as_str).collect();
            return Err(Failure::new(Exit::Usage, "the settings have several graphs")
                .hint(format!("say which with --graph: {}", names.join(", "))));
        }
        None => graphs.values().next(),
    };
    Ok(keys.map(|keys| McpBlock::from(&keys.mcp)).unwrap_or_default())
}

/// The files of a folder.
struct Folder {
    /// The schema everything is checked against.
    schema: String,
    /// All schemas, by the name people know them by; the one that counts among them.
    schemas: Vec<String>,
    queries: Vec<String>,
    texts: BTreeMap<String, String>,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    schema: String,
    files: usize,
    queries: usize,
    faults: Vec<Fault>,
}

/// Something wrong.
#[derive(Debug, Serialize)]
struct Fault {
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(flatten)]
    at: Option<TextFault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Folder {
    /// Reads the files, in the order of their names.
    fn look(args: &GraphCheckArgs) -> Result<Self, Failure> {
        let root = std::fs::canonicalize(&args.folder)
            .map_err(|error| Failure::file(&args.folder, &error))?;
        if !root.is_dir() {
            let message = format!("{}: not a folder", args.folder.display());
            return Err(Failure::new(Exit::Usage, message));
        }
        let mut found = Self {
            schema: String::new(),
            schemas: Vec::new(),
            queries: Vec::new(),
            texts: BTreeMap::new(),
        };
        for path in listed(&args.folder, &root)? {
            let is_schema = path.extension().is_some_and(|extension| extension == "pg");
            found.take(&path, is_schema)?;
        }
        found.schema = match (&args.schema, found.schemas.as_slice()) {
            (Some(file), _) => {
                let name = file.display().to_string();
                if !found.texts.contains_key(&name) {
                    found.take(file, true)?;
                }
                name
            }
            (None, [only]) => only.clone(),
            (None, []) => {
                let message = format!("{}: there is no schema (.pg) here", args.folder.display());
                return Err(Failure::new(Exit::Usage, message).hint("name one with --schema FILE"));
            }
            (None, several) => {
                let message = format!("there are several schemas: {}", several.join(", "));
                return Err(Failure::new(Exit::Usage, message).hint("say which with --schema FILE"));
            }
        };
        Ok(found)
    }

    fn take(&mut self, path: &Path, is_schema: bool) -> Result<(), Failure> {
        let (extension, most) =
            if is_schema { ("pg", Bounds::SCHEMA_BYTES) } else { ("gq", Bounds::QUERY_BYTES) };
        let name = path.display().to_string();
        self.texts.insert(name.clone(), read_text(path, extension, most)?);
        let names = if is_schema { &mut self.schemas } else { &mut self.queries };
        names.push(name);
        Ok(())
    }

    fn text(&self, name: &str) -> &str {
        self.texts.get(name).map(String::as_str).unwrap_or_default()
    }

    fn check(&self, mcp: McpBlock) -> Report {
        let mut faults = Vec::new();
        let mut schema = None;
        for name in &self.schemas {
            match Schema::read(self.text(name), None) {
                Ok(read) if *name == self.schema => schema = Some(read),
                Ok(_) => {}
                Err(found) => faults.extend(found.iter().map(|one| Fault::of(name, one))),
            }
        }
        let mut queries = 0;
        if let Some(schema) = schema {
            let file = |name: &String| QueryFile {
                name: name.clone(),
                source: self.text(name).to_owned(),
                only: None,
            };
            let declared = Declaration { files: self.queries.iter().map(file).collect(), mcp };
            match Catalogue::check(&declared, &schema, &built_in_tools()) {
                Ok(catalogue) => queries = catalogue.all().count(),
                Err(found) => faults.extend(found.into_iter().map(Fault::from)),
            }
        } else {
            // Against no schema, their texts alone can be wrong.
            for name in &self.queries {
                match parse_only(self.text(name)) {
                    Ok(outlines) => queries += outlines.len(),
                    Err(found) => faults.extend(found.iter().map(|one| Fault::of(name, one))),
                }
            }
        }
        Report {
            ok: faults.is_empty(),
            schema: self.schema.clone(),
            files: self.texts.len(),
            queries,
            faults,
        }
    }
}

impl Fault {
    fn of(file: &str, found: &Diagnostic) -> Self {
        let at = Some(TextFault::from(found));
        Self { file: Some(file.to_owned()), query: None, at, message: None }
    }

    fn shown(&self, texts: &BTreeMap<String, String>) -> String {
        let name = self.file.as_deref().unwrap_or("mcp");
        match (&self.at, &self.message) {
            (Some(at), _) => {
                drawn(name, texts.get(name).map(String::as_str).unwrap_or_default(), at)
            }
            (None, Some(message)) => format!("{name}: {message}"),
            (None, None) => name.to_owned(),
        }
    }
}

impl From<StoredFault> for Fault {
    fn from(fault: StoredFault) -> Self {
        let (at, message) = match fault.said {
            Said::Text(found) => (Some(TextFault::from(found.as_ref())), None),
            Said::Plain(message) => (None, Some(message)),
        };
        Self { file: fault.file, query: fault.query, at, message }
    }
}

/// The files under a folder that are meant. A link that leads out of it is refused.
fn listed(folder: &Path, root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
    let walk = WalkDir::new(folder).max_depth(DEPTH).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name())) {
        let entry = entry.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        let path = entry.path();
        let meant = path.extension().is_some_and(|is| is == "pg" || is == "gq");
        if !meant || entry.file_type().is_dir() {
            continue;
        }
        if entry.path_is_symlink() {
            let target =
                std::fs::canonicalize(path).map_err(|error| Failure::file(path, &error))?;
            if !target.starts_with(root) {
                let message = format!("{}: a link that leads out of the folder", path.display());
                return Err(Failure::new(Exit::Usage, message));
            }
        }
        found.push(path.to_path_buf());
        if found.len() > FILES {
            let message = format!("{}: more than {FILES} files", folder.display());
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    Ok(found)
}

/// How far down files are looked for, and how many there may be.
const DEPTH: usize = 16;
const FILES: usize = 1_000;
