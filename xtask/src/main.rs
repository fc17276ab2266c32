//! Checks on the project itself: which crate may depend on which, who may name what, and a few
//! habits that are easy to forget. `cargo xtask tidy` prints what is wrong; the tests run it too.

mod directions;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => report(&check(&root())),
        _ => report(&["usage: cargo xtask tidy".to_owned()]),
    }
}

/// Everything that is wrong.
fn check(root: &std::path::Path) -> Vec<String> {
    let mut faults = match directions::faults(root) {
        Ok(faults) => faults,
        Err(error) => vec![format!("dependencies could not be read: {error:#}")],
    };
    faults.extend(tidy::faults(root));
    faults
}

#[expect(clippy::print_stderr, reason = "this is a command")]
fn report(faults: &[String]) -> ExitCode {
    for fault in faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_project_is_tidy() {
        let faults = super::check(&super::root());
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
