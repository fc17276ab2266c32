//! Reading expressions.
//!
//! From loose to tight: `or`, `and`, `not`, comparisons (they do not chain), `+ -`, `* / %`, the
//! negative sign.

use super::lexer::lex;
use super::{Ast, Bounds, Parsed, Parser, Tok, What, Word};
use crate::query::{BinaryOp, UnaryOp};
use crate::{Diagnostic, Span};

/// Reads an expression.
pub(crate) fn expression(parser: &mut Parser<'_>) -> Parsed<Ast> {
    parser.nested(|parser| climb(parser, LOOSEST))
}

/// Reads an expression out of a text in quotes. What it is made of is said to be where it is in the
/// source around it, as far as that can be told.
pub(crate) fn parse_inner(source: &str, text: &str, quoted: Span) -> Parsed<Ast> {
    let plain = source.get(quoted.start + 1..quoted.end.saturating_sub(1)) == Some(text);
    let place = |span: Span| {
        let shift = quoted.start + 1;
        if plain { Span::new(span.start + shift, span.end + shift) } else { quoted }
    };
    let replace = |problem: Diagnostic| Diagnostic {
        help: problem.help.clone(),
        ..Diagnostic::at(source, place(problem.span), problem.message)
    };
    let mut tokens = lex(text, "a condition", Bounds::QUERY_BYTES).map_err(|problems| {
        let first = problems.into_iter().next();
        first.map_or_else(|| Diagnostic::at(source, quoted, "this is no condition"), replace)
    })?;
    for token in &mut tokens {
        token.span = place(token.span);
    }
    let mut parser = Parser::over(source, tokens);
    let read = expression(&mut parser)?;
    if parser.at_end() { Ok(read) } else { Err(parser.wrong("a condition ends before this")) }
}

/// Reads operators that bind at least so tightly.
fn climb(parser: &mut Parser<'_>, least: u8) -> Parsed<Ast> {
    let start = parser.span();
    let mut left = operand(parser, least)?;
    while let Some((infix, binds)) = infix(parser).filter(|(_, binds)| *binds >= least) {
        let sign = parser.span();
        left = match infix {
            Infix::Binary(op) => {
                parser.skip();
                let right = climb(parser, binds + 1)?;
                made(parser, What::Binary(op, Box::new(left), Box::new(right)), start)?
            }
            Infix::In { not } => {
                parser.skip();
                if not {
                    parser.skip();
                }
                let right = climb(parser, binds + 1)?;
                let found = made(parser, What::In(Box::new(left), Box::new(right)), start)?;
                negated(parser, found, not)?
            }
            Infix::Is => {
                parser.skip();
                let not = parser.eat_word("not");
                if !parser.eat_word("null") {
                    return Err(parser.wanted("`null`"));
                }
                let found = made(parser, What::Unary(UnaryOp::IsNull, Box::new(left)), start)?;
                negated(parser, found, not)?
            }
        };
        if binds == COMPARES && infix_is(parser, COMPARES) {
            let problem = parser.wrong_at(sign.to(parser.span()), "comparisons do not chain");
            return Err(problem.help("write `a < b and b < c`"));
        }
    }
    Ok(left)
}

fn negated(parser: &Parser<'_>, inner: Ast, not: bool) -> Parsed<Ast> {
    let span = inner.span;
    if not { made(parser, What::Unary(UnaryOp::Not, Box::new(inner)), span) } else { Ok(inner) }
}

/// Reads what operators stand between.
fn operand(parser: &mut Parser<'_>, least: u8) -> Parsed<Ast> {
    let start = parser.span();
    let prefix = if parser.is_word("not") {
        if least > NEGATES {
            return Err(parser.wrong("`not` needs brackets here").help("write `(not …)`"));
        }
        Some((UnaryOp::Not, NEGATES))
    } else if parser.is("-") {
        Some((UnaryOp::Minus, TIGHTEST))
    } else {
        None
    };
    let Some((op, binds)) = prefix else { return primary(parser) };
    parser.skip();
    let inner = parser.nested(|parser| climb(parser, binds))?;
    made(parser, What::Unary(op, Box::new(inner)), start)
}

