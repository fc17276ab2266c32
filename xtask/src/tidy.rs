//! Habits that are easy to forget, read off the source text.

use std::path::Path;

use walkdir::WalkDir;

/// Lines a source file may have before it wants splitting.
const MAX_LINES: usize = 500;

/// Words that only these crates may have in their source.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rmcp::", &["crates/narthex-mcp/"]),
    ("cedar_policy::", &["crates/narthex-policy/"]),
    ("sqlx::", &["crates/narthex-store-sqlite/", "crates/narthex-verify/"]),
];

pub(crate) fn faults(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for folder in ["crates", "xtask"] {
        for entry in WalkDir::new(root.join(folder)).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => faults.extend(of_source(&shown, &text)),
                Err(error) => faults.push(format!("{shown}: {error}")),
            }
        }
    }
    faults
}

fn of_source(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("{path}: {lines} lines; is there a second idea in it?"));
    }
    let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|end| path.ends_with(end));
    if is_root && !text.starts_with("//!") {
        faults.push(format!("{path}: a crate root starts with a //! paragraph"));
    }
    if path.starts_with("xtask/") {
        return faults;
    }
    for (word, folders) in ONLY_IN {
        if text.contains(word) && !folders.iter().any(|folder| path.starts_with(folder)) {
            faults.push(format!("{path}: {word} belongs in {}", folders.join(" or ")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::of_source;

    #[test]
    fn each_habit_is_found_when_it_is_broken() {
        for (path, text, faults) in [
            ("crates/narthex-gate/src/x.rs", "use std::fmt;", 0),
            ("crates/narthex-gate/src/x.rs", "use rmcp::model;", 1),
            ("crates/narthex-mcp/src/x.rs", "use rmcp::model;", 0),
            ("crates/narthex-gate/src/lib.rs", "mod x;", 1),
            ("crates/narthex-gate/src/lib.rs", "//! For what.\nmod x;", 0),
        ] {
            assert_eq!(of_source(path, text).len(), faults, "{path}: {text}");
        }
        assert_eq!(of_source("crates/a/src/x.rs", &"\n".repeat(501)).len(), 1);
    }
}
