//! What an upstream server defines, as it wrote it.

use std::sync::Arc;

use serde_json::value::RawValue;

/// The definitions of a server that may be shown. Each is listed byte for byte as it came.
#[derive(Debug, Clone, Default)]
pub struct Foreign {
    /// Tools; each has its spec under the same name.
    pub tools: Vec<ForeignItem>,
    /// Resources, by address. None if the server has no such thing as resources.
    pub resources: Option<Vec<ForeignItem>>,
    /// Templates of addresses.
    pub templates: Vec<ForeignItem>,
    /// Prompts. None if the server has no such thing.
    pub prompts: Option<Vec<ForeignItem>>,
    /// Whether it completes arguments.
    pub completes: bool,
    /// Whether it has a log for whoever asks it.
    pub logs: bool,
    /// Whether it says when a resource changes, to whoever wants to know.
    pub watches: bool,
}

/// Something that is listed.
#[derive(Debug, Clone)]
pub struct ForeignItem {
    /// Its name or address.
    pub name: String,
    /// As it is listed.
    pub listed: Arc<RawValue>,
}

impl Foreign {
    /// The method that reads a resource, and the name of its passage.
    pub const READ: &'static str = "resources/read";
    /// The one that gets a prompt.
    pub const PROMPT: &'static str = "prompts/get";
    /// The one that completes an argument.
    pub const COMPLETE: &'static str = "completion/complete";
    /// The one that says how much of the log is wanted.
    pub const SET_LEVEL: &'static str = "logging/setLevel";
    /// The one that wants to know of a resource's changes.
    pub const SUBSCRIBE: &'static str = "resources/subscribe";
    /// The one that no longer does.
    pub const UNSUBSCRIBE: &'static str = "resources/unsubscribe";
}
