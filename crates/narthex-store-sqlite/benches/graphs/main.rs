//! Graphs beside plain SQL, in one run: `cargo bench -p narthex-store-sqlite --bench graphs`.
//!
//! Options: `--nodes`, `--edges`, `--times 1,10`, `--commits`, `--rounds`, `--output json`. What is
//! measured is in [`bench`]; `tests/it/graphs/tiny.rs` runs it at a tiny size.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measured")]

#[path = "bench.rs"]
mod bench;

use std::process::ExitCode;

use crate::bench::Options;

fn main() -> ExitCode {
    let (options, json) = match Options::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(bench::run(&options, |said| eprintln!("{said}"))));
    match done {
        Ok(report) if json => println!("{}", report.to_json()),
        Ok(report) => println!("{}", report.to_table()),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
