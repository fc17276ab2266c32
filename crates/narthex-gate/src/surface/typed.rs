//! Tools whose arguments and answers are types: their schemas, and the way in and out.

use narthex_core::Reason;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ToolError;

/// The schema of what reads as this.
pub fn input_schema<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what this is written as.
pub fn output_schema<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Reads arguments that have passed the schema.
pub fn read_arguments<T: DeserializeOwned>(value: Value) -> Result<T, ToolError> {
    serde_json::from_value(value).map_err(|_| {
        let message = "a number is out of range, or not written as a whole number";
        ToolError::caller(Reason::InvalidArguments, message)
    })
}

/// Writes an answer.
pub fn write_answer<T: Serialize>(output: &T) -> Result<Value, ToolError> {
    serde_json::to_value(output).map_err(|error| ToolError::Internal(error.to_string()))
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
