//! What the rules find, in memory: thousands of ledgers untouched, and thousands tampered with.

mod classes;
mod model;
mod proofs;
mod trees;
