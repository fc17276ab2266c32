//! The ways into this: all queries of a text, one of them, one that looks, one that changes.

use super::ast::{BodyAst, QueryAst};
use super::check::plan;
use super::parse::queries;
use super::{Body, Param, Plan, Read, Statement};
use crate::diagnostic::nearest;
use crate::lang::{Bounds, Problems};
use crate::schema::{Kind, Schema};
use crate::{Diagnostic, Span};

/// A checked query that looks. A change has no place in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// What it is told.
    pub params: Vec<Param>,
    /// What it is.
    pub description: Option<String>,
    /// How a model should use it.
    pub instruction: Option<String>,
    /// What it looks for.
    pub read: Read,
}

/// A checked query that changes something.
#[derive(Debug, Clone, PartialEq)]
pub struct Writing {
    /// Its name.
    pub name: String,
    /// What it is told.
    pub params: Vec<Param>,
    /// What it is.
    pub description: Option<String>,
    /// How a model should use it.
    pub instruction: Option<String>,
    /// What it does.
    pub statements: Vec<Statement>,
}

/// A query as far as its text alone says.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Its name.
    pub name: String,
    /// Where its name is.
    pub span: Span,
    /// The parameters: name, kind, whether it may be left out.
    pub params: Vec<(String, Kind, bool)>,
    /// What it is.
    pub description: Option<String>,
    /// How a model should use it.
    pub instruction: Option<String>,
    /// Whether it changes something.
    pub writes: bool,
}

/// Reads and checks all queries of a text, or the one without a name that it is.
pub fn read(source: &str, schema: &Schema) -> Result<Vec<Plan>, Vec<Diagnostic>> {
    let mut problems = Problems::new(source);
    let mut plans = Vec::new();
    for query in queries(source)? {
        match plan(source, &query, schema) {
            Ok(checked) => plans.push(checked),
            Err(found) => problems.extend(found),
        }
    }
    problems.unless(|| plans)
}

/// Reads a text and checks one of its queries: the one of this name, or the only one there is.
pub fn read_one(
    source: &str,
    name: Option<&str>,
    schema: &Schema,
) -> Result<Plan, Vec<Diagnostic>> {
    plan(source, &chosen(source, name)?, schema)
}

/// As [`read_one`], for where nothing may be changed.
pub fn read_reading(
    source: &str,
    name: Option<&str>,
    schema: &Schema,
) -> Result<Reading, Vec<Diagnostic>> {
    let query = chosen(source, name)?;
    if let BodyAst::Write(_, span) = &query.body {
        let problem = Diagnostic::at(
            source,
            *span,
            "this query changes the graph, and only looking is allowed here",
        );
        return Err(vec![problem.help("use graph_mutate for it")]);
    }
    let Plan { name, params, description, instruction, body } = plan(source, &query, schema)?;
    match body {
        Body::Read(read) => Ok(Reading { name, params, description, instruction, read }),
        Body::Write(_) => Err(vec![Diagnostic::at(source, query.name.span, "use graph_mutate")]),
    }
}

/// As [`read_one`], for where something is to be changed.
pub fn read_writing(
    source: &str,
    name: Option<&str>,
    schema: &Schema,
) -> Result<Writing, Vec<Diagnostic>> {
    let query = chosen(source, name)?;
    let Plan { name, params, description, instruction, body } = plan(source, &query, schema)?;
    match body {
        Body::Write(statements) => {
            Ok(Writing { name, params, description, instruction, statements })
        }
        Body::Read(_) => {
            let problem = Diagnostic::at(source, query.name.span, "this query changes nothing");
            Err(vec![problem.help("use graph_query for it")])
        }
    }
}

/// What queries a text has, without a schema.
pub fn parse_only(source: &str) -> Result<Vec<Outline>, Vec<Diagnostic>> {
    let outline = |query: QueryAst| Outline {
        name: query.name.name,
        span: query.name.span,
        params: query
            .params
            .into_iter()
            .map(|param| (param.name.name, param.kind, param.nullable || param.default.is_some()))
            .collect(),
        description: query.description,
        instruction: query.instruction,
        writes: matches!(query.body, BodyAst::Write(..)),
    };
    Ok(queries(source)?.into_iter().map(outline).collect())
}

fn chosen(source: &str, name: Option<&str>) -> Result<QueryAst, Vec<Diagnostic>> {
    let mut all = queries(source)?;
    let names: Vec<String> = all.iter().map(|query| query.name.name.clone()).collect();
    let found = match name {
        Some(name) => names.iter().position(|known| known == name),
        None if all.len() == 1 => Some(0),
        None => None,
    };
    if let Some(no) = found {
        return Ok(all.swap_remove(no));
    }
    let listed = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let listed = format!("there are {}", listed.join(", "));
    let known = names.iter().map(String::as_str);
    let (message, near) = if let Some(name) = name {
        let short: String = name.chars().take(Bounds::NAME_BYTES).collect();
        (format!("there is no query `{short}` here"), nearest(name, known))
    } else {
        (format!("there are {} queries here: say which", names.len()), None)
    };
    let help = near.map_or(listed, |near| format!("did you mean `{near}`?"));
    Err(vec![Diagnostic::at(source, Span::default(), message).help(help)])
}

impl Plan {
    /// Whether it changes something.
    pub const fn is_write(&self) -> bool {
        matches!(self.body, Body::Write(_))
    }
}

impl From<Reading> for Plan {
    fn from(reading: Reading) -> Self {
        let Reading { name, params, description, instruction, read } = reading;
        Self { name, params, description, instruction, body: Body::Read(read) }
    }
}

impl From<Writing> for Plan {
    fn from(writing: Writing) -> Self {
        let Writing { name, params, description, instruction, statements } = writing;
        Self { name, params, description, instruction, body: Body::Write(statements) }
    }
}

/// How many names a message lists.
const LISTED: usize = 10;
