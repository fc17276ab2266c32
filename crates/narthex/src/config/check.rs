//! Keys that do not exist and numbers out of bounds, by the schema of [`Config`].

use std::ops::Range;

use schemars::schema_for;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::keys::Config;

/// Something wrong at a place in the file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) label: String,
    pub(super) hint: Option<String>,
}

/// The schema of the settings, with everything in place.
pub(super) fn schema() -> Value {
    let mut schema = schema_for!(Config).to_value();
    let defs = schema.get("$defs").cloned().unwrap_or_default();
    resolve(&mut schema, &defs);
    schema
}

/// Everything wrong, in the order of the file; types are left to the reader that comes after.
pub(super) fn check(text: &str) -> Result<Vec<Fault>, toml::de::Error> {
    let table = DeTable::parse(text)?;
    let mut faults = Vec::new();
    check_table("", table.get_ref(), &schema(), &mut faults);
    faults.sort_by_key(|fault| fault.span.start);
    Ok(faults)
}

fn check_table(prefix: &str, table: &DeTable<'_>, schema: &Value, faults: &mut Vec<Fault>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        match known_key(schema, key.get_ref()) {
            None => faults.push(unknown(&name, key.get_ref(), key.span(), prefix, schema)),
            Some(known) => match value.get_ref() {
                DeValue::Table(inner) if holds_keys(known) => {
                    check_table(&format!("{name}."), inner, known, faults);
                }
                DeValue::Integer(number) => {
                    let number = i128::from_str_radix(number.as_str(), number.radix()).ok();
                    faults.extend(out_of_bounds(&name, number, value.span(), known));
                }
                _ => {}
            },
        }
    }
}

/// What is said about a key: by its own name, or, where people choose the names, about all.
fn known_key<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let own = schema.get("properties").and_then(|known| known.get(key));
    own.or_else(|| named_by_people(schema))
}

/// What each of the keys holds whose names people choose.
pub(super) fn named_by_people(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|inner| inner.is_object())
}

/// Whether a key holds others.
pub(super) fn holds_keys(schema: &Value) -> bool {
    schema.get("properties").is_some() || named_by_people(schema).is_some()
}

fn unknown(name: &str, key: &str, span: Range<usize>, prefix: &str, schema: &Value) -> Fault {
    let known = schema.pointer("/properties").and_then(Value::as_object);
    let known: Vec<&str> = known.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let near = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(key, known), known))
        .filter(|(distance, known)| *distance <= 1 + known.chars().count() / 4)
        .min();
    let (label, hint) = match near {
        Some((_, near)) => (
            format!("did you mean `{near}`?"),
            format!("write {prefix}{near}, or take the key out"),
        ),
        None => ("not known here".to_owned(), format!("the keys here are {}", known.join(", "))),
    };
    let asked = near.map(|(_, near)| format!("; did you mean `{near}`?")).unwrap_or_default();
    Fault { span, message: format!("unknown key `{name}`{asked}"), label, hint: Some(hint) }
}

fn out_of_bounds(
    name: &str,
    number: Option<i128>,
    span: Range<usize>,
    schema: &Value,
) -> Option<Fault> {
    let bound = |which: &str| schema.get(which).and_then(Value::as_i64);
    let (min, max) = (bound("minimum")?, bound("maximum")?);
    if number.is_some_and(|number| (i128::from(min)..=i128::from(max)).contains(&number)) {
        return None;
    }
    Some(Fault {
        span,
        message: format!("{name} must be from {min} to {max}"),
        label: format!("not from {min} to {max}"),
        hint: None,
    })
}

/// Puts what `$ref` names in its place, so that one walk sees everything.
fn resolve(schema: &mut Value, defs: &Value) {
    let Value::Object(map) = schema else { return };
    let named = map.remove("$ref");
    let target = named.as_ref().and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    if let Some(Value::Object(target)) = target.and_then(|name| defs.get(name)) {
        for (key, value) in target {
            // What stands beside the `$ref` is said for this place and wins.
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(|inner| resolve(inner, defs));
    }
    if let Some(inner) = map.get_mut("additionalProperties") {
        resolve(inner, defs);
    }
}
