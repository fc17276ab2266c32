//! Checks on the project itself: which crate may depend on which, who may name what, and a few
//! habits that are easy to forget. `cargo xtask tidy` prints what is wrong; the tests run it too.
//! `cargo xtask bench` compares Narthex with a bare rmcp server.

mod bench;
mod directions;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("tidy") => report(&check(&root())),
        Some("bench") => {
            match bench::Options::parse(words).and_then(|options| bench::run(&root(), &options)) {
                Ok(said) => print(&said),
                Err(error) => report(&[format!("{error:#}")]),
            }
        }
        _ => report(&["usage: cargo xtask tidy | bench [--pages N] [--rounds N] [--seconds N] [--connections N]".to_owned()]),
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

#[expect(clippy::print_stdout, reason = "this is a command")]
fn print(lines: &[String]) -> ExitCode {
    for line in lines {
        println!("{line}");
    }
    ExitCode::SUCCESS
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
