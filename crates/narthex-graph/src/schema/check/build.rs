//! A type out of its properties, those of its interfaces, and the annotations of all of them.

use super::super::ast::{Decl, DeclWhat, Note, PropertyDecl, Says};
use super::super::{Card, Kind, Property};
use super::{find, property};
use crate::Span;
use crate::lang::{Ast, Bounds, Problems, Word};

/// What a declaration comes to.
#[derive(Debug, Default)]
pub(in crate::schema) struct Built<'d> {
    /// Its properties, without slots.
    pub(in crate::schema) properties: Vec<Property>,
    /// What each was called before.
    pub(in crate::schema) renamed: Vec<Option<&'d Word>>,
    /// The properties that are its key.
    pub(in crate::schema) key: Vec<usize>,
    /// What is unique.
    pub(in crate::schema) uniques: Vec<Vec<usize>>,
    /// What must hold.
    pub(in crate::schema) checks: Vec<(&'d Ast, &'d str)>,
    /// How many edges.
    pub(in crate::schema) card: Option<Card>,
    /// What it is.
    pub(in crate::schema) description: Option<String>,
}

/// Builds one. What is wrong is said, and left out.
pub(super) fn build<'d>(
    decl: &'d Decl,
    interfaces: &[&'d Decl],
    problems: &mut Problems<'_>,
) -> Built<'d> {
    let mut built = Built::default();
    for given in gathered(decl, interfaces, problems) {
        let no = built.properties.len();
        built.properties.push(bare(given.decl));
        built.renamed.push(None);
        for note in given.notes {
            built.note(no, note, problems);
        }
    }
    let inherited = interfaces.iter().flat_map(|interface| &interface.notes);
    let inherited = inherited.filter(|note| !matches!(note.says, Says::Description(_)));
    let mut seen = Vec::new();
    for note in decl.notes.iter().chain(inherited) {
        if once(&note.says) && seen.contains(&note.says.name()) {
            problems.say(note.span, format!("`{}` is said twice", note.says.name()));
        }
        seen.push(note.says.name());
        built.note_type(decl, note, problems);
    }
    embeds(decl, &built, problems);
    if built.properties.len() > Bounds::PROPERTIES {
        let message = format!("a type has at most {} properties", Bounds::PROPERTIES);
        problems.say(decl.name.span, message);
    }
    built
}

/// A property with what its node and its interfaces note of it.
struct Given<'d> {
    decl: &'d PropertyDecl,
    notes: Vec<&'d Note>,
}

/// Its own properties, then those of its interfaces that it does not repeat.
fn gathered<'d>(
    decl: &'d Decl,
    interfaces: &[&'d Decl],
    problems: &mut Problems<'_>,
) -> Vec<Given<'d>> {
    let mut all: Vec<Given<'d>> = Vec::new();
    for own in &decl.properties {
        if all.iter().any(|given| given.decl.name.name == own.name.name) {
            problems.say(own.name.span, format!("there are two properties `{}`", own.name.name));
            continue;
        }
        for (at, note) in own.notes.iter().enumerate() {
            let same = |other: &Note| other.says.name() == note.says.name();
            if once(&note.says) && own.notes.iter().take(at).any(same) {
                problems.say(note.span, format!("`{}` is said twice", note.says.name()));
            }
        }
        all.push(Given { decl: own, notes: own.notes.iter().collect() });
    }
    for asked in interfaces.iter().flat_map(|interface| &interface.properties) {
        let same = |given: &&mut Given<'_>| given.decl.name.name == asked.name.name;
        let Some(given) = all.iter_mut().find(same) else {
            all.push(Given { decl: asked, notes: asked.notes.iter().collect() });
            continue;
        };
        if given.decl.kind != asked.kind {
            let name = &asked.name.name;
            let message = format!("two interfaces of `{}` differ about `{name}`", decl.name.name);
            // What a node itself says otherwise has been told already.
            let inherited = !decl.properties.iter().any(|own| own.name.name == *name);
            if inherited {
                problems.say(decl.name.span, message);
            }
        }
        let said: Vec<&str> = given.notes.iter().map(|note| note.says.name()).collect();
        let more = asked.notes.iter().filter(|note| !said.contains(&note.says.name()));
        given.notes.extend(more);
    }
    all
}

const fn once(says: &Says) -> bool {
    !matches!(says, Says::Check(..) | Says::Unique(_) | Says::Index(_))
}

fn bare(decl: &PropertyDecl) -> Property {
    Property {
        name: decl.name.name.clone(),
        slot: String::new(),
        kind: decl.kind.clone(),
        nullable: decl.nullable,
        index: None,
        lapsed: 0,
        range: None,
        embed: None,
        description: None,
    }
}

