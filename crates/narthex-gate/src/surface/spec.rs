//! A tool as data.

use narthex_core::{Digest, Effects, Tier};
use serde_json::{Value, json};

/// What a client is told about what a tool does. Hints, said explicitly; the tier decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Calling it twice is as good as once.
    pub idempotent: bool,
    /// It reaches beyond the house.
    pub open_world: bool,
}

/// A tool: everything that is listed, decided on and recorded.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What the model is told.
    pub description: String,
    /// JSON Schema (2020-12) of the arguments; always an object schema.
    pub input_schema: Value,
    /// JSON Schema of the structured answer.
    pub output_schema: Option<Value>,
    /// What a client is told.
    pub annotations: Annotations,
    /// How much it can change.
    pub tier: Tier,
    /// What it does.
    pub effects: Effects,
    /// Arguments that are taken out before anything looks at them (a space named by the
    /// client), as `name` or `outer/name`.
    pub ignored_arguments: &'static [&'static str],
    /// The argument that names what the call is done to, as a JSON pointer. A T3 tool has one.
    pub target: Option<String>,
}

impl ToolSpec {
    /// The digest of everything that is listed and decided on. Change any of it and it is
    /// another tool.
    pub fn definition(&self) -> Digest {
        Digest::of_json(&json!({
            "v": "narthex tool v1",
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            "annotations": [
                self.annotations.read_only,
                self.annotations.destructive,
                self.annotations.idempotent,
                self.annotations.open_world,
            ],
            "tier": self.tier,
            "effects": self.effects,
            "target": self.target,
        }))
    }
}

/// What a client is told when it connects.
#[derive(Debug, Clone)]
pub struct SurfaceInfo {
    /// What people call the surface.
    pub title: String,
    /// How to use it, in a few lines for the model.
    pub instructions: String,
}
