//! Arguments that a tool's schema marks `x-mcp-header`: their values are sent as headers too.
//!
//! What a server writes there becomes part of a header's name, so it is read strictly: a tool with
//! one mark that is not as it should be is not called at all (and should not be listed).

use std::collections::HashSet;

use serde_json::{Map, Value};

/// An argument whose value goes into the header `Mcp-Param-` + `header`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark<'a> {
    /// The way to it from the arguments' root.
    pub path: Vec<&'a str>,
    /// The end of the header's name, as the schema spells it.
    pub header: &'a str,
}

/// A mark that is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MarkFault {
    /// Not on a property that is reached through `properties` alone.
    #[error("x-mcp-header stands where no argument is")]
    Place,
    /// Empty, too long, or with a character that a header's name cannot have.
    #[error("x-mcp-header is not the name of a header")]
    Name,
    /// A name that means something else to servers and proxies.
    #[error("x-mcp-header is a name that is not a tool's to use")]
    Reserved,
    /// Two arguments in one header.
    #[error("x-mcp-header appears twice with one name")]
    Doubled,
    /// Only text, whole numbers and booleans look the same everywhere.
    #[error("x-mcp-header is on an argument that is no string, integer or boolean")]
    Type,
    /// More marks, or deeper, than anybody needs.
    #[error("x-mcp-header appears more often or deeper than is taken")]
    TooMany,
}

/// The marks of an input schema, or why the tool cannot be called.
pub fn marks(schema: &Value) -> Result<Vec<Mark<'_>>, MarkFault> {
    let mut found = Vec::new();
    walk(schema, Some(&mut Vec::new()), 0, &mut found)?;
    let mut names = HashSet::new();
    for (mark, schema) in &found {
        check_name(mark.header)?;
        if !names.insert(mark.header.to_ascii_lowercase()) {
            return Err(MarkFault::Doubled);
        }
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(MarkFault::Type);
        }
    }
    Ok(found.into_iter().map(|(mark, _)| mark).collect())
}

type Found<'a> = Vec<(Mark<'a>, &'a Map<String, Value>)>;

/// Goes through a schema. `path` is where an argument is reached by `properties` alone, and none
/// where it is not; there no mark may stand.
fn walk<'a>(
    schema: &'a Value,
    mut path: Option<&mut Vec<&'a str>>,
    depth: usize,
    found: &mut Found<'a>,
) -> Result<(), MarkFault> {
    if depth > MAX_DEPTH {
        return Err(MarkFault::TooMany);
    }
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Array(items) => {
            return items.iter().try_for_each(|item| walk(item, None, depth + 1, found));
        }
        _ => return Ok(()),
    };
    if let Some(header) = schema.get(KEY) {
        let Some(path) = path.as_deref().filter(|path| !path.is_empty()) else {
            return Err(MarkFault::Place);
        };
        if found.len() >= MAX_MARKS {
            return Err(MarkFault::TooMany);
        }
        let header = header.as_str().ok_or(MarkFault::Name)?;
        found.push((Mark { path: path.clone(), header }, schema));
    }
    for (key, inner) in schema {
        match (key.as_str(), inner) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Some(path) = path.as_deref_mut() {
                        path.push(name);
                        walk(property, Some(path), depth + 1, found)?;
                        path.pop();
                    } else {
                        walk(property, None, depth + 1, found)?;
                    }
                }
            }
            // Names of schemas, not keywords.
            (
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties",
                Value::Object(schemas),
            ) => schemas.values().try_for_each(|inner| walk(inner, None, depth + 1, found))?,
            // Values, not schemas.
            ("default" | "const" | "enum" | "examples" | KEY, _) => {}
            (_, inner) => walk(inner, None, depth + 1, found)?,
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), MarkFault> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(token) {
        return Err(MarkFault::Name);
    }
    let lower = name.to_ascii_lowercase();
    let reserved = RESERVED.contains(&lower.as_str())
        || RESERVED_STARTS.iter().any(|start| lower.starts_with(start));
    if reserved { Err(MarkFault::Reserved) } else { Ok(()) }
}

const KEY: &str = "x-mcp-header";
const MAX_NAME: usize = 64;
const MAX_MARKS: usize = 32;
const MAX_DEPTH: usize = 64;
/// Behind `Mcp-Param-` they would be harmless, until a proxy cuts the prefix off.
const RESERVED: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];
const RESERVED_STARTS: &[&str] = &["accept-", "content-", "mcp-", "proxy-", "sec-", "x-forwarded-"];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MarkFault, marks};

    fn one(property: &Value) -> Value {
        json!({"type": "object", "properties": {"a": property}})
    }

    #[test]
    fn marks_are_found_along_properties() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "plain": {"type": "string", "default": {"x-mcp-header": "no"}},
            "deep": {"type": "object", "properties": {
                "n": {"type": "integer", "x-mcp-header": "N"},
            }},
        }});
        let found: Vec<_> =
            marks(&schema).expect("marks").iter().map(|m| (m.path.join("."), m.header)).collect();
        assert_eq!(found, [("region".to_owned(), "Region"), ("deep.n".to_owned(), "N")]);
        assert_eq!(marks(&json!({"type": "object"})), Ok(vec![]));
    }

    #[test]
    fn f12_a_mark_that_is_not_as_it_should_be_is_a_fault() {
        let named = |name: &str| one(&json!({"type": "string", "x-mcp-header": name}));
        let typed = |kind: &str| one(&json!({"type": kind, "x-mcp-header": "A"}));
        let items = json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}});
        let any = json!({"anyOf": [{"type": "string", "x-mcp-header": "A"}]});
        let twice = json!({"type": "object", "properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": "string", "x-mcp-header": "rEGION"},
        }});
        for (schema, fault) in [
            (named("a\r\nX-Evil: 1"), MarkFault::Name),
            (named(""), MarkFault::Name),
            (named("a b"), MarkFault::Name),
            (named("a:b"), MarkFault::Name),
            (named("\u{e9}"), MarkFault::Name),
            (named(&"a".repeat(65)), MarkFault::Name),
            (one(&json!({"type": "string", "x-mcp-header": 5})), MarkFault::Name),
            (named("Authorization"), MarkFault::Reserved),
            (named("cookie"), MarkFault::Reserved),
            (named("Mcp-Name"), MarkFault::Reserved),
            (named("Proxy-Authorization"), MarkFault::Reserved),
            (typed("number"), MarkFault::Type),
            (typed("object"), MarkFault::Type),
            (one(&json!({"x-mcp-header": "A"})), MarkFault::Type),
            (one(&json!({"type": ["string"], "x-mcp-header": "A"})), MarkFault::Type),
            (one(&items), MarkFault::Place),
            (one(&any), MarkFault::Place),
            (json!({"type": "object", "x-mcp-header": "A"}), MarkFault::Place),
            (json!({"$defs": {"x": {"type": "string", "x-mcp-header": "A"}}}), MarkFault::Place),
            (twice, MarkFault::Doubled),
        ] {
            assert_eq!(marks(&schema), Err(fault), "{schema}");
        }
        let mut deep = json!({});
        for _ in 0..100 {
            deep = one(&deep);
        }
        assert_eq!(marks(&deep), Err(MarkFault::TooMany));
    }
}
