//! Reading queries.
//!
//! ```text
//! file      = query* | body                              one body alone is the query `query`
//! query     = "query" name? ("(" param,* ")")? ("@description" | "@instruction")* "{" body "}"
//! param     = $name ":" kind "?"? ("=" value)?
//! body      = match+ (return | having | order | limit)*  |  (insert | update | delete)+
//! match     = "optional"? "match" "{" clause* "}"
//! clause    = $p ":" Type values?                        a node
//!           | $a step $b                                 an edge
//!           | "not" block | "optional" "match"? block | block ("or" block)+ | condition
//! step      = "<"? ($k ":")? name braces? ">"?           `knows`, `<knows`, `<knows>`
//! braces    = "{" n ("," m)? "}" | values                hops, or what a single edge must have
//! values    = "{" (name ":" value),* "}"
//! return    = "return" "{" "distinct"? (value ("as" name)?),* "}"
//! having    = "having" "{" condition,* "}"
//! order     = "order" "{" (value ("asc" | "desc")?),* "}"
//! limit     = "limit" (number | $param)
//! insert    = "insert" Type values                       ends: `from: key`, `from: Type(key)`
//! update    = "update" Type "set" values "where" condition
//! delete    = "delete" Type "where" condition            an edge: `from`, `to`, `from.name`
//! ```
//!
//! Hops are 1 to [`Bounds::HOPS`]. Only `and`, `or`, `not`, `in`, `is`, `null`, `true` and `false`
//! are reserved; all other words mean something only where they stand.

mod pattern;
mod read;
mod write;

use super::ast::{BodyAst, ParamAst, QueryAst};
use crate::diagnostic::nearest;
use crate::lang::{Bounds, Parsed, Parser, Problems, Tok, Word, expression, kind};
use crate::{Diagnostic, Span};

/// Reads the queries of a text, or the one query without a name that it is.
pub(super) fn queries(source: &str) -> Result<Vec<QueryAst>, Vec<Diagnostic>> {
    let mut parser = Parser::new(source, "a text of queries", Bounds::QUERY_BYTES)?;
    if parser.at_end() {
        let problem = parser.wrong("there is no query here");
        return Err(vec![
            problem.help("write `match { … } return { … }`, or `query name() { … }`"),
        ]);
    }
    if !begins(&parser) {
        return alone(&mut parser).map(|query| vec![query]).map_err(|problem| vec![problem]);
    }
    let mut problems = Problems::new(source);
    let mut read: Vec<QueryAst> = Vec::new();
    while !parser.at_end() && !problems.is_full() {
        if read.len() == Bounds::QUERIES {
            let message = format!("a text has at most {} queries", Bounds::QUERIES);
            problems.add(parser.wrong(message));
            break;
        }
        let begun = parser.place();
        match query(&mut parser) {
            Ok(query) => {
                if read.iter().any(|other| other.name.name == query.name.name) {
                    let message = format!("there are two queries `{}`", query.name.name);
                    problems.say(query.name.span, message);
                }
                read.push(query);
            }
            Err(problem) => {
                problems.add(problem);
                if parser.place() == begun {
                    parser.skip();
                }
                parser.recover(begins);
            }
        }
        parser.separators();
    }
    problems.unless(|| read)
}

/// Whether a query begins here that says so.
fn begins(parser: &Parser<'_>) -> bool {
    let opens = matches!(parser.ahead(1), Tok::Name(_) | Tok::Sign("(" | "{") | Tok::Note(_));
    parser.is_word("query") && opens
}

/// A body and nothing else.
fn alone(parser: &mut Parser<'_>) -> Parsed<QueryAst> {
    let name = Word { name: NAMELESS.to_owned(), span: parser.span() };
    let body = body(parser)?;
    if !parser.at_end() {
        return Err(parser.wrong("the query ends before this").help(WORDS));
    }
    Ok(QueryAst { name, params: Vec::new(), description: None, instruction: None, body })
}

