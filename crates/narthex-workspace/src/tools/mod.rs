//! The four tools: what each takes, what it answers, and how it is carried out. One a file.

pub(crate) mod context;
pub(crate) mod propose_change;
pub(crate) mod read;
pub(crate) mod search;

use narthex_core::{Containment, EffectSite, Effects, PolicyAction, Reads, Sends, TakesIn, Tier};
use narthex_gate::{Annotations, ToolError, ToolSpec};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a tool declares about itself, apart from its schemas.
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What policy is asked, over all arguments it may get.
    pub(crate) actions: &'static [PolicyAction],
    pub(crate) does: Does,
}

/// The two kinds of thing these tools do.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    Look,
    Propose,
}

impl Does {
    const fn tier(self) -> Tier {
        match self {
            Self::Look => Tier::T0,
            Self::Propose => Tier::T1,
        }
    }

    const fn effects(self) -> Effects {
        match self {
            Self::Look => Effects {
                reads: Reads::Private,
                takes_in: TakesIn::ByAnswer,
                sends: Sends::Inside,
                containment: Containment::Contained,
                site: EffectSite::Observe,
            },
            Self::Propose => Effects {
                reads: Reads::Private,
                takes_in: TakesIn::Owned,
                sends: Sends::Inside,
                containment: Containment::Contained,
                site: EffectSite::Local,
            },
        }
    }

    const fn annotations(self) -> Annotations {
        match self {
            Self::Look => Annotations {
                read_only: true,
                destructive: false,
                idempotent: true,
                open_world: false,
            },
            Self::Propose => Annotations {
                read_only: false,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
        }
    }
}

/// A tool as data, its schemas made from the types that read and write it.
pub(crate) fn spec<Input: JsonSchema, Output: JsonSchema>(
    declared: &Declared,
    ignored: &'static [&'static str],
) -> ToolSpec {
    ToolSpec {
        name: declared.name.to_owned(),
        title: declared.title.to_owned(),
        description: declared.description.to_owned(),
        input_schema: schema::<Input>(SchemaSettings::draft2020_12().for_deserialize()),
        output_schema: Some(schema::<Output>(SchemaSettings::draft2020_12().for_serialize())),
        annotations: declared.does.annotations(),
        tier: declared.does.tier(),
        effects: declared.does.effects(),
        ignored_arguments: ignored,
        target: None,
    }
}

fn schema<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    // Models and their clients read a schema best when it is all in one place. What refers to
    // itself (the page tree) keeps its reference.
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    if let Some(map) = value.as_object_mut() {
        map.shift_remove("title");
    }
    plain(&mut value);
    value
}

/// Takes out what says nothing: a default of null, and the widths of Rust's numbers.
fn plain(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            if map.contains_key("type") {
                map.shift_remove("format");
            }
            map.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Reads arguments that have passed the schema.
pub(crate) fn arguments<T: DeserializeOwned>(value: Value) -> Result<T, ToolError> {
    serde_json::from_value(value).map_err(|_| {
        let message = "a number is out of range, or not written as a whole number";
        ToolError::caller(narthex_core::Reason::InvalidArguments, message)
    })
}

/// Writes an answer.
pub(crate) fn answer<T: Serialize>(output: &T) -> Result<Value, ToolError> {
    serde_json::to_value(output).map_err(|error| ToolError::Internal(error.to_string()))
}
