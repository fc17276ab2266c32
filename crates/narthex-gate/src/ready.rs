//! A surface made ready for the gate: its schemas compiled and its declarations checked, once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use narthex_core::{Agent, Digest, EffectSite, Sends, Tier, ToolName};
use serde_json::Value;

use crate::{Surface, ToolSpec};

/// A surface whose tools can be called.
#[derive(Debug)]
pub struct ReadySurface {
    surface: Arc<dyn Surface>,
    tools: HashMap<String, ReadyTool>,
}

/// A tool with its compiled schema.
#[derive(Debug)]
pub(crate) struct ReadyTool {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) definition: Digest,
    /// It is reached through a method of its own.
    pub(crate) passage: bool,
    schema: jsonschema::Validator,
}

/// A surface that cannot be served, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceFault {
    /// Two tools of one name.
    #[error("two tools are called {0:?}")]
    Doubled(String),
    /// A name no client accepts.
    #[error("{0:?} is no tool name: 1 to 128 of A-Z, a-z, 0-9, '_', '-' and '.'")]
    Name(String),
    /// A schema that does not compile.
    #[error("the input schema of {tool:?} does not compile: {why}")]
    Schema {
        /// Which tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
    /// A tool that says it observes but is not T0, or that changes our own store and is.
    #[error("{0:?} must be T0 if it only observes, and above it if it changes our own store")]
    Tier(String),
    /// A tool that sends outside without a record before it does.
    #[error("{0:?} sends outside, so its effect must be external")]
    Sends(String),
    /// A tool that cannot be undone and does not say what it is done to.
    #[error("{0:?} is T3, so it must say which argument names its one target")]
    Target(String),
    /// A resource that is no answer of a tool that observes, or whose address is taken.
    #[error(
        "the resource {0:?} must be the answer of a tool that observes, under an address of its own"
    )]
    Resource(String),
}

impl ReadySurface {
    /// Checks and compiles.
    pub fn new(surface: Arc<dyn Surface>) -> Result<Self, SurfaceFault> {
        let mut tools = HashMap::new();
        for spec in surface.tools() {
            let ready = ReadyTool::new(spec, false)?;
            if tools.insert(spec.name.clone(), ready).is_some() {
                return Err(SurfaceFault::Doubled(spec.name.clone()));
            }
        }
        for spec in surface.passages() {
            let ready = ReadyTool::new(spec, true)?;
            if tools.insert(spec.name.clone(), ready).is_some() {
                return Err(SurfaceFault::Doubled(spec.name.clone()));
            }
        }
        let mut addresses = HashSet::new();
        for resource in surface.resources() {
            let observes = |tool: &ReadyTool| tool.spec.effects.site == EffectSite::Observe;
            if !tools.get(resource.tool).is_some_and(observes) || !addresses.insert(&resource.uri) {
                return Err(SurfaceFault::Resource(resource.uri.clone()));
            }
        }
        drop(addresses);
        Ok(Self { surface, tools })
    }

    /// Whether a tool could be served: for surfaces that would rather leave one out.
    pub fn check_tool(spec: &ToolSpec) -> Result<(), SurfaceFault> {
        ReadyTool::new(spec, false).map(drop)
    }

    /// The surface.
    pub fn surface(&self) -> &dyn Surface {
        self.surface.as_ref()
    }

    pub(crate) fn shared(&self) -> Arc<dyn Surface> {
        Arc::clone(&self.surface)
    }

    /// What the owner gave a tool of this surface for an agent, instead of the tier it declares.
    pub(crate) fn given(&self, agent: &Agent, tool: &ReadyTool) -> Option<Tier> {
        if agent.tiers.is_empty() {
            return None;
        }
        agent.tiers.get(&self.name_of(tool)?)
    }

    /// What the owner calls a tool of this surface.
    pub(crate) fn name_of(&self, tool: &ReadyTool) -> Option<ToolName> {
        ToolName::of(self.surface.name(), &tool.spec.name).ok()
    }

    /// The tools in the surface's own order.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &ReadyTool> {
        self.surface.tools().iter().filter_map(|spec| self.tools.get(&spec.name))
    }

    /// The tools and the passages.
    pub(crate) fn everything(&self) -> impl Iterator<Item = &ReadyTool> {
        self.tools.values()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&ReadyTool> {
        self.tools.get(name)
    }
}

