//! Seals on what is handed out and comes back: made with the house's key, worth nothing elsewhere.

use narthex_core::Digest;

use crate::Gate;

impl Gate {
    /// A seal over these fields, for this purpose and no other.
    pub fn seal(&self, purpose: &str, fields: &[&[u8]]) -> Digest {
        self.inner().rows.row(&table(purpose), fields)
    }

    /// Whether this is that seal; how long that takes says nothing about how much of it fits.
    pub fn is_sealed(&self, purpose: &str, fields: &[&[u8]], seal: &[u8]) -> bool {
        self.inner().rows.is_row(&table(purpose), fields, seal)
    }
}

/// No table of a store has a colon in its name, so a seal is never the MAC of a row.
fn table(purpose: &str) -> String {
    format!("seal:{purpose}")
}
