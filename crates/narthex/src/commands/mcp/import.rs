//! `narthex mcp import`: what would be taken is shown, then written into the file. Nothing is
//! approved by it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use narthex_server::DataDir;
use narthex_server::owner::{ServerReply, ServerRequest};
use narthex_servers::config::{self, ServerName};
use narthex_servers::import::{Client, Files, FoundFile, Plan, Rooms, Shape, System, find, plan};
use serde_json::{Map, Value, json};

use super::ask;
use crate::cli::McpImportArgs;
use crate::commands::{confirm, unexpected};
use crate::config::env;
use crate::output::clean;
use crate::{Context, Exit, Failure, output};

pub(super) async fn run(context: &Context, args: &McpImportArgs) -> Result<Exit, Failure> {
    // Says that they are off, if they are, and which servers there are.
    let ServerReply::Servers(listed) = ask(context, ServerRequest::List).await? else {
        return Err(unexpected());
    };
    let already: BTreeSet<ServerName> =
        listed.servers.iter().filter_map(|server| server.name.parse().ok()).collect();
    let files = files(args)?;
    if files.is_empty() {
        return Err(Failure::new(Exit::NotFound, format!("{} keeps no servers here", args.from))
            .hint("name a file: narthex mcp import ./mcp.json"));
    }
    let home = env::home();
    let plan = plan(&files, &already, home.as_deref());
    if context.is_json() {
        output::json(&as_json(&plan))?;
    } else {
        output::text(told(&plan))?;
    }
    if args.dry_run || plan.taken.is_empty() {
        return Ok(Exit::Done);
    }
    let file = crate::servers::file(context, &DataDir::at(&context.data_dir));
    let question = format!("Write {} of them into {}?", plan.taken.len(), file.display());
    confirm::confirmed(&question, args.yes)?;
    write(&file, &plan, context.config.servers.most)?;
    if !context.is_json() {
        let first = plan.taken.first().map_or_else(String::new, |taken| taken.name.to_string());
        output::text(format!(
            "Written to {}. Nothing was started. Next: narthex mcp approve {first}",
            file.display()
        ))?;
    }
    Ok(Exit::Done)
}

fn files(args: &McpImportArgs) -> Result<Vec<FoundFile>, Failure> {
    if let Some(client) = Client::named(&args.from) {
        let project = args.project.clone().or_else(|| std::env::current_dir().ok());
        let (home, settings) = (env::home(), env::settings());
        let rooms = Rooms { system: System::here(), home, settings, project };
        return Ok(find(client, &rooms, &Disk));
    }
    let path = PathBuf::from(&args.from);
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::new(Exit::NotFound, format!("{}: {error}", path.display()))
            .hint("claude-code, claude-desktop, cursor, vscode, or a file")
    })?;
    Ok(vec![FoundFile { path, shape: Shape::Any, project: None, text: Ok(text) }])
}

#[derive(Debug)]
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<String>> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Adds what was taken to the file, which must be readable before and after.
fn write(file: &Path, plan: &Plan, most: usize) -> Result<(), Failure> {
    let failed = |why: String| Failure::new(Exit::Failed, format!("{}: {why}", file.display()));
    let mut root: Map<String, Value> = match fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(error) => return Err(failed(error.to_string())),
    };
    let key = if root.contains_key("servers") { "servers" } else { "mcpServers" };
    let servers = root.entry(key).or_insert_with(|| json!({}));
    let Some(servers) = servers.as_object_mut() else {
        return Err(failed(format!("`{key}` is no object")));
    };
    for taken in &plan.taken {
        servers.insert(taken.name.to_string(), Value::Object(taken.server.clone()));
    }
    let text = serde_json::to_string_pretty(&root).map_err(|error| failed(error.to_string()))?;
    config::read(&text, most).map_err(|error| failed(error.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new =
        tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(error.to_string()))?;
    io::Write::write_all(&mut new, format!("{text}\n").as_bytes())
        .and_then(|()| new.as_file().sync_all())
        .map_err(|error| failed(error.to_string()))?;
    new.persist(file).map_err(|error| failed(error.to_string()))?;
    Ok(())
}

fn told(plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    for taken in &plan.taken {
        let _ = writeln!(out, "{}  (from {})", taken.name, clean::text(&taken.from));
        let _ = writeln!(out, "    {}", clean::text(&taken.command_line()));
        for (name, value) in taken.values() {
            let _ = writeln!(out, "    {}: {value}", clean::text(name));
        }
        for note in &taken.notes {
            let _ = writeln!(out, "    note: {}", clean::text(note));
        }
        for export in &taken.exports {
            let what = clean::text(&export.what);
            let _ = writeln!(out, "    export {}=…   ({what})", export.variable);
        }
    }
    for left in &plan.left_out {
        let name = if left.name.is_empty() { "the file" } else { left.name.as_str() };
        let (name, from) = (clean::text(name), clean::text(&left.from));
        let _ = writeln!(out, "not taken: {name} (from {from}): {}", clean::text(&left.why));
    }
    if out.is_empty() {
        out.push_str("There is nothing to take.\n");
    }
    out.trim_end().to_owned()
}

fn as_json(plan: &Plan) -> Value {
    let taken = plan.taken.iter().map(|taken| {
        let exports: Vec<_> = taken
            .exports
            .iter()
            .map(|export| json!({"variable": export.variable, "what": export.what}))
            .collect();
        json!({"name": taken.name, "was": taken.was, "from": taken.from, "server": taken.server,
            "notes": taken.notes, "exports": exports})
    });
    let left = plan
        .left_out
        .iter()
        .map(|left| json!({"name": left.name, "from": left.from, "why": left.why}));
    json!({"taken": taken.collect::<Vec<_>>(), "left_out": left.collect::<Vec<_>>()})
}
