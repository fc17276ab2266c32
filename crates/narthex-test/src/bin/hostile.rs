//! Somebody else's MCP server, as hostile as its script: see `narthex_test::upstream`. It is also the
//! keeper of such servers and the worker of programs, as our own binary is.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == narthex_walls::KEEP) {
        return narthex_walls::keep(words);
    }
    let order: Vec<String> = std::env::args().skip(1).collect();
    if let Some((word, order)) = order.split_first()
        && word == narthex_sandbox::WORK
    {
        let order = narthex_sandbox::WorkerOrder::of(order);
        return order.map_or(ExitCode::FAILURE, narthex_sandbox::work);
    }
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let words = std::env::args().skip(1).collect();
    let ended = runtime.block_on(narthex_test::upstream::run(words));
    // A reader of stdin may still be waiting, and would keep the runtime from ending.
    std::process::exit(ended);
}
