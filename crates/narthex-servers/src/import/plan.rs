//! What an import would do, to be shown before it is done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::config::{self, ServerName};
use crate::text::shown;

use super::find::{Entry, FoundFile};
use super::name::made_valid;
use super::secrets::Variables;
use super::take::Taking;

/// What an import would do.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The servers that would be taken.
    pub taken: Vec<Taken>,
    /// And those that would not.
    pub left_out: Vec<LeftOut>,
}

/// A server that would be taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// Its name here.
    pub name: ServerName,
    /// Its name there.
    pub was: String,
    /// The file it is from.
    pub from: String,
    /// What would be written of it: no secret is in it.
    pub server: Map<String, Value>,
    /// What to know about it.
    pub notes: Vec<String>,
    /// What to export before it can start.
    pub exports: Vec<Export>,
}

impl Taken {
    /// Its command or URL, as it would be written.
    pub fn command_line(&self) -> String {
        let text = |key: &str| self.server.get(key).and_then(Value::as_str);
        let mut words: Vec<&str> = text("command").or_else(|| text("url")).into_iter().collect();
        let args = self.server.get("args").and_then(Value::as_array);
        words.extend(args.into_iter().flatten().filter_map(Value::as_str));
        shown(&words.join(" "), 4_000)
    }

    /// The names of its variables and headers, each with what stands for its value.
    pub fn values(&self) -> Vec<(&str, &'static str)> {
        let of = |key: &str| self.server.get(key).and_then(Value::as_object);
        let entries = of("env").into_iter().chain(of("headers")).flatten();
        let masked = |value: &Value| match value.as_str() {
            Some(text) if text.contains("${") => "from the environment",
            _ => "***",
        };
        entries.map(|(name, value)| (name.as_str(), masked(value))).collect()
    }
}

/// A variable that must be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name.
    pub variable: String,
    /// What it must hold, in words.
    pub what: String,
}

/// A server, or a file, that would not be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The server's name there; empty for a whole file.
    pub name: String,
    /// The file.
    pub from: String,
    /// Why.
    pub why: String,
}

impl Plan {
    /// The text of the file to write. It can be read by [`config::read`].
    pub fn json(&self) -> String {
        let servers: Map<String, Value> = self
            .taken
            .iter()
            .map(|taken| (taken.name.to_string(), Value::Object(taken.server.clone())))
            .collect();
        let file = json!({"mcpServers": servers});
        // Text and lists can always be written.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }
}

/// Plans an import of what is in these files, beside the servers that are here already.
pub fn plan(files: &[FoundFile], already: &BTreeSet<ServerName>, home: Option<&Path>) -> Plan {
    let mut planning = Planning {
        plan: Plan::default(),
        already,
        names: already.clone(),
        seen: BTreeMap::new(),
        variables: Variables::default(),
        home,
    };
    for file in files {
        let from = file.shown();
        match file.entries() {
            Ok(entries) => entries.iter().for_each(|entry| planning.add(entry, &from)),
            Err(why) => planning.leave_out("", &from, why),
        }
    }
    planning.plan
}

struct Planning<'a> {
    plan: Plan,
    already: &'a BTreeSet<ServerName>,
    names: BTreeSet<ServerName>,
    /// Servers that were taken, by what would be written of them.
    seen: BTreeMap<String, ServerName>,
    variables: Variables,
    home: Option<&'a Path>,
}

impl Planning<'_> {
    fn leave_out(&mut self, name: &str, from: &str, why: String) {
        let (name, from) = (shown(name, 80), from.to_owned());
        self.plan.left_out.push(LeftOut { name, from, why });
    }

    fn add(&mut self, entry: &Entry, from: &str) {
        if let Err(why) = self.try_add(entry, from) {
            self.leave_out(&entry.name, from, why);
        }
    }

    fn try_add(&mut self, entry: &Entry, from: &str) -> Result<(), String> {
        if self.names.len() >= config::MOST_SERVERS {
            return Err(format!("there are {} servers already", config::MOST_SERVERS));
        }
        if entry.name.parse().is_ok_and(|name: ServerName| self.already.contains(&name)) {
            return Err("a server of that name is here already".to_owned());
        }
        let name = made_valid(&entry.name, &self.names).ok_or("it cannot be given a name")?;
        let mut taking = Taking {
            server: name.as_str(),
            home: self.home,
            project: entry.project.as_deref(),
            variables: &mut self.variables,
            notes: Vec::new(),
            exports: Vec::new(),
        };
        let server = taking.server(&entry.node)?;
        let (mut notes, exports) = (taking.notes, taking.exports);
        check(&name, &server)?;
        let written = format!("{} {}", entry.name, Value::Object(server.clone()));
        if let Some(same) = self.seen.get(&written) {
            return Err(format!("it is the same as {same}"));
        }
        if name.as_str() != entry.name {
            notes.insert(0, self.renamed(entry, &name));
        }
        self.seen.insert(written, name.clone());
        self.names.insert(name.clone());
        let was = shown(&entry.name, 80);
        self.plan.taken.push(Taken { name, was, from: from.to_owned(), server, notes, exports });
        Ok(())
    }

    fn renamed(&self, entry: &Entry, name: &ServerName) -> String {
        let taken = entry.name.parse().is_ok_and(|was: ServerName| self.names.contains(&was));
        let why = if taken { "another one has its name" } else { "its name is not one here" };
        format!("it is called {name} here: {why}")
    }
}

/// What is written must be read again.
fn check(name: &ServerName, server: &Map<String, Value>) -> Result<(), String> {
    let file = json!({"mcpServers": {name.as_str(): server}});
    match config::read(&file.to_string(), config::MOST_SERVERS) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.fault.to_string()),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
