//! Somebody else's MCP server, as hostile as its script: see `narthex_test::upstream`.

#[tokio::main]
async fn main() {
    let ended = narthex_test::upstream::run(std::env::args().skip(1).collect()).await;
    // A reader of stdin may still be waiting, and would keep the runtime from ending.
    std::process::exit(ended);
}
