//! `insert`, `update`, `delete`.

use super::super::ast::StatementAst;
use super::values;
use crate::lang::{Ast, Bounds, Parsed, Parser, Tok, expression};

/// Reads statements up to the end of the query.
pub(super) fn statements(parser: &mut Parser<'_>) -> Parsed<Vec<StatementAst>> {
    let mut all = Vec::new();
    while let Tok::Name(word) = parser.peek() {
        if all.len() == Bounds::STATEMENTS {
            let message = format!("a query has at most {} statements", Bounds::STATEMENTS);
            return Err(parser.wrong(message));
        }
        let statement = match word.as_str() {
            "insert" => insert,
            "update" => update,
            "delete" => delete,
            "match" | "return" => {
                let problem = parser.wrong("a query looks or changes, never both");
                return Err(problem.help("make two queries of it"));
            }
            other => {
                let message = format!("`{other}` means nothing here");
                return Err(parser.wrong(message).nearest(other, WORDS));
            }
        };
        parser.skip();
        all.push(statement(parser)?);
        parser.separators();
    }
    Ok(all)
}

fn insert(parser: &mut Parser<'_>) -> Parsed<StatementAst> {
    let of = parser.name("the name of a type")?;
    parser.expect("{")?;
    Ok(StatementAst::Insert { of, set: values(parser)? })
}

fn update(parser: &mut Parser<'_>) -> Parsed<StatementAst> {
    let of = parser.name("the name of a type")?;
    if !parser.eat_word("set") {
        return Err(parser.wanted("`set { … }`"));
    }
    let start = parser.expect("{")?;
    let set = values(parser)?;
    if set.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "nothing is set here"));
    }
    let filter = filter(parser, "update")?;
    Ok(StatementAst::Update { of, set, filter })
}

fn delete(parser: &mut Parser<'_>) -> Parsed<StatementAst> {
    let of = parser.name("the name of a type")?;
    let filter = filter(parser, "delete")?;
    Ok(StatementAst::Delete { of, filter })
}

/// Which rows: it must be said, even if it is all of them.
fn filter(parser: &mut Parser<'_>, what: &str) -> Parsed<Ast> {
    if !parser.eat_word("where") {
        let problem = parser.wanted("`where`");
        return Err(problem.help(format!("say which rows to {what}; all of them: `where true`")));
    }
    expression(parser)
}

const WORDS: [&str; 3] = ["insert", "update", "delete"];
