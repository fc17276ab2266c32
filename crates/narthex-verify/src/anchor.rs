//! What the one who verifies knows of the ledger from elsewhere.

use std::path::Path;

use crate::fault::Failure;
use crate::hash::{Hash, unhex_hash};
use crate::note::PublicKey;

/// A point the ledger must have come by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub(crate) size: u64,
    root: Hash,
    chain: Option<Hash>,
}

impl Anchor {
    /// From `<size>:<root in hexadecimal digits>`.
    pub fn expected(text: &str) -> Option<Self> {
        let (size, root) = text.trim().split_once(':')?;
        let digits = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        let size = if digits { size.parse().ok()? } else { return None };
        Some(Self { size, root: unhex_hash(root)?, chain: None })
    }

    /// From a signed checkpoint.
    pub fn signed(note: &str, key: &PublicKey) -> Result<Self, &'static str> {
        let said = key.checkpoint(note)?;
        Ok(Self { size: said.size, root: said.root, chain: Some(said.chain) })
    }

    /// From a file that holds a signed checkpoint.
    ///
    /// Read it before the ledger: a server that goes on writing then can only be ahead of it.
    pub fn read(path: &Path, key: &PublicKey) -> Result<Self, Failure> {
        let said = |why: String| Failure::File(format!("the anchor {}: {why}", path.display()));
        let note = std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
        Self::signed(&note, key).map_err(|why| said(why.to_owned()))
    }

    /// The record it names.
    pub const fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn agrees(&self, root: &Hash, chain: &Hash) -> bool {
        self.root == *root && self.chain.is_none_or(|said| said == *chain)
    }
}
