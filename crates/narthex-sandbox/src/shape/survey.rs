//! One walk through a program, for what stands anywhere in it.

use std::collections::HashSet;

use oxc_ast::ast::{
    ArrowFunctionExpression, Decorator, Expression, Function, ImportExpression, ImportMeta,
    Program, ReturnStatement, TaggedTemplateExpression, TemplateLiteral, UnaryExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::ScopeFlags;
use oxc_span::GetSpan as _;

use super::misshapen::Problem;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Survey<'t> {
    text: &'t str,
    /// Functions that the walk is in.
    functions: usize,
    /// The `import` of each `import(…)`.
    pub(super) imports: Vec<u32>,
    /// Each `!` that would begin a comment: where a program is no module, as it is not when it runs,
    /// `a<!--b` is `a`.
    pub(super) not_comments: Vec<u32>,
    /// Empty templates that are a tag or have one. Few mean that, but the first two backticks of a
    /// fence are read so.
    pub(super) empty_templates: HashSet<u32>,
    /// Whether it returns outside of functions.
    pub(super) returns: bool,
    /// The first thing that cannot be had here.
    pub(super) problem: Option<Problem>,
}

impl<'t> Survey<'t> {
    pub(super) fn of(text: &'t str, program: &Program<'_>) -> Self {
        let mut survey = Self { text, ..Self::default() };
        survey.visit_program(program);
        survey
    }

    fn refuse(&mut self, at: u32, message: &str) {
        self.problem.get_or_insert_with(|| Problem::new(at, message));
    }
}

impl<'a> Visit<'a> for Survey<'_> {
    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.imports.push(it.span.start);
        if it.phase.is_some() {
            self.refuse(it.span.start, PHASE);
        }
        if let Some(options) = &it.options {
            self.refuse(options.span().start, ATTRIBUTES);
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.refuse(it.span.start, META);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span.start, DECORATOR);
        walk::walk_decorator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        self.returns |= self.functions == 0;
        walk::walk_return_statement(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        let start = it.span.start as usize;
        let opened = start.checked_sub(1).and_then(|before| self.text.get(before..start + 3));
        if opened == Some("<!--") {
            self.not_comments.push(it.span.start);
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        let tag = match &it.tag {
            Expression::TemplateLiteral(tag) => Some(&**tag),
            _ => None,
        };
        let empty = |template: &&TemplateLiteral<'_>| template.span.size() == 2;
        let found = tag.into_iter().chain([&it.quasi]).filter(empty);
        self.empty_templates.extend(found.map(|template| template.span.start));
        walk::walk_tagged_template_expression(self, it);
    }
}

pub(super) const PHASE: &str = "only plain imports are possible here: no `defer`, no `source`";
pub(super) const ATTRIBUTES: &str =
    "imports with attributes are not possible here: leave out `with { … }`";
const META: &str =
    "`import.meta` has no meaning here: the program is not a file and has no address";
const DECORATOR: &str =
    "decorators are not supported here: call the function on the class or the method instead";
