//! How soon a stop takes hold: `cargo bench -p narthex-test --bench stopping`.
//!
//! Options: `--rounds`, `--calls`, `--callers`. What is measured is in [`bench`];
//! `tests/it/gate/stopping.rs` runs it at a tiny size.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measured")]

#[path = "bench.rs"]
mod bench;
#[path = "../../tests/it/gate/surface.rs"]
#[allow(clippy::panic, reason = "a tool that does, for the tests")]
mod surface;

use std::process::ExitCode;

use crate::bench::Options;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::from(2);
        }
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done =
        runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(bench::run(&options)));
    match done {
        Ok(lines) => println!("{}", bench::table(&lines)),
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
