//! Other people's MCP servers, as far as the owner has approved them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{AgentId, Bound, Digest, Slug};

/// What is known of all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerBook {
    /// Whether there are servers at all: off until the owner turns it on.
    pub on: bool,
    /// What was approved of each.
    pub standings: BTreeMap<Slug, Arc<ServerStanding>>,
    /// The profiles each agent has, in the order they are stacked. Without one it has no servers.
    pub profiles: BTreeMap<AgentId, Vec<Slug>>,
}

/// What the owner has approved of a server. What is not here is not approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerStanding {
    /// The owner has switched it off. What was approved stays so.
    pub disabled: bool,
    /// The start that was approved: a digest over what would be run or reached.
    pub start: Option<Digest>,
    /// The definitions that were approved, each as a whole.
    pub definitions: BTreeMap<DefinitionName, Digest>,
    /// What the owner's file was last recorded to say of its tiers and effects, rule by rule. It
    /// decides nothing: the file does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub rules: BTreeMap<String, String>,
}

impl ServerStanding {
    /// Whether nothing is said.
    pub fn is_blank(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this very definition was approved.
    pub fn approves(&self, name: &DefinitionName, digest: &Digest) -> bool {
        self.definitions.get(name) == Some(digest)
    }
}

/// Something that a server defines.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DefinitionName {
    /// What kind of thing.
    pub kind: DefinitionKind,
    /// What the server calls it: a name, or an address.
    pub name: String,
}

/// What kind of thing a server defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// Itself: its name, its version and what it would tell a model.
    Server,
    /// A tool.
    Tool,
    /// A resource, by its address.
    Resource,
    /// A template of addresses.
    Template,
    /// A prompt.
    Prompt,
}

impl DefinitionKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Server, Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
        }
    }
}

impl DefinitionName {
    /// Of a kind.
    pub fn new(kind: DefinitionKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

impl fmt::Display for DefinitionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.name)
    }
}

impl FromStr for DefinitionName {
    type Err = DefinitionNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = text.split_once(':').ok_or(DefinitionNameError)?;
        let kind = DefinitionKind::ALL.into_iter().find(|known| known.as_str() == kind);
        let kind = kind.filter(|_| name.len() <= Bound::DEFINITION_NAME_BYTES);
        kind.map(|kind| Self::new(kind, name)).ok_or(DefinitionNameError)
    }
}

impl TryFrom<String> for DefinitionName {
    type Error = DefinitionNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DefinitionName> for String {
    fn from(name: DefinitionName) -> Self {
        name.to_string()
    }
}

/// Not the name of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the name of a definition: write `tool:NAME`, `resource:URI`, `template:URI`, `prompt:NAME` or `server:`"
)]
pub struct DefinitionNameError;

#[cfg(test)]
mod tests {
    use super::{DefinitionKind, DefinitionName, ServerStanding};
    use crate::Digest;

    #[test]
    fn names_of_definitions_read_back() {
        for kind in DefinitionKind::ALL {
            for name in ["", "read_file", "file:///a:b", "é\u{202e}\n"] {
                let name = DefinitionName::new(kind, name);
                assert_eq!(name.to_string().parse(), Ok(name));
            }
        }
        for text in ["", "tool", "Tool:x", "sampling:x", &format!("tool:{}", "x".repeat(5_000))] {
            assert!(text.parse::<DefinitionName>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_what_was_approved_is() {
        let name = DefinitionName::new(DefinitionKind::Tool, "read");
        let mut standing = ServerStanding::default();
        assert!(standing.is_blank() && !standing.approves(&name, &Digest::of(b"a")));
        standing.definitions.insert(name.clone(), Digest::of(b"a"));
        assert!(standing.approves(&name, &Digest::of(b"a")));
        assert!(!standing.approves(&name, &Digest::of(b"b")));
        let prompt = DefinitionName::new(DefinitionKind::Prompt, "read");
        assert!(!standing.approves(&prompt, &Digest::of(b"a")));
        let text = serde_json::to_string(&standing).unwrap();
        assert_eq!(serde_json::from_str::<ServerStanding>(&text).unwrap(), standing);
        assert!(serde_json::from_str::<ServerStanding>(r#"{"disabled":false}"#).is_err());
    }
}
