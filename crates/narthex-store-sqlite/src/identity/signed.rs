//! A row as it is under its MAC.

use narthex_core::Digest;
use narthex_store::RowKey;

use super::tables::{Kind, Table};
use super::{Identities, Name};
use crate::fault::Fault;
use crate::rows::Fields;

/// The columns of a row, exactly as they are stored.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    name: Name,
    /// In the order of the table's columns; the first is the id.
    values: Vec<Value>,
}

/// A column, which ends with [`PRESENT`]; nothing at all if it is NULL.
type Value = Vec<u8>;

impl Signed {
    /// A row that is about to be written.
    pub(crate) const fn new(name: Name, values: Vec<Value>) -> Self {
        Self { name, values }
    }

    /// A row as it is found, whether genuine or not.
    pub(crate) fn found(row: Fields<'_>, table: &'static Table) -> Result<Self, Fault> {
        let (id, _) = table.columns.first().ok_or_else(|| Fault::damaged("no columns"))?;
        let name = (table.name_of)(row.get(id)?).map_err(Fault::damaged)?;
        let value = |&(column, kind): &(&str, Kind)| match kind {
            Kind::Bytes => row.get::<Option<&[u8]>>(column).map(|value| value.map(bytes)),
            Kind::Text | Kind::LaterText => {
                row.get::<Option<&str>>(column).map(|value| value.map(text))
            }
            Kind::Number => row.get::<Option<i64>>(column).map(|value| value.map(number)),
        };
        let values =
            table.columns.iter().map(|column| value(column).map(Option::unwrap_or_default));
        let values = values.collect::<Result<_, Fault>>().map_err(|_| changed(&name))?;
        Ok(Self { name, values })
    }

    /// A row as it is found, with its MAC, if that is genuine.
    pub(crate) fn genuine(
        row: Fields<'_>,
        table: &'static Table,
        key: &RowKey,
    ) -> Result<(Self, Digest), Fault> {
        let found = Self::found(row, table)?;
        let stored = row.get::<Option<&[u8]>>(table.mac).ok().flatten().unwrap_or_default();
        let mac = found.mac(key);
        // Compared as digests: whoever could time this could read the row.
        if mac.as_bytes().as_slice() == stored {
            Ok((found, mac))
        } else {
            Err(changed(&found.name))
        }
    }

    /// The same, if it is also the one that was written last.
    pub(crate) fn current(
        row: Fields<'_>,
        table: &'static Table,
        key: &RowKey,
        known: &Identities,
    ) -> Result<Self, Fault> {
        let (found, mac) = Self::genuine(row, table, key)?;
        if known.holds(&found.name, &mac) { Ok(found) } else { Err(older(&found.name)) }
    }

    pub(crate) const fn name(&self) -> Name {
        self.name
    }

    /// What a column holds: nothing if it is NULL.
    pub(crate) fn value(&self, column: &str) -> &[u8] {
        let place = self.name.table().place(column);
        place.and_then(|place| self.values.get(place)).map_or(&[], Vec::as_slice)
    }

    /// The row with another value in a column.
    pub(crate) fn with(mut self, column: &str, value: Value) -> Result<Self, Fault> {
        let place = self.name.table().place(column);
        let slot = place.and_then(|place| self.values.get_mut(place));
        *slot.ok_or_else(|| Fault::damaged(format!("no column {column}")))? = value;
        Ok(self)
    }

    /// Over every column, each told apart from one that is NULL.
    pub(crate) fn mac(&self, key: &RowKey) -> Digest {
        let table = self.name.table();
        let columns = table.columns.iter().zip(&self.values);
        let held = columns
            .filter(|((_, kind), value)| !matches!(kind, Kind::LaterText) || !value.is_empty());
        let fields: Vec<&[u8]> = held.map(|(_, value)| value.as_slice()).collect();
        key.row(table.name, &fields)
    }
}

/// A column of bytes.
pub(crate) fn bytes(bytes: &[u8]) -> Value {
    [bytes, &[PRESENT]].concat()
}

/// A column of text.
pub(crate) fn text(text: &str) -> Value {
    bytes(text.as_bytes())
}

/// A column with a number.
pub(crate) fn number(number: i64) -> Value {
    bytes(&number.to_be_bytes())
}

fn changed(name: &Name) -> Fault {
    Fault::damaged(format!("{name} was changed from outside"))
}

/// What is said of a row that is genuine, but not the one that was written last.
pub(crate) fn older(name: &impl std::fmt::Display) -> Fault {
    Fault::damaged(format!("{name} was put back from outside as it was before"))
}

/// Ends a field that is there, so that an empty one is not taken for none.
const PRESENT: u8 = 1;
