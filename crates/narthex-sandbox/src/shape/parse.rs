//! Text as a program: JavaScript if it can be read as that, else TypeScript.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::SourceType;

use super::misshapen::Problem;

/// A program as it was read.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    pub(super) program: Program<'a>,
    pub(super) typed: bool,
}

/// The text as JavaScript, or else as TypeScript; if it is neither, what is wrong with it as the one
/// that got further. Always as a module, so it is strict and may await; a return outside of
/// functions is allowed.
pub(super) fn parse<'a>(arena: &'a Allocator, text: &'a str) -> Result<Parsed<'a>, Problem> {
    let plain = match parse_as(arena, text, SourceType::mjs()) {
        Ok(program) => return Ok(Parsed { program, typed: false }),
        Err(problem) => problem,
    };
    let typescript = SourceType::ts().with_module(true);
    let typed = match parse_as(arena, text, typescript) {
        Ok(program) => return Ok(Parsed { program, typed: true }),
        Err(problem) => problem,
    };
    let mut problem = if plain.at > typed.at { plain } else { typed };
    if parse_as(arena, text, typescript.with_jsx(true)).is_ok() {
        JSX.clone_into(&mut problem.message);
    }
    Err(problem)
}

/// The text as JavaScript, and nothing else.
pub(super) fn parse_plain<'a>(arena: &'a Allocator, text: &'a str) -> Result<Program<'a>, Problem> {
    parse_as(arena, text, SourceType::mjs())
}

fn parse_as<'a>(
    arena: &'a Allocator,
    text: &'a str,
    kind: SourceType,
) -> Result<Program<'a>, Problem> {
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let read = Parser::new(arena, text, kind).with_options(options).parse();
    match Problem::first(&read.diagnostics) {
        Some(problem) => Err(problem),
        None if read.panicked => Err(Problem::new(0, "this cannot be read as JavaScript")),
        None => Ok(read.program),
    }
}

/// What names stand for in a program, if it keeps the rules that its grammar alone does not tell (a
/// name declared twice, a break out of nothing).
pub(super) fn check(program: &Program<'_>) -> Result<Scoping, Problem> {
    let (scoping, problem) = names(program);
    problem.map_or(Ok(scoping), Err)
}

/// The same, and what is wrong, if anything.
pub(super) fn names(program: &Program<'_>) -> (Scoping, Option<Problem>) {
    let built = SemanticBuilder::new_compiler()
        .with_enum_eval(true)
        .with_excess_capacity(2.0)
        .build(program);
    let problem = Problem::first(&built.diagnostics);
    (built.semantic.into_scoping(), problem)
}

const JSX: &str = "JSX is not supported: there is nothing to render to. Return plain data or text";
