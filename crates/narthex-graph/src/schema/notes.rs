//! Reading annotations.

use super::Card;
use super::ast::{Note, Says};
use crate::Span;
use crate::diagnostic::nearest;
use crate::lang::{Ast, Bounds, Parsed, Parser, Tok, Word, expression, parse_inner};

/// Reads all that come next.
pub(super) fn notes(parser: &mut Parser<'_>) -> Parsed<Vec<Note>> {
    let mut read = Vec::new();
    while let Some(note) = note(parser)? {
        read.push(note);
        if read.len() > Bounds::NOTES {
            return Err(parser.wrong(format!("there are more than {} annotations", Bounds::NOTES)));
        }
    }
    Ok(read)
}

/// Reads one, if one comes next.
pub(super) fn note(parser: &mut Parser<'_>) -> Parsed<Option<Note>> {
    let Tok::Note(name) = parser.peek() else { return Ok(None) };
    let (name, start) = (name.clone(), parser.span());
    parser.skip();
    let says = match name.as_str() {
        "key" => Says::Key(names(parser)?),
        "unique" => Says::Unique(names(parser)?),
        "index" => Says::Index(names(parser)?),
        "range" => within(parser, "@range(0..150)", range)?,
        "check" => within(parser, "@check(age > 3)", check)?,
        "card" => within(parser, "@card(0..1)", card)?,
        "embed" => Says::Embed(within(parser, "@embed(bio)", a_name)?),
        "description" => within(parser, "@description(\"…\")", |parser| {
            parser.text("a text in quotes").map(Says::Description)
        })?,
        "rename_from" => Says::RenameFrom(within(parser, "@rename_from(\"old\")", a_name)?),
        other => {
            let problem = parser.wrong_at(start, format!("there is no annotation `@{other}`"));
            return Err(match nearest(other, NAMES) {
                Some(near) => problem.help(format!("did you mean `@{near}`?")),
                None => problem,
            });
        }
    };
    Ok(Some(Note { says, span: parser.since(start) }))
}

/// What is in the brackets of an annotation that must have some.
fn within<T>(
    parser: &mut Parser<'_>,
    like: &str,
    read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
) -> Parsed<T> {
    let like = |problem: crate::Diagnostic| match problem.help {
        Some(_) => problem,
        None => problem.help(format!("write it like `{like}`")),
    };
    parser.expect("(").map_err(like)?;
    let found = read(parser).map_err(like)?;
    parser.expect(")").map_err(like)?;
    Ok(found)
}

/// `(a, b)`, or nothing.
fn names(parser: &mut Parser<'_>) -> Parsed<Vec<Word>> {
    if !parser.eat("(") {
        return Ok(Vec::new());
    }
    let read = parser.list(")", (Bounds::PROPERTIES, "properties"), a_name)?;
    if read.is_empty() {
        return Err(
            parser.wrong_at(parser.before(), "name the properties, or leave the brackets out")
        );
    }
    Ok(read)
}

/// A name, bare or in quotes.
fn a_name(parser: &mut Parser<'_>) -> Parsed<Word> {
    let (Tok::Name(name) | Tok::Text(name)) = parser.peek() else {
        return Err(parser.wanted("a name"));
    };
    if name.len() > Bounds::NAME_BYTES {
        return Err(parser.wrong(format!("a name has at most {} letters", Bounds::NAME_BYTES)));
    }
    let word = Word { name: name.clone(), span: parser.span() };
    parser.skip();
    Ok(word)
}

/// `0..150`, `0..`, `..10`.
fn range(parser: &mut Parser<'_>) -> Parsed<Says> {
    let end = |parser: &mut Parser<'_>| -> Parsed<Option<Ast>> {
        if parser.is("..") || parser.is(")") { Ok(None) } else { expression(parser).map(Some) }
    };
    let start = parser.span();
    let low = end(parser)?;
    parser.expect("..")?;
    let high = end(parser)?;
    if low.is_none() && high.is_none() {
        return Err(parser.wrong_at(parser.since(start), "a range has at least one end"));
    }
    Ok(Says::Range(low, high))
}

/// A condition, bare or in quotes.
fn check(parser: &mut Parser<'_>) -> Parsed<Says> {
    let start = parser.span();
    if let (Tok::Text(text), true) = (parser.peek(), parser.is_ahead(1, ")")) {
        let text = text.clone();
        let read = parse_inner(parser.source(), &text, start)?;
        parser.skip();
        return Ok(Says::Check(read, text));
    }
    let read = expression(parser)?;
    let source = parser.written(parser.since(start)).to_owned();
    Ok(Says::Check(read, source))
}

/// `0..1`, `1..`, `..3`, `2`.
fn card(parser: &mut Parser<'_>) -> Parsed<Says> {
    let start = parser.span();
    let min = count(parser)?;
    let card = if parser.eat("..") {
        Card { min: min.unwrap_or(0), max: count(parser)? }
    } else {
        let Some(exactly) = min else { return Err(parser.wanted("a number")) };
        Card { min: exactly, max: Some(exactly) }
    };
    let span: Span = parser.since(start);
    match card.max {
        Some(0) => Err(parser.wrong_at(span, "there could be no such edge at all")),
        Some(max) if max < card.min => {
            Err(parser.wrong_at(span, format!("{} is more than {max}", card.min)))
        }
        None if card.min == 0 => Err(parser.wrong_at(span, "this says nothing: leave it out")),
        _ => Ok(Says::Card(card)),
    }
}

fn count(parser: &mut Parser<'_>) -> Parsed<Option<u32>> {
    let Tok::Int(number) = parser.peek() else { return Ok(None) };
    let Ok(number) = u32::try_from(*number) else {
        return Err(parser.wrong("this is too big a number"));
    };
    parser.skip();
    Ok(Some(number))
}

const NAMES: [&str; 9] =
    ["key", "unique", "index", "range", "check", "card", "embed", "description", "rename_from"];
