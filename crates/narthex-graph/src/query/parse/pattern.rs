//! Patterns: what is in the braces of `match`.
//!
//! Clauses need nothing between them; commas and semicolons may stand there. What a brace after a
//! name opens is told by what comes next: a number, the hops; a name and a colon, properties; else
//! a block.

use super::super::Direction;
use super::super::ast::{ClauseAst, EdgeAst, With};
use super::{values, variable};
use crate::lang::{Bounds, Parsed, Parser, Tok, Word, expression};

/// `match { … }`, then any more, and `optional match { … }`.
pub(super) fn patterns(parser: &mut Parser<'_>, clauses: &mut Vec<ClauseAst>) -> Parsed<()> {
    let mut count = 0;
    loop {
        if parser.eat_word("match") {
            clauses.extend(block(parser, &mut count)?);
        } else if parser.is_word("optional") {
            clauses.push(clause(parser, &mut count)?);
        } else {
            return Ok(());
        }
    }
}

/// `{ … }`.
fn block(parser: &mut Parser<'_>, count: &mut usize) -> Parsed<Vec<ClauseAst>> {
    parser.expect("{")?;
    parser.nested(|parser| {
        let mut clauses = Vec::new();
        parser.separators();
        while !parser.eat("}") {
            let left = matches!(parser.peek(), Tok::Name(word) if BEHIND.contains(&word.as_str()))
                && parser.is_ahead(1, "{");
            if parser.at_end() || left {
                return Err(parser.wanted("`}`"));
            }
            clauses.push(clause(parser, count)?);
            parser.separators();
        }
        Ok(clauses)
    })
}

fn clause(parser: &mut Parser<'_>, count: &mut usize) -> Parsed<ClauseAst> {
    *count += 1;
    if *count > Bounds::CLAUSES {
        return Err(parser.wrong(format!("a query has at most {} clauses", Bounds::CLAUSES)));
    }
    if matches!(parser.peek(), Tok::Var(_)) {
        return from_variable(parser);
    }
    if parser.is("{") {
        return either(parser, count);
    }
    if parser.is_word("not") && parser.is_ahead(1, "{") {
        parser.skip();
        return filled(parser, count).map(ClauseAst::Not);
    }
    let optional = |tok: &Tok| matches!(tok, Tok::Name(word) if word == "match");
    if parser.is_word("optional") && (parser.is_ahead(1, "{") || optional(parser.ahead(1))) {
        parser.skip();
        parser.eat_word("match");
        return filled(parser, count).map(ClauseAst::Optional);
    }
    expression(parser).map(ClauseAst::Filter)
}

/// A block that has something in it.
fn filled(parser: &mut Parser<'_>, count: &mut usize) -> Parsed<Vec<ClauseAst>> {
    let start = parser.span();
    let clauses = block(parser, count)?;
    if clauses.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "this looks for nothing"));
    }
    Ok(clauses)
}

/// `{ … } or { … }`.
fn either(parser: &mut Parser<'_>, count: &mut usize) -> Parsed<ClauseAst> {
    let mut ways = vec![filled(parser, count)?];
    while parser.eat_word("or") {
        ways.push(filled(parser, count)?);
    }
    if ways.len() == 1 {
        let problem = parser.wanted("`or`");
        return Err(problem.help("blocks stand beside one another: `{ … } or { … }`"));
    }
    Ok(ClauseAst::Or(ways))
}

/// What begins with a variable: a node, an edge, or a condition.
fn from_variable(parser: &mut Parser<'_>) -> Parsed<ClauseAst> {
    if parser.is_ahead(1, ":") {
        let var = variable(parser, "a variable")?;
        parser.skip();
        let of = parser.name("the name of a node type")?;
        let with = if opens_values(parser) { braced_values(parser)? } else { With::new() };
        return Ok(ClauseAst::Node { var, of, with });
    }
    let edge = match parser.ahead(1) {
        Tok::Name(word) => !INFIX.contains(&word.as_str()),
        // `$flag $p: Person` are two clauses: types begin upper case.
        Tok::Var(_) => parser.is_ahead(2, ":") && !is_type(parser.ahead(3)),
        // `$min < now()` is a condition, `$a <knows $b` is not.
        Tok::Sign("<") => match parser.ahead(2) {
            Tok::Name(word) => !parser.is_ahead(3, "(") && word != "null",
            Tok::Var(_) => parser.is_ahead(3, ":"),
            _ => false,
        },
        _ => false,
    };
    if edge {
        return step(parser).map(|edge| ClauseAst::Edge(Box::new(edge)));
    }
    expression(parser).map(ClauseAst::Filter)
}

