//! Functions as a module.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds::{Budget, DESCRIPTION_CHARS, FUNCTION_BYTES, LITERAL_CHARS, NOTES};
use super::names::{Names, pascal};
use super::read::{Naming, Reader};
use super::shape::{Definition, Known, Shape};
use super::{Function, comment, text, write};

/// One `declare module "host:…"` with these functions, and the `require` that gives it. Of functions
/// with one identifier the first is declared.
pub fn declare(module: &str, about: &str, functions: &[Function<'_>]) -> String {
    let specifier = text::quoted(&specifier(module));
    let mut names = Names::new();
    let mut seen = HashSet::new();
    let functions = functions.iter().filter(|function| seen.insert(function.identifier));
    // First everyone's own types, so that no type they refer to takes such a name.
    let claimed: Vec<Claimed<'_>> =
        functions.map(|function| Claimed::new(function, &mut names)).collect();
    // INVARIANT: a line of ours comes first. Comments at the head of a file speak to the compiler.
    let mut out =
        format!("declare function require(module: {specifier}): typeof import({specifier});\n\n");
    out.push_str(&comment::block(&comment::lines(about, DESCRIPTION_CHARS), 0));
    out.push_str("declare module ");
    out.push_str(&specifier);
    out.push_str(" {\n");
    for (number, claimed) in claimed.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        out.push_str(&claimed.declared(number, &mut names));
    }
    // Says that nothing is exported but what says so.
    out.push_str("  export {};\n}\n");
    out
}

/// A function and the names of its types.
struct Claimed<'f> {
    function: &'f Function<'f>,
    prefix: String,
    /// Unless it takes nothing.
    input: Option<String>,
    output: Option<String>,
}

impl<'f> Claimed<'f> {
    fn new(function: &'f Function<'f>, names: &mut Names) -> Self {
        let prefix = pascal(function.identifier);
        let input =
            (!takes_nothing(function.input)).then(|| names.claim(&format!("{prefix}Input")));
        let output = function.output.map(|_| names.claim(&format!("{prefix}Output")));
        Self { function, prefix, input, output }
    }

    fn declared(&self, number: usize, names: &mut Names) -> String {
        let mut budget = Budget::new();
        let mut read = |schema, name: &String| {
            let naming = Naming { names: &mut *names, prefix: &self.prefix };
            Reader::definitions(schema, name, naming, &mut budget)
        };
        let input = self.input.as_ref().map(|name| read(self.function.input, name));
        let output = self.output.as_ref().zip(self.function.output).map(|(n, o)| read(o, n));
        let kind = self.kind(input.as_deref());
        let written = [input, output]
            .map(|types| types.map_or_else(String::new, |t| write::definitions(&t, 2)));
        let mut types = written.concat();
        if types.len() > FUNCTION_BYTES {
            types = self.untyped();
            budget.simplify();
        }
        let doc = self.doc(budget.is_simplified());
        types + &comment::block(&doc, 2) + &export(self.function.identifier, number, &kind)
    }

    /// What the function is, in terms of the prelude.
    fn kind(&self, input: Option<&[Definition]>) -> String {
        let output = self.output.as_deref().unwrap_or("any");
        let (Some(name), Some(types)) = (&self.input, input) else {
            return format!("HostFunctionWithoutInput<{output}>");
        };
        let optional = Known::new(types, Shape::is_optional).of(0) == Some(true);
        let kind = if optional { "HostFunctionOptional" } else { "HostFunction" };
        format!("{kind}<{name}, {output}>")
    }

    /// The types when they came out too long after all.
    fn untyped(&self) -> String {
        let names = [&self.input, &self.output].into_iter().flatten();
        names.map(|name| ["  export type ", name, " = any;\n"].concat()).collect()
    }

    fn doc(&self, simplified: bool) -> Vec<String> {
        let Function { identifier, name, title, description, notes, .. } = *self.function;
        let mut doc = comment::lines(title, DESCRIPTION_CHARS);
        if description != title {
            doc.extend(comment::lines(description, DESCRIPTION_CHARS));
        }
        if name != identifier {
            doc.push(format!(
                "Its server calls it {}.",
                comment::line(&text::quoted(name), LITERAL_CHARS)
            ));
        }
        for note in notes.iter().take(NOTES) {
            doc.extend(comment::lines(note, DESCRIPTION_CHARS));
        }
        if simplified {
            doc.push(
                "Its schema is too large to be shown whole; some of its types are wider."
                    .to_owned(),
            );
        }
        doc
    }
}

/// The line that exports a function. What is no name of a variable is exported under its name.
fn export(identifier: &str, number: usize, kind: &str) -> String {
    let is_variable = !WORDS.contains(&identifier) && !identifier.starts_with(LOCAL);
    if text::is_identifier(identifier) && is_variable {
        return format!("  export const {identifier}: {kind};\n");
    }
    let exported = text::key(identifier);
    format!("  const {LOCAL}{number}: {kind};\n  export {{ {LOCAL}{number} as {exported} }};\n")
}

/// The full name of a module. It is always one of the host's, and never a pattern for several.
fn specifier(module: &str) -> String {
    let name = module.strip_prefix("host:").unwrap_or(module);
    format!("host:{}", name.replace('*', "_"))
}

/// Whether a function says that it has no parameters.
pub(super) fn takes_nothing(input: &Value) -> bool {
    let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    let Some(map) = input.as_object() else { return false };
    let about_more = |key: &&str| map.contains_key(*key);
    let described = map.get("properties");
    map.get("type").and_then(Value::as_str) == Some("object")
        && described.is_none_or(empty)
        && match map.get("additionalProperties") {
            Some(others) => *others == Value::Bool(false),
            None => described.is_some(),
        }
        && !MORE.iter().any(about_more)
}

/// Keywords that may let an object have properties that `properties` does not name.
const MORE: &[&str] = &[
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "patternProperties",
    "required",
    "enum",
    "const",
    "nullable",
];

/// What functions are called inside the module when their names are no names of variables.
const LOCAL: &str = "__function_";

/// Words that cannot name a constant.
const WORDS: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];
