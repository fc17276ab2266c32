//! Reading what a value can be.

use super::{Bounds, Parsed, Parser, Tok};
use crate::Span;
use crate::diagnostic::nearest;
use crate::schema::Kind;

/// Reads a kind and whether it may be null.
pub(crate) fn kind(parser: &mut Parser<'_>) -> Parsed<(Kind, bool)> {
    let read = if parser.eat("[") {
        let span = parser.span();
        let item = single(parser)?;
        if matches!(item, Kind::Vector(_)) {
            return Err(parser.wrong_at(parser.since(span), "there are no lists of vectors"));
        }
        if parser.is("?") {
            return Err(parser.wrong("what is in a list cannot be null").help("write `[…]?`"));
        }
        parser.expect("]")?;
        Kind::List(Box::new(item))
    } else {
        single(parser)?
    };
    Ok((read, parser.eat("?")))
}

fn single(parser: &mut Parser<'_>) -> Parsed<Kind> {
    if parser.is("[") {
        return Err(parser.wrong("there are no lists of lists"));
    }
    let word = parser.name("a kind")?;
    if let Some((_, kind)) = SCALARS.iter().find(|(name, _)| *name == word.name) {
        return Ok(kind.clone());
    }
    match word.name.as_str() {
        "Vector" => vector(parser),
        "enum" => words(parser, word.span),
        other => {
            let problem = parser.wrong_at(word.span, format!("there is no kind `{other}`"));
            let lower = other.to_lowercase();
            let elsewhere = ELSEWHERE.iter().find(|(names, _)| names.contains(&lower.as_str()));
            let names = SCALARS.iter().map(|(name, _)| *name).chain(["Vector", "enum"]);
            Err(match (elsewhere, nearest(other, names)) {
                (Some((_, here)), _) => problem.help(format!("here it is {here}")),
                (None, Some(near)) => problem.help(format!("did you mean `{near}`?")),
                (None, None) => problem.help(KINDS),
            })
        }
    }
}

fn vector(parser: &mut Parser<'_>) -> Parsed<Kind> {
    parser.expect("(").map_err(|problem| problem.help("a vector has a length: `Vector(384)`"))?;
    let length = match parser.peek() {
        Tok::Int(length) => u32::try_from(*length).ok(),
        _ => return Err(parser.wanted("the length of the vector")),
    };
    let fits = |length: &u32| (1..=Bounds::VECTOR).contains(length);
    let Some(length) = length.filter(fits) else {
        return Err(parser.wrong(format!("a vector has 1 to {} numbers", Bounds::VECTOR)));
    };
    parser.skip();
    parser.expect(")")?;
    Ok(Kind::Vector(length))
}

fn words(parser: &mut Parser<'_>, start: Span) -> Parsed<Kind> {
    parser.expect("(")?;
    let mut seen = std::collections::BTreeSet::new();
    let words = parser.list(")", (Bounds::ENUM, "words"), |parser| {
        let word = match parser.peek() {
            Tok::Name(word) | Tok::Text(word) => word.clone(),
            _ => return Err(parser.wanted("a word")),
        };
        if word.is_empty() || word.len() > Bounds::NAME_BYTES {
            let message = format!("a word has 1 to {} bytes", Bounds::NAME_BYTES);
            return Err(parser.wrong(message));
        }
        if !seen.insert(word.clone()) {
            return Err(parser.wrong(format!("`{word}` is in this enum twice")));
        }
        parser.skip();
        if parser.is("-") {
            return Err(parser.wrong("a word with a `-` in it goes in quotes"));
        }
        Ok(word)
    })?;
    if words.is_empty() {
        return Err(parser.wrong_at(parser.since(start), "an enum has at least one word"));
    }
    Ok(Kind::Enum(words))
}

const SCALARS: [(&str, Kind); 11] = [
    ("String", Kind::String),
    ("Blob", Kind::Blob),
    ("Bool", Kind::Bool),
    ("I32", Kind::I32),
    ("I64", Kind::I64),
    ("U32", Kind::U32),
    ("U64", Kind::U64),
    ("F32", Kind::F32),
    ("F64", Kind::F64),
    ("Date", Kind::Date),
    ("DateTime", Kind::DateTime),
];

const KINDS: &str = "there are String, Blob, Bool, I32, I64, U32, U64, F32, F64, Date, DateTime, \
                     Vector(n), enum(…) and lists `[…]`";

/// What people bring from elsewhere.
const ELSEWHERE: [(&[&str], &str); 7] = [
    (&["int", "integer", "number", "long", "bigint"], "`I32` or `I64`"),
    (&["float", "double", "real", "decimal"], "`F64`"),
    (&["text", "str", "varchar", "char", "uuid"], "`String`"),
    (&["boolean"], "`Bool`"),
    (&["timestamp", "time", "timestamptz"], "`DateTime`"),
    (&["bytes", "binary", "uri", "url"], "`Blob`, which is a URI"),
    (&["list", "array"], "a kind in brackets: `[String]`"),
];
