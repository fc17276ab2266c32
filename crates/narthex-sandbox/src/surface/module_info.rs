//! `module_info`: the types of a module, or of some of its functions.

use narthex_core::{Reason, Subject};
use narthex_gate::{ToolError, ToolOutput, write_answer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does};
use crate::modules::{Function, Modules};
use crate::types;

pub(super) const DECLARED: Declared = Declared {
    name: "module_info",
    title: "Types of a module",
    description: "The TypeScript declarations of a module's functions: all of them, or only those named. \
                  Ask for the functions you need; a whole module can be long.",
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The module, for instance host:workspace.
    #[schemars(length(min = 1, max = 200))]
    module: String,
    /// Only these functions.
    #[schemars(with = "Vec<String>", length(max = 100))]
    #[serde(default)]
    functions: Option<Vec<String>>,
    /// Whether to add what every module leans on: HostError, parallel, console.
    #[serde(default)]
    prelude: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The module.
    module: String,
    /// TypeScript declarations.
    declarations: String,
    /// What to know besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

pub(super) fn run(modules: &Modules, input: &Input) -> Result<ToolOutput, ToolError> {
    if types::is_text_module(&input.module) {
        return text(input);
    }
    let Some(module) = modules.get(&input.module) else {
        let own = modules.iter().map(|module| module.name.as_str());
        let names: Vec<&str> = own.chain([types::TEXT_MODULE]).collect();
        let message = format!("there is no such module; there are: {}", names.join(", "));
        return Err(ToolError::caller(Reason::NotFound, message));
    };
    let only = input.functions.as_ref().map(|wanted| {
        let found: Result<Vec<&Function>, &String> =
            wanted.iter().map(|name| module.function(name).ok_or(name)).collect();
        found
    });
    let only = only.transpose().map_err(|missing| {
        let missing: String = missing.chars().take(100).collect();
        let message = format!("{} has no function {missing:?}; see list_modules", module.name);
        ToolError::caller(Reason::NotFound, message)
    })?;
    let declarations = module.declarations_within(only.as_deref(), MOST).ok_or_else(|| {
        let message = format!(
            "the types of all {} functions of {} are too much for one answer: name the functions you need, as list_modules shows them",
            module.functions.len(),
            module.name
        );
        ToolError::caller(Reason::LimitReached, message)
    })?;
    let mut hints = vec![
        "Calls return the value itself and throw HostError {code, message, parameters?}; f.try(input) returns {value} or {error}.".to_owned(),
    ];
    if !module.left_out.is_empty() {
        let names = module.left_out.join(", ");
        hints.push(format!("Not here, because other names read alike: {names}."));
    }
    told(input, &module.name, declarations, hints)
}

/// The module that needs no call.
fn text(input: &Input) -> Result<ToolOutput, ToolError> {
    // With the prelude asked for, it is in there.
    let own = if input.prelude { "" } else { types::text_module() };
    let hint = "These make no call: nothing is decided on, nothing is recorded.".to_owned();
    told(input, types::TEXT_MODULE, own.to_owned(), vec![hint])
}

fn told(
    input: &Input,
    module: &str,
    mut declarations: String,
    hints: Vec<String>,
) -> Result<ToolOutput, ToolError> {
    if input.prelude {
        declarations = format!("{}\n{declarations}", types::prelude());
    }
    let output = Output { module: module.to_owned(), declarations, hints };
    let subject = Subject::one("module", module);
    Ok(ToolOutput::new(write_answer(&output)?).about(narthex_core::Taint::CLEAN, subject))
}

/// Bytes of declarations in one answer.
const MOST: usize = 512 * 1024;
