//! Reading a schema's text.
//!
//! ```text
//! schema    = (interface | node | edge)*
//! interface = "interface" Name note* "{" member* "}"
//! node      = "node" Name ("implements" Name,+)? note* "{" member* "}" note*
//! edge      = "edge" Name ":" Name "->" Name note* ("{" member* "}" note*)?
//! member    = name ":" kind "?"? note* | note            parted by nothing, `,` or `;`
//! kind      = String | Bool | … | Vector(n) | enum(word,+) | [kind]
//! note      = @key @unique @index (also with names, of a type) | @range(a..b) | @check(condition)
//!           | @card(a..b) | @embed(name) | @description("…") | @rename_from(name)
//! ```
//!
//! Reserved are, for properties, `and`, `or`, `not`, `in`, `is`, `null`, `true` and `false`; for
//! those of an edge also `from` and `to`; for edges, `And`, `Or`, `Not`, `In` and `Is`.

use super::ast::{Decl, DeclWhat, Note, PropertyDecl, Says};
use super::notes::{note, notes};
use crate::Diagnostic;
use crate::lang::{Bounds, Parsed, Parser, Problems, Tok, Word, kind};

/// Reads the declarations. One that went wrong is left out, and the next is read.
pub(super) fn declarations(source: &str) -> Result<Vec<Decl>, Vec<Diagnostic>> {
    let mut parser = Parser::new(source, "a schema", Bounds::SCHEMA_BYTES)?;
    let mut problems = Problems::new(source);
    let mut read = Vec::new();
    while !parser.at_end() && !problems.is_full() {
        if read.len() == Bounds::TYPES {
            problems.add(parser.wrong(format!("a schema has at most {} types", Bounds::TYPES)));
            break;
        }
        let begun = parser.place();
        match declaration(&mut parser) {
            Ok(declared) => read.push(declared),
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

/// Whether a declaration begins here: its word, and a name that can be a type's.
fn begins(parser: &Parser<'_>) -> bool {
    let declares = matches!(parser.peek(), Tok::Name(word) if WORDS.contains(&word.as_str()));
    declares && matches!(parser.ahead(1), Tok::Name(_))
}

fn declaration(parser: &mut Parser<'_>) -> Parsed<Decl> {
    let word = parser.name("`node`, `edge` or `interface`")?;
    let (name, what) = match word.name.as_str() {
        "node" => {
            let name = type_name(parser)?;
            let interfaces = implemented(parser)?;
            (name, DeclWhat::Node { interfaces })
        }
        "edge" => {
            let name = type_name(parser)?;
            parser.expect(":").map_err(|problem| problem.help(EDGE))?;
            let from = type_name(parser)?;
            parser.expect("->").map_err(|problem| problem.help(EDGE))?;
            (name, DeclWhat::Edge { from, to: type_name(parser)? })
        }
        "interface" => (type_name(parser)?, DeclWhat::Interface),
        other => {
            let message = "`node`, `edge` or `interface` is expected here";
            return Err(parser.wrong_at(word.span, message).nearest(other, WORDS));
        }
    };
    let mut all = notes(parser)?;
    let mut properties = Vec::new();
    let body = parser.is("{");
    if body {
        parser.skip();
        properties = members(parser, &mut all)?;
    } else if !matches!(what, DeclWhat::Edge { .. }) {
        return Err(parser.wanted("`{`"));
    }
    all.extend(notes(parser)?);
    if all.len() > Bounds::NOTES {
        let message = format!("a type has at most {} annotations", Bounds::NOTES);
        return Err(parser.wrong_at(name.span, message));
    }
    Ok(Decl { name, what, properties, notes: all })
}

fn implemented(parser: &mut Parser<'_>) -> Parsed<Vec<Word>> {
    let mut interfaces = Vec::new();
    if parser.eat_word("implements") {
        loop {
            interfaces.push(type_name(parser)?);
            if interfaces.len() > Bounds::NOTES {
                return Err(parser.wrong("these are too many interfaces"));
            }
            if !parser.eat(",") {
                break;
            }
        }
    }
    Ok(interfaces)
}

fn type_name(parser: &mut Parser<'_>) -> Parsed<Word> {
    let name = parser.name("the name of a type")?;
    if name.name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return Ok(name);
    }
    let mut letters = name.name.chars();
    let upper: String =
        letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters).collect();
    let problem = parser.wrong_at(name.span, "the name of a type begins upper case");
    Err(problem.help(format!("write `{upper}`")))
}

/// What is in the braces of a type, up to its end.
fn members(parser: &mut Parser<'_>, all: &mut Vec<Note>) -> Parsed<Vec<PropertyDecl>> {
    let mut properties = Vec::new();
    loop {
        parser.separators();
        if parser.eat("}") {
            return Ok(properties);
        }
        if matches!(parser.peek(), Tok::Note(_)) {
            all.extend(notes(parser)?);
            continue;
        }
        if properties.len() == Bounds::PROPERTIES {
            let message = format!("a type has at most {} properties", Bounds::PROPERTIES);
            return Err(parser.wrong(message));
        }
        properties.push(property(parser, all)?);
    }
}

fn property(parser: &mut Parser<'_>, of_type: &mut Vec<Note>) -> Parsed<PropertyDecl> {
    let name = parser.name("a property, or `}`")?;
    if !name.name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') {
        let problem = parser.wrong_at(name.span, "the name of a property begins lower case");
        let lower = name.name.to_lowercase();
        return Err(problem.help(format!("write `{lower}`")));
    }
    if RESERVED.contains(&name.name.as_str()) {
        let message = format!("`{}` means something else and cannot be a property", name.name);
        return Err(parser.wrong_at(name.span, message));
    }
    parser.expect(":").map_err(|problem| problem.help("a property is `name: Kind`"))?;
    let (kind, nullable) = kind(parser)?;
    let notes = own_notes(parser, of_type)?;
    Ok(PropertyDecl { name, kind, nullable, notes })
}

/// The annotations of a property, and of the type what follows among them.
///
/// What is on the property's own line is the property's. On a later line, so is what can only be
/// said of one (`@index`, `@range`, …); the rest, and whatever names properties, is the type's.
fn own_notes(parser: &mut Parser<'_>, of_type: &mut Vec<Note>) -> Parsed<Vec<Note>> {
    let mut own = Vec::new();
    loop {
        let gap = crate::Span::new(parser.before().end, parser.span().start);
        let same_line = own_line(parser.written(gap));
        let Some(note) = note(parser)? else { break };
        let is_own = match &note.says {
            Says::Key(names) | Says::Unique(names) | Says::Index(names) => names.is_empty(),
            Says::Range(..) | Says::Embed(_) => true,
            Says::Card(_) => false,
            Says::Check(..) | Says::Description(_) | Says::RenameFrom(_) => same_line,
        };
        if is_own {
            own.push(note);
        } else {
            of_type.push(note);
        }
        if own.len() > Bounds::NOTES || of_type.len() > Bounds::NOTES {
            return Err(parser.wrong(format!("there are more than {} annotations", Bounds::NOTES)));
        }
    }
    Ok(own)
}

/// Whether what is between two words leaves the second on the line of the first.
fn own_line(gap: &str) -> bool {
    !gap.contains('\n')
}

const EDGE: &str = "an edge is `edge Knows: Person -> Person`";

/// What declarations begin with.
const WORDS: [&str; 3] = ["node", "edge", "interface"];

/// Words that mean something of their own in an expression.
const RESERVED: [&str; 8] = ["and", "or", "not", "in", "is", "null", "true", "false"];
