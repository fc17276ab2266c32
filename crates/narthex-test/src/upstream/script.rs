//! What a server is to do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Step;

/// A server, as a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Which revisions it speaks.
    pub era: Speaks,
    /// What it offers at first.
    pub offer: Offer,
    /// When that changes, and into what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// What it does, by `"method name"` or `"method"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub acts: BTreeMap<String, Vec<Step>>,
    /// What a process does before it reads anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Step>,
    /// So many entries a page of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// Whether SIGTERM is ignored.
    pub ignore_term: bool,
    /// Whether the end of its input is ignored.
    pub ignore_eof: bool,
    /// Where every message that comes is written down, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// Over HTTP: the token without which everything is 401.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,
    /// Over HTTP: whether `initialize` opens a session.
    pub sessions: bool,
    /// When the process ends by itself.
    pub burns_out_ms: u64,
}

/// Which revisions a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaks {
    /// Both, whichever it is asked in.
    #[default]
    Both,
    /// 2026-07-28, with `server/discover`.
    Modern,
    /// 2025-11-25 and before, with `initialize`.
    Legacy,
}

/// What a server shows. In a [`Turn`], what is none stays as it was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Offer {
    /// Who it says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// What it would like a model to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Instead of what follows from the lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Value>,
    /// Definitions of tools, as they are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// Definitions of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Value>>,
    /// Definitions of templates of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub templates: Option<Vec<Value>>,
    /// Definitions of prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<Value>>,
}

/// The offer becomes another, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// When.
    pub when: When,
    /// What is different from then on.
    pub offer: Offer,
    /// Whether `list_changed` is sent.
    #[serde(default)]
    pub announce: bool,
}

/// When an offer turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// After so many calls of tools.
    Calls(u64),
    /// After the tools were listed so many times.
    Lists(u64),
    /// When this file is there.
    File(PathBuf),
    /// When a [`Step::Flip`] comes by; each takes one such turn.
    Flipped,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            era: Speaks::Both,
            offer: Offer::default(),
            turns: Vec::new(),
            acts: BTreeMap::new(),
            start: Vec::new(),
            page: None,
            ignore_term: false,
            ignore_eof: false,
            log: None,
            bearer: None,
            sessions: true,
            burns_out_ms: 300_000,
        }
    }
}

impl Offer {
    /// Takes over what the other says.
    pub(super) fn become_like(&mut self, other: &Self) {
        fn take<T: Clone>(ours: &mut Option<T>, theirs: Option<&T>) {
            if let Some(theirs) = theirs {
                *ours = Some(theirs.clone());
            }
        }
        take(&mut self.server_info, other.server_info.as_ref());
        take(&mut self.instructions, other.instructions.as_ref());
        take(&mut self.capabilities, other.capabilities.as_ref());
        take(&mut self.tools, other.tools.as_ref());
        take(&mut self.resources, other.resources.as_ref());
        take(&mut self.templates, other.templates.as_ref());
        take(&mut self.prompts, other.prompts.as_ref());
    }
}
