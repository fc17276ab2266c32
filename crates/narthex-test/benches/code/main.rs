//! What a program costs: `cargo bench -p narthex-test --bench code`.
//!
//! Options: `--rounds N`, `--program PATH` (the worker's binary; the tests' own by default). Beside it, the
//! same engine in this process with nothing around it, and `--beside NAME=COMMAND`: a command that prints
//! `{"one": [ms, …], "calls": [ms, …], "sixteen": [ms, …]}` of the same three tasks (`scripts/bench-code`).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measured")]

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match bench::Options::parse(std::env::args().skip(1)) {
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
    if let Err(error) = done {
        eprintln!("{error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
