//! The SQLite store against the suite, and against what can be done to its files.

mod backend;
mod crash;
mod files;
mod gate;
mod graphs;
mod hands;
mod migrating;
mod sealed;
mod tamper;
mod vanished;

mod suite {
    use super::backend::SqliteBackend;

    narthex_store::store_suite!(SqliteBackend::new());
}
