//! Parameters: what a query is told becomes the values it runs with, all of them or none.
//!
//! A required parameter that is missing is an error. Nothing is ever left out of a query because
//! something was not said.

use serde_json::{Map, Value as Json};

use crate::diagnostic::nearest;
use crate::query::Param;
use crate::schema::Kind;
use crate::value::{Mismatch, Value};

/// The values of all parameters, in their order.
pub fn bind(params: &[Param], given: &Map<String, Json>) -> Result<Vec<Value>, ParamError> {
    if let Some(name) = given.keys().find(|name| params.iter().all(|p| p.name != **name)) {
        return Err(ParamError::unknown(name, params));
    }
    params.iter().map(|param| value_of(param, given.get(&param.name))).collect()
}

fn value_of(param: &Param, given: Option<&Json>) -> Result<Value, ParamError> {
    let name = || param.name.clone();
    match given {
        Some(Json::Null) if param.nullable => Ok(Value::Null),
        Some(Json::Null) => Err(ParamError::Null { name: name(), kind: param.kind.clone() }),
        Some(json) => {
            param.kind.accept(json).map_err(|why| ParamError::Wrong { name: name(), why })
        }
        None => match &param.default {
            Some(default) => Ok(default.clone()),
            None if param.nullable => Ok(Value::Null),
            None => Err(ParamError::Missing { name: name(), kind: param.kind.clone() }),
        },
    }
}

/// Why a query cannot run with what it was told. Always the caller's to mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// A required one was left out.
    #[error("the parameter `${name}` ({kind}) is required")]
    Missing {
        /// Which.
        name: String,
        /// What it is.
        kind: Kind,
    },
    /// Null for one that cannot be.
    #[error("the parameter `${name}` ({kind}) cannot be null")]
    Null {
        /// Which.
        name: String,
        /// What it is.
        kind: Kind,
    },
    /// A value of another kind.
    #[error("the parameter `${name}`: {why}")]
    Wrong {
        /// Which.
        name: String,
        /// What is wrong.
        why: Mismatch,
    },
    /// There is none of this name.
    #[error("there is no parameter `{name}`; {help}")]
    Unknown {
        /// The name, in short.
        name: String,
        /// What was probably meant, or which there are.
        help: String,
    },
}

impl ParamError {
    fn unknown(name: &str, params: &[Param]) -> Self {
        let names = || params.iter().map(|param| param.name.as_str());
        // Some write the `$` with it.
        let bare = name.trim_start_matches('$');
        let meant = names().find(|known| *known == bare).or_else(|| nearest(bare, names()));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if params.is_empty() => "the query has none".to_owned(),
            None => format!("there are `{}`", names().collect::<Vec<_>>().join("`, `")),
        };
        Self::Unknown { name: name.chars().take(NAME_CHARS).collect(), help }
    }
}

/// How much of an unknown name is said back.
const NAME_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::bind;
    use crate::query::Param;
    use crate::schema::Kind;
    use crate::value::Value;

    fn params() -> Vec<Param> {
        let param = |name: &str, kind, nullable, default| Param {
            name: name.to_owned(),
            kind,
            nullable,
            default,
        };
        vec![
            param("slug", Kind::String, false, None),
            param("min", Kind::I32, false, Some(Value::Int(18))),
            param("max", Kind::U64, true, Some(Value::Int(99))),
            param("since", Kind::Date, true, None),
        ]
    }

    fn bound(given: &Json) -> Result<Vec<Value>, String> {
        bind(&params(), given.as_object().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_is_its_default_or_null() {
        let ada = || Value::Text("ada".to_owned());
        assert_eq!(
            bound(&json!({"slug": "ada"})),
            Ok(vec![ada(), Value::Int(18), Value::Int(99), Value::Null])
        );
        assert_eq!(
            bound(&json!({"max": null, "min": 3, "slug": "ada", "since": null})),
            Ok(vec![ada(), Value::Int(3), Value::Null, Value::Null])
        );
    }

    #[test]
    fn nothing_is_guessed() {
        for (given, message) in [
            (json!({}), "the parameter `$slug` (String) is required"),
            (json!({"slug": null}), "the parameter `$slug` (String) cannot be null"),
            (json!({"slug": "a", "min": null}), "the parameter `$min` (I32) cannot be null"),
            (json!({"slug": 1}), "the parameter `$slug`: 1 is no String: send a string"),
            (
                json!({"slug": "a", "max": 3}),
                "the parameter `$max`: 3 is no U64: send a string, so that no reader rounds it: \"3\"",
            ),
            (json!({"slgu": "a"}), "there is no parameter `slgu`; did you mean `slug`?"),
            (json!({"$slug": "a"}), "there is no parameter `$slug`; did you mean `slug`?"),
            (
                json!({"slug": "a", "elsewhere": 1}),
                "there is no parameter `elsewhere`; there are `slug`, `min`, `max`, `since`",
            ),
        ] {
            assert_eq!(bound(&given), Err(message.to_owned()));
        }
        let none = bind(&[], json!({"x": 1}).as_object().unwrap()).unwrap_err().to_string();
        assert_eq!(none, "there is no parameter `x`; the query has none");
    }
}