impl<'d> Built<'d> {
    /// An annotation of a property.
    fn note(&mut self, no: usize, note: &'d Note, problems: &mut Problems<'_>) {
        match &note.says {
            Says::Key(_) => self.keyed(no, note.span, problems),
            Says::Unique(_) => self.unique(vec![no], note.span, problems),
            Says::Index(_) => self.indexed(no, note.span, problems),
            Says::Range(low, high) => {
                let Some(of) = self.properties.get_mut(no) else { return };
                of.range = property::range(of, (low.as_ref(), high.as_ref()), note.span, problems);
            }
            Says::Check(ast, text) => self.checks.push((ast, text)),
            Says::Embed(word) => {
                if let Some(of) = self.properties.get_mut(no) {
                    of.embed = Some(word.name.clone());
                }
            }
            Says::Description(text) => {
                if let Some(of) = self.properties.get_mut(no) {
                    of.description = Some(text.clone());
                }
            }
            Says::RenameFrom(word) => {
                if let Some(renamed) = self.renamed.get_mut(no) {
                    *renamed = Some(word);
                }
            }
            Says::Card(_) => misplaced(note, "an edge", problems),
        }
    }

    /// An annotation of the type.
    fn note_type(&mut self, decl: &Decl, note: &'d Note, problems: &mut Problems<'_>) {
        match &note.says {
            Says::Key(names) | Says::Unique(names) | Says::Index(names) if names.is_empty() => {
                let message = format!("say which property: `{}(…)`", note.says.name());
                problems.say(note.span, message);
            }
            Says::Key(names) => {
                for no in self.found(names, problems) {
                    self.keyed(no, note.span, problems);
                }
            }
            Says::Index(names) => {
                for no in self.found(names, problems) {
                    self.indexed(no, note.span, problems);
                }
            }
            Says::Unique(names) => {
                let numbers = self.found(names, problems);
                if numbers.len() == names.len() {
                    self.unique(numbers, note.span, problems);
                }
            }
            Says::Range(..) | Says::Embed(_) => misplaced(note, "a property", problems),
            Says::Check(ast, text) => self.checks.push((ast, text)),
            Says::Card(card) => {
                self.card = Some(*card);
                if !matches!(decl.what, DeclWhat::Edge { .. }) {
                    misplaced(note, "an edge", problems);
                }
            }
            Says::Description(text) => self.description = Some(text.clone()),
            Says::RenameFrom(_) => {
                if matches!(decl.what, DeclWhat::Interface) {
                    let message = "an interface has no rows: it is renamed by its name alone";
                    problems.say(note.span, message);
                }
            }
        }
    }

    fn found(&self, names: &[Word], problems: &mut Problems<'_>) -> Vec<usize> {
        names.iter().filter_map(|word| find(word, self, problems)).collect()
    }

    fn keyed(&mut self, no: usize, span: Span, problems: &mut Problems<'_>) {
        let Some(of) = self.properties.get(no) else { return };
        let allowed =
            of.kind.is_whole() || matches!(of.kind, Kind::String | Kind::Date | Kind::Enum(_));
        if !allowed {
            let message = format!("a key cannot be {}", of.kind);
            let problem = problems.at(span, message);
            problems.add(problem.help("keys are String, whole numbers, Date or enums"));
        } else if of.nullable {
            problems.say(span, format!("a key cannot be null, and `{}` may be", of.name));
        }
        if self.key.contains(&no) {
            problems.say(span, "`@key` is said twice");
        } else {
            self.key.push(no);
        }
    }

    fn unique(&mut self, numbers: Vec<usize>, span: Span, problems: &mut Problems<'_>) {
        for (at, no) in numbers.iter().enumerate() {
            let Some(of) = self.properties.get(*no) else { continue };
            if matches!(of.kind, Kind::List(_) | Kind::Vector(_)) {
                problems.say(span, format!("`{}` is {} and cannot be unique", of.name, of.kind));
            }
            if numbers.iter().take(at).any(|other| other == no) {
                problems.say(span, format!("`{}` is named twice", of.name));
            }
        }
        if !self.uniques.contains(&numbers) {
            self.uniques.push(numbers);
        }
    }

    fn indexed(&mut self, no: usize, span: Span, problems: &mut Problems<'_>) {
        let Some(of) = self.properties.get_mut(no) else { return };
        match of.kind {
            Kind::Vector(_) => {
                let problem = problems.at(span, "a vector needs no index");
                problems.add(problem.help("leave `@index` out: `nearest` works without"));
            }
            Kind::List(_) => problems.say(span, "there is no index over lists"),
            // Which index of the slot it is, is said when slots are.
            _ => of.index = Some(1),
        }
    }
}

/// What vectors are made of must be a text of the same type.
fn embeds(decl: &Decl, built: &Built<'_>, problems: &mut Problems<'_>) {
    let notes = decl.properties.iter().flat_map(|own| own.notes.iter().map(move |n| (own, n)));
    for (own, note) in notes {
        let Says::Embed(word) = &note.says else { continue };
        if !matches!(own.kind, Kind::Vector(_)) {
            let message =
                format!("`@embed` goes on a vector, and `{}` is {}", own.name.name, own.kind);
            problems.say(note.span, message);
        }
        let Some(of) = find(word, built, problems).and_then(|no| built.properties.get(no)) else {
            continue;
        };
        if of.kind != Kind::String {
            let message = format!("vectors are made of a String, and `{}` is {}", of.name, of.kind);
            problems.say(word.span, message);
        }
    }
}

fn misplaced(note: &Note, on: &str, problems: &mut Problems<'_>) {
    problems.say(note.span, format!("`{}` goes on {on}", note.says.name()));
}
