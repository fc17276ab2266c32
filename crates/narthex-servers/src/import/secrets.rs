//! What is not copied: values that are secrets, or might be. `${NAME}` takes their place.

use std::collections::BTreeMap;

use crate::config::as_variable;
use crate::secret_look::{name_tells, shape_tells};

/// The variables that stand in for what is not copied, over all servers of an import.
#[derive(Default)]
pub(super) struct Variables {
    /// What each stands for; empty where nobody knows yet.
    values: BTreeMap<String, String>,
}

impl Variables {
    /// A variable for this value: one by this name, unless it is another value's already.
    pub(super) fn stand_in(&mut self, server: &str, name: &str, value: &str) -> String {
        let wanted = as_variable(name);
        let own = as_variable(&format!("{server}_{wanted}"));
        let numbered = (2..).map(|n| format!("{own}_{n}"));
        let mut candidates = [wanted, own.clone()].into_iter().chain(numbered);
        let free = |name: &String| self.values.get(name).is_none_or(|known| known == value);
        // There is always one more number.
        let chosen = candidates.find(free).unwrap_or(own);
        self.values.insert(chosen.clone(), value.to_owned());
        chosen
    }
}

/// Whether a value may be copied: it says nothing that anyone would keep to themselves.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    if let Some(literal) = beside_substitutions(value) {
        return !shape_tells(literal.trim());
    }
    if name_tells(name) || shape_tells(value) {
        return value.is_empty();
    }
    let all = |part: fn(&char) -> bool| value.chars().all(|c| part(&c));
    let word = value.len() <= 16 && all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '_'));
    let number = value.len() <= 8 && all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | ','));
    let starts = |start: &str| value.starts_with(start);
    let path = ["/", "~/", "./", "../"].iter().any(|start| starts(start)) || is_drive(value);
    let url = (starts("https://") || starts("http://")) && !value.contains(['?', '@', '#']);
    value.is_empty() || word || number || path || url
}

/// What is left of a text without its `${…}`; nothing if it has none.
fn beside_substitutions(text: &str) -> Option<String> {
    let (first, rest) = text.split_once("${")?;
    let mut literal = first.to_owned();
    for part in rest.split("${") {
        literal.push_str(part.split_once('}').map_or("", |(_, after)| after));
    }
    Some(literal)
}

fn is_drive(value: &str) -> bool {
    let mut chars = value.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.as_str().starts_with(":\\")
}

/// What an argument shows of a secret: the option it belongs to and the value.
pub(super) enum InArgument<'a> {
    /// Nothing.
    Nothing,
    /// All of it.
    Whole(&'a str),
    /// `--token=value`, `TOKEN=value`
    After {
        /// The option or the variable.
        name: &'a str,
        /// What is after the sign.
        value: &'a str,
    },
    /// The argument after this one.
    Next(&'a str),
}

/// Looks at an argument.
pub(super) fn in_argument(arg: &str) -> InArgument<'_> {
    if let Some(literal) = beside_substitutions(arg) {
        let tells = shape_tells(literal.trim());
        return if tells { InArgument::Whole(arg) } else { InArgument::Nothing };
    }
    if let Some((name, value)) = arg.split_once('=') {
        let plain = name.trim_start_matches('-');
        let named = name_tells(plain) && !value.is_empty();
        let is_name = !plain.is_empty() && plain.len() <= 64 && !plain.contains(['/', ' ', '?']);
        if is_name && (named || shape_tells(value)) {
            return InArgument::After { name: plain, value };
        }
    }
    if let Some(name) = arg.strip_prefix("--").filter(|name| name_tells(name)) {
        return InArgument::Next(name);
    }
    if shape_tells(arg) && !arg.starts_with('@') {
        return InArgument::Whole(arg);
    }
    InArgument::Nothing
}

#[cfg(test)]
mod tests {
    use super::{InArgument, Variables, in_argument, is_harmless};

    #[test]
    fn only_what_says_nothing_is_copied() {
        for (name, value, harmless) in [
            ("LEVEL", "debug", true),
            ("LEVEL", "", true),
            ("PORT", "8080", true),
            ("VERSION", "1.2.3", true),
            ("FILE", "/data/memory.json", true),
            ("URL", "https://api.example.com/v1", true),
            ("NODE_ENV", "production", true),
            ("API_KEY", "debug", false),
            ("API_KEY", "", true),
            ("X", "hunter2", false),
            ("X", "correct horse battery", false),
            ("X", "ghp_0123456789abcdefABCD", false),
            ("URL", "https://u:p@api.example.com", false),
            ("URL", "https://api.example.com/?k=1", false),
            ("X", "123456789", false),
            ("API_KEY", "${API_KEY}", true),
            ("API_KEY", "Bearer ${API_KEY}", true),
            ("X", "ghp_0123456789abcdefABCD${X}", false),
        ] {
            assert_eq!(is_harmless(name, value), harmless, "{name}={value}");
        }
    }

    #[test]
    fn a_variable_stands_for_one_value() {
        let mut variables = Variables::default();
        assert_eq!(variables.stand_in("a", "API_KEY", "1"), "API_KEY");
        assert_eq!(variables.stand_in("b", "API_KEY", "1"), "API_KEY");
        assert_eq!(variables.stand_in("b", "API_KEY", "2"), "B_API_KEY");
        assert_eq!(variables.stand_in("b", "API_KEY", "3"), "B_API_KEY_2");
        assert_eq!(variables.stand_in("c-d", "X-Key", "4"), "X_KEY");
    }

    #[test]
    fn arguments_are_looked_into() {
        for (arg, expected) in [
            ("-y", ""),
            ("@modelcontextprotocol/server-everything", ""),
            ("--port=8080", ""),
            ("--api-key=abc", "after api-key abc"),
            ("GITHUB_TOKEN=abc", "after GITHUB_TOKEN abc"),
            ("--token=${T}", ""),
            ("ghp_0123456789abcdefABCD:${T}", "whole"),
            ("--token", "next token"),
            ("sk-abcdefghijklmnopqrst", "whole"),
            ("postgres://u:p@db/x", "whole"),
            ("https://x.example/?a=b", ""),
        ] {
            let found = match in_argument(arg) {
                InArgument::Nothing => String::new(),
                InArgument::Whole(_) => "whole".to_owned(),
                InArgument::After { name, value } => format!("after {name} {value}"),
                InArgument::Next(name) => format!("next {name}"),
            };
            assert_eq!(found, expected, "{arg}");
        }
    }
}
