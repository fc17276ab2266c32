//! The lines of an exported segment; see `docs/ledger-format.md`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Seal;

/// The first line.
pub const MAGIC: &str = "narthex-segment-v1";

/// The second line: how many records there are before it.
pub fn from(size: u64) -> String {
    format!("from {size}")
}

/// A record's line.
pub fn record(hash: &str, record: &str) -> String {
    format!("R {hash} {record}")
}

/// A checkpoint's line.
pub fn checkpoint(seal: &Seal) -> String {
    let frontier = narthex_core::hex(&seal.frontier);
    format!("C {} {frontier} {}", seal.size, STANDARD.encode(&seal.note))
}
