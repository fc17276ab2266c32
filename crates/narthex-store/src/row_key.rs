//! The MAC that rows carry where the database itself cannot be believed.

use hmac::Mac;
use narthex_core::Digest;

use crate::chain::{HeadKey, keyed};

/// The key rows are authenticated with, and argument values are hashed with.
#[derive(Clone)]
pub struct RowKey {
    rows: [u8; 32],
    values: [u8; 32],
}

impl std::fmt::Debug for RowKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RowKey(…)")
    }
}

impl RowKey {
    /// Made from the ledger's key.
    pub fn of(key: &HeadKey) -> Self {
        Self { rows: key.derive("rows"), values: key.derive("values") }
    }

    /// The MAC of a row: its table and its fields, each with its length, so that nothing moves
    /// from one field to the next.
    pub fn row(&self, table: &str, fields: &[&[u8]]) -> Digest {
        let mut mac = keyed(&self.rows);
        for field in std::iter::once(&table.as_bytes()).chain(fields) {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        Digest::from_bytes(mac.finalize().into_bytes().into())
    }

    /// Whether a row's MAC is genuine.
    pub fn is_row(&self, table: &str, fields: &[&[u8]], mac: &[u8]) -> bool {
        use subtle::ConstantTimeEq as _;
        self.row(table, fields).as_bytes().as_slice().ct_eq(mac).into()
    }

    /// The keyed hash of a value: equal values have equal hashes, and only here.
    pub fn value(&self, canonical: &[u8]) -> Digest {
        let mut mac = keyed(&self.values);
        mac.update(canonical);
        Digest::from_bytes(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::RowKey;
    use crate::chain::HeadKey;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let key = RowKey::of(&HeadKey::new([7; 32]));
        let other = RowKey::of(&HeadKey::new([8; 32]));
        let mac = key.row("t", &[b"ab", b"c"]);
        assert!(key.is_row("t", &[b"ab", b"c"], mac.as_bytes()));
        for (table, fields) in
            [("t", [&b"a"[..], b"bc"]), ("u", [b"ab", b"c"]), ("t", [b"ab", b"d"])]
        {
            assert!(!key.is_row(table, &fields, mac.as_bytes()), "{table} {fields:?}");
        }
        assert!(!key.is_row("t", &[b"ab", b"c"], &[]));
        assert!(!other.is_row("t", &[b"ab", b"c"], mac.as_bytes()));
        assert_eq!(key.value(b"x"), key.value(b"x"));
        assert_ne!(key.value(b"x"), other.value(b"x"));
        assert_ne!(key.value(b"x"), key.row("x", &[]));
    }
}
