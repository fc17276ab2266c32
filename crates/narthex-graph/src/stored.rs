//! Stored queries: a graph's own catalogue, declared by its owner and checked before it is served.
//!
//! A [`Declaration`] is what a settings file says, with the texts of the files it names. [`Catalogue`]
//! is what comes of it under a schema: every query checked, every name used once. Whether a query is
//! a tool of its own or one of many behind two tools is decided here too, from the number of exposed
//! ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::query::{Body, Plan, read};
use crate::schema::Schema;
use crate::value::{columns_json_schema, params_json_schema};
use crate::{Diagnostic, Span};

/// How stored queries are shown to agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By their number.
    #[default]
    Auto,
    /// A tool each.
    PerQuery,
    /// `stored_query_list` and `stored_query_run`.
    Meta,
}

/// The `mcp` block of a graph: all there is to say about how its stored queries are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpBlock {
    /// How they are shown.
    pub mode: Mode,
    /// From how many exposed queries on `auto` means `meta`.
    pub threshold: usize,
    /// What is said about single ones, by their names.
    pub queries: BTreeMap<String, Shown>,
}

impl Default for McpBlock {
    fn default() -> Self {
        Self { mode: Mode::Auto, threshold: THRESHOLD, queries: BTreeMap::new() }
    }
}

/// What is said about one stored query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shown {
    /// Whether agents may know of it. One that is not exposed is the owner's to call.
    pub expose: bool,
    /// The name of its tool, where that is not its own.
    pub tool_name: Option<String>,
}

impl Default for Shown {
    fn default() -> Self {
        Self { expose: true, tool_name: None }
    }
}

/// A file of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFile {
    /// What people know it by.
    pub name: String,
    /// What is in it.
    pub source: String,
    /// The one query that is taken from it; all if none is named.
    pub only: Option<String>,
}

/// What is declared for a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// Its files.
    pub files: Vec<QueryFile>,
    /// How they are shown.
    pub mcp: McpBlock,
}

/// A stored query, checked.
#[derive(Debug, Clone)]
pub struct StoredQuery {
    /// Its name.
    pub name: String,
    /// The name of its tool.
    pub tool: String,
    /// Whether agents may know of it.
    pub expose: bool,
    /// The text it is in; `name` says which query of it.
    pub source: String,
    /// The file that is from.
    pub file: String,
    /// Checked against the schema the catalogue was made for.
    pub plan: Plan,
}

impl StoredQuery {
    /// Whether it changes something.
    pub const fn writes(&self) -> bool {
        self.plan.is_write()
    }

    /// The schema of what it is told.
    pub fn params_schema(&self) -> Json {
        params_json_schema(&self.plan.params)
    }

    /// The schema of a row of its answer; none if it changes something.
    pub fn row_schema(&self) -> Option<Json> {
        match &self.plan.body {
            Body::Read(read) => Some(columns_json_schema(&read.columns)),
            Body::Write(_) => None,
        }
    }

    /// What a model is told about it.
    pub fn description(&self) -> String {
        let said = [self.plan.description.as_deref(), self.plan.instruction.as_deref()];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        if said.is_empty() {
            format!("The stored query `{}`.", self.name)
        } else {
            said.join("\n\n")
        }
    }
}

/// What is wrong with a declaration, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFault {
    /// The file, where it is about one.
    pub file: Option<String>,
    /// The query, where it is about one.
    pub query: Option<String>,
    /// What and where.
    pub said: Said,
}

/// A fault in a text, or in what is said about one.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// In the text.
    Text(Box<Diagnostic>),
    /// In the declaration.
    Plain(String),
}

impl fmt::Display for StoredFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        match &self.said {
            Said::Text(diagnostic) => diagnostic.fmt(f),
            Said::Plain(text) => f.write_str(text),
        }
    }
}

/// A graph's stored queries.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    queries: BTreeMap<String, StoredQuery>,
    meta: bool,
}

