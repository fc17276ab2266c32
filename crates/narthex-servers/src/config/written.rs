//! A value as it was written: text, and what is put in its place when a server starts.

use std::fmt;

use crate::located::Place;
use crate::text::shown;

use super::error::{ConfigError, ConfigFault};
use super::fields::{Field, Outcome};

/// A text with substitutions: `${NAME}`, `${env:NAME}`, `${NAME:-otherwise}`, `${file:/path}`, and
/// `$${` for `${` itself.
///
/// It does not show what it says in `Debug`: in a careless file that is a secret.
#[derive(Clone)]
pub struct Written {
    pub(super) at: Place,
    pub(super) path: String,
    source: String,
    parts: Vec<Part>,
}

/// A piece of it.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// As it stands.
    Literal(String),
    /// A variable of the environment, and what to take if it is not set.
    Variable {
        /// Its name.
        name: String,
        /// What to take otherwise.
        otherwise: Option<String>,
    },
    /// What is in a file, without the line's end.
    File(String),
}

impl Written {
    pub(super) fn read(field: &Field<'_>, what: &'static str, most: usize) -> Outcome<Self> {
        let source = field.text()?;
        if source.chars().count() > most || source.contains('\0') {
            return field.fault(ConfigFault::Text { what, most });
        }
        let parts = parts(source).map_err(|fault| field.error(fault))?;
        let path = field.path.clone();
        Ok(Self { at: field.node.at, path, source: source.to_owned(), parts })
    }

    /// What the file says, letter for letter: for people who are to approve it.
    pub fn as_written(&self) -> &str {
        &self.source
    }

    /// Its pieces.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether all of it is in the file.
    pub fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Where in the file it stands.
    pub const fn place(&self) -> Place {
        self.at
    }

    pub(super) fn error(&self, fault: ConfigFault) -> ConfigError {
        ConfigError { at: self.at, path: self.path.clone(), fault }
    }
}

/// Two are the same if they say the same, wherever they stand.
impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Written {}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.parts).finish()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => write!(f, "{} bytes", text.len()),
            Self::Variable { name, .. } => write!(f, "${{{name}}}"),
            Self::File(path) => write!(f, "${{file:{path}}}"),
        }
    }
}

fn parts(source: &str) -> Result<Vec<Part>, ConfigFault> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = source;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        // `$${` stands for `${`.
        if let Some(before) = before.strip_suffix('$') {
            literal.push_str(before);
            literal.push_str("${");
            rest = from.get(2..).unwrap_or_default();
            continue;
        }
        literal.push_str(before);
        let inner = from.get(2..).unwrap_or_default();
        let end = inner.find('}').ok_or(ConfigFault::Substitution(
            "`${` without `}`; write `$${` if you mean the characters themselves",
        ))?;
        if !literal.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut literal)));
        }
        parts.push(part(inner.get(..end).unwrap_or_default())?);
        rest = inner.get(end + 1..).unwrap_or_default();
        if parts.len() > MAX_PARTS {
            return Err(ConfigFault::Substitution("more substitutions than one value may have"));
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

fn part(inner: &str) -> Result<Part, ConfigFault> {
    if let Some(path) = inner.strip_prefix("file:") {
        return file(path);
    }
    if let Some(id) = inner.strip_prefix("input:") {
        let variable = as_variable(id);
        return Err(ConfigFault::Input { id: shown(id, 80), variable });
    }
    let inner = inner.strip_prefix("env:").unwrap_or(inner);
    let (name, otherwise) = match inner.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
        None => (inner, None),
    };
    let is_editors = EDITORS.contains(&name) || name.contains(':');
    if is_editors {
        return Err(ConfigFault::Editor(shown(name, 80)));
    }
    if !is_variable(name) {
        return Err(ConfigFault::VariableName);
    }
    Ok(Part::Variable { name: name.to_owned(), otherwise })
}

fn file(path: &str) -> Result<Part, ConfigFault> {
    let hides = |c: char| crate::text::unseen(c).is_some() || c == '\n';
    let good = !path.is_empty() && path.len() <= MAX_PATH && !path.chars().any(hides);
    if good {
        return Ok(Part::File(path.to_owned()));
    }
    Err(ConfigFault::Substitution("`${file:…}` needs the path of a file"))
}

/// Whether it is the name of a variable.
pub(crate) fn is_variable(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A name for a variable, made of any text.
pub(crate) fn as_variable(text: &str) -> String {
    let mut name: String = text
        .chars()
        .take(100)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    if !is_variable(&name) {
        name.insert(0, '_');
    }
    name
}

/// What only an editor can say.
pub(crate) const EDITORS: &[&str] = &[
    "workspaceFolder",
    "workspaceFolderBasename",
    "workspaceRoot",
    "userHome",
    "pathSeparator",
    "cwd",
    "/",
    "__dirname",
    "HOME_DIR",
];

const MAX_PARTS: usize = 32;
const MAX_PATH: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::{ConfigFault, Part, as_variable, parts};

    fn literal(text: &str) -> Part {
        Part::Literal(text.into())
    }

    fn variable(name: &str, otherwise: Option<&str>) -> Part {
        Part::Variable { name: name.into(), otherwise: otherwise.map(str::to_owned) }
    }

    #[test]
    fn substitutions_are_found() {
        for (text, expected) in [
            ("", vec![]),
            ("plain $HOME {x}", vec![literal("plain $HOME {x}")]),
            ("${A}", vec![variable("A", None)]),
            ("${env:A_1}", vec![variable("A_1", None)]),
            ("Bearer ${A}!", vec![literal("Bearer "), variable("A", None), literal("!")]),
            ("${A}${B:-x y}", vec![variable("A", None), variable("B", Some("x y"))]),
            ("${A:-}", vec![variable("A", Some(""))]),
            ("${file:/run/secrets/x}", vec![Part::File("/run/secrets/x".into())]),
            ("a$${A}", vec![literal("a${A}")]),
            ("$$${A}", vec![literal("$${A}")]),
            ("a$", vec![literal("a$")]),
        ] {
            assert_eq!(parts(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_substituted_says_what_to_do() {
        for (text, says) in [
            ("${A", "`${` without `}`"),
            ("${}", "a variable's name"),
            ("${1A}", "a variable's name"),
            ("${A B}", "a variable's name"),
            ("${file:}", "needs the path"),
            ("${input:github-token}", "write `${GITHUB_TOKEN}` and export GITHUB_TOKEN"),
            ("${workspaceFolder}/x", "known only to an editor"),
            ("${config:x.y}", "known only to an editor"),
        ] {
            let error = parts(text).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        assert!(matches!(parts(&"${A}".repeat(40)), Err(ConfigFault::Substitution(_))));
    }

    #[test]
    fn any_text_makes_the_name_of_a_variable() {
        for (text, name) in
            [("github-token", "GITHUB_TOKEN"), ("2fa", "_2FA"), ("", "_"), ("\u{e9}", "_")]
        {
            assert_eq!(as_variable(text), name);
        }
    }
}
