//! Values as types.

use serde_json::{Number, Value};

use super::bounds::{DEPTH, ENUM_MEMBERS, LITERAL_CHARS, NAME_BYTES, TUPLE_PLACES};
use super::read::Reader;
use super::shape::{Object, Property, Shape, Tuple};
use super::text;

impl Reader<'_, '_> {
    /// This value and no other.
    pub(super) fn literal(&mut self, value: &Value, depth: usize) -> Shape {
        let like = like(value);
        if depth >= DEPTH || !self.budget.work(1) {
            self.budget.simplify();
            return like;
        }
        let literal = match value {
            Value::Null => return like,
            Value::Bool(value) => Shape::Literal(value.to_string(), "boolean"),
            Value::Number(value) => return self.number(value),
            Value::String(value) if value.chars().nth(LITERAL_CHARS).is_some() => {
                self.budget.simplify();
                return like;
            }
            Value::String(value) => Shape::Literal(text::quoted(value), "string"),
            Value::Array(values) if values.len() > TUPLE_PLACES => return like,
            Value::Array(values) => {
                let places: Vec<Shape> =
                    values.iter().map(|value| self.literal(value, depth + 1)).collect();
                Shape::Tuple(Tuple { required: places.len(), places, rest: None })
            }
            Value::Object(map) if map.len() > TUPLE_PLACES => return like,
            Value::Object(map) if map.keys().any(|name| name.len() > NAME_BYTES) => return like,
            Value::Object(map) => {
                let mut object = Object::default();
                for (name, value) in map {
                    let key = text::key(name);
                    if !self.budget.room(key.len() + 2 * (2 * depth + 4) + 8) {
                        return like;
                    }
                    let shape = self.literal(value, depth + 1);
                    object.properties.push(Property {
                        key,
                        optional: false,
                        doc: Vec::new(),
                        shape,
                    });
                }
                object.index = map.is_empty().then(|| Box::new(Shape::Never));
                Shape::Object(object)
            }
        };
        let room = if let Shape::Literal(text, _) = &literal { text.len() + 4 } else { 12 };
        if self.budget.room(room) { literal } else { like }
    }

    /// One of these values. Too many of them are what they are alike in.
    pub(super) fn one_of(&mut self, values: &[Value], kind: Option<&Value>, depth: usize) -> Shape {
        if values.len() > ENUM_MEMBERS {
            self.budget.simplify();
            if !self.budget.work(values.len()) {
                return Shape::Any;
            }
            return Shape::union(values.iter().filter(|value| fits(value, kind)).map(like));
        }
        // Values that contradict the type are in nobody's way, unless there are no others: then it
        // is the type that was a slip.
        let mut fitting: Vec<&Value> = values.iter().filter(|value| fits(value, kind)).collect();
        if fitting.is_empty() {
            fitting = values.iter().collect();
        }
        let shapes: Vec<Shape> =
            fitting.into_iter().map(|value| self.literal(value, depth)).collect();
        self.union(shapes)
    }

    fn number(&mut self, number: &Number) -> Shape {
        let text = number.to_string();
        let plain = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        if text.chars().all(plain) && text.len() <= NUMBER_CHARS && self.budget.room(text.len()) {
            Shape::Literal(text, "number")
        } else {
            Shape::Word("number")
        }
    }
}

/// What values like this one are.
fn like(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Word("null"),
        Value::Bool(_) => Shape::Word("boolean"),
        Value::Number(_) => Shape::Word("number"),
        Value::String(_) => Shape::Word("string"),
        Value::Array(_) => Shape::Array(Box::new(Shape::Any)),
        Value::Object(_) => {
            Shape::Object(Object { properties: Vec::new(), index: Some(Box::new(Shape::Any)) })
        }
    }
}

fn fits(value: &Value, kind: Option<&Value>) -> bool {
    let one = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" | "integer" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match kind {
        Some(Value::String(kind)) => one(kind),
        Some(Value::Array(kinds)) => kinds.iter().take(8).filter_map(Value::as_str).any(one),
        _ => true,
    }
}

/// Longer numbers are not what anyone means.
const NUMBER_CHARS: usize = 40;
