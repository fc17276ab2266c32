//! Other people's MCP servers, as far as it can be said without starting one.
//!
//! What the owner says of them: [`config`] reads the `mcpServers` file, [`import`] takes servers
//! over from other clients, [`profile`] stacks named sets of them. What was agreed to: [`pin`] turns
//! a start and a definition into digests and tells what changed. What they say themselves: [`scan`]
//! looks at definitions and results before anyone else does, [`sanitise`] makes names, descriptions
//! and errors fit to be seen.
//!
//! It must never know MCP's wire, HTTP or SQL. Only `pin::program` looks at files; the environment,
//! the files a substitution names and the files of other clients come in through traits.
//!
//! To add a key of the file: a field in `config::server`, a row in `config::keys` if another client
//! writes it too. To add a client to import from: rows in `import::places`. To add something to look
//! for: a `Code` in `scan::finding`, and the file that finds it; a bad character is a row in
//! `text::unseen`.

pub mod config;
pub mod import;
mod located;
pub mod pin;
pub mod profile;
pub mod sanitise;
pub mod scan;
mod secret_look;
pub mod text;

pub use located::{JsonFault, Place};
