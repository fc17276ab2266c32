//! Names made valid.

use std::collections::BTreeSet;

use crate::config::ServerName;

/// A name that is valid and nobody's yet, as like the given one as can be.
pub(super) fn made_valid(name: &str, taken: &BTreeSet<ServerName>) -> Option<ServerName> {
    let plain = plain(name);
    let base = without_prefix(&plain);
    let candidates = [base.to_owned(), format!("{base}-server"), format!("my-{base}")];
    let valid = candidates.into_iter().find(|name| name.parse::<ServerName>().is_ok())?;
    let numbered = (1..=MOST).map(|n| if n == 1 { valid.clone() } else { format!("{valid}-{n}") });
    numbered.filter_map(|name| name.parse().ok()).find(|name| !taken.contains(name))
}

/// Small letters, digits and single hyphens between them.
fn plain(name: &str) -> String {
    let mut out = String::new();
    let mut was_small = false;
    for c in name.chars().take(200) {
        if c.is_ascii_alphanumeric() {
            // camelCase is words.
            if c.is_ascii_uppercase() && was_small {
                out.push('-');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        was_small = c.is_ascii_lowercase();
    }
    let start = out.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let cut: String = start.chars().take(MAX_BASE).collect();
    let cut = cut.trim_end_matches('-');
    if cut.is_empty() { "server".to_owned() } else { cut.to_owned() }
}

/// `mcp-` says nothing here.
fn without_prefix(name: &str) -> &str {
    name.strip_prefix("mcp-")
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        .unwrap_or(name)
}

const MAX_BASE: usize = 48;
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::made_valid;

    #[test]
    fn any_name_becomes_a_valid_one() {
        let long = "a".repeat(300);
        for (name, valid) in [
            ("github", "github"),
            ("GitHub", "git-hub"),
            ("My Server!", "my-server"),
            ("io.github.user/thing", "io-github-user-thing"),
            ("mcp-server-fetch", "server-fetch"),
            // `mcp-server` begins as no server may.
            ("mcp", "my-mcp"),
            ("time", "time-server"),
            ("graph-db", "my-graph-db"),
            ("2captcha", "captcha"),
            ("--", "server-server"),
            ("\u{65e5}\u{672c}", "server-server"),
            (&long, &long[..48]),
        ] {
            let made = made_valid(name, &BTreeSet::new());
            let made = made.map(|name| name.to_string());
            assert_eq!(made.as_deref(), Some(valid), "{name}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken = BTreeSet::from(["a".parse().unwrap(), "a-2".parse().unwrap()]);
        assert_eq!(made_valid("A", &taken).unwrap().as_str(), "a-3");
    }
}
