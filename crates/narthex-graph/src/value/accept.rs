//! The one way in: JSON from outside becomes a value of a kind, or is refused with what to do.
//!
//! Parameters and loads both come through here. What it takes is exactly what [`Kind::json_schema`]
//! describes; the tests of that hold the two together, value by value.
//!
//! - Whole numbers of 64 bits are decimal text, always, so that a type never depends on a value: as
//!   JSON numbers most readers would round them.
//! - Those of 32 bits are JSON numbers without a fraction; `1.0` and `1e3` are such, as JSON Schema's
//!   `integer` has it.
//! - Floats are the double (or single) nearest to what is written. Zero has no sign.
//! - Days and moments are RFC 3339 as [`parse_date`] and [`parse_moment`] say.

use serde_json::Value as Json;

use super::uri::is_uri;
use super::{Value, parse_date, parse_moment, whole};
use crate::diagnostic::nearest;
use crate::schema::Kind;

/// A value that is not of the kind that is wanted: what is wrong, and what to send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub(super) String);

impl Kind {
    /// A value of this kind, from outside. Null is of no kind: whether there may be none is for
    /// whoever asks.
    pub fn accept(&self, json: &Json) -> Result<Value, Mismatch> {
        match self {
            Self::String => {
                let text = self.text(json)?;
                bounded_text(text).map(|()| Value::Text(text.to_owned()))
            }
            Self::Blob => {
                let text = self.text(json)?;
                let wrong = || self.wrong(json, "an absolute URI like `https://example.org/a.png`");
                is_uri(text).then(|| Value::Text(text.to_owned())).ok_or_else(wrong)
            }
            Self::Bool => {
                json.as_bool().map(Value::Bool).ok_or_else(|| self.wrong(json, "true or false"))
            }
            Self::I32 | Self::U32 => self.small(json),
            Self::I64 | Self::U64 => self.wide(json),
            Self::F32 => self.single(json).map(|number| Value::Float(number.into())),
            Self::F64 => json
                .as_f64()
                .filter(|number| number.is_finite())
                .map(|number| Value::Float(number + 0.0))
                .ok_or_else(|| self.wrong(json, "a number")),
            Self::Date => parse_date(self.text(json)?)
                .map(Value::Date)
                .ok_or_else(|| self.wrong(json, "a day like `2026-01-31`")),
            Self::DateTime => parse_moment(self.text(json)?)
                .map(Value::DateTime)
                .ok_or_else(|| self.wrong(json, "a moment like `2026-01-31T09:30:00Z`")),
            Self::Vector(length) => self.vector(json, *length),
            Self::Enum(words) => self.word(json, words),
            Self::List(item) => self.list(json, item),
        }
    }

    /// The least and the greatest of a kind of whole numbers.
    pub const fn bounds(&self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::String
            | Self::Blob
            | Self::Bool
            | Self::F32
            | Self::F64
            | Self::Date
            | Self::DateTime
            | Self::Vector(_)
            | Self::Enum(_)
            | Self::List(_) => return None,
        })
    }

    pub(super) fn has(&self, number: i128) -> bool {
        self.bounds().is_some_and(|(low, high)| (low..=high).contains(&number))
    }

    fn text<'a>(&self, json: &'a Json) -> Result<&'a str, Mismatch> {
        json.as_str().ok_or_else(|| self.wrong(json, "a string"))
    }

    fn small(&self, json: &Json) -> Result<Value, Mismatch> {
        let number = match json {
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => Some(i128::from(number)),
                (_, Some(number)) => Some(i128::from(number)),
                _ => number.as_f64().and_then(whole),
            },
            _ => None,
        };
        let number = number.ok_or_else(|| self.wrong(json, "a whole number, without quotes"))?;
        if self.has(number) { Ok(Value::Int(number)) } else { Err(self.beyond()) }
    }

    fn wide(&self, json: &Json) -> Result<Value, Mismatch> {
        let Json::String(text) = json else {
            return Err(match json {
                Json::Number(number) => self
                    .wrong(json, &format!("a string, so that no reader rounds it: \"{number}\"")),
                _ => self.wrong(json, "a whole number as a string, like \"42\""),
            });
        };
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !digits.starts_with('0'));
        if !plain {
            return Err(self.wrong(json, "decimal digits alone, like \"42\" or \"-7\""));
        }
        // What is too long for 128 bits is too long for 64.
        match text.parse::<i128>() {
            Ok(number) if self.has(number) => Ok(Value::Int(number)),
            _ => Err(self.beyond()),
        }
    }

    fn single(&self, json: &Json) -> Result<f32, Mismatch> {
        let number = json.as_f64().ok_or_else(|| self.wrong(json, "a number"))?;
        single(number).ok_or_else(|| self.beyond())
    }

    fn vector(&self, json: &Json, length: u32) -> Result<Value, Mismatch> {
        let items = json.as_array().ok_or_else(|| self.wrong(json, "an array of numbers"))?;
        if items.len() != length as usize {
            let given = items.len();
            return Err(Mismatch(format!("expected {length} numbers for {self}, not {given}")));
        }
        let items = items
            .iter()
            .enumerate()
            .map(|(n, item)| Self::F32.single(item).map_err(|error| error.at(n)));
        items.collect::<Result<_, _>>().map(Value::Vector)
    }

    fn word(&self, json: &Json, words: &[String]) -> Result<Value, Mismatch> {
        let text = self.text(json)?;
        if words.iter().any(|word| word == text) {
            return Ok(Value::Text(text.to_owned()));
        }
        let meant = nearest(text, words.iter().map(String::as_str));
        Err(match meant {
            Some(word) => self.wrong(json, &format!("one of its words; did you mean `{word}`?")),
            None => self.wrong(json, "one of its words"),
        })
    }

    fn list(&self, json: &Json, kind: &Self) -> Result<Value, Mismatch> {
        let items = json.as_array().ok_or_else(|| self.wrong(json, "an array"))?;
        if items.len() > MAX_LIST_ITEMS {
            return Err(Mismatch(format!("a list has at most {MAX_LIST_ITEMS} items")));
        }
        let items = items.iter().enumerate();
        let items = items.map(|(n, item)| kind.accept(item).map_err(|error| error.at(n)));
        items.collect::<Result<_, _>>().map(Value::List)
    }

    fn wrong(&self, json: &Json, send: &str) -> Mismatch {
        Mismatch(format!("{} is no {}: send {send}", shown(json), self.in_short()))
    }

    pub(super) fn beyond(&self) -> Mismatch {
        Mismatch(match self.bounds() {
            Some((low, high)) => format!("a {self} is from {low} to {high}"),
            None => format!("a number too large for {self}"),
        })
    }

    /// An enum of many words would drown what is said.
    fn in_short(&self) -> String {
        self.to_string().chars().take(SHOWN_CHARS).collect()
    }
}

