//! What an agent may use, as modules of a program: one a surface, one function a tool.

mod search;

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use narthex_core::{EffectSite, Identifiers, Sends};
use narthex_gate::{CallContext, Gate, ReadySurface, ToolError, ToolSpec};

pub use search::Query;

use crate::types;

/// Where the surfaces come from that are modules here.
#[async_trait]
pub trait Shelf: Debug + Send + Sync {
    /// Every surface the caller may know of, each with its module's name (`host:…`).
    async fn surfaces(&self, context: &CallContext) -> Result<Vec<Shelved>, ToolError>;
}

/// A surface and what its module is called.
#[derive(Debug, Clone)]
pub struct Shelved {
    /// `host:workspace`, `host:graph-<id>`, `host:mcp-<server>`.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// The surface.
    pub surface: Arc<ReadySurface>,
}

/// A module, as one agent has it.
#[derive(Debug)]
pub struct Module {
    /// `host:…`.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Its surface.
    pub surface: Arc<ReadySurface>,
    /// Its functions, in the surface's own order.
    pub functions: Vec<Function>,
    /// Tools that are no functions here, as another one reads alike.
    pub left_out: Vec<String>,
}

/// A function of a module.
#[derive(Debug)]
pub struct Function {
    /// What a program calls it.
    pub identifier: String,
    /// The tool.
    pub spec: Arc<ToolSpec>,
}

/// The modules of an agent.
#[derive(Debug)]
pub struct Modules {
    modules: Vec<Module>,
    places: HashMap<String, usize>,
}

impl Modules {
    /// What the caller has, now and with this consent.
    pub async fn of(
        gate: &Gate,
        shelf: &dyn Shelf,
        context: &CallContext,
    ) -> Result<Self, ToolError> {
        let mut modules: Vec<Module> = Vec::new();
        for shelved in shelf.surfaces(context).await? {
            let offered = gate.offers(context, &shelved.surface);
            if !offered.is_empty() {
                modules.push(Module::new(shelved, offered));
            }
        }
        let places: HashMap<String, usize> =
            modules.iter().enumerate().map(|(at, module)| (module.name.clone(), at)).collect();
        if places.len() != modules.len() {
            return Err(ToolError::Internal("two modules have one name".to_owned()));
        }
        Ok(Self { modules, places })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter()
    }

    /// By name, with or without `host:`.
    pub fn get(&self, name: &str) -> Option<&Module> {
        let at = self.places.get(name).or_else(|| self.places.get(&format!("host:{name}")))?;
        self.modules.get(*at)
    }

    /// Their names and those of their functions.
    pub fn names(&self) -> Vec<(String, Vec<String>)> {
        let functions =
            |module: &Module| module.functions.iter().map(|f| f.identifier.clone()).collect();
        self.modules.iter().map(|module| (module.name.clone(), functions(module))).collect()
    }
}

impl Module {
    fn new(shelved: Shelved, offered: Vec<Arc<ToolSpec>>) -> Self {
        let Shelved { name, about, surface } = shelved;
        let identifiers = Identifiers::of(offered.iter().map(|spec| spec.name.as_str()));
        let alike: HashSet<String> = identifiers.collisions().map(str::to_owned).collect();
        if !alike.is_empty() {
            tracing::warn!(module = %name, tools = ?alike, "these tools read like others and are no functions");
        }
        let functions = offered
            .into_iter()
            .filter(|spec| !alike.contains(&spec.name))
            .filter_map(|spec| {
                let identifier = identifiers.identifier(&spec.name)?.to_owned();
                Some(Function { identifier, spec })
            })
            .collect();
        let mut left_out: Vec<String> = alike.into_iter().collect();
        left_out.sort_unstable();
        Self { name, about, surface, functions, left_out }
    }

    /// A function by what a program calls it, or by the tool's own name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let called = |function: &&Function| function.identifier == name;
        let named = |function: &&Function| function.spec.name == name;
        self.functions.iter().find(called).or_else(|| self.functions.iter().find(named))
    }

    /// The same, if it is no more than so many bytes.
    pub fn declarations_within(&self, only: Option<&[&Function]>, most: usize) -> Option<String> {
        // Each takes some work, however little is said of it.
        if only.map_or(self.functions.len(), <[_]>::len) > MOST_DECLARED {
            return None;
        }
        Some(self.declarations(only)).filter(|text| text.len() <= most)
    }

    /// Its declarations; only of these functions, if some are named.
    pub fn declarations(&self, only: Option<&[&Function]>) -> String {
        let all: Vec<&Function> = match only {
            Some(only) => only.to_vec(),
            None => self.functions.iter().collect(),
        };
        let notes: Vec<Vec<String>> = all.iter().map(|function| function.notes()).collect();
        let functions: Vec<types::Function<'_>> = all
            .iter()
            .zip(&notes)
            .map(|(function, notes)| types::Function {
                identifier: &function.identifier,
                name: &function.spec.name,
                title: &function.spec.title,
                description: &function.spec.description,
                input: &function.spec.input_schema,
                output: function.spec.output_schema.as_ref(),
                notes,
            })
            .collect();
        types::declare(&self.name, &self.about, &functions)
    }
}

/// Functions that are declared in one answer.
const MOST_DECLARED: usize = 200;

impl Function {
    /// What a program should know before it calls it.
    fn notes(&self) -> Vec<String> {
        let spec = &self.spec;
        let mut notes = Vec::new();
        if spec.effects.site != EffectSite::Observe {
            notes.push(format!("{}: it may wait for the owner's approval.", spec.tier));
        }
        if spec.effects.sends == Sends::Outside {
            notes.push("What it is given leaves the house.".to_owned());
        }
        notes
    }

    /// The parameters it takes, in a line.
    pub fn parameters(&self) -> String {
        types::signature(&self.spec.input_schema)
    }

    /// What it does, in a line.
    pub fn line(&self) -> String {
        let text = self.spec.description.trim();
        let first = text.split(['\n', '\r']).next().unwrap_or_default();
        let end = first.find(". ").map_or(first.len(), |at| at + 1);
        first.get(..end).unwrap_or(first).chars().take(MAX_LINE).collect()
    }
}

/// Characters of a line about a function.
const MAX_LINE: usize = 160;
