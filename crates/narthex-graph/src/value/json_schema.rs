//! What a kind is, as JSON Schema (2020-12), for whoever calls and whoever is answered.
//!
//! A schema here takes exactly what [`Kind::accept`] takes, whether or not a validator asserts
//! `format`: the patterns alone say which days there are and where 64 bits end. `format` stays beside
//! them for readers and generators; it refuses nothing that a pattern takes.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::accept::{MAX_LIST_ITEMS, MAX_SINGLE, MAX_TEXT_CHARS};
use super::uri::{MAX_URI_CHARS, URI_PATTERN};
use crate::query::{Column, Param};
use crate::schema::Kind;

impl Kind {
    /// The schema of values of this kind, and of null where that may be.
    pub fn json_schema(&self, nullable: bool) -> Json {
        let schema = self.schema();
        if nullable { or_null(schema) } else { schema }
    }

    fn schema(&self) -> Json {
        match self {
            Self::String => json!({ "type": "string", "maxLength": MAX_TEXT_CHARS }),
            Self::Blob => json!({
                "type": "string",
                "format": "uri",
                "pattern": URI_PATTERN,
                "maxLength": MAX_URI_CHARS,
            }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::I32 => json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }),
            Self::U32 => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            Self::I64 => {
                let most = up_to(i64::MAX.unsigned_abs());
                wide(&format!("^(?:0|-?(?:{most})|{})$", i64::MIN), "64-bit")
            }
            Self::U64 => wide(&format!("^(?:0|{})$", up_to(u64::MAX)), "unsigned 64-bit"),
            Self::F32 => {
                json!({ "type": "number", "minimum": -MAX_SINGLE, "maximum": MAX_SINGLE })
            }
            Self::F64 => json!({ "type": "number" }),
            Self::Date => {
                let pattern = format!("^{}$", day_pattern(true));
                json!({ "type": "string", "format": "date", "pattern": pattern })
            }
            Self::DateTime => {
                json!({ "type": "string", "format": "date-time", "pattern": moment_pattern() })
            }
            Self::Vector(length) => json!({
                "type": "array",
                "items": Self::F32.schema(),
                "minItems": length,
                "maxItems": length,
            }),
            Self::Enum(words) => json!({ "type": "string", "enum": words }),
            Self::List(item) => {
                json!({ "type": "array", "items": item.schema(), "maxItems": MAX_LIST_ITEMS })
            }
        }
    }
}

/// The schema of what a query is told: an object of its parameters and nothing else.
pub fn params_json_schema(params: &[Param]) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        let mut schema = param.kind.json_schema(param.nullable);
        if let (Some(default), Json::Object(schema)) = (&param.default, &mut schema) {
            schema.insert("default".to_owned(), default.to_json(&param.kind));
        }
        properties.insert(param.name.clone(), schema);
        if !param.nullable && param.default.is_none() {
            required.push(param.name.as_str());
        }
    }
    object(&properties, &required)
}

/// The schema of one row of an answer. A whole node or edge is an object.
pub fn columns_json_schema(columns: &[Column]) -> Json {
    let schema = |column: &Column| match &column.kind {
        Some(kind) => kind.json_schema(column.nullable),
        None if column.nullable => or_null(json!({ "type": "object" })),
        None => json!({ "type": "object" }),
    };
    let properties = columns.iter().map(|column| (column.name.clone(), schema(column))).collect();
    let required: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    object(&properties, &required)
}

fn object(properties: &Map<String, Json>, required: &[&str]) -> Json {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// What else a schema says about texts, numbers or arrays does not touch null; `type` and `enum` do.
fn or_null(mut schema: Json) -> Json {
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    if let Some(Json::Array(words)) = schema.get_mut("enum") {
        words.push(Json::Null);
    }
    schema
}

fn wide(pattern: &str, what: &str) -> Json {
    json!({
        "type": "string",
        "pattern": pattern,
        "description": format!("a whole number ({what}), as decimal text"),
    })
}

/// A pattern of the decimal numbers from 1 to this.
fn up_to(most: u64) -> String {
    let most = most.to_string();
    let mut pattern = format!("[1-9][0-9]{{0,{}}}", most.len().saturating_sub(2));
    for (at, digit) in most.bytes().enumerate() {
        let low = if at == 0 { b'1' } else { b'0' };
        let rest = most.len() - at - 1;
        let (before, _) = most.split_at_checked(at).unwrap_or_default();
        // As it until here, less in this digit, anything after it.
        if digit > low {
            let (low, high) = (char::from(low), char::from(digit - 1));
            let _ = write!(pattern, "|{before}[{low}-{high}][0-9]{{{rest}}}");
        }
    }
    format!("{pattern}|{most}")
}

/// The days of the calendar from the year 1 on; without the first and last year if not `all`.
fn day_pattern(all: bool) -> String {
    let years = if all {
        "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
    } else {
        concat!(
            "(?:[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8]",
            "|0[1-9][0-9]{2}|00[1-9][0-9]|000[2-9])"
        )
    };
    // Neither the first year nor the last is a leap year.
    format!(
        "(?:{years}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
         |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))\
         |(?:[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])\
         |(?:0[48]|[2468][048]|[13579][26])00)-02-29)"
    )
}

fn moment_pattern() -> String {
    let time = "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?";
    let offset = "[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]";
    format!("^(?:{}{time}Z|{}{time}{offset})$", day_pattern(true), day_pattern(false))
}

#[cfg(test)]
mod tests;
