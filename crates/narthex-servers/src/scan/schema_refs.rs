//! What a schema grows to when its references are followed.

use std::collections::HashMap;

use serde_json::Value;

/// What becomes of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// It stays small.
    Within,
    /// It refers to itself, each time one level deeper into a value: a value ends.
    Recursive,
    /// It refers to itself for the same value: checking never ends.
    Endless,
    /// Its references multiply beyond reason.
    Beyond,
    /// There are too many of them to tell.
    TooMany,
}

/// Follows the references within a schema.
pub(super) fn growth(schema: &Value) -> Growth {
    let mut parts: HashMap<&str, Part<'_>> = HashMap::new();
    let mut waiting: Vec<&str> = vec!["#"];
    while let Some(target) = waiting.pop() {
        if parts.contains_key(target) {
            continue;
        }
        if parts.len() > MAX_TARGETS {
            return Growth::TooMany;
        }
        let mut part = Part::default();
        if let Some(value) = resolve(schema, target) {
            part.walk(value, true);
        }
        waiting.extend(part.refs.iter().map(|(target, _)| *target));
        parts.insert(target, part);
    }
    let mut following = Following { parts: &parts, sizes: HashMap::new(), growth: Growth::Within };
    following.size("#", &mut Vec::new());
    following.growth
}

fn resolve<'a>(schema: &'a Value, target: &str) -> Option<&'a Value> {
    // `#anchor` names a place that only a validator knows; it counts as nothing.
    schema.pointer(target.strip_prefix('#')?)
}

/// A place that is referred to.
#[derive(Debug, Default)]
struct Part<'a> {
    values: u64,
    /// What it refers to, and whether that is for the same value.
    refs: Vec<(&'a str, bool)>,
}

impl<'a> Part<'a> {
    fn walk(&mut self, value: &'a Value, same: bool) {
        self.values += 1;
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    if let ("$ref" | "$dynamicRef" | "$recursiveRef", Some(target)) =
                        (key.as_str(), inner.as_str())
                        && target.starts_with('#')
                    {
                        self.refs.push((target, same));
                        continue;
                    }
                    // What is defined is not used by that.
                    if !matches!(key.as_str(), "$defs" | "definitions") {
                        self.walk(inner, same && IN_PLACE.contains(&key.as_str()));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, same)),
            _ => {}
        }
    }
}

/// Keywords whose schemas are for the same value.
const IN_PLACE: &[&str] =
    &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

struct Following<'a> {
    parts: &'a HashMap<&'a str, Part<'a>>,
    sizes: HashMap<&'a str, u64>,
    growth: Growth,
}

impl<'a> Following<'a> {
    /// The size of a part with everything it refers to in its place. `path` is how one came here:
    /// each part with whether it was left for the same value.
    fn size(&mut self, target: &'a str, path: &mut Vec<(&'a str, bool)>) -> u64 {
        if let Some(size) = self.sizes.get(target) {
            return *size;
        }
        let Some(part) = self.parts.get(target) else { return 0 };
        let mut size = part.values;
        for (next, same) in &part.refs {
            path.push((target, *same));
            if let Some(at) = path.iter().position(|(known, _)| known == next) {
                let endless = path.iter().skip(at).all(|(_, same)| *same);
                self.note(if endless { Growth::Endless } else { Growth::Recursive });
            } else {
                size = size.saturating_add(self.size(next, path));
            }
            path.pop();
        }
        if size > MAX_SIZE {
            self.note(Growth::Beyond);
        }
        self.sizes.insert(target, size);
        size
    }

    fn note(&mut self, growth: Growth) {
        let rank = |growth: Growth| match growth {
            Growth::Within => 0,
            Growth::Recursive => 1,
            Growth::Beyond | Growth::TooMany => 2,
            Growth::Endless => 3,
        };
        if rank(growth) > rank(self.growth) {
            self.growth = growth;
        }
    }
}

/// Places that are referred to.
const MAX_TARGETS: usize = 200;
/// Values of a schema with everything in its place.
const MAX_SIZE: u64 = 50_000;

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Growth, growth};

    #[test]
    fn growth_is_told() {
        // Each level uses the next one twice: 2^30 in the end.
        let mut doubling = Map::new();
        for n in 0..30 {
            let next = format!("#/$defs/d{}", n + 1);
            let both = json!({"allOf": [{"$ref": next}, {"$ref": next}]});
            doubling.insert(format!("d{n}"), both);
        }
        doubling.insert("d30".into(), json!({"type": "string"}));
        let many: Map<String, Value> = (0..500)
            .map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)})))
            .collect();
        for (schema, expected) in [
            (json!({}), Growth::Within),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": {}}}), Growth::Within),
            (json!({"$ref": "#/nowhere"}), Growth::Within),
            (json!({"properties": {"a": {"$ref": "#"}}}), Growth::Recursive),
            (json!({"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}), Growth::Recursive),
            (json!({"$ref": "#"}), Growth::Endless),
            (json!({"allOf": [{"$ref": "#"}]}), Growth::Endless),
            (
                json!({"$ref": "#/$defs/a", "$defs": {
                    "a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
                Growth::Endless,
            ),
            (json!({"$ref": "#/$defs/d0", "$defs": doubling}), Growth::Beyond),
            (json!({"$ref": "#/$defs/d0", "$defs": many}), Growth::TooMany),
        ] {
            assert_eq!(growth(&schema), expected, "{schema}");
        }
    }
}
