//! The tiers the owner gave tools, for one agent.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Tier;

/// A tool of a surface, written `surface/tool`. A surface's name may have slashes in it, a tool's not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// Not a tool of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a tool is named surface/tool, as in workspace/propose_change")]
pub struct ToolNameError;

impl ToolName {
    /// The tool of this name on this surface; none if no client could call it so.
    pub fn of(surface: &str, tool: &str) -> Result<Self, ToolNameError> {
        format!("{surface}/{tool}").parse()
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolName {
    type Err = ToolNameError;
    fn from_str(text: &str) -> Result<Self, ToolNameError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let word = |part: &str| (1..=128).contains(&part.len()) && part.bytes().all(plain);
        let (surface, tool) = text.rsplit_once('/').ok_or(ToolNameError)?;
        let named = surface.len() <= 128 && surface.split('/').all(word) && word(tool);
        if named { Ok(Self(text.to_owned())) } else { Err(ToolNameError) }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ToolName {
    type Error = ToolNameError;
    fn try_from(text: String) -> Result<Self, ToolNameError> {
        text.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

/// Which tools have another tier for an agent than they declare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolTiers(BTreeMap<ToolName, Tier>);

impl ToolTiers {
    /// The most tools that may have one.
    pub const MOST: usize = 256;

    /// The tier the owner gave this tool.
    pub fn get(&self, tool: &ToolName) -> Option<Tier> {
        self.0.get(tool).copied()
    }

    /// Gives a tool another tier, or its own again.
    pub fn set(&mut self, tool: ToolName, tier: Option<Tier>) {
        match tier {
            Some(tier) => drop(self.0.insert(tool, tier)),
            None => drop(self.0.remove(&tool)),
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no tool has another.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, Tier)> {
        self.0.iter().map(|(tool, tier)| (tool, *tier))
    }
}

#[cfg(test)]
mod tests {
    use super::ToolName;

    #[test]
    fn a_tool_is_named_with_its_surface() {
        for good in ["workspace/read", "graph/harbour/graph_load", "servers/web/post.v1"] {
            assert_eq!(good.parse::<ToolName>().map(String::from).as_deref(), Ok(good));
        }
        let long = format!("a/{}", "x".repeat(129));
        for bad in ["", "read", "/read", "workspace/", "a//b", "a b/c", "a/b\n", "a/*", &long] {
            assert!(bad.parse::<ToolName>().is_err(), "{bad:?}");
        }
    }
}