impl Catalogue {
    /// Checks a declaration against a schema. `taken` are the names of the tools there are already.
    pub fn check(
        declared: &Declaration,
        schema: &Schema,
        taken: &[&str],
    ) -> Result<Self, Vec<StoredFault>> {
        let mut faults = Vec::new();
        let mut queries: BTreeMap<String, StoredQuery> = BTreeMap::new();
        for file in &declared.files {
            match plans(file, schema) {
                Ok(plans) => {
                    for plan in plans {
                        let query = stored(file, plan, &declared.mcp);
                        if let Some(first) = queries.get(&query.name) {
                            let (name, other) = (&query.name, &first.file);
                            faults.push(query.fault(format!(
                                "there is a stored query `{name}` in {other} already"
                            )));
                        } else {
                            queries.insert(query.name.clone(), query);
                        }
                    }
                }
                Err(found) => faults.extend(found),
            }
        }
        names(&queries, taken, &mut faults);
        for name in declared.mcp.queries.keys().filter(|name| !queries.contains_key(*name)) {
            // A file that could not be read is a fault of its own.
            if faults.is_empty() {
                faults.push(plain(format!(
                    "mcp.queries.{name}: there is no stored query of this name"
                )));
            }
        }
        if !(1..=MOST).contains(&declared.mcp.threshold) {
            faults.push(plain(format!("mcp.threshold is from 1 to {MOST}")));
        }
        if queries.len() > MOST {
            faults.push(plain(format!("a graph has at most {MOST} stored queries")));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let exposed = queries.values().filter(|query| query.expose).count();
        let meta = match declared.mcp.mode {
            Mode::PerQuery => false,
            Mode::Meta => true,
            Mode::Auto => exposed >= declared.mcp.threshold,
        };
        Ok(Self { queries, meta })
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &StoredQuery> {
        self.queries.values()
    }

    /// Those agents may know of, by name.
    pub fn exposed(&self) -> impl Iterator<Item = &StoredQuery> {
        self.all().filter(|query| query.expose)
    }

    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<&StoredQuery> {
        self.queries.get(name)
    }

    /// Whether agents are shown two tools instead of one each.
    pub const fn is_meta(&self) -> bool {
        self.meta
    }
}

fn plans(file: &QueryFile, schema: &Schema) -> Result<Vec<Plan>, Vec<StoredFault>> {
    let fault = |diagnostic| StoredFault {
        file: Some(file.name.clone()),
        query: None,
        said: Said::Text(Box::new(diagnostic)),
    };
    let found: Result<Vec<Plan>, Vec<Diagnostic>> = match &file.only {
        None => read(&file.source, schema),
        Some(name) => crate::query::read_one(&file.source, Some(name), schema).map(|one| vec![one]),
    };
    let plans = found.map_err(|all| all.into_iter().map(fault).collect::<Vec<_>>())?;
    if plans.is_empty() {
        let empty = Diagnostic::at(&file.source, Span::default(), "there is no query in this file");
        return Err(vec![fault(empty)]);
    }
    Ok(plans)
}

fn stored(file: &QueryFile, plan: Plan, mcp: &McpBlock) -> StoredQuery {
    let shown = mcp.queries.get(&plan.name).cloned().unwrap_or_default();
    StoredQuery {
        tool: shown.tool_name.unwrap_or_else(|| plan.name.clone()),
        name: plan.name.clone(),
        expose: shown.expose,
        source: file.source.clone(),
        file: file.name.clone(),
        plan,
    }
}

/// No tool hides another, exposed or not: a name that is free today is free when it is exposed.
fn names(queries: &BTreeMap<String, StoredQuery>, taken: &[&str], faults: &mut Vec<StoredFault>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for query in queries.values() {
        let tool = query.tool.as_str();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if tool.is_empty() || tool.len() > TOOL_BYTES || !tool.bytes().all(plain) {
            faults.push(query.fault(format!("`{tool}` is no name for a tool: 1 to {TOOL_BYTES} of A-Z, a-z, 0-9, '_', '-' and '.'")));
        } else if taken.contains(&tool) {
            faults.push(query.fault(format!("the stored query `{}` would be called `{tool}`, which is a tool of every graph: rename it, or give it another mcp.queries.{}.tool_name", query.name, query.name)));
        } else if !seen.insert(tool) {
            faults.push(query.fault(format!("two stored queries would be the tool `{tool}`: give one of them another mcp.queries.{}.tool_name", query.name)));
        }
    }
}

impl StoredQuery {
    fn fault(&self, text: String) -> StoredFault {
        StoredFault {
            file: Some(self.file.clone()),
            query: Some(self.name.clone()),
            said: Said::Plain(text),
        }
    }
}

const fn plain(text: String) -> StoredFault {
    StoredFault { file: None, query: None, said: Said::Plain(text) }
}

/// From how many on a list of tools is too long for many clients.
const THRESHOLD: usize = 24;
/// Stored queries of one graph.
const MOST: usize = 1_000;
const TOOL_BYTES: usize = 128;

#[cfg(test)]
mod tests;
