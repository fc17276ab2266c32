//! 256-bit digests over a canonical form of JSON.

use std::fmt;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of a value in its canonical form.
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
    }

    /// From the bytes of a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// Not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct ParseDigestError;

impl std::str::FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let mut bytes = [0_u8; 32];
        let good = text.len() == 64
            && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if !good {
            return Err(ParseDigestError);
        }
        for (n, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * n..2 * n + 2).ok_or(ParseDigestError)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ParseDigestError)?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = ParseDigestError;
    fn try_from(text: String) -> Result<Self, ParseDigestError> {
        text.parse()
    }
}

/// One text per value: keys sorted by their bytes, no white space, ASCII only.
///
/// Numbers keep what `serde_json` holds: an integer is written as an integer (2^53 and 2^53+1
/// stay apart, which the usual canonical form by way of f64 loses), a float in its shortest
/// form that reads back the same, always with a point or exponent. Non-ASCII and control
/// characters are `\uXXXX`, so that no reader of the text can see two lines in it.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            out.push('{');
            for (n, (key, item)) in entries.into_iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_string(out, key);
                out.push(':');
                write_value(out, item);
            }
            out.push('}');
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{Digest, canonical_json};
    use serde_json::{Value, json};

    #[test]
    fn equal_values_share_a_digest_and_different_ones_do_not() {
        let same = [
            (r#"{"a":1,"b":[true,null]}"#, r#"{ "b" : [ true , null ], "a" : 1 }"#),
            (r#""\u00e9""#, "\"\u{e9}\""),
        ];
        for (a, b) in same {
            assert_eq!(digest(a), digest(b), "{a} {b}");
        }
        let different = [
            ("9007199254740992", "9007199254740993"),
            ("1", "1.0"),
            ("0", "-0.0"),
            (r#"{"a":"1"}"#, r#"{"a":1}"#),
            (r#"["a","b"]"#, r#"["a,b"]"#),
            (r#"{"a":null}"#, "{}"),
            ("\"K\"", "\"\u{212A}\""),
        ];
        for (a, b) in different {
            assert_ne!(digest(a), digest(b), "{a} {b}");
        }
    }

    #[test]
    fn the_text_is_one_ascii_line_whatever_is_in_it() {
        let text = canonical_json(
            &json!({"k\n": "\u{2028}\u{2029}\u{85}\u{1b}[31m\u{0}\r\n\"\\\u{1F600}"}),
        );
        assert!(text.bytes().all(|b| (b' '..=b'~').contains(&b)), "{text}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).ok(),
            Some(json!({"k\n": "\u{2028}\u{2029}\u{85}\u{1b}[31m\u{0}\r\n\"\\\u{1F600}"}))
        );
    }

    fn digest(text: &str) -> Digest {
        Digest::of_json(&serde_json::from_str(text).unwrap_or_default())
    }
}
