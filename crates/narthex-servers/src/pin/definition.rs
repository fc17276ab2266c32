//! A definition whole: whatever the server says of a tool, a resource, a prompt, or of itself.

use std::fmt;

use narthex_core::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::located::{self, JsonFault, Reading};

/// What is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A tool.
    Tool,
    /// A resource, by its address.
    Resource,
    /// A family of resources, by the template of their addresses.
    ResourceTemplate,
    /// A prompt.
    Prompt,
    /// What the server would tell a model.
    Instructions,
    /// Its name and version, as it says them.
    ServerInfo,
}

impl Kind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource-template",
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
            Self::ServerInfo => "server-info",
        }
    }

    /// The field that names one of them; none where there is only one.
    const fn naming(self) -> Option<&'static str> {
        match self {
            Self::Tool | Self::Prompt => Some("name"),
            Self::Resource => Some("uri"),
            Self::ResourceTemplate => Some("uriTemplate"),
            Self::Instructions | Self::ServerInfo => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which definition of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// What is defined.
    pub kind: Kind,
    /// Its name or address, exactly as the server has it; empty where there is only one.
    pub name: String,
}

/// Why something is no definition that can be pinned. Whoever meets one offers nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionFault {
    /// Not JSON that every reader reads alike, or beyond its bounds.
    #[error("its definition cannot be taken: {0}")]
    Json(JsonFault),
    /// Nothing to call it by.
    #[error("its definition has no {0}, or one that is empty or too long")]
    Unnamed(&'static str),
    /// Another kind of value.
    #[error("its definition is not {0}")]
    Shape(&'static str),
    /// There are too many.
    #[error("the server offers more than {0} definitions")]
    TooMany(usize),
    /// They are too large together.
    #[error("the server's definitions have more than {0} bytes together")]
    TooMuch(usize),
}

/// A definition, and the digest that stands for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Which.
    pub key: Key,
    /// Over all of it: change anything, and it is another.
    pub digest: Digest,
    /// All of it in one form: keys sorted, every number as it was written.
    pub text: String,
    /// The same for those who look into it.
    pub value: Value,
}

impl Definition {
    /// Reads a server's own JSON.
    pub fn read(kind: Kind, raw: &str) -> Result<Self, DefinitionFault> {
        let node =
            located::read(raw, &READING).map_err(|(_, fault)| DefinitionFault::Json(fault))?;
        let value = node.to_value();
        let right = if kind == Kind::Instructions { value.is_string() } else { value.is_object() };
        if !right {
            let shape = if kind == Kind::Instructions { "text" } else { "an object" };
            return Err(DefinitionFault::Shape(shape));
        }
        let key = Key { kind, name: name(kind, &value)? };
        let text = located::canonical(&node);
        Ok(Self { digest: digest(kind, &text), key, text, value })
    }

    /// What a server would tell a model.
    pub fn instructions(text: &str) -> Result<Self, DefinitionFault> {
        Self::read(Kind::Instructions, &Value::from(text).to_string())
    }

    /// What a server says of itself.
    pub fn server_info(info: &Value) -> Result<Self, DefinitionFault> {
        Self::read(Kind::ServerInfo, &info.to_string())
    }
}

fn name(kind: Kind, value: &Value) -> Result<String, DefinitionFault> {
    let Some(field) = kind.naming() else { return Ok(String::new()) };
    let name = value.get(field).and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(DefinitionFault::Unnamed(field));
    }
    Ok(name.to_owned())
}

/// The kind is part of it: a prompt that says what a tool says is no tool.
pub(super) fn digest(kind: Kind, canonical: &str) -> Digest {
    Digest::of(format!("narthex definition v1\n{kind}\n{canonical}").as_bytes())
}

const READING: Reading =
    Reading { comments: false, bytes: MAX_BYTES, depth: MAX_DEPTH, nodes: MAX_NODES };