impl ReadyTool {
    fn new(spec: &ToolSpec, passage: bool) -> Result<Self, SurfaceFault> {
        let name = &spec.name;
        // A method's name is no tool's: it has a stroke in it, and a tool's has none.
        let plain = |b: u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.') || (passage && b == b'/')
        };
        if name.is_empty() || name.len() > 128 || !name.bytes().all(plain) {
            return Err(SurfaceFault::Name(name.clone()));
        }
        let fits = match spec.effects.site {
            EffectSite::Observe | EffectSite::ByCall => spec.tier == Tier::T0,
            EffectSite::Local => spec.tier != Tier::T0,
            EffectSite::External => true,
        };
        if !fits {
            return Err(SurfaceFault::Tier(name.clone()));
        }
        if spec.effects.sends == Sends::Outside && spec.effects.site != EffectSite::External {
            return Err(SurfaceFault::Sends(name.clone()));
        }
        if spec.tier == Tier::T3 && spec.target.is_none() {
            return Err(SurfaceFault::Target(name.clone()));
        }
        // The linear engine: a schema may one day come from outside.
        let schema = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&spec.input_schema)
            .map_err(|error| SurfaceFault::Schema { tool: name.clone(), why: error.to_string() })?;
        Ok(Self { definition: spec.definition(), spec: Arc::new(spec.clone()), passage, schema })
    }

    /// Takes out what is ignored by design, then checks; says what is wrong in words a model
    /// can act on.
    pub(crate) fn check(&self, arguments: &mut Value) -> Result<(), String> {
        let Some(map) = arguments.as_object_mut() else {
            return Err("the arguments must be an object".to_owned());
        };
        for path in self.spec.ignored_arguments {
            take_out(map, path);
        }
        if let Some(message) = unknown_arguments(&self.spec, map) {
            return Err(message);
        }
        // Finding out what is wrong takes much longer than seeing that nothing is.
        if self.schema.is_valid(arguments) {
            return Ok(());
        }
        let mut faults: Vec<String> =
            self.schema.iter_errors(arguments).take(MAX_FAULTS).map(|fault| said(&fault)).collect();
        faults.dedup();
        Err(format!("{} (see the input schema of {:?})", faults.join("; "), self.spec.name))
    }
}

impl ReadyTool {
    /// The one thing the call is done to; none if it names several, or nothing that can be read.
    pub(crate) fn one_target(&self, arguments: &Value) -> Option<String> {
        let mut named = arguments.pointer(self.spec.target.as_deref()?)?;
        if let Value::Array(items) = named {
            let [only] = items.as_slice() else { return None };
            named = only;
        }
        let text = match named {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        // A pattern is more than one thing.
        let plain = !text.trim().is_empty() && !text.contains(['*', '?', '\n', '\r', '\0']);
        plain.then_some(text)
    }
}

/// Names what the tool does not take. The schema says so too, but where a tool takes nothing at
/// all it says it without the name.
fn unknown_arguments(spec: &ToolSpec, map: &serde_json::Map<String, Value>) -> Option<String> {
    if spec.input_schema.get("additionalProperties") != Some(&Value::Bool(false))
        || spec.input_schema.get("patternProperties").is_some()
    {
        return None;
    }
    let known = spec.input_schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    let unknown: Vec<String> = map
        .keys()
        .filter(|name| !is_known(name))
        .take(MAX_FAULTS)
        .map(|name| format!("{:?}", name.chars().take(MAX_NAME_CHARS).collect::<String>()))
        .collect();
    (!unknown.is_empty()).then(|| {
        let names = unknown.join(", ");
        format!("unknown argument: {names} (see the input schema of {:?})", spec.name)
    })
}

/// Removes `name`, or `outer/name` inside an object argument.
fn take_out(map: &mut serde_json::Map<String, Value>, path: &str) {
    match path.split_once('/') {
        None => drop(map.shift_remove(path)),
        Some((outer, rest)) => {
            if let Some(inner) = map.get_mut(outer).and_then(Value::as_object_mut) {
                take_out(inner, rest);
            }
        }
    }
}

/// A fault without the value that caused it, which may be large or private.
fn said(fault: &jsonschema::ValidationError<'_>) -> String {
    let place = fault.instance_path().to_string();
    let message = fault.masked().to_string();
    let message: String = message.chars().take(MAX_FAULT_CHARS).collect();
    if place.is_empty() { message } else { format!("at {place}: {message}") }
}

const MAX_FAULTS: usize = 5;
const MAX_FAULT_CHARS: usize = 300;
const MAX_NAME_CHARS: usize = 64;
