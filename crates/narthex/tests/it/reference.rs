//! The generated references are the committed ones. `UPDATE=1` writes them anew.

#![allow(clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use crate::support::{narthex, stdout};

#[test]
fn no_drift_in_the_configuration_reference() {
    holds("config", "configuration.md");
}

#[test]
fn no_drift_in_the_command_line_reference() {
    holds("cli", "cli.md");
}

/// A file under `docs/`.
pub(crate) fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[expect(clippy::disallowed_methods, reason = "a test has no settings; this is how it is told")]
fn holds(what: &str, file: &str) {
    let made = stdout(&narthex(&["reference", what], Path::new("unused")));
    let path = docs(file);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).expect("docs can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == committed, "docs/{file} is out of date; run UPDATE=1 cargo nextest run drift");
}