fn query(parser: &mut Parser<'_>) -> Parsed<QueryAst> {
    let start = parser.span();
    if !parser.eat_word("query") {
        return Err(parser.wanted("`query`"));
    }
    let name = match parser.peek() {
        Tok::Name(_) => parser.name("the name of the query")?,
        _ => Word { name: NAMELESS.to_owned(), span: start },
    };
    let params = if parser.eat("(") {
        parser.list(")", (Bounds::PARAMS, "parameters"), param)?
    } else {
        Vec::new()
    };
    let (mut description, mut instruction) = (None, None);
    while let Tok::Note(note) = parser.peek().clone() {
        let span = parser.span();
        let said = match note.as_str() {
            "description" => &mut description,
            "instruction" => &mut instruction,
            other => {
                let problem =
                    parser.wrong(format!("there is no annotation `@{other}` for queries"));
                return Err(match nearest(other, ["description", "instruction"]) {
                    Some(near) => problem.help(format!("did you mean `@{near}`?")),
                    None => problem.help("there are `@description` and `@instruction`"),
                });
            }
        };
        parser.skip();
        parser.expect("(")?;
        let text = parser.text("a text in quotes")?;
        parser.expect(")")?;
        if said.replace(text).is_some() {
            return Err(parser.wrong_at(span, format!("`@{note}` is said twice")));
        }
    }
    parser.expect("{")?;
    let body = body(parser)?;
    parser.expect("}").map_err(|problem| problem.help(WORDS))?;
    Ok(QueryAst { name, params, description, instruction, body })
}

/// `$min: I32 = 18`.
fn param(parser: &mut Parser<'_>) -> Parsed<ParamAst> {
    let name = variable(parser, "a parameter, `$name: Kind`")?;
    if name.name == "_" {
        return Err(parser.wrong_at(name.span, "a parameter has a name"));
    }
    parser
        .expect(":")
        .map_err(|problem| problem.help("a parameter has a kind: `$slug: String`"))?;
    let (kind, nullable) = kind(parser)?;
    let default = if parser.eat("=") { Some(expression(parser)?) } else { None };
    Ok(ParamAst { name, kind, nullable, default })
}

fn body(parser: &mut Parser<'_>) -> Parsed<BodyAst> {
    let span: Span = parser.span();
    let word = match parser.peek() {
        Tok::Name(word) => word.clone(),
        _ => return Err(parser.wanted("`match`, `insert`, `update` or `delete`")),
    };
    match word.as_str() {
        "match" | "optional" | "return" => read::read(parser).map(BodyAst::Read),
        "insert" | "update" | "delete" => {
            write::statements(parser).map(|all| BodyAst::Write(all, span))
        }
        other => {
            let message = "`match`, `insert`, `update` or `delete` is expected here";
            let known = ["match", "insert", "update", "delete", "query"];
            Err(parser.wrong(message).nearest(other, known))
        }
    }
}

/// Takes a variable, which must come next.
fn variable(parser: &mut Parser<'_>, what: &str) -> Parsed<Word> {
    let Tok::Var(name) = parser.peek() else { return Err(parser.wanted(what)) };
    let word = Word { name: name.clone(), span: parser.span() };
    parser.skip();
    Ok(word)
}

/// `slug: $slug, name: "x" }`: values for properties, up to the brace.
fn values(parser: &mut Parser<'_>) -> Parsed<super::ast::With> {
    parser.list("}", (Bounds::PROPERTIES, "properties"), |parser| {
        let name = parser.name("the name of a property")?;
        parser.expect(":")?;
        Ok((name, expression(parser)?))
    })
}

/// What a query without a name is called.
const NAMELESS: &str = "query";

const WORDS: &str = "a query that looks has `match`, `return`, `having`, `order` and `limit`; one \
                     that changes has `insert`, `update` and `delete`";
