//! Imports and exports, as statements that a program may have that is no module.
//!
//! An import becomes a `const` on the first line, before anything else runs, as imports do. An export
//! loses its keyword: nobody imports the program. Only the default export means something, as the
//! program's value.

use std::collections::HashSet;
use std::fmt::Write as _;

use oxc_ast::ast::{
    BindingIdentifier, ExportDefaultDeclaration, ExportDefaultDeclarationKind,
    ExportNamedDeclaration, ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName,
    Statement,
};
use oxc_semantic::ReferenceId;
use oxc_span::{GetSpan as _, Span};

use super::edits::Edits;
use super::misshapen::Problem;
use super::survey::{ATTRIBUTES, PHASE};

/// What was made of them.
#[derive(Debug, Default)]
pub(super) struct Modules<'t> {
    text: &'t str,
    imports: usize,
    /// Statements for the first line.
    pub(super) head: String,
    /// An expression with the value of the default export.
    pub(super) default: Option<String>,
    /// Mentions of names that only export them.
    pub(super) exported: HashSet<ReferenceId>,
}

impl<'t> Modules<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, ..Self::default() }
    }

    /// Changes a statement, if it imports or exports.
    pub(super) fn take(
        &mut self,
        statement: &Statement<'_>,
        edits: &mut Edits,
    ) -> Result<(), Problem> {
        match statement {
            Statement::ImportDeclaration(import) => {
                self.import(import)?;
                // The semicolon keeps what stands before and after apart, as the import did.
                self.blank(import.span, ";", edits);
            }
            Statement::ExportDeclaration(export) => {
                let declared = export.declaration.span().start;
                self.blank(Span::new(export.span.start, declared), ";", edits);
            }
            Statement::ExportNamedDeclaration(export) => {
                self.export(export);
                self.blank(export.span, ";", edits);
            }
            Statement::ExportDefaultDeclaration(export) => self.export_default(export, edits),
            Statement::ExportFromDeclaration(export) => {
                return Err(Problem::new(export.span.start, EXPORT_FROM));
            }
            Statement::ExportAllDeclaration(export) => {
                return Err(Problem::new(export.span.start, EXPORT_FROM));
            }
            _ => {}
        }
        Ok(())
    }

    fn import(&mut self, import: &ImportDeclaration<'_>) -> Result<(), Problem> {
        if import.phase.is_some() {
            return Err(Problem::new(import.span.start, PHASE));
        }
        if let Some(with) = &import.with_clause {
            return Err(Problem::new(with.span.start, ATTRIBUTES));
        }
        let module = format!("__hostRequire({})", self.words(import.source.span)?);
        let (mut whole, mut named) = (Vec::new(), Vec::new());
        for specifier in import.specifiers.iter().flatten() {
            let local = self.words(specifier.local().span)?;
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one)
                    if one.imported.name() != "default" =>
                {
                    named.push(format!("{}: {local}", self.words(one.imported.span())?));
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                    whole.push((local, false));
                }
                _ => whole.push((local, true)),
            }
        }
        self.declare(&module, &whole, &named);
        Ok(())
    }

    /// The names of one import: those that stand for the module or its default, and those of its
    /// members. Writing to a String cannot fail.
    fn declare(&mut self, module: &str, whole: &[(&str, bool)], named: &[String]) {
        let head = &mut self.head;
        let mut from = module.to_owned();
        if whole.is_empty() && named.is_empty() {
            // For its effects. It must not be taken for the program's value.
            let _ = write!(head, "void {module};");
        }
        if !whole.is_empty() {
            from = format!("__hostModule{}", self.imports);
            self.imports += 1;
            let _ = write!(head, "const {from} = {module};");
        }
        for (local, default) in whole {
            let value = if *default { format!("{from}?.default ?? {from}") } else { from.clone() };
            let _ = write!(head, "const {local} = {value};");
        }
        if !named.is_empty() {
            let _ = write!(head, "const {{ {} }} = {from};", named.join(", "));
        }
    }

    fn export(&mut self, export: &ExportNamedDeclaration<'_>) {
        for specifier in &export.specifiers {
            let ModuleExportName::IdentifierReference(local) = &specifier.local else { continue };
            self.exported.extend(local.reference_id.get());
            if specifier.exported.name() == "default" {
                self.default = Some(local.name.to_string());
            }
        }
    }

    fn export_default(&mut self, export: &ExportDefaultDeclaration<'_>, edits: &mut Edits) {
        let keywords = Span::new(export.span.start, export.declaration.span().start);
        let named: Option<&BindingIdentifier<'_>> = match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
            ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
            _ => None,
        };
        if let Some(name) = named {
            self.default = Some(name.name.to_string());
            self.blank(keywords, ";", edits);
        } else {
            self.default = Some(DEFAULT.to_owned());
            let _ = write!(self.head, "let {DEFAULT};");
            // As long as `export default`, so what follows stays where it is. What was a declaration
            // is an expression now, and would go on where the next line begins with a bracket.
            self.blank(keywords, &format!("{DEFAULT}="), edits);
            edits.insert(export.span.end as usize, ";");
        }
    }

    fn blank(&self, span: Span, text: &str, edits: &mut Edits) {
        edits.blank(self.text, span.start as usize, span.end as usize, text);
    }

    /// A name or a string as it was written, for the first line, which must stay one.
    fn words(&self, span: Span) -> Result<&'t str, Problem> {
        let words = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if words.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
            return Err(Problem::new(span.start, "write this string on one line"));
        }
        Ok(words)
    }
}

const DEFAULT: &str = "__hostDefault";
const EXPORT_FROM: &str = "`export … from` has no meaning here: nothing imports this program. \
     Import what you need, and return or `export default` the result";
