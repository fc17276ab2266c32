//! References within a document.

use std::collections::HashMap;

use serde_json::Value;

use super::bounds::{DEFINITIONS, NAME_BYTES};
use super::names::pascal;
use super::read::{At, Reader};
use super::shape::{Definition, Shape};

impl<'s> Reader<'s, '_> {
    /// What a reference stands for. One that leads out of the document, or nowhere, is anything:
    /// nothing is ever fetched.
    pub(super) fn reference(&mut self, reference: &str, at: At<'s, '_>) -> Shape {
        let Some(target) = self.resolve(reference) else { return Shape::Any };
        if !target.is_object() || self.naming.is_none() {
            return self.schema(target, at);
        }
        let number = match self.places.get(&std::ptr::from_ref(target)) {
            Some(number) => *number,
            None => match self.name(reference) {
                Some(name) => self.define(name, target),
                None => return Shape::Any,
            },
        };
        if at.direct && !self.lead(number) {
            return Shape::Any;
        }
        let room = self.definitions.get(number).map_or(0, |definition| definition.name.len());
        if self.budget.room(room) { Shape::Named(number) } else { Shape::Any }
    }

    /// A definition yet to be read.
    pub(super) fn define(&mut self, name: String, schema: &'s Value) -> usize {
        let number = self.definitions.len();
        self.definitions.push(Definition { name, doc: Vec::new(), shape: Shape::Any });
        self.schemas.push(schema);
        self.places.insert(std::ptr::from_ref(schema), number);
        number
    }

    /// Where a reference points, in this document.
    pub(super) fn resolve(&mut self, reference: &str) -> Option<&'s Value> {
        if reference.len() > NAME_BYTES || !self.budget.work(1 + reference.len() / 64) {
            return None;
        }
        let id = self.document.get("$id").and_then(Value::as_str);
        let id = id.filter(|id| id.len() <= NAME_BYTES).unwrap_or_default();
        let id = id.split('#').next().unwrap_or_default();
        let local =
            reference.strip_prefix(id).filter(|rest| rest.is_empty() || rest.starts_with('#'));
        let local = local.unwrap_or(reference);
        if local.is_empty() {
            return Some(self.document);
        }
        let fragment = decoded(local.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.document.pointer(&fragment);
        }
        let document = self.document;
        self.anchors.get_or_insert_with(|| anchors(document)).get(fragment.as_str()).copied()
    }

    /// A name for what a reference points to, if there may be one more.
    fn name(&mut self, reference: &str) -> Option<String> {
        let naming = self.naming.as_mut()?;
        if self.definitions.len() >= DEFINITIONS {
            self.budget.simplify();
            return None;
        }
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let name = naming.names.claim(&format!("{}{}", naming.prefix, pascal(last)));
        // The line that declares it.
        self.budget.room(name.len() + DECLARATION).then_some(name)
    }

    /// Notes that the current definition is partly the other one, unless the other is already partly
    /// this one: TypeScript refuses a type that is made of itself.
    fn lead(&mut self, to: usize) -> bool {
        if self.leads.contains(&(self.current, to)) {
            return true;
        }
        let mut seen = vec![to];
        let mut next = 0;
        while let Some(at) = seen.get(next).copied() {
            if at == self.current || !self.budget.work(1 + self.definitions.len() / 8) {
                return false;
            }
            for other in 0..self.definitions.len() {
                if self.leads.contains(&(at, other)) && !seen.contains(&other) {
                    seen.push(other);
                }
            }
            next += 1;
        }
        self.leads.insert((self.current, to));
        true
    }
}

/// Every place with a name of its own; the first of a name keeps it.
fn anchors(document: &Value) -> HashMap<&str, &Value> {
    let mut found = HashMap::new();
    // Not by recursion: how deep a document is, is its author's choice.
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(anchor) = map.get("$anchor").and_then(Value::as_str) {
                    found.entry(anchor).or_insert(value);
                }
                open.extend(map.values().rev());
            }
            Value::Array(values) => open.extend(values.iter().rev()),
            _ => {}
        }
    }
    found
}

/// Without percent signs; nothing if it is not text then.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            out.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Bytes around a name where it is declared.
const DECLARATION: usize = 40;

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn percent_signs_are_read() {
        for (text, expected) in [
            ("/$defs/a", Some("/$defs/a")),
            ("/a%20b%7E1", Some("/a b~1")),
            ("/%C3%A9", Some("/\u{e9}")),
            ("/%", None),
            ("/%2", None),
            ("/%zz", None),
            ("/%ff", None),
        ] {
            assert_eq!(decoded(text).as_deref(), expected, "{text}");
        }
    }
}
