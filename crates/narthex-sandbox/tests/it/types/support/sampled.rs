//! Schemas with a value that fits and one that does not.

use serde_json::{Map, Value, json};

use super::{HOSTILE, Random};

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub schema: Value,
    pub good: Value,
    /// Of the wrong type somewhere, unless everything fits.
    pub bad: Option<Value>,
}

/// A whole document: an object with one required property at least.
pub(crate) fn document(random: &mut Random) -> Sample {
    let mut making = Making { random, definitions: Vec::new() };
    let mut sample = making.object(4, true);
    let definitions: Map<String, Value> =
        making.definitions.into_iter().map(|(name, sample)| (name, sample.schema)).collect();
    sample.schema["$defs"] = definitions.into();
    sample
}

struct Making<'r> {
    random: &'r mut Random,
    definitions: Vec<(String, Sample)>,
}

impl Making<'_> {
    fn any(&mut self, depth: usize) -> Sample {
        if depth == 0 {
            return self.scalar();
        }
        match self.random.below(14) {
            0 | 1 => self.object(depth - 1, false),
            2 => self.map(depth - 1),
            3 => self.array(depth - 1),
            4 => self.tuple(depth - 1),
            5 => self.choice(depth - 1),
            6 => self.either(depth - 1),
            7 => self.both(depth - 1),
            8 => self.reference(depth - 1),
            9 => self.tree(depth - 1),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Sample {
        let (schema, good, bad) = self.random.pick(&[
            (
                json!({ "type": "string", "format": "date", "minLength": 1 }),
                json!("text"),
                json!(1),
            ),
            (json!({ "type": "string", "nullable": true }), json!(null), json!(1)),
            (json!({ "type": "integer", "minimum": 0 }), json!(3), json!("3")),
            (json!({ "type": "number", "default": 1 }), json!(-1.5), json!(true)),
            (json!({ "type": "boolean" }), json!(false), json!("false")),
            (json!({ "type": "null" }), json!(null), json!(0)),
            (json!({ "type": ["string", "number"] }), json!(7), json!(null)),
            (json!({ "enum": ["a", "b", "*/", 5, null] }), json!("*/"), json!("c")),
            (json!({ "enum": ["a", "b"], "type": "string" }), json!("b"), json!("c")),
            (
                json!({ "const": { "a": [1, "x"], "b": {} } }),
                json!({ "a": [1, "x"], "b": {} }),
                json!({ "a": [1, "y"], "b": {} }),
            ),
            (json!({ "const": "\"\u{2028}\\" }), json!("\"\u{2028}\\"), json!("x")),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!("x"), json!(2)),
            (json!({ "allOf": [{ "type": "string" }, { "maxLength": 9 }] }), json!("x"), json!(2)),
            (json!({ "type": "object" }), json!({ "whatever": [1, "x"] }), json!(null)),
        ]);
        if self.random.below(12) == 0 {
            return Sample { schema: json!({ "description": "Anything." }), good, bad: None };
        }
        Sample { schema, good, bad: Some(bad) }
    }

    fn object(&mut self, depth: usize, strict: bool) -> Sample {
        let mut properties = Map::new();
        let (mut required, mut good, mut bads) = (Vec::new(), Map::new(), Vec::new());
        if strict {
            properties.insert(
                "must".to_owned(),
                json!({ "type": "string", "description": self.random.pick(HOSTILE) }),
            );
            required.push(json!("must"));
            good.insert("must".to_owned(), json!("be"));
            bads.push(("must".to_owned(), Some(json!(404))));
            bads.push(("must".to_owned(), None));
        }
        for _ in 0..=self.random.below(4) {
            let name = self.name();
            let inner = self.any(depth);
            if properties.insert(name.clone(), inner.schema).is_some() {
                return self.object(depth, strict);
            }
            let needed = self.random.coin();
            // What every object has is anything when it may be left out, and never missing.
            let inherited = INHERITED.contains(&name.as_str());
            if needed {
                required.push(json!(name));
                bads.extend((!inherited).then(|| (name.clone(), None)));
            }
            if let Some(bad) = inner.bad.filter(|_| needed || !inherited) {
                bads.push((name.clone(), Some(bad)));
            }
            if needed || self.random.coin() {
                good.insert(name, inner.good);
            }
        }
        let mut schema =
            json!({ "type": "object", "properties": properties, "required": required });
        match self.random.below(6) {
            0 => schema["additionalProperties"] = json!(false),
            1 => schema["additionalProperties"] = json!({ "type": "number" }),
            2 => schema["patternProperties"] = json!({ "^x-": { "type": "string" } }),
            _ => {}
        }
        let bad = (!bads.is_empty()).then(|| {
            let (name, bad) = self.random.pick(&bads);
            let mut object = good.clone();
            match bad {
                Some(bad) => object.insert(name, bad),
                None => object.shift_remove(&name),
            };
            Value::Object(object)
        });
        Sample { schema, good: good.into(), bad }
    }

    fn map(&mut self, depth: usize) -> Sample {
        let inner = self.any(depth);
        let name = self.name();
        // TypeScript takes the type of what every object has from there and not from the map.
        let name = if INHERITED.contains(&name.as_str()) { "key".to_owned() } else { name };
        Sample {
            schema: json!({ "type": "object", "additionalProperties": inner.schema }),
            good: json!({ name.clone(): inner.good }),
            bad: inner.bad.map(|bad| json!({ name: bad })),
        }
    }

    fn array(&mut self, depth: usize) -> Sample {
        let inner = self.any(depth);
        Sample {
            schema: json!({ "type": "array", "items": inner.schema }),
            good: json!([inner.good, inner.good]),
            bad: Some(inner.bad.map_or(json!("[]"), |bad| json!([inner.good, bad]))),
        }
    }

    fn tuple(&mut self, depth: usize) -> Sample {
        let (first, second) = (self.any(depth), self.any(depth));
        let mut schema =
            json!({ "type": "array", "prefixItems": [first.schema, second.schema], "minItems": 1 });
        let mut good = vec![first.good];
        match self.random.below(3) {
            0 => schema["items"] = json!(false),
            1 => {
                schema["items"] = json!({ "type": "number" });
                good.extend([second.good, json!(1), json!(2)]);
            }
            _ => good.extend([second.good, json!("rest")]),
        }
        Sample { schema, good: good.into(), bad: Some(json!([])) }
    }

    /// Objects that are told apart by a word.
    fn choice(&mut self, depth: usize) -> Sample {
        let (a, b) = (self.any(depth), self.any(depth));
        let branch = |word: &str, inner: &Sample| json!({ "properties": { "kind": { "const": word }, "of": inner.schema }, "required": ["kind", "of"] });
        let key = self.random.pick(&["oneOf", "anyOf"]);
        let schema = json!({ "type": "object", key: [branch("a", &a), branch("b", &b)] });
        let bad = b
            .bad
            .map_or(json!({ "kind": "c", "of": b.good }), |bad| json!({ "kind": "b", "of": bad }));
        Sample { schema, good: json!({ "kind": "a", "of": a.good }), bad: Some(bad) }
    }

    /// One of two properties must be there.
    fn either(&mut self, depth: usize) -> Sample {
        let (a, b) = (self.any(depth), self.any(depth));
        let schema = json!({
            "type": "object",
            "properties": { "a": a.schema, "b": b.schema },
            "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
        });
        Sample { schema, good: json!({ "b": b.good }), bad: Some(json!({})) }
    }

    /// All of two objects.
    fn both(&mut self, depth: usize) -> Sample {
        let (a, b) = (self.any(depth), self.any(depth));
        let part = |name: &str, inner: &Sample| json!({ "properties": { name: inner.schema }, "required": [name] });
        Sample {
            schema: json!({ "allOf": [part("one", &a), part("two", &b)] }),
            good: json!({ "one": a.good, "two": b.good }),
            bad: Some(
                b.bad.map_or(json!({ "two": b.good }), |bad| json!({ "one": a.good, "two": bad })),
            ),
        }
    }

    fn reference(&mut self, depth: usize) -> Sample {
        if self.definitions.is_empty() || self.random.coin() {
            let inner = self.any(depth);
            self.define(inner);
        }
        let (name, sample) = self.random.pick(&self.definitions);
        Sample { schema: json!({ "$ref": pointer(&name), "description": "Elsewhere." }), ..sample }
    }

    /// A list or a tree of itself.
    fn tree(&mut self, depth: usize) -> Sample {
        let inner = self.any(depth);
        let own = pointer(&self.next_name());
        let schema = json!({
            "type": "object",
            "properties": { "value": inner.schema, "kids": { "type": "array", "items": { "$ref": own } } },
            "required": ["value", "kids"],
        });
        let leaf = json!({ "value": inner.good, "kids": [] });
        let good = json!({ "value": inner.good, "kids": [leaf, leaf] });
        let wrong =
            inner.bad.map_or(json!({ "value": 1 }), |bad| json!({ "value": bad, "kids": [] }));
        let bad = json!({ "value": inner.good, "kids": [leaf, wrong] });
        self.define(Sample { schema, good, bad: Some(bad) });
        let (_, sample) = self.definitions.last().unwrap().clone();
        Sample { schema: json!({ "$ref": own }), ..sample }
    }

    fn define(&mut self, sample: Sample) {
        let name = self.next_name();
        self.definitions.push((name, sample));
    }

    fn next_name(&self) -> String {
        format!(
            "{}{}",
            ["node", "a/b", "c~d", "x y"][self.definitions.len() % 4],
            self.definitions.len()
        )
    }

    fn name(&mut self) -> String {
        // In a literal of TypeScript this one sets a prototype.
        let hostile = self.random.pick(HOSTILE);
        let plain =
            self.random.pick(&["a", "b", "c", "new", "get", "readonly", "toString", "1", "a-b"]);
        if self.random.below(3) == 0 && hostile != "__proto__" { hostile } else { plain }.to_owned()
    }
}

const INHERITED: &[&str] = &["constructor", "toString"];

fn pointer(name: &str) -> String {
    format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1").replace(' ', "%20"))
}
