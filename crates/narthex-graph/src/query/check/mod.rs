//! From what is written to a plan: every name resolved, every expression typed.

mod bindings;
mod call;
mod columns;
mod compare;
mod edge;
mod ends;
mod expr;
mod names;
mod pattern;
mod read;
mod resolve;
mod types;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{BodyAst, ParamAst, QueryAst};
use super::{Body, Expr, Param, Plan};
use crate::Diagnostic;
use crate::lang::Problems;
use crate::schema::Schema;
use crate::value::Value;

pub(crate) use expr::Expressions;
pub(crate) use names::{Bare, Names, Place, Row};

/// Checks a query against a schema.
pub(super) fn plan(
    source: &str,
    query: &QueryAst,
    schema: &Schema,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut problems = Problems::new(source);
    let mut params = Vec::with_capacity(query.params.len());
    for param in &query.params {
        if params.iter().any(|other: &Param| other.name == param.name.name) {
            let message = format!("there are two parameters `${}`", param.name.name);
            problems.say(param.name.span, message);
            continue;
        }
        params.push(checked_param(param, &mut problems));
    }
    let mut used = BTreeSet::new();
    let mut query_check =
        Query { schema, params: &params, problems: &mut problems, used: &mut used };
    let body = match &query.body {
        BodyAst::Read(read) => query_check.read(read).map(Body::Read),
        BodyAst::Write(statements, _) => query_check.write(statements).map(Body::Write),
    };
    if problems.is_empty() {
        unused(query, &params, &used, &mut problems);
    }
    let Some(body) = body else {
        // INVARIANT: whoever gives nothing has said why. Were it not so, the query is refused still.
        if problems.is_empty() {
            problems.say(query.name.span, "this query cannot be understood");
        }
        return Err(problems.all());
    };
    let (name, description) = (query.name.name.clone(), query.description.clone());
    let instruction = query.instruction.clone();
    problems.unless(|| Plan { name, params, description, instruction, body })
}

/// What a query is checked with.
#[derive(Debug)]
struct Query<'a, 'p, 's> {
    schema: &'a Schema,
    params: &'a [Param],
    problems: &'p mut Problems<'s>,
    used: &'p mut BTreeSet<usize>,
}

fn checked_param(param: &ParamAst, problems: &mut Problems<'_>) -> Param {
    let default = param.default.as_ref().and_then(|ast| {
        let (vars, mut used) = (BTreeMap::new(), BTreeSet::new());
        let names = Names {
            params: &[],
            rows: &[],
            vars: &vars,
            bare: Bare::Nothing,
            place: Place::Values,
        };
        let mut check = Expressions { names, problems, used: &mut used };
        let typed = check.typed(ast)?;
        let typed = check.fitted(typed, &param.kind, &format!("`${}` is", param.name.name))?;
        match typed.expr {
            Expr::Const(Value::Null) if !param.nullable => {
                let help = format!("write `{}?`", param.kind);
                check.wrong_help(ast.span, "this parameter cannot be null", help)
            }
            Expr::Const(value) => Some(value),
            _ => check.wrong(ast.span, "a default is a value, not something to be worked out"),
        }
    });
    Param {
        name: param.name.name.clone(),
        kind: param.kind.clone(),
        nullable: param.nullable,
        default,
    }
}

/// A parameter nobody speaks of is most often a filter that was forgotten.
fn unused(query: &QueryAst, params: &[Param], used: &BTreeSet<usize>, problems: &mut Problems<'_>) {
    for (no, param) in params.iter().enumerate() {
        let written = query.params.iter().find(|ast| ast.name.name == param.name);
        if let (false, Some(ast)) = (used.contains(&no), written) {
            problems.say(ast.name.span, format!("the parameter `${}` is not used", param.name));
        }
    }
}
