//! `list_modules`: what a program can use.

use narthex_core::Subject;
use narthex_gate::{ToolError, ToolOutput, write_answer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Declared, Does};
use crate::modules::{Function, Module, Modules, Query};

pub(super) const DECLARED: Declared = Declared {
    name: "list_modules",
    title: "List modules",
    description: "Lists the modules a program can use, and with a query the functions whose names, \
                  descriptions or parameters have its words, best first. Use module_info for the types \
                  of a module.",
    does: Does::Look,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Words to look for; everything if left out.
    #[schemars(with = "String", length(max = 500))]
    #[serde(default)]
    query: Option<String>,
    /// How much to say of each module: its name, its functions' names, or a line for each function
    /// (default: names, or lines where there is a query).
    #[schemars(with = "Detail")]
    #[serde(default)]
    detail: Option<Detail>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Detail {
    Modules,
    Names,
    Lines,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The modules.
    modules: Vec<Listed>,
    /// How many functions fit that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// What to require.
    module: String,
    /// What it is.
    about: String,
    /// Its functions, by name or with a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<String>,
    /// How many functions it has.
    count: usize,
}

/// A module, how well its best function fits, and how well each does.
type Found<'a> = (u32, &'a Module, Vec<(u32, &'a Function)>);

pub(super) fn run(modules: &Modules, input: &Input) -> Result<ToolOutput, ToolError> {
    let query = Query::parse(input.query.as_deref());
    let default = if query.is_everything() { Detail::Names } else { Detail::Lines };
    let detail = input.detail.unwrap_or(default);
    let mut found: Vec<Found<'_>> = Vec::new();
    for module in modules.iter() {
        let fits = |function| (query.fits(module, function), function);
        let mut fitting: Vec<(u32, &Function)> =
            module.functions.iter().map(fits).filter(|(fits, _)| *fits > 0).collect();
        // The best first; among equals as the surface has them.
        fitting.sort_by_key(|(fits, _)| std::cmp::Reverse(*fits));
        if let Some((best, _)) = fitting.first() {
            found.push((*best, module, fitting));
        }
    }
    if !query.is_everything() {
        found.sort_by_key(|(best, ..)| std::cmp::Reverse(*best));
    }
    let mut room = MOST_LISTED;
    let mut more = 0;
    let listed = found.into_iter().map(|(_, module, fitting)| {
        let shown = if detail == Detail::Modules { 0 } else { fitting.len().min(room) };
        room -= shown;
        more += if detail == Detail::Modules { 0 } else { fitting.len() - shown };
        let said = |(_, function): &(u32, &Function)| match detail {
            Detail::Lines => {
                format!("{}({}): {}", function.identifier, function.parameters(), function.line())
            }
            Detail::Modules | Detail::Names => function.identifier.clone(),
        };
        Listed {
            module: module.name.clone(),
            about: module.about.clone(),
            functions: fitting.iter().take(shown).map(said).collect(),
            count: module.functions.len(),
        }
    });
    let mut modules: Vec<Listed> = listed.collect();
    if query.is_everything() {
        modules.push(Listed {
            module: crate::types::TEXT_MODULE.to_owned(),
            about: "bytes and texts, without a call".to_owned(),
            functions: TEXTS
                .iter()
                .filter(|_| detail != Detail::Modules)
                .map(|&f| f.to_owned())
                .collect(),
            count: TEXTS.len(),
        });
    }
    let output = Output { modules, more };
    let subject = Subject { count: Some(output.modules.len() as u64), ..Subject::default() };
    Ok(ToolOutput::new(write_answer(&output)?).about(narthex_core::Taint::CLEAN, subject))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What `host:text` has.
const TEXTS: [&str; 4] = ["toUtf8", "fromUtf8", "toBase64", "fromBase64"];

/// Functions in one answer.
const MOST_LISTED: usize = 200;