fn primary(parser: &mut Parser<'_>) -> Parsed<Ast> {
    let start = parser.span();
    let what = match parser.peek().clone() {
        Tok::Int(number) => What::Int(number),
        Tok::Float(number) => What::Float(number),
        Tok::Text(text) => What::Text(text),
        Tok::Name(name) => return named(parser, name),
        Tok::Var(name) => {
            parser.skip();
            let var = made(parser, What::Var(name), start)?;
            return dotted(parser, var);
        }
        Tok::Sign("(") => {
            parser.skip();
            let mut inner = expression(parser)?;
            parser.expect(")")?;
            inner.span = parser.since(start);
            return Ok(inner);
        }
        Tok::Sign("[") => {
            parser.skip();
            let most = (Bounds::VECTOR as usize, "items");
            let items = parser.list("]", most, expression)?;
            return made(parser, What::List(items), start);
        }
        _ => return Err(parser.wanted("a value")),
    };
    parser.skip();
    made(parser, what, start)
}

/// A word: a value of its own, a call, or a name.
fn named(parser: &mut Parser<'_>, name: String) -> Parsed<Ast> {
    let span = parser.span();
    if INFIX_WORDS.contains(&name.as_str()) {
        return Err(parser.wanted("a value"));
    }
    parser.skip();
    match name.as_str() {
        "true" => made(parser, What::Bool(true), span),
        "false" => made(parser, What::Bool(false), span),
        "null" => made(parser, What::Null, span),
        _ if parser.is("(") => call(parser, Word { name, span }),
        _ => {
            let bare = made(parser, What::Name(name), span)?;
            dotted(parser, bare)
        }
    }
}

fn dotted(parser: &mut Parser<'_>, of: Ast) -> Parsed<Ast> {
    let start = of.span;
    if !parser.eat(".") {
        return Ok(of);
    }
    let property = parser.name("the name of a property")?;
    made(parser, What::Dot(Box::new(of), property), start)
}

fn call(parser: &mut Parser<'_>, name: Word) -> Parsed<Ast> {
    let start = name.span;
    parser.expect("(")?;
    // `count(*)` is `count()`.
    if parser.is("*") && parser.is_ahead(1, ")") {
        parser.skip();
    }
    let distinct = parser.is_word("distinct") && !parser.is_ahead(1, ")");
    if distinct {
        parser.skip();
    }
    let args = parser.list(")", (Bounds::ARGUMENTS, "arguments"), expression)?;
    made(parser, What::Call { name, distinct, args }, start)
}

/// An expression up to here, if it is not too deep.
fn made(parser: &Parser<'_>, what: What, start: Span) -> Parsed<Ast> {
    let span = parser.since(start);
    Ast::new(what, span).ok_or_else(|| {
        let message = format!("more than {} operations hang on one another here", Bounds::HEIGHT);
        parser.wrong_at(span, message).help("`in […]` takes many values at once")
    })
}

enum Infix {
    Binary(BinaryOp),
    In { not: bool },
    Is,
}

fn infix_is(parser: &Parser<'_>, binds: u8) -> bool {
    infix(parser).is_some_and(|(_, found)| found == binds)
}

/// The operator that comes next, and how tightly it binds.
fn infix(parser: &Parser<'_>) -> Option<(Infix, u8)> {
    let (op, binds) = match parser.peek() {
        Tok::Name(name) => match name.as_str() {
            "or" => (BinaryOp::Or, LOOSEST),
            "and" => (BinaryOp::And, 2),
            "in" => return Some((Infix::In { not: false }, COMPARES)),
            "is" => return Some((Infix::Is, COMPARES)),
            "not" if matches!(parser.ahead(1), Tok::Name(next) if next == "in") => {
                return Some((Infix::In { not: true }, COMPARES));
            }
            _ => return None,
        },
        Tok::Sign(sign) => match *sign {
            "=" | "==" => (BinaryOp::Equal, COMPARES),
            "!=" | "<>" => (BinaryOp::NotEqual, COMPARES),
            "<" => (BinaryOp::Less, COMPARES),
            "<=" => (BinaryOp::LessOrEqual, COMPARES),
            ">" => (BinaryOp::Greater, COMPARES),
            ">=" => (BinaryOp::GreaterOrEqual, COMPARES),
            "+" => (BinaryOp::Add, 5),
            "-" => (BinaryOp::Subtract, 5),
            "*" => (BinaryOp::Multiply, 6),
            "/" => (BinaryOp::Divide, 6),
            "%" => (BinaryOp::Modulo, 6),
            _ => return None,
        },
        _ => return None,
    };
    Some((Infix::Binary(op), binds))
}

const LOOSEST: u8 = 1;
const NEGATES: u8 = 3;
const COMPARES: u8 = 4;
const TIGHTEST: u8 = 7;

/// Words that stand between two values, and so begin none.
const INFIX_WORDS: [&str; 4] = ["and", "or", "in", "is"];
