//! How much of a schema is read, and how much of it is written.

/// Bytes of the types of one function.
pub const FUNCTION_BYTES: usize = 64 * 1024;
/// Characters of a signature.
pub const SIGNATURE_CHARS: usize = 2_000;

/// Schemas inside schemas.
pub(super) const DEPTH: usize = 24;
/// The same for a signature, where a reference counts as a level too.
pub(super) const SIGNATURE_DEPTH: usize = 6;
/// Properties of one object.
pub(super) const PROPERTIES: usize = 200;
/// Members of one `enum`.
pub(super) const ENUM_MEMBERS: usize = 200;
/// Schemas in one `anyOf`, `oneOf` or `allOf`.
pub(super) const BRANCHES: usize = 100;
/// Members of one union, however it came together.
pub(super) const UNION_MEMBERS: usize = 500;
/// Places of one tuple.
pub(super) const TUPLE_PLACES: usize = 64;
/// Named types of one schema.
pub(super) const DEFINITIONS: usize = 200;
/// Characters of a literal string.
pub(super) const LITERAL_CHARS: usize = 1_000;
/// Bytes of the name of a property, of a `$ref` and of an `$id`. Longer ones are not even compared.
pub(super) const NAME_BYTES: usize = 1_000;
/// Characters of a description, a title or a note.
pub(super) const DESCRIPTION_CHARS: usize = 2_000;
/// Notes of one function.
pub(super) const NOTES: usize = 20;
/// Bytes of one value in a comment: a default, a pattern.
pub(super) const FACT_BYTES: usize = 200;
/// Steps that reading the schemas of one function may take.
const WORK: usize = 50_000;

/// What is left for one function. A schema that doubles at every level ends here.
#[derive(Debug)]
pub(super) struct Budget {
    work: usize,
    bytes: usize,
    simplified: bool,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { work: WORK, bytes: FUNCTION_BYTES, simplified: false }
    }

    /// Takes this many steps, if they are left.
    pub(super) const fn work(&mut self, steps: usize) -> bool {
        let enough = steps <= self.work;
        // Who asks for less than what was refused gets nothing either: the end should come soon.
        self.work = self.work.saturating_sub(steps);
        self.simplified |= !enough;
        enough
    }

    /// Takes room for a text of this length, if it is left. What is too long leaves room for what
    /// is not.
    pub(super) const fn room(&mut self, bytes: usize) -> bool {
        let enough = bytes <= self.bytes;
        if enough {
            self.bytes -= bytes;
        }
        self.simplified |= !enough;
        enough
    }

    /// Something was left out.
    pub(super) const fn simplify(&mut self) {
        self.simplified = true;
    }

    pub(super) const fn is_simplified(&self) -> bool {
        self.simplified
    }
}
