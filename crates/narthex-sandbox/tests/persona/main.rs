//! One program for the tests: the worker.

use std::process::ExitCode;

use narthex_sandbox::{WORK, WorkerOrder, work};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((role, rest)) if role == WORK => WorkerOrder::of(rest).map_or(ExitCode::FAILURE, work),
        _ => ExitCode::FAILURE,
    }
}
