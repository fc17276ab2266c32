//! The edge alone, with a trivial surface and a store in memory: raw bytes in, bytes out.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test does not expect fails it"
)]

mod house;
mod raw;

mod authentication;
mod consent;
mod drain;
mod early_headers;
mod eras;
mod json_rpc;
mod ledger;
mod limits;
mod proxy;
mod refusals;
mod results;
mod rmcp_pins;
mod sessions;
mod stdio;
mod tls;
mod transport;
mod upstream;
mod waiting;
