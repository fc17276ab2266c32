//! A schema as it is written.

use crate::Span;
use crate::lang::{Ast, Word};
use crate::schema::{Card, Kind};

/// A declaration.
#[derive(Debug, Clone)]
pub(crate) struct Decl {
    /// Its name.
    pub(crate) name: Word,
    /// What it declares.
    pub(crate) what: DeclWhat,
    /// Its properties.
    pub(crate) properties: Vec<PropertyDecl>,
    /// What is noted of all of it.
    pub(crate) notes: Vec<Note>,
}

/// What a declaration declares.
#[derive(Debug, Clone)]
pub(crate) enum DeclWhat {
    /// `node Person implements Named`.
    Node { interfaces: Vec<Word> },
    /// `edge Knows: Person -> Person`.
    Edge { from: Word, to: Word },
    /// `interface Named`.
    Interface,
}

/// A property.
#[derive(Debug, Clone)]
pub(crate) struct PropertyDecl {
    /// Its name.
    pub(crate) name: Word,
    /// What its values are.
    pub(crate) kind: Kind,
    /// Whether there may be none.
    pub(crate) nullable: bool,
    /// What is noted of it.
    pub(crate) notes: Vec<Note>,
}

/// An annotation.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// What it says.
    pub(crate) says: Says,
    /// Where it is.
    pub(crate) span: Span,
}

/// What an annotation says.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// `@key`; of a type, which properties.
    Key(Vec<Word>),
    /// `@unique`; of a type, which properties together.
    Unique(Vec<Word>),
    /// `@index`; of a type, which properties, each for itself.
    Index(Vec<Word>),
    /// `@range(0..150)`.
    Range(Option<Ast>, Option<Ast>),
    /// `@check(age > 3)`, with its text.
    Check(Ast, String),
    /// `@card(0..1)`.
    Card(Card),
    /// `@embed(bio)`.
    Embed(Word),
    /// `@description("…")`.
    Description(String),
    /// `@rename_from("old")`.
    RenameFrom(Word),
}

impl Says {
    /// Its name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Key(_) => "@key",
            Self::Unique(_) => "@unique",
            Self::Index(_) => "@index",
            Self::Range(..) => "@range",
            Self::Check(..) => "@check",
            Self::Card(_) => "@card",
            Self::Embed(_) => "@embed",
            Self::Description(_) => "@description",
            Self::RenameFrom(_) => "@rename_from",
        }
    }
}
