//! A schema as it is kept: its text, and what that alone does not say.

use std::collections::{BTreeMap, BTreeSet};

use narthex_core::Digest;
use serde::{Deserialize, Serialize};

use super::check::checked;
use super::parse::declarations;
use super::slots::Origin;
use super::{Property, Schema};
use crate::Diagnostic;

/// Not a schema as one is kept.
#[derive(Debug, thiserror::Error)]
pub enum StoredSchemaError {
    /// It is not the JSON it should be.
    #[error("a stored schema cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("a stored schema is of version {0}, which is not known here")]
    Version(u32),
    /// Its text is wrong.
    #[error("the text of a stored schema is wrong: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Text(Vec<Diagnostic>),
    /// It does not say what something is stored under.
    #[error("a stored schema does not say what {0} is stored under")]
    Slot(String),
}

impl Schema {
    /// Reads a schema's text. With the one `before` it, what stays keeps what it is stored under.
    pub fn read(source: &str, before: Option<&Self>) -> Result<Self, Vec<Diagnostic>> {
        let origin = before.map_or(Origin::New, Origin::After);
        checked(source, &declarations(source)?, origin)
    }

    /// All of it as a text, to be read back by [`Schema::from_stored`].
    pub fn stored(&self) -> String {
        let nodes = self.nodes.iter().map(|one| (&one.name, &one.slot, &one.properties));
        let edges = self.edges.iter().map(|one| (&one.name, &one.slot, &one.properties));
        let types = nodes.chain(edges).map(|(name, slot, properties)| {
            let properties = properties.iter().map(|of| (of.name.clone(), of.into())).collect();
            (name.clone(), StoredType { slot: slot.clone(), properties })
        });
        let stored = StoredSchema {
            version: VERSION,
            source: self.source.clone(),
            types: types.collect(),
            slots: self.slots.clone(),
        };
        // Names and numbers: there is nothing in it that could not be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads back what [`Schema::stored`] made.
    pub fn from_stored(text: &str) -> Result<Self, StoredSchemaError> {
        let stored: StoredSchema = serde_json::from_str(text)?;
        if stored.version != VERSION {
            return Err(StoredSchemaError::Version(stored.version));
        }
        let decls = declarations(&stored.source).map_err(StoredSchemaError::Text)?;
        let origin = Origin::Stored(&stored.types, &stored.slots);
        let schema = checked(&stored.source, &decls, origin).map_err(StoredSchemaError::Text)?;
        schema.without_slot().map_or(Ok(()), |name| Err(StoredSchemaError::Slot(name)))?;
        Ok(schema)
    }

    /// What tells it from every other schema, slots included.
    pub fn digest(&self) -> Digest {
        Digest::of(self.stored().as_bytes())
    }

    fn without_slot(&self) -> Option<String> {
        let nodes = self.nodes.iter().map(|one| (&one.name, &one.slot, &one.properties));
        let edges = self.edges.iter().map(|one| (&one.name, &one.slot, &one.properties));
        nodes.chain(edges).find_map(|(name, slot, properties)| {
            let bad = |of: &&Property| of.slot.is_empty() || of.index == Some(0);
            let property = properties.iter().find(bad);
            match property {
                _ if slot.is_empty() => Some(name.clone()),
                Some(property) => Some(format!("{name}.{}", property.name)),
                None => None,
            }
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSchema {
    version: u32,
    source: String,
    types: BTreeMap<String, StoredType>,
    slots: BTreeSet<String>,
}

/// What a type and its properties are stored under.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredType {
    /// The type.
    pub(super) slot: String,
    /// Its properties.
    pub(super) properties: BTreeMap<String, StoredProperty>,
}

/// What a property is stored under.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredProperty {
    /// Its values.
    pub(super) slot: String,
    /// Which index of that slot it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u32>,
}

impl From<&Property> for StoredProperty {
    fn from(property: &Property) -> Self {
        Self { slot: property.slot.clone(), index: property.index }
    }
}

/// The form this writes and reads.
const VERSION: u32 = 1;