/// `$a knows $b`, `$a <$k:knows> {1,3} $b`.
fn step(parser: &mut Parser<'_>) -> Parsed<EdgeAst> {
    let from = variable(parser, "a variable")?;
    let mut back = parser.eat("<");
    let mut var = None;
    if matches!(parser.peek(), Tok::Var(_)) {
        var = Some(variable(parser, "a variable")?);
        parser.expect(":")?;
        back |= parser.eat("<");
    }
    let edge = parser.name("the name of an edge")?;
    let mut read = Step::default();
    read.braces(parser)?;
    let both = parser.eat(">");
    read.braces(parser)?;
    let direction = match (back, both) {
        (true, true) => Direction::Both,
        (true, false) => Direction::In,
        (false, false) => Direction::Out,
        (false, true) => {
            let help = format!("`{0}` as it points, `<{0}` against it, `<{0}>` either", edge.name);
            let problem =
                parser.wrong_at(parser.before(), "an edge is followed as it points anyway");
            return Err(problem.help(help));
        }
    };
    let to = variable(parser, "the variable at the other end").map_err(|problem| {
        problem.help(format!("`${} {} $other`, or `$_` for any", from.name, edge.name))
    })?;
    if let Some(Word { span, .. }) = var.as_ref().filter(|_| read.hops.is_some()) {
        let problem = parser.wrong_at(*span, "only a single edge has a variable");
        return Err(problem.help("leave it out, or the hops"));
    }
    if let Some((word, _)) = read.with.first().filter(|_| read.hops.is_some()) {
        return Err(parser.wrong_at(word.span, "only a single edge has properties here"));
    }
    Ok(EdgeAst { from, edge, direction, hops: read.hops, var, with: read.with, to })
}

/// What is said of an edge in braces.
#[derive(Default)]
struct Step {
    hops: Option<(u32, u32)>,
    with: With,
}

impl Step {
    fn braces(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        if opens_values(parser) {
            self.with.extend(braced_values(parser)?);
        } else if parser.is("{") {
            let again = self.hops.replace(hops(parser)?).is_some();
            if again {
                return Err(parser.wrong_at(parser.before(), "the hops are said twice"));
            }
        }
        Ok(())
    }
}

/// `{1,3}`, `{2}`.
fn hops(parser: &mut Parser<'_>) -> Parsed<(u32, u32)> {
    let start = parser.expect("{")?;
    let least = hop(parser)?;
    let most = if parser.eat(",") || parser.eat("..") {
        if parser.is("}") {
            let problem = parser.wrong("how many at most must be said");
            return Err(problem.help(format!("`{{{least},{}}}`", Bounds::HOPS)));
        }
        hop(parser)?
    } else {
        least
    };
    parser.expect("}")?;
    let span = parser.since(start);
    if least == 0 {
        let problem = parser.wrong_at(span, "a path has at least one edge");
        return Err(problem.help("for none, write `{ … } or { … }`"));
    }
    if most < least || most > Bounds::HOPS {
        let message = format!("hops are `{{least,most}}`, and {} the most", Bounds::HOPS);
        return Err(parser.wrong_at(span, message));
    }
    Ok((least, most))
}

fn hop(parser: &mut Parser<'_>) -> Parsed<u32> {
    let Tok::Int(number) = parser.peek() else {
        return Err(parser
            .wanted("how many edges")
            .help("hops are `{1,3}`, properties `{ a: 1 }`"));
    };
    let number = u32::try_from(*number).unwrap_or(u32::MAX);
    parser.skip();
    Ok(number)
}

/// Whether a brace comes next that has properties in it, or nothing.
fn opens_values(parser: &Parser<'_>) -> bool {
    let named = matches!(parser.ahead(1), Tok::Name(_)) && parser.is_ahead(2, ":");
    parser.is("{") && (named || parser.is_ahead(1, "}"))
}

fn braced_values(parser: &mut Parser<'_>) -> Parsed<With> {
    parser.expect("{")?;
    values(parser)
}

fn is_type(tok: &Tok) -> bool {
    matches!(tok, Tok::Name(name) if name.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Words that come behind a pattern.
const BEHIND: [&str; 3] = ["return", "having", "order"];

/// Words that go on with a condition.
const INFIX: [&str; 5] = ["and", "or", "not", "in", "is"];
