//! Schemas that nobody sane would write.

use serde_json::{Map, Value, json};

use super::{HOSTILE, Random};

/// Any schema: deep, contradictory, recursive, with hostile texts wherever a text may be.
pub(crate) fn document(random: &mut Random) -> Value {
    let depth = 1 + random.below(9);
    let mut size = 400;
    let mut root = match schema(random, depth, &mut size) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for key in ["$defs", "definitions"] {
        let definitions: Map<String, Value> = (0..random.below(6))
            .map(|n| (definition(n).to_owned(), schema(random, depth, &mut size)))
            .collect();
        root.insert(key.to_owned(), Value::Object(definitions));
    }
    Value::Object(root)
}

fn definition(n: usize) -> &'static str {
    ["a", "b", "c/d~e", "*/ declare const PWNED: number;", "f g", "\u{e9}"][n % 6]
}

fn schema(random: &mut Random, depth: usize, size: &mut usize) -> Value {
    if depth == 0 || *size == 0 {
        return random.pick(&[json!(true), json!(false), json!({}), json!({ "type": "string" })]);
    }
    *size -= 1;
    let mut map = Map::new();
    for _ in 0..=random.below(4) {
        let (key, value) = keyword(random, depth - 1, size);
        map.insert(key.to_owned(), value);
    }
    Value::Object(map)
}

fn keyword(random: &mut Random, depth: usize, size: &mut usize) -> (&'static str, Value) {
    let some = 1 + random.below(4);
    let mut list =
        |random: &mut Random| (0..some).map(|_| schema(random, depth, size)).collect::<Vec<_>>();
    match random.below(22) {
        0 | 1 => ("type", random.pick(KINDS).into()),
        2 => ("type", (0..some).map(|_| random.pick(KINDS)).collect::<Vec<_>>().into()),
        3..=5 => {
            let schemas = list(random);
            (
                "properties",
                schemas.into_iter().map(|s| (name(random), s)).collect::<Map<_, _>>().into(),
            )
        }
        6 => ("required", (0..some).map(|_| name(random)).collect::<Vec<_>>().into()),
        7 => ("additionalProperties", schema(random, depth, size)),
        8 => {
            let schemas = list(random);
            (
                "patternProperties",
                schemas.into_iter().map(|s| (name(random), s)).collect::<Map<_, _>>().into(),
            )
        }
        9 => ("enum", (0..some).map(|_| value(random, 3)).collect::<Vec<_>>().into()),
        10 => ("const", value(random, 3)),
        11 => ("anyOf", list(random).into()),
        12 => ("oneOf", list(random).into()),
        13 => ("allOf", list(random).into()),
        14 => ("items", schema(random, depth, size)),
        15 => ("prefixItems", list(random).into()),
        16 => ("nullable", random.coin().into()),
        17 | 18 => ("$ref", reference(random).into()),
        19 => ("description", random.pick(HOSTILE).into()),
        20 => {
            (random.pick(&["format", "pattern", "title", "$anchor"]), random.pick(HOSTILE).into())
        }
        _ => (random.pick(&["default", "minItems", "maxItems", "minimum"]), value(random, 2)),
    }
}

fn value(random: &mut Random, depth: usize) -> Value {
    let some = if depth == 0 { 0 } else { random.below(4) };
    match random.below(8) {
        0 => Value::Null,
        1 => random.coin().into(),
        2 => random.below(5).into(),
        3 => random.pick(&[-1.5, -0.0, 1e300, 5e-324, 0.1]).into(),
        4 => (0..some).map(|_| value(random, depth - 1)).collect::<Vec<_>>().into(),
        5 => (0..some)
            .map(|_| (name(random), value(random, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
        _ => random.pick(HOSTILE).into(),
    }
}

fn name(random: &mut Random) -> String {
    if random.coin() { random.pick(PLAIN).to_owned() } else { random.pick(HOSTILE).to_owned() }
}

fn reference(random: &mut Random) -> String {
    let n = random.below(6);
    let escaped = definition(n).replace('~', "~0").replace('/', "~1");
    match random.below(8) {
        0 => "#".to_owned(),
        1 => "#/properties/a".to_owned(),
        2 => format!("#{}", random.pick(HOSTILE)),
        3 => random.pick(HOSTILE).to_owned(),
        4 => format!("#/definitions/{escaped}"),
        _ => format!("#/$defs/{escaped}"),
    }
}

const KINDS: &[&str] =
    &["string", "number", "integer", "boolean", "null", "object", "array", "odd"];
const PLAIN: &[&str] =
    &["a", "b", "c", "new", "get", "readonly", "delete", "toString", "1", "1.0", "-1"];
