//! Why a data directory cannot be used.

use std::io;

use super::Holder;

/// A data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Another process holds it.
    #[error("the data directory {dir} is held by another process: {}", said(.holder.as_ref()))]
    HeldBy {
        /// Which folder.
        dir: String,
        /// By whom, if it can be read.
        holder: Option<Holder>,
    },
    /// There is no house in it.
    #[error("there is no house in {0}")]
    Missing(String),
    /// A key that others can read.
    #[error("{path} can be read by others (mode {mode:o}); run: chmod 600 {path}")]
    Exposed {
        /// Which file.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// A key that is none.
    #[error("{0} is not a key of 32 bytes; restore it from a backup")]
    BadKey(String),
    /// The disk says no.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: String,
        /// What it said.
        source: io::Error,
    },
}

fn said(holder: Option<&Holder>) -> String {
    match holder {
        None => "its name cannot be read".to_owned(),
        Some(Holder { pid, what, mcp_url: None }) => format!("narthex {what}, pid {pid}"),
        Some(Holder { pid, what, mcp_url: Some(url) }) => {
            format!("narthex {what}, pid {pid}, at {url}")
        }
    }
}
