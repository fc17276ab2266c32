//! Names of types, each once in a module.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number to try next for a name that was wanted before.
    next: HashMap<String, usize>,
}

impl Names {
    pub(super) fn new() -> Self {
        let taken = RESERVED.iter().map(|name| (*name).to_owned()).collect();
        Self { taken, next: HashMap::new() }
    }

    /// This name, or with the first number that makes it nobody else's.
    pub(super) fn claim(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let next = self.next.entry(wanted.to_owned()).or_insert(2);
        loop {
            // What ends in a digit is kept apart from its number.
            let gap = if wanted.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            let name = format!("{wanted}{gap}{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// `get_forecast` as `GetForecast`. Only letters and digits are left.
pub(super) fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = word.chars().take(NAME_CHARS.saturating_sub(out.len()));
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.extend(chars);
    }
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'T');
    }
    out
}

/// Letters of a name that are kept.
const NAME_CHARS: usize = 60;

/// What a module must not hide: the types it leans on, and those everyone knows.
const RESERVED: &[&str] = &[
    "Array",
    "Awaited",
    "BigInt",
    "Binary",
    "Boolean",
    "Date",
    "Error",
    "Function",
    "HostError",
    "HostFunction",
    "HostFunctionOptional",
    "HostFunctionWithoutInput",
    "JSON",
    "Map",
    "Number",
    "Object",
    "Partial",
    "Promise",
    "Record",
    "Set",
    "String",
    "Symbol",
    "Tried",
    "Uint8Array",
];

#[cfg(test)]
mod tests {
    use super::{Names, pascal};

    #[test]
    fn names_read_as_types() {
        for (name, expected) in [
            ("get_forecast", "GetForecast"),
            ("getForecast", "GetForecast"),
            ("$get$2d$user", "Get2dUser"),
            ("_2fa", "T2fa"),
            ("", "T"),
            ("caf\u{e9} */ }", "Caf"),
        ] {
            assert_eq!(pascal(name), expected, "{name}");
        }
        assert!(pascal(&"a_b".repeat(1_000)).len() <= 61);
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::new();
        let given: Vec<String> =
            ["A", "A", "A2", "A", "A2", "HostFunction"].map(|name| names.claim(name)).to_vec();
        assert_eq!(given, ["A", "A2", "A2_2", "A3", "A2_3", "HostFunction2"]);
    }
}
