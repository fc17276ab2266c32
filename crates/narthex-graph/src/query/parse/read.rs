//! `match`, `return`, `having`, `order`, `limit`.

use super::super::ast::{ColumnAst, ReadAst, SortAst};
use super::pattern;
use crate::lang::{Ast, Bounds, Parsed, Parser, Tok, expression};

/// Reads a query that looks: `match`, then the rest, each once and in any order.
pub(super) fn read(parser: &mut Parser<'_>) -> Parsed<ReadAst> {
    let mut read = ReadAst::default();
    let start = parser.span();
    if !parser.is_word("match") {
        return Err(parser.wrong("a query begins with `match`").help("`match { $p: Person }`"));
    }
    pattern::patterns(parser, &mut read.clauses)?;
    if read.clauses.is_empty() {
        let problem = parser.wrong_at(parser.since(start), "this looks for nothing");
        return Err(problem.help("`match { $p: Person }`"));
    }
    let mut said: Vec<&'static str> = Vec::new();
    while let Tok::Name(word) = parser.peek() {
        let Some(word) = PARTS.iter().find(|part| *part == word) else { break };
        if said.contains(word) {
            return Err(parser.wrong(format!("`{word}` is said twice")));
        }
        said.push(word);
        parser.skip();
        match *word {
            "return" => returned(parser, &mut read)?,
            "having" => read.having = having(parser)?,
            "order" => read.order = order(parser)?,
            _ => read.limit = Some(limit(parser)?),
        }
    }
    if let Tok::Name(word) = parser.peek() {
        return Err(match word.as_str() {
            "insert" | "update" | "delete" => {
                let problem = parser.wrong("a query looks or changes, never both");
                problem.help("make two queries of it")
            }
            other => {
                let message = format!("`{other}` means nothing here");
                parser.wrong(message).nearest(other, PARTS)
            }
        });
    }
    if !said.contains(&"return") {
        return Err(parser.wanted("`return { … }`"));
    }
    Ok(read)
}

fn returned(parser: &mut Parser<'_>, read: &mut ReadAst) -> Parsed<()> {
    let outside = parser.eat_word("distinct");
    let start = parser.expect("{")?;
    read.distinct = outside || parser.eat_word("distinct");
    read.columns = parser.list("}", (Bounds::COLUMNS, "columns"), |parser| {
        let value = expression(parser)?;
        let alias =
            if parser.eat_word("as") { Some(parser.name("the name of a column")?) } else { None };
        Ok(ColumnAst { value, alias })
    })?;
    if read.columns.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "nothing is returned"));
    }
    Ok(())
}

fn having(parser: &mut Parser<'_>) -> Parsed<Vec<Ast>> {
    let start = parser.expect("{")?;
    let all = parser.list("}", (Bounds::COLUMNS, "conditions"), expression)?;
    if all.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "there is no condition here"));
    }
    Ok(all)
}

fn order(parser: &mut Parser<'_>) -> Parsed<Vec<SortAst>> {
    if parser.is_word("by") {
        return Err(parser.wrong("`order` has no `by`").help("write `order { $p.age desc }`"));
    }
    let start = parser.expect("{")?;
    let all = parser.list("}", (Bounds::COLUMNS, "parts of an order"), |parser| {
        let by = expression(parser)?;
        let descending = parser.eat_word("desc");
        if !descending {
            parser.eat_word("asc");
        }
        Ok(SortAst { by, descending })
    })?;
    if all.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "there is no order here"));
    }
    Ok(all)
}

/// A number or a parameter.
fn limit(parser: &mut Parser<'_>) -> Parsed<Ast> {
    match parser.peek() {
        Tok::Int(_) | Tok::Var(_) => expression(parser),
        _ => Err(parser.wanted("a number or a parameter")),
    }
}

const PARTS: [&str; 4] = ["return", "having", "order", "limit"];
