//! Who may do what, and what it leaves in the ledger: the one table, and what must be in it.

mod cells;
mod coverage;
mod graphs;
mod methods;
mod routes;
mod sessions;
mod tools;
