//! Names as identifiers of a program, and back.
//!
//! Most names are identifiers already and stay what they are. Others get one that reads well
//! (`get-user` becomes `get_user`), as long as it is nobody else's; else the exact form, in which
//! every odd character is spelled out after a `$`. No two names ever share an identifier.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The identifiers of a set of names. The same set gives the same identifiers in any order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identifiers {
    by_name: BTreeMap<String, String>,
    by_identifier: BTreeMap<String, String>,
}

impl Identifiers {
    /// Of these names.
    pub fn of<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        let mut wanted: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for name in &names {
            wanted.entry(readable(name)).or_default().push(name);
        }
        let mut made = Self::default();
        for (identifier, names) in &wanted {
            for name in names {
                // Who is called so exactly keeps it; others have it only alone.
                let keeps = *name == identifier || names.len() == 1;
                let identifier = if keeps { identifier.clone() } else { escape(name) };
                made.by_identifier.insert(identifier.clone(), (*name).clone());
                made.by_name.insert((*name).clone(), identifier);
            }
        }
        made
    }

    /// The identifier of a name.
    pub fn identifier(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(String::as_str)
    }

    /// The name of an identifier.
    pub fn name(&self, identifier: &str) -> Option<&str> {
        self.by_identifier.get(identifier).map(String::as_str)
    }

    /// Names that did not get the identifier that reads well, because another one would have it too.
    pub fn collisions(&self) -> impl Iterator<Item = &str> {
        let fell_back = |(name, identifier): &(&String, &String)| readable(name) != **identifier;
        self.by_name.iter().filter(fell_back).map(|(name, _)| name.as_str())
    }
}

/// An identifier that reads like the name. Never one with a `$` in it, so that it is nobody's exact
/// form; two names may share it.
fn readable(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().take(MAX_READABLE) {
        out.push(if is_part(c) { c } else { '_' });
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) || is_word(&out) {
        out.insert(0, '_');
    }
    out
}

/// A name spelled out so that it is an identifier and nothing of it is lost.
fn escape(name: &str) -> String {
    let mut out = String::from("$");
    for c in name.chars() {
        if is_part(c) {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "${:x}$", c as u32);
        }
    }
    out
}

/// The name that was spelled out, if this is one that was.
#[cfg(test)]
fn unescape(identifier: &str) -> Option<String> {
    let mut rest = identifier.strip_prefix('$')?;
    let mut out = String::new();
    while let Some((plain, after)) = rest.split_once('$') {
        out.push_str(plain);
        let (code, after) = after.split_once('$')?;
        out.push(u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?);
        rest = after;
    }
    out.push_str(rest);
    // There is one way to spell a name out.
    (escape(&out) == identifier).then_some(out)
}

const fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_word(name: &str) -> bool {
    WORDS.contains(&name)
}

/// Characters of a name that a readable identifier keeps.
const MAX_READABLE: usize = 128;

/// Words that mean something to JavaScript or TypeScript, or to every object.
const WORDS: &[&str] = &[
    "abstract",
    "any",
    "arguments",
    "as",
    "async",
    "await",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constructor",
    "continue",
    "debugger",
    "declare",
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
    "from",
    "function",
    "get",
    "hasOwnProperty",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "let",
    "module",
    "namespace",
    "never",
    "new",
    "null",
    "number",
    "object",
    "of",
    "package",
    "private",
    "protected",
    "prototype",
    "public",
    "require",
    "return",
    "set",
    "static",
    "string",
    "super",
    "switch",
    "symbol",
    "then",
    "this",
    "throw",
    "toString",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unknown",
    "valueOf",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Identifiers, WORDS, escape, unescape};

    fn is_identifier(text: &str) -> bool {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
        text.chars().all(part)
            && text.starts_with(|c: char| !c.is_ascii_digit())
            && !WORDS.contains(&text)
    }

    #[test]
    fn names_read_well_and_keep_apart() {
        for (names, identifiers) in [
            (&["get_user"] as &[&str], vec!["get_user"]),
            (&["get-user"], vec!["get_user"]),
            (&["get.user/x y"], vec!["get_user_x_y"]),
            (&["2fa"], vec!["_2fa"]),
            (&["delete"], vec!["_delete"]),
            (&["__proto__"], vec!["___proto__"]),
            (&[""], vec!["_"]),
            (&["get_user", "get-user"], vec!["get_user", "$get$2d$user"]),
            (&["get.user", "get-user"], vec!["$get$2e$user", "$get$2d$user"]),
            (&["a$b", "a-b"], vec!["$a$24$b", "$a$2d$b"]),
            (&["caf\u{e9}"], vec!["caf_"]),
        ] {
            let table = Identifiers::of(names.iter().copied());
            let found: Vec<&str> = names.iter().map(|n| table.identifier(n).unwrap()).collect();
            assert_eq!(found, identifiers, "{names:?}");
        }
        let table = Identifiers::of(["a-b", "a_b", "c"]);
        assert_eq!(table.collisions().collect::<Vec<_>>(), ["a-b"]);
    }

    #[test]
    fn only_what_was_spelled_out_is_read_back() {
        for (identifier, name) in [
            ("$a$2d$b", Some("a-b")),
            ("$", Some("")),
            ("a", None),
            ("$a$2D$b", None),
            ("$a$02d$b", None),
            ("$a$61$", None),
            ("$a$2d", None),
            ("$a$d800$", None),
            ("$a$zz$", None),
        ] {
            assert_eq!(unescape(identifier).as_deref(), name, "{identifier}");
        }
    }

    proptest! {
        #[test]
        fn what_is_spelled_out_comes_back(name in "\\PC{0,20}") {
            let identifier = escape(&name);
            prop_assert!(is_identifier(&identifier), "{}", identifier);
            prop_assert_eq!(unescape(&identifier), Some(name));
        }

        #[test]
        fn every_name_has_its_own_and_comes_back(
            names in prop::collection::vec("[a-b$_.\\-0\u{e9}\u{200b}]{0,4}|delete|__proto__", 0..12)
        ) {
            let table = Identifiers::of(names.clone());
            for name in &names {
                let identifier = table.identifier(name).unwrap();
                prop_assert!(is_identifier(identifier), "{}", identifier);
                prop_assert_eq!(table.name(identifier), Some(name.as_str()));
            }
            let mut turned = names;
            turned.reverse();
            prop_assert_eq!(Identifiers::of(turned), table);
        }
    }
}
