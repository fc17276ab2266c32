//! How somebody says what a row is to be: by its name, and in the JSON of answers.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Body, How, Resolution, RowId, RowName, Shown};
use crate::diagnostic::nearest;
use crate::rows::{edge_number, encode, key_value, node_number};
use crate::schema::{EdgeType, Property, Schema};
use crate::value::Value;

/// A resolution as it is asked for: `{"row": {…}, "take": "ours"}`, or with `given` values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Asked {
    /// What one side has, or nothing.
    Take {
        /// Which row.
        row: RowName,
        /// Which.
        take: Take,
    },
    /// This, all of it: what is left out is null, or a list of nothing where there must be one. The
    /// key and the ends may be left out.
    Given {
        /// Which row.
        row: RowName,
        /// Values by the name of their property.
        given: Shown,
    },
}

/// What a row is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// As it is in ours.
    Ours,
    /// As it is in theirs.
    Theirs,
    /// Gone.
    Gone,
}

/// What is wrong with what was asked for. The caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskedError {
    /// There can be no row of this name.
    #[error("{0}: there is no such type, or this cannot be its key")]
    Name(Box<RowName>),
    /// It has no such property.
    #[error("{row}: there is no property `{property}`{}", .meant.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    Property {
        /// Which row.
        row: Box<RowName>,
        /// What was given.
        property: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A value does not fit.
    #[error("{row}: property `{property}`: {why}")]
    Value {
        /// Which row.
        row: Box<RowName>,
        /// The property.
        property: String,
        /// What is wrong.
        why: String,
    },
}

impl Asked {
    /// What is asked for, under the merged schema.
    pub fn resolution(&self, schema: &Schema, salt: &[u8; 16]) -> Result<Resolution, AskedError> {
        let (Self::Take { row, .. } | Self::Given { row, .. }) = self;
        let id = row.id(schema, salt).ok_or_else(|| AskedError::Name(Box::new(row.clone())))?;
        let how = match self {
            Self::Take { take: Take::Ours, .. } => How::Ours,
            Self::Take { take: Take::Theirs, .. } => How::Theirs,
            Self::Take { take: Take::Gone, .. } => How::Given(None),
            Self::Given { given, .. } => How::Given(Some(body(row, schema, given)?)),
        };
        Ok(Resolution { row: id, how })
    }
}

impl RowName {
    /// The type and number of the row of this name. None if there can be none.
    pub fn id(&self, schema: &Schema, salt: &[u8; 16]) -> Option<RowId> {
        let end = |(name, key): &(String, String)| {
            let node = schema.node(name)?;
            key_value(&node.key_property()?.kind, key)?;
            Some((node.slot.clone(), key.clone()))
        };
        match self {
            Self::Node { type_name, key } => {
                let (slot, key) = end(&(type_name.clone(), key.clone()))?;
                Some((schema.node(type_name)?.tag(), node_number(salt, &slot, &key)))
            }
            Self::Edge { type_name, from, to, key } => {
                let edge = schema.edge(type_name)?;
                let (from, to) = (end(from)?, end(to)?);
                let keys = edge_keys(edge, key)?;
                let (from, to) =
                    ((from.0.as_str(), from.1.as_str()), (to.0.as_str(), to.1.as_str()));
                Some((edge.tag(), edge_number(salt, &edge.slot, from, to, &keys)))
            }
        }
    }
}

fn edge_keys(edge: &EdgeType, texts: &[String]) -> Option<Vec<Value>> {
    if edge.key.len() != texts.len() {
        return None;
    }
    let value = |(at, text): (&usize, &String)| key_value(&edge.properties.get(*at)?.kind, text);
    edge.key.iter().zip(texts).map(value).collect()
}

