//! The hashes a ledger is made of, written down a second time.

use sha2::{Digest as _, Sha256};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The chain's value before the first record.
pub(crate) const GENESIS: Hash = [0; 32];

/// The chain's value at a record.
pub(crate) fn link(previous: &Hash, record: &[u8]) -> Hash {
    Sha256::new()
        .chain_update(b"narthex ledger record v1\n")
        .chain_update(previous)
        .chain_update((record.len() as u64).to_be_bytes())
        .chain_update(record)
        .finalize()
        .into()
}

/// A leaf of the tree.
pub(crate) fn leaf(record: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(record).finalize().into()
}

/// An inner node of the tree.
pub(crate) fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The root of a tree without leaves.
pub(crate) fn nothing() -> Hash {
    Sha256::digest(b"").into()
}

/// As hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// From hexadecimal digits, in lower case.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// A hash from its hexadecimal digits.
pub fn unhex_hash(text: &str) -> Option<Hash> {
    unhex(text)?.try_into().ok()
}
