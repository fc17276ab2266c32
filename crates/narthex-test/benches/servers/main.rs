//! What it costs to call somebody else's server through Narthex: `cargo bench -p narthex-test --bench
//! servers`.
//!
//! Options: `--calls`, `--rounds`, `--pace-ms`, and `--beside NAME=COMMAND` for another
//! proxy in front of the same server (see [`bench`]). `scripts/bench-servers` runs it with the release
//! program and other people's proxies in processes of their own; `tests/it/servers/cost.rs` at a tiny size.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measured")]

#[path = "bench.rs"]
mod bench;
#[path = "ways.rs"]
mod ways;

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