impl Mismatch {
    fn at(self, item: usize) -> Self {
        Self(format!("item {}: {}", item + 1, self.0))
    }
}

/// The nearest of single precision. None if it is beyond them.
pub(super) fn single(number: f64) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "to the nearest, in range")]
    (number.abs() <= MAX_SINGLE).then_some(number as f32 + 0.0)
}

pub(super) fn bounded_text(text: &str) -> Result<(), Mismatch> {
    // Bytes are at least as many as characters, and counted already.
    if text.len() > MAX_TEXT_CHARS && text.chars().count() > MAX_TEXT_CHARS {
        return Err(Mismatch(format!("a text has at most {MAX_TEXT_CHARS} characters")));
    }
    Ok(())
}

/// What was sent, in short.
fn shown(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::Bool(yes) => yes.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => {
            let start: String = text.chars().take(SHOWN_CHARS).collect();
            let more = if start.len() < text.len() { "…" } else { "" };
            format!("{}{more}", Json::String(start))
        }
    }
}

/// Characters of one text.
pub const MAX_TEXT_CHARS: usize = 262_144;
/// Items of one list.
pub const MAX_LIST_ITEMS: usize = 1024;
/// The greatest number of single precision as it is usually written; a little more than it is, and
/// nearer to it than to anything beyond.
pub(super) const MAX_SINGLE: f64 = 3.402_823_5e38;
/// How much of what was sent is said back.
const SHOWN_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::Kind;
    use crate::value::Value;

    #[test]
    fn what_is_refused_is_told_what_to_send() {
        let stage = Kind::Enum(vec!["lead".to_owned(), "member".to_owned()]);
        for (kind, json, message) in [
            (
                Kind::I64,
                json!(42),
                "42 is no I64: send a string, so that no reader rounds it: \"42\"",
            ),
            (Kind::U64, json!("-1"), "a U64 is from 0 to 18446744073709551615"),
            (
                Kind::U64,
                json!("0x1"),
                "\"0x1\" is no U64: send decimal digits alone, like \"42\" or \"-7\"",
            ),
            (Kind::I32, json!("42"), "\"42\" is no I32: send a whole number, without quotes"),
            (Kind::I32, json!(1.5), "1.5 is no I32: send a whole number, without quotes"),
            (Kind::I32, json!(2_147_483_648_u64), "a I32 is from -2147483648 to 2147483647"),
            (Kind::F32, json!(1e39), "a number too large for F32"),
            (
                Kind::Date,
                json!("2026-02-30"),
                "\"2026-02-30\" is no Date: send a day like `2026-01-31`",
            ),
            (
                stage,
                json!("laed"),
                "\"laed\" is no enum(lead, member): send one of its words; did you mean `lead`?",
            ),
            (Kind::Vector(2), json!([1]), "expected 2 numbers for Vector(2), not 1"),
            (Kind::Vector(1), json!(["x"]), "item 1: \"x\" is no F32: send a number"),
            (
                Kind::List(Box::new(Kind::Bool)),
                json!([true, null]),
                "item 2: null is no Bool: send true or false",
            ),
            (Kind::Bool, json!({}), "an object is no Bool: send true or false"),
        ] {
            assert_eq!(kind.accept(&json).unwrap_err().to_string(), message);
        }
        let long = Kind::Date.accept(&json!("é".repeat(100_000))).unwrap_err().to_string();
        assert!(long.chars().count() < 200, "{long}");
    }

    #[test]
    fn numbers_are_kept_as_they_are_or_the_nearest() {
        for (kind, json, value) in [
            (Kind::I32, json!(-0.0), Value::Int(0)),
            (Kind::I32, json!(1e3), Value::Int(1000)),
            (Kind::U64, json!("18446744073709551615"), Value::Int(u64::MAX.into())),
            (Kind::F64, json!(3), Value::Float(3.0)),
            (Kind::F32, json!(0.1), Value::Float(f64::from(0.1_f32))),
        ] {
            assert_eq!(kind.accept(&json), Ok(value), "{kind}");
        }
        let Ok(Value::Float(zero)) = Kind::F64.accept(&json!(-0.0)) else { panic!("no float") };
        assert!(zero.is_sign_positive());
    }
}
