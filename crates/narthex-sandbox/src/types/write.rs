//! Types as text.

use super::comment;
use super::shape::{Definition, Object, Shape, Tuple};

/// Definitions as they stand in a module.
pub(super) fn definitions(definitions: &[Definition], indent: usize) -> String {
    let writer = Writer { definitions };
    let space = " ".repeat(indent);
    let mut out = String::new();
    for Definition { name, doc, shape } in definitions {
        out.push_str(&comment::block(doc, indent));
        out.push_str(&space);
        if let Shape::Object(object) = shape {
            out.push_str("export interface ");
            out.push_str(name);
            out.push(' ');
            writer.body(&mut out, object, indent);
            out.push('\n');
        } else {
            out.push_str("export type ");
            out.push_str(name);
            out.push_str(" = ");
            writer.shape(&mut out, shape, indent, Binding::Loose);
            out.push_str(";\n");
        }
    }
    out
}

/// How tightly what stands around a type binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Loose,
    /// In an intersection.
    And,
    /// Before `[]` or `?`.
    Postfix,
}

impl Binding {
    /// Whether this type needs parentheses here.
    pub(super) const fn encloses(self, shape: &Shape) -> bool {
        match shape {
            Shape::Union(_) => !matches!(self, Self::Loose),
            Shape::Intersection(_) => matches!(self, Self::Postfix),
            _ => false,
        }
    }
}

struct Writer<'d> {
    definitions: &'d [Definition],
}

impl Writer<'_> {
    fn shape(&self, out: &mut String, shape: &Shape, indent: usize, binding: Binding) {
        let enclosed = binding.encloses(shape);
        if enclosed {
            out.push('(');
        }
        match shape {
            Shape::Any => out.push_str("any"),
            Shape::Never => out.push_str("never"),
            Shape::Word(word) => out.push_str(word),
            Shape::Literal(text, _) => out.push_str(text),
            Shape::Named(number) => {
                out.push_str(self.definitions.get(*number).map_or("any", |d| d.name.as_str()));
            }
            Shape::Array(item) => {
                self.shape(out, item, indent, Binding::Postfix);
                out.push_str("[]");
            }
            Shape::Tuple(tuple) => self.tuple(out, tuple, indent),
            Shape::Object(object) => self.body(out, object, indent),
            Shape::Union(members) => self.joined(out, members, " | ", indent, Binding::Loose),
            Shape::Intersection(members) => self.joined(out, members, " & ", indent, Binding::And),
        }
        if enclosed {
            out.push(')');
        }
    }

    fn joined(
        &self,
        out: &mut String,
        members: &[Shape],
        by: &str,
        indent: usize,
        binding: Binding,
    ) {
        for (n, member) in members.iter().enumerate() {
            if n > 0 {
                out.push_str(by);
            }
            self.shape(out, member, indent, binding);
        }
    }

    fn tuple(&self, out: &mut String, tuple: &Tuple, indent: usize) {
        out.push('[');
        for (n, place) in tuple.places.iter().enumerate() {
            if n > 0 {
                out.push_str(", ");
            }
            if n < tuple.required {
                self.shape(out, place, indent, Binding::Loose);
            } else {
                self.shape(out, place, indent, Binding::Postfix);
                out.push('?');
            }
        }
        if let Some(rest) = &tuple.rest {
            out.push_str(if tuple.places.is_empty() { "..." } else { ", ..." });
            self.shape(out, rest, indent, Binding::Postfix);
            out.push_str("[]");
        }
        out.push(']');
    }

    fn body(&self, out: &mut String, object: &Object, indent: usize) {
        if let (true, Some(index)) = (object.properties.is_empty(), &object.index) {
            out.push_str("{ [key: string]: ");
            self.shape(out, index, indent, Binding::Loose);
            out.push_str(" }");
            return;
        }
        let inner = indent + 2;
        let space = " ".repeat(inner);
        out.push_str("{\n");
        for property in &object.properties {
            out.push_str(&comment::block(&property.doc, inner));
            out.push_str(&space);
            out.push_str(&property.key);
            out.push_str(if property.optional { "?: " } else { ": " });
            self.shape(out, &property.shape, inner, Binding::Loose);
            out.push_str(";\n");
        }
        if let Some(index) = &object.index {
            out.push_str(&space);
            out.push_str("[key: string]: ");
            self.shape(out, index, inner, Binding::Loose);
            out.push_str(";\n");
        }
        out.push_str(&" ".repeat(indent));
        out.push('}');
    }
}
