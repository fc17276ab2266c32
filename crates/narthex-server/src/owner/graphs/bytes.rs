//! Bytes in a frame of JSON.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

/// Bytes, as base64 where they travel.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl TryFrom<String> for Bytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, base64::DecodeError> {
        STANDARD_NO_PAD.decode(text).map(Self)
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        STANDARD_NO_PAD.encode(bytes.0)
    }
}
