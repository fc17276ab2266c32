//! The embedded default store: everything of a house in one SQLite database, and the ledger's
//! head in a file beside it.
//!
//! Many connections read and one task writes ([`SqliteStore`] implements every trait of
//! `narthex-store`). The writer takes all the units that wait, commits them together with one
//! flush to disk, writes the head file and only then answers. Each space has a full-text index
//! of its own. Over the ledger it keeps a tree and signs it; `narthex-verify` is what checks it.
//!
//! It must never know: HTTP, MCP, policy, who may do what. It knows rows, and the rules of
//! `narthex-store`.
//!
//! To add a repository: its trait in `narthex-store`, a file in `readers`, its row in `rows`. To
//! add an effect: its file or function in `writer/effects` and its line in the match there. To
//! change the schema: a new numbered file in `migrations`, never a change to an old one.

mod checkpoint;
mod config;
mod connect;
mod fault;
mod gate;
mod graphs;
mod held;
mod identity;
mod lock;
mod matter;
mod memory;
mod open;
mod readers;
mod rows;
mod store;
mod writer;

pub use config::SqliteConfig;
pub use store::SqliteStore;
