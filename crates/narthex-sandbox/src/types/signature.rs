//! Parameters in one line.

use serde_json::Value;

use super::bounds::{Budget, SIGNATURE_CHARS};
use super::module::takes_nothing;
use super::read::Reader;
use super::shape::{Object, Shape, Tuple};
use super::write::Binding;

/// The parameters of a function as a TypeScript type in one line, for the error that says they were
/// wrong. What is too long ends in `…` after a whole property: a person reads it, no compiler does.
pub fn signature(input: &Value) -> String {
    if takes_nothing(input) {
        return "{}".to_owned();
    }
    let shape = Reader::in_place(input, &mut Budget::new());
    line(&shape, SIGNATURE_CHARS, Binding::Loose)
}

/// The type in at most so many characters, all that is opened closed.
fn line(shape: &Shape, most: usize, binding: Binding) -> String {
    let text = match shape {
        Shape::Any | Shape::Named(_) => "any".to_owned(),
        Shape::Never => "never".to_owned(),
        Shape::Word(word) => (*word).to_owned(),
        Shape::Literal(text, _) => text.clone(),
        Shape::Array(item) => {
            format!("{}[]", line(item, most.saturating_sub(2), Binding::Postfix))
        }
        Shape::Tuple(tuple) => list("[", ", ", "]", most, places(tuple)),
        Shape::Object(object) => list("{ ", "; ", " }", most, properties(object)),
        _ if binding.encloses(shape) => {
            format!("({})", line(shape, most.saturating_sub(2), Binding::Loose))
        }
        Shape::Union(members) => list("", " | ", "", most, of_each(members, Binding::Loose)),
        Shape::Intersection(members) => list("", " & ", "", most, of_each(members, Binding::And)),
    };
    if text.chars().count() <= most { text } else { CUT.to_owned() }
}

type Part<'s> = Box<dyn Fn(usize) -> String + 's>;

/// As many parts as there is room for, each told how much there is.
fn list<'s>(
    open: &str,
    by: &str,
    close: &str,
    most: usize,
    parts: impl Iterator<Item = Part<'s>>,
) -> String {
    let mut out = open.to_owned();
    let mut used = open.len() + close.len();
    for (n, part) in parts.enumerate() {
        if n > 0 {
            out.push_str(by);
            used += by.len();
        }
        // Room for what says that something is missing, and for what stands before it.
        let left = most.saturating_sub(used + by.len() + 1);
        let text = part(left);
        let length = text.chars().count();
        if length > left {
            out.push_str(CUT);
            break;
        }
        used += length;
        out.push_str(&text);
    }
    out + close
}

fn properties(object: &Object) -> impl Iterator<Item = Part<'_>> {
    let named = object.properties.iter().map(|property| -> Part<'_> {
        Box::new(move |most| {
            let name = format!("{}{}: ", property.key, if property.optional { "?" } else { "" });
            let left = most.saturating_sub(name.chars().count());
            name + &line(&property.shape, left, Binding::Loose)
        })
    });
    let index = object.index.iter().map(|index| -> Part<'_> {
        Box::new(move |most| {
            const NAME: &str = "[key: string]: ";
            format!("{NAME}{}", line(index, most.saturating_sub(NAME.len()), Binding::Loose))
        })
    });
    named.chain(index)
}

fn places(tuple: &Tuple) -> impl Iterator<Item = Part<'_>> {
    let places = tuple.places.iter().enumerate().map(|(n, place)| -> Part<'_> {
        if n < tuple.required {
            Box::new(|most| line(place, most, Binding::Loose))
        } else {
            Box::new(|most| line(place, most.saturating_sub(1), Binding::Postfix) + "?")
        }
    });
    let rest = tuple.rest.iter().map(|rest| -> Part<'_> {
        Box::new(|most| format!("...{}[]", line(rest, most.saturating_sub(5), Binding::Postfix)))
    });
    places.chain(rest)
}

fn of_each(members: &[Shape], binding: Binding) -> impl Iterator<Item = Part<'_>> {
    members
        .iter()
        .map(move |member| -> Part<'_> { Box::new(move |most| line(member, most, binding)) })
}

const CUT: &str = "\u{2026}";
