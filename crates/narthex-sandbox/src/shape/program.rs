//! A program as QuickJS runs it: no module, but one that may await, and whose last value is its own.

use oxc_ast::ast::{BindingIdentifier, Declaration, Expression, Program, Statement};
use oxc_semantic::Scoping;
use oxc_span::GetSpan as _;

use super::edits::Edits;
use super::misshapen::Problem;
use super::modules::Modules;
use super::places::Places;
use super::survey::Survey;

/// The program with its imports, its exports, its `main` and its returns turned into what a script
/// may have.
pub(super) fn rewrite(
    text: &str,
    program: &Program<'_>,
    scoping: &Scoping,
) -> Result<(String, Places), Problem> {
    refuse_host_names(scoping)?;
    let survey = Survey::of(text, program);
    if let Some(problem) = survey.problem {
        return Err(problem);
    }
    let mut edits = Edits::default();
    for import in survey.imports {
        let start = import as usize;
        edits.replace(start, start + "import".len(), "__hostImport");
    }
    for not in survey.not_comments {
        edits.insert(not as usize, " ");
    }
    let mut modules = Modules::new(text);
    for statement in &program.body {
        modules.take(statement, &mut edits)?;
    }
    blank_preamble(text, program, &mut edits);

    let main = || uncalled_main(program, scoping, &modules).then(|| "main()".to_owned());
    let value = modules.default.clone().or_else(main);
    let (mut head, mut tail) = (modules.head, String::new());
    if survey.returns {
        head.insert_str(0, "(async () => {");
        match value {
            Some(value) => tail = format!("\n;return {value};"),
            None => return_last(program, &mut edits),
        }
        tail.push_str("\n})()");
    } else if let Some(value) = value {
        tail = format!("\n;{value}");
    }
    Ok(edits.apply(text, &head, &tail))
}

/// What is put into a program goes by names that it must not have itself.
fn refuse_host_names(scoping: &Scoping) -> Result<(), Problem> {
    let taken = scoping.symbol_ids().find(|id| scoping.symbol_name(*id).starts_with(HOST));
    match taken {
        Some(id) => {
            let message = format!(
                "`{}` cannot be declared: names that begin with `{HOST}` are taken. Choose another",
                scoping.symbol_name(id)
            );
            Err(Problem::new(scoping.symbol_span(id).start, message))
        }
        None => Ok(()),
    }
}

/// Takes away what means something only at the very beginning of a text, or nothing at all: every
/// program is strict, and `"use strict"` is not what it comes to.
fn blank_preamble(text: &str, program: &Program<'_>, edits: &mut Edits) {
    let strict = program.directives.iter().filter(|directive| directive.is_use_strict());
    for span in strict.map(|directive| directive.span) {
        edits.blank(text, span.start as usize, span.end as usize, ";");
    }
    if let Some(hashbang) = &program.hashbang {
        edits.blank(text, hashbang.span.start as usize, hashbang.span.end as usize, "");
    }
}

/// Whether there is a function called `main` that nothing mentions, other than to export it.
fn uncalled_main(program: &Program<'_>, scoping: &Scoping, modules: &Modules<'_>) -> bool {
    let main = program.body.iter().find_map(declared_main);
    let mentions = main.map(|main| scoping.get_resolved_reference_ids(main.symbol_id()));
    mentions.is_some_and(|all| all.iter().all(|one| modules.exported.contains(one)))
}

fn declared_main<'p, 'a>(statement: &'p Statement<'a>) -> Option<&'p BindingIdentifier<'a>> {
    let is_main = |name: &&BindingIdentifier<'_>| name.name == "main";
    let declaration = match statement {
        Statement::ExportDeclaration(export) => &export.declaration,
        other => other.as_declaration()?,
    };
    match declaration {
        Declaration::FunctionDeclaration(function) => function.id.as_ref().filter(is_main),
        Declaration::VariableDeclaration(variables) => {
            let functions = variables.declarations.iter().filter(|one| {
                let value = one.init.as_ref().map(Expression::without_parentheses);
                value.is_some_and(Expression::is_function)
            });
            functions.filter_map(|one| one.id.get_binding_identifier()).find(is_main)
        }
        _ => None,
    }
}

/// Returns what the program ends in, if that is an expression. What runs nothing may follow it.
fn return_last(program: &Program<'_>, edits: &mut Edits) {
    let runs = |statement: &&Statement<'_>| {
        !matches!(
            statement,
            Statement::EmptyStatement(_)
                | Statement::FunctionDeclaration(_)
                | Statement::ImportDeclaration(_)
                | Statement::ExportNamedDeclaration(_)
        )
    };
    if let Some(Statement::ExpressionStatement(last)) = program.body.iter().rfind(runs) {
        edits.insert(last.expression.span().start as usize, "return ");
    }
}

const HOST: &str = "__host";