/// Bytes of one definition.
pub(crate) const MAX_BYTES: usize = 256 * 1024;
/// Levels of one definition.
pub(crate) const MAX_DEPTH: usize = 48;
/// Values of one definition.
const MAX_NODES: usize = 10_000;
/// Bytes of a name or an address.
const MAX_NAME: usize = 2_048;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Definition, Kind};

    fn tool(raw: &str) -> Definition {
        Definition::read(Kind::Tool, raw).unwrap()
    }

    #[test]
    fn any_change_is_a_change() {
        let base = r#"{"name":"a","title":"A","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"number","maximum":1}},"required":["x"]},"annotations":{"readOnlyHint":true}}"#;
        let digest = tool(base).digest;
        for (from, to) in [
            (r#""name":"a""#, r#""name":"b""#),
            (r#""title":"A""#, r#""title":"A ""#),
            (r#""description":"d""#, "\"description\":\"d\u{200b}\""),
            (r#""description":"d","#, ""),
            (r#""maximum":1"#, r#""maximum":1.0"#),
            (r#""maximum":1"#, r#""maximum":1.0000000000000000001"#),
            (r#""maximum":1"#, r#""maximum":"1""#),
            (r#""readOnlyHint":true"#, r#""readOnlyHint":false"#),
            (r#""required":["x"]"#, r#""required":[]"#),
            // An optional parameter is a change too.
            (r#"{"x":{"#, r#"{"notes":{"type":"string"},"x":{"#),
            (r#""title""#, r#""unknown":null,"title""#),
            (r#""title":"A""#, r#""_meta":{"x":1},"title":"A""#),
        ] {
            let changed = base.replacen(from, to, 1);
            assert_ne!(changed, base, "{from}");
            assert_ne!(tool(&changed).digest, digest, "{to}");
        }
    }

    #[test]
    fn order_blanks_and_escapes_are_none() {
        let digest = tool(r#"{"name":"a","description":"é"}"#).digest;
        for same in [
            "{ \"name\" : \"a\",\n \"description\" : \"\u{e9}\" }",
            r#"{"description":"\u00e9","name":"\u0061"}"#,
        ] {
            assert_eq!(tool(same).digest, digest, "{same}");
        }
        let prompt = Definition::read(Kind::Prompt, r#"{"name":"a","description":"é"}"#).unwrap();
        assert_ne!(prompt.digest, digest);
    }

    #[test]
    fn what_cannot_be_pinned_is_refused() {
        let deep = format!("{{\"name\":\"a\",\"x\":{}1{}}}", "[".repeat(1_000), "]".repeat(1_000));
        let long = format!("{{\"name\":\"a\",\"x\":\"{}\"}}", "x".repeat(300_000));
        let wide = format!("{{\"name\":\"a\",\"x\":[{}0]}}", "0,".repeat(20_000));
        for (kind, raw, says) in [
            (Kind::Tool, "{}", "no name"),
            (Kind::Tool, r#"{"name":""}"#, "no name"),
            (Kind::Tool, r#"{"name":1}"#, "no name"),
            (Kind::Resource, r#"{"name":"a"}"#, "no uri"),
            (Kind::ResourceTemplate, r#"{"uri":"a"}"#, "no uriTemplate"),
            (Kind::Tool, "[]", "not an object"),
            (Kind::Instructions, "{}", "not text"),
            (Kind::Tool, r#"{"name":"a","name":"b"}"#, "appears twice"),
            (Kind::Tool, r#"{"name":"a","x":1e999}"#, "number"),
            (Kind::Tool, "{\"name\":\"a\"} {}", "follow"),
            (Kind::Tool, &deep, "deeper"),
            (Kind::Tool, &long, "longer"),
            (Kind::Tool, &wide, "more than 10000"),
        ] {
            let fault = Definition::read(kind, raw).unwrap_err().to_string();
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn a_server_speaks_for_itself_too() {
        let one = Definition::instructions("Be kind.").unwrap();
        assert_ne!(one.digest, Definition::instructions("Be kind!").unwrap().digest);
        let info = |version: &str| {
            Definition::server_info(&json!({"name": "x", "version": version})).unwrap().digest
        };
        assert_ne!(info("1"), info("2"));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\u{200b}\u{e9}]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]{0,2}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn two_definitions_share_a_digest_only_if_they_are_equal(a in values(), b in values()) {
            let of = |x: &Value| tool(&json!({"name": "t", "x": x}).to_string()).digest;
            prop_assert_eq!(of(&a) == of(&b), a == b);
        }
    }
}
