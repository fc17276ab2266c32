//! 256-bit digests over a canonical form of JSON.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::canonical::canonical;

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
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        hex(&digest.0)
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

/// The canonical form of a JSON value; see [`canonical`].
pub fn canonical_json(value: &Value) -> String {
    // A value's keys are text, and it refuses nothing.
    canonical(value).unwrap_or_default()
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let text = digits.map(|n| if n < 10 { b'0' + n } else { b'a' + n - 10 }).collect();
    // They are ASCII.
    String::from_utf8(text).unwrap_or_default()
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