/// Values by name as a body by slot, without what was left out.
fn body(row: &RowName, schema: &Schema, given: &Shown) -> Result<Body, AskedError> {
    let name = row.type_name();
    let properties = match (schema.node(name), schema.edge(name)) {
        (Some(node), _) => &node.properties,
        (None, Some(edge)) => &edge.properties,
        (None, None) => return Err(AskedError::Name(Box::new(row.clone()))),
    };
    let mut values: Vec<Value> = properties.iter().map(Property::left_out).collect();
    for (property, json) in given {
        let known = || properties.iter().map(|property| property.name.as_str());
        let place = properties.iter().zip(&mut values).find(|(of, _)| of.name == *property);
        let Some((of, value)) = place else {
            return Err(AskedError::Property {
                row: Box::new(row.clone()),
                property: property.clone(),
                meant: nearest(property, known()).map(str::to_owned),
            });
        };
        *value = accepted(row, of, json)?;
    }
    let wrong = |why: String| AskedError::Value {
        row: Box::new(row.clone()),
        property: String::new(),
        why,
    };
    // Of an edge too: its ends are filled in from the row that is there.
    let text = encode(properties, &values).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

fn accepted(row: &RowName, of: &Property, json: &Json) -> Result<Value, AskedError> {
    if json.is_null() {
        return Ok(Value::Null);
    }
    of.kind.accept(json).map_err(|why| AskedError::Value {
        row: Box::new(row.clone()),
        property: of.name.clone(),
        why: why.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{Asked, AskedError};
    use crate::merge::{Body, How, Names};
    use crate::rows::{edge_number, node_number};
    use crate::schema::Schema;
    use crate::value::Value;

    const SALT: [u8; 16] = [7; 16];

    fn schema() -> Schema {
        let first = Schema::read(
            "node Person { slug: String @key  size: I64?  v: Vector(2)? }
             edge Knows: Person -> Person { no: I32 @key  since: Date? }",
            None,
        )
        .unwrap();
        Schema::read(
            "node Human @rename_from(Person) { slug: String @key  width: I64? @rename_from(size)
                 v: Vector(2)? }
             edge Knows: Human -> Human { no: I32 @key  since: Date? }",
            Some(&first),
        )
        .unwrap()
    }

    fn asked(json: Json) -> Result<How, AskedError> {
        let asked: Asked = serde_json::from_value(json).unwrap();
        asked.resolution(&schema(), &SALT).map(|resolution| resolution.how)
    }

    #[test]
    fn what_is_shown_of_a_row_can_be_given_back() {
        let schema = schema();
        let names = Names::of(&schema);
        let node: Body =
            serde_json::from_str(r#"{"size":5,"slug":"ada","v":"AACAPwAAAAA"}"#).unwrap();
        let edge: Body = serde_json::from_str(
            r#"{"@from":["Person","ada"],"@to":["Person","bob"],"no":3,"since":"2026-01-31"}"#,
        )
        .unwrap();
        let numbers = [
            node_number(&SALT, "Person", "ada"),
            edge_number(&SALT, "Knows", ("Person", "ada"), ("Person", "bob"), &[Value::Int(3)]),
        ];
        let tags = [schema.nodes[0].tag(), schema.edges[0].tag()];
        for ((tag, mut body), number) in tags.into_iter().zip([node, edge]).zip(numbers) {
            let row = names.name(tag, &body).unwrap();
            let given = names.show(tag, &body);
            assert_eq!(row.id(&schema, &SALT), Some((tag, number)), "{row}");
            let how = asked(json!({"row": row, "given": given})).unwrap();
            body.retain(|slot, _| !slot.starts_with('@'));
            assert_eq!(how, How::Given(Some(body)));
            for (take, is) in
                [("ours", How::Ours), ("theirs", How::Theirs), ("gone", How::Given(None))]
            {
                assert_eq!(asked(json!({"row": row, "take": take})).unwrap(), is);
            }
        }
        assert_eq!(names.show(tags[0], &Body::new()), serde_json::Map::new());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let ada = json!({"type": "Human", "key": "ada"});
        for (json, says) in [
            (json!({"row": {"type": "Person", "key": "ada"}, "take": "ours"}), "no such type"),
            (
                json!({"row": {"type": "Knows", "from": ["Human", "a"], "to": ["Human", "b"]},
                    "take": "ours"}),
                "cannot be its key",
            ),
            (json!({"row": ada, "given": {"widht": "1"}}), "did you mean `width`?"),
            (json!({"row": ada, "given": {"width": 1}}), "property `width`"),
        ] {
            let error = asked(json.clone()).unwrap_err().to_string();
            assert!(error.contains(says), "{json}: {error}");
        }
        for wrong in [
            json!({"row": ada}),
            json!({"row": ada, "take": "mine"}),
            json!({"row": ada, "given": null}),
            json!({"row": ada, "take": "ours", "given": {}}),
            json!({"row": {"type": "Human", "key": "ada", "x": 1}, "take": "ours"}),
        ] {
            assert!(serde_json::from_value::<Asked>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
