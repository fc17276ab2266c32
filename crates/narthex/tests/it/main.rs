//! The program from outside: one binary, a module per behaviour, laid out like the command tree.

mod cli;
mod config;
mod docs;
mod gate;
mod graph;
mod graph_torture;
mod import;
mod keep;
mod ledger;
mod programs;
mod reference;
mod server_requests;
mod servers;
mod serving;
mod support;
mod torture;
