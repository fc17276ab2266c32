//! TypeScript without its types.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Program, Statement,
};
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_semantic::{Reference, Scoping};
use oxc_transformer::{TransformOptions, Transformer, TypeScriptOptions};

use super::misshapen::Problem;
use super::places::{Lines, Places};

/// The program as JavaScript, and where its lines come from.
pub(super) fn strip<'a>(
    arena: &'a Allocator,
    text: &'a str,
    mut program: Program<'a>,
    scoping: Scoping,
) -> Result<(String, Places), Problem> {
    forget_types(&mut program, &scoping);
    let path = Path::new("program.ts");
    let options = TransformOptions {
        typescript: TypeScriptOptions {
            // An import for its effects stays, even if nothing uses what it names.
            only_remove_type_imports: true,
            ..TypeScriptOptions::default()
        },
        ..TransformOptions::default()
    };
    let done = Transformer::new(arena, path, &options).build_with_scoping(scoping, &mut program);
    if let Some(problem) = Problem::first(&done.diagnostics) {
        return Err(problem);
    }
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: Some(path.to_owned()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new()
        .with_options(options)
        .with_source_text(text)
        .with_scoping(Some(done.scoping))
        .build(&program);
    let mut places = Places::printed();
    if let Some(map) = &printed.map {
        let (now, was) = (Units::of(&printed.code), Units::of(text));
        let (now_lines, was_lines) = (Lines::of(&printed.code), Lines::of(text));
        for token in map.get_tokens() {
            let now = now.byte(token.get_dst_line(), token.get_dst_col());
            let was = was.byte(token.get_src_line(), token.get_src_col());
            places.stands_for(now_lines.place(now), was_lines.place(was));
        }
    }
    Ok((printed.code, places))
}

/// Makes an import that is used, but only as a type, an import of a type, which vanishes.
fn forget_types(program: &mut Program<'_>, scoping: &Scoping) {
    for statement in &mut program.body {
        let Statement::ImportDeclaration(import) = statement else { continue };
        if names_only_types(import, scoping) {
            import.import_kind = ImportOrExportKind::Type;
        }
    }
}

fn names_only_types(import: &ImportDeclaration<'_>, scoping: &Scoping) -> bool {
    let is_type = |specifier: &ImportDeclarationSpecifier<'_>| {
        if let ImportDeclarationSpecifier::ImportSpecifier(named) = specifier
            && named.import_kind.is_type()
        {
            return true;
        }
        let mut uses = scoping.get_resolved_references(specifier.local().symbol_id()).peekable();
        uses.peek().is_some() && uses.all(Reference::is_type)
    };
    let specifiers = import.specifiers.as_ref();
    specifiers.is_some_and(|all| !all.is_empty() && all.iter().all(is_type))
}

/// The bytes at which the UTF-16 units of a text begin: source maps count in those, and end a line
/// wherever JavaScript does.
struct Units {
    bytes: Vec<usize>,
    lines: Vec<usize>,
}

impl Units {
    fn of(text: &str) -> Self {
        let mut units = Self { bytes: Vec::with_capacity(text.len() + 1), lines: vec![0] };
        for (at, c) in text.char_indices() {
            units.bytes.extend(std::iter::repeat_n(at, c.len_utf16()));
            let followed = text.as_bytes().get(at + 1) == Some(&b'\n');
            if matches!(c, '\n' | '\u{2028}' | '\u{2029}') || (c == '\r' && !followed) {
                units.lines.push(units.bytes.len());
            }
        }
        units.bytes.push(text.len());
        units
    }

    /// Of a line and a column, both from 0.
    fn byte(&self, line: u32, column: u32) -> usize {
        let start = self.lines.get(line as usize).copied();
        let unit = start.map(|start| start + column as usize);
        let end = self.bytes.last().copied().unwrap_or_default();
        unit.and_then(|unit| self.bytes.get(unit)).copied().unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::Units;

    #[test]
    fn units_are_counted_as_a_source_map_does() {
        let units = Units::of("a\u{1f600}b\r\n\u{e9}c\u{2028}d");
        let bytes: Vec<_> =
            [(0, 0), (0, 3), (1, 0), (1, 1), (2, 0), (9, 9)].map(|(l, c)| units.byte(l, c)).into();
        assert_eq!(bytes, [0, 5, 8, 10, 14, 15]);
    }
}
