//! What a value may be, before it is written down.

use std::collections::HashSet;

/// A type. Every text in it is fit to be written as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Any,
    Never,
    /// A type that has a word of its own.
    Word(&'static str),
    /// One value, and the word for its like.
    Literal(String, &'static str),
    /// The definition with this number.
    Named(usize),
    Array(Box<Shape>),
    Tuple(Tuple),
    Object(Object),
    Union(Vec<Shape>),
    Intersection(Vec<Shape>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tuple {
    pub(super) places: Vec<Shape>,
    /// How many of the places must be there.
    pub(super) required: usize,
    /// What may follow them.
    pub(super) rest: Option<Box<Shape>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Object {
    pub(super) properties: Vec<Property>,
    /// What properties with other names are, if there may be any.
    pub(super) index: Option<Box<Shape>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Property {
    pub(super) key: String,
    pub(super) optional: bool,
    pub(super) doc: Vec<String>,
    pub(super) shape: Shape,
}

/// A type with a name.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) doc: Vec<String>,
    pub(super) shape: Shape,
}

/// Something about each definition, found once: there may be many ways to the same one.
///
/// INVARIANT: a definition does not lead back to itself but through an object or an array, so what
/// looks no further than those comes to an end.
#[derive(Debug)]
pub(super) struct Known<'d, T> {
    definitions: &'d [Definition],
    found: Vec<Option<T>>,
    find: fn(&Shape, &mut Self) -> T,
}

impl<'d, T: Copy> Known<'d, T> {
    pub(super) fn new(definitions: &'d [Definition], find: fn(&Shape, &mut Self) -> T) -> Self {
        Self { definitions, found: vec![None; definitions.len()], find }
    }

    pub(super) fn of(&mut self, number: usize) -> Option<T> {
        let known = self.found.get(number).copied()?;
        if known.is_some() {
            return known;
        }
        let found = (self.find)(&self.definitions.get(number)?.shape, self);
        *self.found.get_mut(number)? = Some(found);
        Some(found)
    }
}

impl Shape {
    /// One of these.
    pub(super) fn union(members: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for member in members {
            match member {
                Self::Any => return Self::Any,
                Self::Never => {}
                Self::Union(members) => flat.extend(members),
                member => flat.push(member),
            }
        }
        Self::one_or(distinct(flat), Self::Never, Self::Union)
    }

    /// All of these at once. What may be anything adds nothing; to TypeScript it would undo the rest.
    pub(super) fn intersection(members: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for member in members {
            match member {
                Self::Any => {}
                Self::Never => return Self::Never,
                Self::Intersection(members) => flat.extend(members),
                member => flat.push(member),
            }
        }
        Self::one_or(distinct(flat), Self::Any, Self::Intersection)
    }

    /// A type that holds everything this one does and takes no more room than a few words, if there
    /// is one but `any`.
    pub(super) fn widened(&self) -> Option<Self> {
        match self {
            Self::Word(_) | Self::Named(_) | Self::Never => Some(self.clone()),
            Self::Literal(_, word) => Some(Self::Word(word)),
            Self::Array(item) => Some(Self::Array(Box::new(item.widened()?))),
            Self::Union(members) if members.len() <= FEW => {
                members.iter().map(Self::widened).collect::<Option<Vec<_>>>().map(Self::union)
            }
            _ => None,
        }
    }

    /// An object without properties, of which only that is known.
    pub(super) fn is_bare_object(&self) -> bool {
        let bare = |index: &Shape| matches!(index, Self::Any | Self::Never);
        matches!(self, Self::Object(object)
            if object.properties.is_empty() && object.index.as_deref().is_none_or(bare))
    }

    /// Whether `{}` fits.
    pub(super) fn is_optional(&self, named: &mut Known<'_, bool>) -> bool {
        match self {
            Self::Any => true,
            Self::Object(object) => object.properties.iter().all(|property| property.optional),
            Self::Union(members) => members.iter().any(|member| member.is_optional(named)),
            Self::Intersection(members) => members.iter().all(|member| member.is_optional(named)),
            Self::Named(number) => named.of(*number).unwrap_or(false),
            _ => false,
        }
    }

    /// The types this one is made of.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Array(item) => vec![item],
            Self::Tuple(tuple) => {
                tuple.places.iter_mut().chain(tuple.rest.as_deref_mut()).collect()
            }
            Self::Object(object) => {
                let properties = object.properties.iter_mut().map(|property| &mut property.shape);
                properties.chain(object.index.as_deref_mut()).collect()
            }
            Self::Union(members) | Self::Intersection(members) => members.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    fn one_or(mut members: Vec<Self>, none: Self, many: fn(Vec<Self>) -> Self) -> Self {
        match members.len() {
            0 => none,
            1 => members.pop().unwrap_or(none),
            _ => many(members),
        }
    }
}

fn distinct(members: Vec<Shape>) -> Vec<Shape> {
    let mut seen = HashSet::new();
    members.into_iter().filter(|member| seen.insert(member.clone())).collect()
}

/// Members of a union that is still short.
const FEW: usize = 8;
